//! A failed request leaves everything unchanged.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]

use crate::{
    Event,
    config::Config,
    memfs::{Call, Fault, MemOptions},
    share::ShareOptions,
    testkit::{TestClient, TestServer},
    vfs::{Vfs, VfsError},
};
use coax_wire::{command as c, status::Status};
use std::vec::Vec;

const ALL_ACCESS: u32 = 0x001f_01ff;
const OPEN_IF: u32 = 3;
const OVERWRITE_IF: u32 = 5;
const SUPERSEDE: u32 = 0;
const DELETE_ON_CLOSE: u32 = 0x1000;

/// A client that has used up its FIDs on pipes, which have no row in the shared tables.
fn client_without_fids(server: &TestServer) -> TestClient {
    let mut client = server.client("NT LM 0.12");
    let disk = client.header.tid;
    client.connect_share("IPC$");
    for _ in 0..3 {
        client.nt_create("\\srvsvc", 0x3, (1, 0)).ok();
    }
    client.header.tid = disk;
    client
}

fn server_with_three_fids() -> TestServer {
    let mut config = Config::default();
    config.limits.opens = 3;
    TestServer::with(config, ShareOptions::default())
}

#[test]
fn a_refused_overwrite_leaves_the_contents() {
    let server = server_with_three_fids();
    server.fs.add_file("F", b"precious").unwrap();
    let mut client = client_without_fids(&server);
    for disposition in [OVERWRITE_IF, SUPERSEDE] {
        client
            .nt_create("F", ALL_ACCESS, (disposition, 0))
            .refused(Status::TOO_MANY_OPENED_FILES);
    }
    client
        .paths(c::CREATE, &[0, 0, 0], &["F"])
        .refused(Status::TOO_MANY_OPENED_FILES);
    assert_eq!(server.fs.contents("F").unwrap(), b"precious");
}

#[test]
fn a_refused_create_leaves_no_file() {
    let server = server_with_three_fids();
    let mut client = client_without_fids(&server);
    let before = server.fs.objects();
    client
        .nt_create("NEW", ALL_ACCESS, (OPEN_IF, 0))
        .refused(Status::TOO_MANY_OPENED_FILES);
    client
        .nt_create("DIR", ALL_ACCESS, (OPEN_IF, 1))
        .refused(Status::TOO_MANY_OPENED_FILES);
    client
        .paths(c::CREATE_TEMPORARY, &[0, 0, 0], &[""])
        .refused(Status::TOO_MANY_OPENED_FILES);
    assert_eq!(server.fs.objects(), before);
}

#[test]
fn an_overwrite_that_fails_on_the_disk_leaves_contents_and_attributes() {
    let server = TestServer::new();
    server.fs.add_file("F", b"precious").unwrap();
    let mut client = server.client("NT LM 0.12");
    server
        .fs
        .inject(Fault::next(Call::SetLen, VfsError::NoSpace));
    client
        .nt_create("F", ALL_ACCESS, (OVERWRITE_IF, 0))
        .refused(Status::DISK_FULL);
    assert_eq!(server.fs.contents("F").unwrap(), b"precious");
    assert_eq!(
        server.fs.attribute("F", "user.DOSATTRIB"),
        Err(VfsError::NoAttribute)
    );
}

#[test]
fn a_failed_open_with_delete_on_close_deletes_nothing() {
    let server = TestServer::new();
    server.fs.add_file("F", b"precious").unwrap();
    let mut client = server.client("NT LM 0.12");
    server.fs.inject(Fault::next(Call::Open, VfsError::Io(5)));
    client
        .nt_create("F", ALL_ACCESS, (OPEN_IF, DELETE_ON_CLOSE))
        .refused(Status::UNEXPECTED_IO_ERROR);
    assert_eq!(server.fs.contents("F").unwrap(), b"precious");
    client.nt_create("F", ALL_ACCESS, (OPEN_IF, 0)).ok();
}

