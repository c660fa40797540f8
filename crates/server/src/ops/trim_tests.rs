//! Freeing reserved space while another client uses the file.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::{
    share::{Share, ShareKind},
    testkit::{TestClient, TestServer, block},
    vfs::{
        VfsError,
        faulty::{Fault, FaultyVfs, Op, Seen},
    },
};
use coax_wire::command as c;
use std::{boxed::Box, sync::Arc, vec::Vec};

const NT: &str = "NT LM 0.12";
/// SMB_SET_FILE_ALLOCATION_INFO.
const SET_ALLOCATION: u16 = 0x103;

/// Two shares of one folder. A plan watches the calls through `DISK`, and may use `OTHER` meanwhile.
fn server() -> (TestServer, FaultyVfs) {
    let mut server = TestServer::new();
    let disk = FaultyVfs::new(server.fs.clone());
    let (watched, plain) = (disk.clone(), server.fs.clone());
    server.edit(|server| {
        let share = |id, name, kind| Arc::new(Share::for_guests(id, name, ShareKind::Disk(kind)));
        if let Some(first) = server.shares.first_mut() {
            *first = share(1, "DISK", Arc::new(watched));
        }
        server.shares.push(share(3, "OTHER", plain));
    });
    (server, disk)
}

fn allocate(client: &mut TestClient, fid: u16, bytes: u64) -> u32 {
    let answer = client.set_fid(SET_ALLOCATION, fid, &bytes.to_le_bytes());
    answer.status()
}

/// Sends OPEN_ANDX for reading and writing, sharing all.
fn ask_to_open(client: &mut TestClient, path: &str) {
    let bytes = client.string(path, 32 + 1 + 30 + 2);
    let words = [0xff, 0, 0, 0x42, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    client.post(c::OPEN_ANDX, &block(&words, &bytes));
}

/// If the open is answered: writes through it. Returns whether it was.
fn write_if_open(client: &mut TestClient) -> bool {
    let Some(opened) = client.answer() else {
        return false;
    };
    write(client, opened.ok().word(2));
    true
}

fn write(client: &mut TestClient, fid: u16) {
    let written = client.request(c::WRITE, &[fid, 4, 0, 0, 0], b"\x01\x04\0late");
    assert_eq!(written.ok().word(0), 4);
}

fn truncations(seen: &[Seen]) -> usize {
    seen.iter().filter(|seen| seen.op == Op::FileSetLen).count()
}

/// Lets `other` open the file and write to it just before the first truncation.
fn act_before_truncation(
    disk: &FaultyVfs,
    other: TestClient,
) -> Arc<spin::Mutex<(TestClient, bool)>> {
    let other = Arc::new(spin::Mutex::new((other, false)));
    let (acting, mut acted) = (other.clone(), false);
    disk.restart(Box::new(move |seen| {
        if seen.op == Op::FileSetLen && !core::mem::replace(&mut acted, true) {
            let mut other = acting.lock();
            ask_to_open(&mut other.0, "A");
            other.1 = write_if_open(&mut other.0);
        }
        None
    }));
    other
}

#[test]
fn a_file_opened_while_its_reserved_space_is_freed_keeps_what_is_written_to_it() {
    let (server, disk) = server();
    let mut first = server.client(NT);
    let fid = first.open("A");
    assert_eq!(allocate(&mut first, fid, 100_000), 0);
    let mut other = server.client(NT);
    other.connect_share("OTHER");
    let other = act_before_truncation(&disk, other);
    first.close(fid).ok();
    assert_eq!(truncations(&disk.seen()), 1);
    let (mut other, early) = Arc::into_inner(replace_plan(&disk, other))
        .unwrap()
        .into_inner();
    assert!(!early, "the open waits until the space is free");
    assert!(write_if_open(&mut other), "the close lets it continue");
    assert_eq!(server.fs.contents("A").unwrap(), b"late");
}

/// Drops the plan, and with it its share of `other`.
fn replace_plan<T>(disk: &FaultyVfs, other: T) -> T {
    disk.restart(crate::vfs::faulty::never());
    other
}

#[test]
fn a_failed_reservation_of_a_shared_file_is_freed_by_the_last_close() {
    let (server, disk) = server();
    let mut first = server.client(NT);
    let fid = first.open("A");
    let mut other = server.client(NT);
    other.connect_share("OTHER");
    let theirs = other.open("A");
    disk.restart(Box::new(|seen| {
        (seen.op == Op::FileReserve).then(|| Fault::from(VfsError::NoSpace))
    }));
    assert_ne!(allocate(&mut first, fid, 100_000), 0);
    assert_eq!(
        truncations(&disk.seen()),
        0,
        "the other client may be extending it"
    );
    write(&mut other, theirs);
    other.close(theirs).ok();
    first.close(fid).ok();
    assert_eq!(truncations(&disk.seen()), 1);
    assert_eq!(server.fs.contents("A").unwrap(), b"late");
}

#[test]
fn a_failed_reservation_of_an_unshared_file_is_freed_at_once_and_opens_wait() {
    let (server, disk) = server();
    let mut first = server.client(NT);
    let fid = first.open("A");
    let mut other = server.client(NT);
    other.connect_share("OTHER");
    let other = Arc::new(spin::Mutex::new(other));
    let acting = other.clone();
    disk.restart(Box::new(move |seen| {
        if seen.op == Op::FileSetLen {
            let mut other = acting.lock();
            ask_to_open(&mut other, "A");
            assert!(!write_if_open(&mut other), "the open waits");
        }
        (seen.op == Op::FileReserve).then(|| Fault::from(VfsError::NoSpace))
    }));
    assert_ne!(allocate(&mut first, fid, 100_000), 0);
    let seen: Vec<Seen> = disk.seen();
    assert_eq!(truncations(&seen), 1);
    assert!(write_if_open(&mut other.lock()), "and continues");
    assert_eq!(server.fs.contents("A").unwrap(), b"late");
}
