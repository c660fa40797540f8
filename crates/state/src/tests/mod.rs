#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod history;
mod power_cuts;

use std::{fs, net::Ipv4Addr, path::Path};

use proptest::prelude::*;

use crate::{AGE_MAX_S, CLIENTS_MAX, Client, FILE, OpenError, Store};

const NOW_S: u64 = 1_800_000_000;

fn client(number: u32, seen_s: u64) -> Client {
    Client {
        address: Ipv4Addr::from(0x0a00_0000 + number).into(),
        seen_s,
        receive: Some(number + 1),
        send: number.is_multiple_of(2).then_some(7),
    }
}

fn open(folder: &Path) -> Store {
    let opened = Store::open(folder).unwrap();
    assert_eq!(opened.set_aside, None);
    opened.store
}

#[test]
fn clients_are_known_after_the_file_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut six = client(9, NOW_S);
    six.address = "2001:db8::1".parse().unwrap();
    let all = [six, client(1, NOW_S - 1), client(2, NOW_S - 2)];
    let store = open(folder.path());
    store.write_clients(NOW_S, &all, &[]).unwrap();
    drop(store);
    let store = open(folder.path());
    assert_eq!(store.clients(NOW_S).unwrap(), all);
    store.write_clients(NOW_S, &[], &[all[1].address]).unwrap();
    assert_eq!(store.clients(NOW_S).unwrap(), [all[0], all[2]]);
}

#[test]
fn old_clients_are_forgotten_and_the_number_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let many: Vec<Client> = (0..CLIENTS_MAX as u32 + 10)
        .map(|number| client(number, NOW_S + u64::from(number)))
        .collect();
    store.write_clients(NOW_S, &many, &[]).unwrap();
    let known = store.clients(NOW_S).unwrap();
    assert_eq!(known.len(), CLIENTS_MAX);
    assert_eq!(known[0], many[many.len() - 1]);
    let later = NOW_S + AGE_MAX_S + 5;
    assert_eq!(store.clients(later).unwrap().len(), CLIENTS_MAX);
    store.write_clients(later, &[], &[]).unwrap();
    assert_eq!(store.clients(NOW_S).unwrap().len(), CLIENTS_MAX);
    store.write_clients(later + 10_000, &[], &[]).unwrap();
    assert_eq!(store.clients(NOW_S).unwrap(), []);
}

#[test]
fn a_second_server_is_told_that_the_file_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path());
    assert!(matches!(Store::open(folder.path()), Err(OpenError::InUse)));
    drop(first);
    open(folder.path());
}

#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    open(folder.path());
    let mode = fs::metadata(folder.path().join(FILE))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_missing_folder_is_an_error_and_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert!(matches!(Store::open(&missing), Err(OpenError::Io(_))));
    assert!(!missing.exists());
}

#[test]
fn a_file_of_a_newer_version_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let transaction = store.0.begin_write().unwrap();
    let meta = redb::TableDefinition::<&str, u64>::new("meta");
    transaction
        .open_table(meta)
        .unwrap()
        .insert("format", 2)
        .unwrap();
    transaction.commit().unwrap();
    drop(store);
    let before = fs::read(folder.path().join(FILE)).unwrap();
    let opened = Store::open(folder.path()).unwrap();
    assert_eq!(opened.store.clients(NOW_S).unwrap(), []);
    let aside = opened.set_aside.unwrap();
    assert!(aside.reason.contains("format 2"), "{}", aside.reason);
    assert_eq!(fs::read(aside.path).unwrap().len(), before.len());
}

#[test]
fn what_is_not_a_database_is_set_aside_each_time_under_another_name() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["rubbish", "other rubbish"] {
        fs::remove_file(folder.path().join(FILE)).ok();
        fs::write(folder.path().join(FILE), text).unwrap();
        let aside = Store::open(folder.path()).unwrap().set_aside.unwrap();
        assert_eq!(fs::read_to_string(aside.path).unwrap(), text);
    }
}

/// A file with some clients.
fn written() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let clients: Vec<Client> = (0..50).map(|number| client(number, NOW_S)).collect();
    store.write_clients(NOW_S, &clients, &[]).unwrap();
    drop(store);
    fs::read(folder.path().join(FILE)).unwrap()
}

/// Opens these bytes; they are used as they are, or set aside with every byte, and writing works afterwards.
fn survives(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), bytes).unwrap();
    let opened = Store::open(folder.path()).unwrap();
    let fresh = client(77, NOW_S);
    opened.store.write_clients(NOW_S, &[fresh], &[]).unwrap();
    assert!(opened.store.clients(NOW_S).unwrap().contains(&fresh));
}

#[test]
fn a_file_that_is_cut_at_any_length_is_survived() {
    let bytes = written();
    let step = (bytes.len() / 97).max(1);
    for len in (0..64).chain((64..bytes.len()).step_by(step)) {
        survives(&bytes[..len]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_anywhere_is_survived(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), near_the_start in any::<bool>()) {
        let mut bytes = written();
        let len = if near_the_start { 4096.min(bytes.len()) } else { bytes.len() };
        for (place, value) in places {
            bytes[place.index(len)] = value;
        }
        survives(&bytes);
    }
}