fn read_only(server: &TestServer, read_only: bool) {
    server.fs.set_options(MemOptions {
        read_only,
        ..MemOptions::default()
    });
}

/// An open with delete-on-close on a disk that has become read-only since.
fn undeletable(server: &TestServer) -> (TestClient, u16) {
    server.fs.add_file("F", b"x").unwrap();
    let mut client = server.client("NT LM 0.12");
    let opened = client
        .nt_create("F", ALL_ACCESS, (OPEN_IF, DELETE_ON_CLOSE))
        .ok();
    let fid = u16::from_le_bytes(opened.block().words[5..7].try_into().unwrap());
    read_only(server, true);
    (client, fid)
}

fn not_deleted(client: &mut TestClient) -> Vec<Event> {
    core::iter::from_fn(|| client.conn.poll_event())
        .filter(|event| matches!(event, Event::NotDeleted { .. }))
        .collect()
}

fn expected() -> Vec<Event> {
    std::vec![Event::NotDeleted {
        share: "DISK".into(),
        path: "F".into(),
        status: Status::MEDIA_WRITE_PROTECTED,
    }]
}

#[test]
fn close_reports_a_failed_deletion_and_the_file_can_be_opened_again() {
    let server = TestServer::new();
    let (mut client, fid) = undeletable(&server);
    client.close(fid).refused(Status::MEDIA_WRITE_PROTECTED);
    client.close(fid).refused(Status::INVALID_HANDLE);
    read_only(&server, false);
    let mut other = server.client("NT LM 0.12");
    other.nt_create("F", ALL_ACCESS, (OPEN_IF, 0)).ok();
    assert_eq!(
        not_deleted(&mut client),
        [],
        "the reply must contain the error"
    );
}

#[test]
fn a_failed_deletion_without_a_reply_is_reported_by_an_event() {
    let ends: [fn(&mut TestClient); 4] = [
        |client| drop(client.request(c::TREE_DISCONNECT, &[], b"").ok()),
        |client| drop(client.request(c::LOGOFF_ANDX, &[0xff, 0], b"").ok()),
        |client| drop(client.request(c::PROCESS_EXIT, &[], b"").ok()),
        |client| client.conn.handle_disconnect(client.now),
    ];
    for end in ends {
        let server = TestServer::new();
        let (mut client, _) = undeletable(&server);
        end(&mut client);
        assert_eq!(not_deleted(&mut client), expected());
        read_only(&server, false);
        let mut other = server.client("NT LM 0.12");
        other.nt_create("F", ALL_ACCESS, (OPEN_IF, 0)).ok();
    }
}

#[test]
fn names_of_an_abandoned_connection_can_be_deleted() {
    let server = TestServer::new();
    let (mut client, _) = undeletable(&server);
    read_only(&server, false);
    client.conn.abandon();
    let mut other = server.client("NT LM 0.12");
    other.nt_create("F", ALL_ACCESS, (OPEN_IF, 0)).ok();
}

#[test]
fn a_job_that_cannot_be_renamed_is_an_error_and_leaves_no_spool_file() {
    use crate::share::{Share, ShareKind};
    let mut server = TestServer::new();
    let fs = server.fs.clone();
    server.edit(|inner| {
        let laser = Share::for_guests(3, "LASER", ShareKind::Printer(fs));
        inner.shares.push(alloc::sync::Arc::new(laser));
    });
    let mut client = server.client("LANMAN1.0");
    client.connect_share("LASER");
    let before = server.fs.objects();
    let fid = client
        .paths(c::OPEN_PRINT_FILE, &[0, 0], &["JOB"])
        .ok()
        .word(0);
    client
        .request(c::WRITE_PRINT_FILE, &[fid], b"\x01\x01\0x")
        .ok();
    server.fs.inject(Fault::next(Call::Rename, VfsError::Io(5)));
    client
        .request(c::CLOSE_PRINT_FILE, &[fid], b"")
        .refused(Status::UNEXPECTED_IO_ERROR);
    assert_eq!(server.fs.objects(), before);
}
