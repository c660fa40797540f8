//! A power cut after any number of disk operations, of which those since the last sync may be missing.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use redb::{Database, StorageBackend};

use super::{NOW_S, client};
use crate::{Client, FILE, Minute, ShareSample, Store, file};

#[derive(Clone, Debug)]
enum Operation {
    Write(u64, Vec<u8>),
    Length(u64),
    Sync,
    /// The program was told that its n-th change is on disk.
    Acknowledged(u32),
}

#[derive(Debug, Default)]
struct Disk {
    bytes: Vec<u8>,
    log: Vec<Operation>,
}

#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<Disk>>);

impl Recorder {
    fn note(&self, operation: Operation) {
        let mut disk = self.0.lock().unwrap();
        apply(&mut disk.bytes, &operation);
        disk.log.push(operation);
    }
}

fn apply(bytes: &mut Vec<u8>, operation: &Operation) {
    match operation {
        Operation::Write(at, data) => {
            let at = *at as usize;
            if bytes.len() < at + data.len() {
                bytes.resize(at + data.len(), 0);
            }
            bytes[at..at + data.len()].copy_from_slice(data);
        }
        Operation::Length(len) => bytes.resize(*len as usize, 0),
        Operation::Sync | Operation::Acknowledged(_) => {}
    }
}

impl StorageBackend for Recorder {
    fn len(&self) -> Result<u64, std::io::Error> {
        Ok(self.0.lock().unwrap().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), std::io::Error> {
        let at = offset as usize;
        out.copy_from_slice(&self.0.lock().unwrap().bytes[at..at + out.len()]);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), std::io::Error> {
        self.note(Operation::Length(len));
        Ok(())
    }

    fn sync_data(&self) -> Result<(), std::io::Error> {
        self.note(Operation::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), std::io::Error> {
        self.note(Operation::Write(offset, data.to_vec()));
        Ok(())
    }
}

const MINUTE: u64 = NOW_S / 60;

/// A minute in which one byte was read.
fn minute() -> Minute {
    let share = ShareSample {
        share: "DATA".into(),
        read: 1,
        written: 0,
    };
    Minute {
        minute: MINUTE,
        shares: vec![share],
        ..Minute::default()
    }
}

/// The clients after the n-th change of clients.
fn state(change: u32) -> Vec<Client> {
    (0..=change)
        .map(|number| client(number, NOW_S - u64::from(number)))
        .collect()
}

/// Eight changes of clients, each followed by a minute of history, as the disk saw them.
fn recorded() -> Vec<Operation> {
    let recorder = Recorder::default();
    let database = Database::builder()
        .create_with_backend(recorder.clone())
        .unwrap();
    file::begin(&database).unwrap();
    let store = Store(database);
    for change in 0..8 {
        let new = state(change).pop().unwrap();
        store.write_clients(NOW_S, &[new], &[]).unwrap();
        recorder.note(Operation::Acknowledged(2 * change));
        store.write_minute(MINUTE, minute()).unwrap();
        recorder.note(Operation::Acknowledged(2 * change + 1));
    }
    drop(store);
    recorder.0.lock().unwrap().log.clone()
}

/// What is on the disk if the power fails after `end` operations; `kept` decides about each one since the last sync.
fn after_cut(log: &[Operation], end: usize, kept: &[bool]) -> Vec<u8> {
    let done = &log[..end];
    let synced = done
        .iter()
        .rposition(|operation| matches!(operation, Operation::Sync))
        .unwrap_or(0);
    let mut bytes = Vec::new();
    for (place, operation) in done.iter().enumerate() {
        if place <= synced || kept[place % kept.len()] {
            apply(&mut bytes, operation);
        }
    }
    bytes
}

/// The file is used, and has the last acknowledged change or the one in progress.
fn check(log: &[Operation], end: usize, kept: &[bool]) {
    let acknowledged = log[..end]
        .iter()
        .rev()
        .find_map(|operation| match operation {
            Operation::Acknowledged(change) => Some(*change),
            _ => None,
        });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), after_cut(log, end, kept)).unwrap();
    let opened = Store::open(folder.path()).unwrap();
    let known = opened.store.clients(NOW_S).unwrap();
    if let Some(change) = acknowledged {
        assert_eq!(opened.set_aside, None, "cut after {end} operations");
        let pair = change / 2;
        let minutes = opened.store.history(MINUTE).unwrap();
        let counted: u64 = minutes.iter().map(|minute| minute.shares[0].read).sum();
        // after the acknowledged change, or after the one in progress
        let done = u64::from(change.div_ceil(2));
        let possible = match change % 2 {
            0 => known == state(pair) && (done..=done + 1).contains(&counted),
            _ => (known == state(pair) || known == state(pair + 1)) && counted == done,
        };
        assert!(possible, "cut after {end} operations: {known:?}, {counted}");
    }
}

#[test]
fn a_power_cut_after_any_operation_loses_nothing_acknowledged() {
    let log = recorded();
    for end in 0..=log.len() {
        check(&log, end, &[true]);
        check(&log, end, &[false]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_unsynced_part_of_it_reached_the_disk(
        end in any::<prop::sample::Index>(),
        kept in prop::collection::vec(any::<bool>(), 1..17),
    ) {
        let log = recorded();
        check(&log, end.index(log.len() + 1), &kept);
    }
}
