//! Change notification, creates with descriptor and attributes, and controls over the wire.

use crate::testkit::{Answer, TestClient, TestServer};
use coax_wire::{
    command as c,
    header::{HEADER_LEN, Mid},
    io::Writer,
    security::{Ace, Acl, Descriptor, Sid, ace_type, info},
    smb::{
        nt_transact,
        transaction::{Kind, Response},
    },
    status::Status,
};
use std::{vec, vec::Vec};

const NT: &str = "NT LM 0.12";

fn post(
    client: &mut TestClient,
    function: u16,
    setup: &[u8],
    parameters: &[u8],
    data: &[u8],
    max: (u32, u32),
) -> Mid {
    let request = nt_transact::request(function, setup, parameters, data, max);
    let mut out = Writer::default();
    request.emit(out.zeros(HEADER_LEN));
    let block = out.as_slice()[HEADER_LEN..].to_vec();
    client.post(c::NT_TRANSACT, &block)
}

fn parts(answer: &Answer) -> (Vec<u8>, Vec<u8>) {
    let block = answer.block();
    let response = Response::parse(Kind::NtTransact, &block).unwrap().unwrap();
    (response.parameters.to_vec(), response.data.to_vec())
}

/// Parameters of NT_TRANSACT_CREATE.
fn create(
    client: &TestClient,
    path: &str,
    disposition: u32,
    options: u32,
    lens: (usize, usize),
) -> Vec<u8> {
    const ALL: u32 = 0x001f_01ff;
    let name = client.string(path, 1);
    let numbers = [0, 0, ALL, 0, 0, 0x80, 7, disposition, options];
    let mut parameters: Vec<u8> = numbers.iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
    for n in [lens.0, lens.1, name.len() - 1, 2] {
        parameters.extend((n as u32).to_le_bytes());
    }
    parameters.push(0);
    parameters.extend(name);
    parameters
}

fn created(client: &mut TestClient, path: &str, disposition: u32, options: u32) -> u16 {
    let parameters = create(client, path, disposition, options, (0, 0));
    post(client, 1, b"", &parameters, b"", (100, 0));
    let (parameters, _) = parts(&client.answer().unwrap().ok());
    assert_eq!(parameters.len(), 69);
    u16::from_le_bytes([parameters[2], parameters[3]])
}

fn folder(client: &mut TestClient, path: &str) -> u16 {
    created(client, path, 3, 1)
}

fn watch(client: &mut TestClient, fid: u16, room: u32) -> Mid {
    let mut setup = 0x3u32.to_le_bytes().to_vec();
    setup.extend(fid.to_le_bytes());
    setup.extend([1, 0]);
    post(client, 4, &setup, b"", b"", (room, 0))
}

/// Action and name of each record.
fn changes(answer: Answer) -> Vec<(u32, std::string::String)> {
    let bytes = parts(&answer.ok()).0;
    let mut rest = &bytes[..];
    let mut found = Vec::new();
    while rest.len() > 12 {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let name = &rest[12..12 + word(8) as usize];
        found.push((word(4), coax_wire::codepage::utf16::decode(name)));
        match word(0) as usize {
            0 => break,
            next => rest = &rest[next..],
        }
    }
    found
}

#[test]
fn a_waiting_client_is_notified_of_another_clients_create() {
    let server = TestServer::new();
    let mut watcher = server.client(NT);
    let fid = folder(&mut watcher, "D");
    watch(&mut watcher, fid, 1000);
    assert!(
        watcher.answer().is_none(),
        "the notification request must wait"
    );
    let mut other = server.client(NT);
    let sub = folder(&mut other, "D\\sub");
    other.close(sub).ok();
    let told = watcher.answer().expect("a change");
    assert_eq!(changes(told), [(1, "sub".into())]);
    // The next request reports at once the changes that happened while no request waited.
    for name in ["D\\b", "D\\sub\\c"] {
        let fid = other.open(name);
        other.close(fid).ok();
    }
    watch(&mut watcher, fid, 1000);
    let told = watcher.answer().expect("collected changes");
    assert_eq!(changes(told), [(1, "b".into()), (1, "sub\\c".into())]);
}

#[test]
fn a_close_answers_the_notification_without_changes_and_a_cancel_with_cancelled() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = folder(&mut client, "D");
    let mid = watch(&mut client, fid, 1000);
    client.post_as(mid, c::NT_CANCEL, &crate::testkit::block(&[], b""));
    client.answer().unwrap().refused(Status::CANCELLED);
    let mid = watch(&mut client, fid, 1000);
    client.post(c::CLOSE, &crate::testkit::block(&[fid, 0, 0], b""));
    let answers: Vec<_> = core::iter::from_fn(|| client.answer()).collect();
    let notified = answers.iter().find(|answer| answer.header.mid == mid);
    assert_eq!(changes(notified.expect("a reply").clone()), []);
    assert_eq!(answers.len(), 2);
}

#[test]
fn a_cancel_that_crosses_a_change_loses_no_change() {
    let server = TestServer::new();
    let mut watcher = server.client(NT);
    let fid = folder(&mut watcher, "D");
    let mid = watch(&mut watcher, fid, 1000);
    let mut other = server.client(NT);
    let sub = folder(&mut other, "D\\sub");
    other.close(sub).ok();
    // The change is in the watcher's mailbox, and its connection has not run since.
    watcher.post_as(mid, c::NT_CANCEL, &crate::testkit::block(&[], b""));
    let told = watcher.answer().expect("an answer");
    assert_eq!(changes(told), [(1, "sub".into())]);
    assert!(watcher.answer().is_none(), "one answer");
    // A later request reports only what has happened since.
    watch(&mut watcher, fid, 1000);
    assert!(watcher.answer().is_none(), "it waits");
    let sub = folder(&mut other, "D\\sub2");
    other.close(sub).ok();
    let told = watcher.answer().expect("a change");
    assert_eq!(changes(told), [(1, "sub2".into())]);
}

#[test]
fn changes_that_exceed_the_buffer_are_reported_as_an_empty_list() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = folder(&mut client, "D");
    watch(&mut client, fid, 40);
    let mut other = server.client(NT);
    for name in ["D\\first", "D\\second", "D\\third"] {
        let fid = other.open(name);
        other.close(fid).ok();
    }
    assert_eq!(changes(client.answer().unwrap()), [(1, "first".into())]);
    watch(&mut client, fid, 40);
    assert_eq!(changes(client.answer().unwrap()), []);
}

#[test]
fn files_cannot_be_watched_and_external_changes_are_reported() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let file = created(&mut client, "F", 2, 0);
    watch(&mut client, file, 100);
    let refused = client.answer().unwrap();
    refused.refused(Status::INVALID_PARAMETER);
    let fid = folder(&mut client, "D");
    watch(&mut client, fid, 100);
    let removed = crate::ExternalChange::Removed {
        is_directory: false,
    };
    let share = server.server.shares[0].id;
    server.server.external_change(share, "D/gone", removed);
    assert_eq!(changes(client.answer().unwrap()), [(2, "gone".into())]);
}

fn query(client: &mut TestClient, fid: u16, parts: u32, room: u32) -> Answer {
    let mut parameters = fid.to_le_bytes().to_vec();
    parameters.extend([0, 0]);
    parameters.extend(parts.to_le_bytes());
    post(client, 6, b"", &parameters, b"", (4, room));
    client.answer().unwrap()
}

fn everyone_reads() -> Descriptor {
    Descriptor {
        dacl: Some(Some(Acl {
            aces: vec![Ace {
                kind: ace_type::ALLOWED,
                flags: 0,
                mask: 0x0012_0089,
                sid: Sid::everyone(),
            }],
        })),
        ..Descriptor::default()
    }
}

#[test]
fn a_descriptor_from_creation_or_a_later_change_can_be_queried() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let wanted = everyone_reads();
    let bytes = wanted.to_bytes();
    let parameters = create(&client, "F", 2, 0, (bytes.len(), 0));
    post(&mut client, 1, b"", &parameters, &bytes, (100, 0));
    let (parameters, _) = parts(&client.answer().unwrap().ok());
    let fid = u16::from_le_bytes([parameters[2], parameters[3]]);
    let answer = query(&mut client, fid, info::DACL, 1000).ok();
    let told = Descriptor::parse(&parts(&answer).1).unwrap();
    assert_eq!((told.dacl, told.owner), (wanted.dacl, None));
    let null = Descriptor {
        dacl: Some(None),
        ..Descriptor::default()
    };
    let mut set = fid.to_le_bytes().to_vec();
    set.extend([0, 0, 4, 0, 0, 0]);
    post(&mut client, 3, b"", &set, &null.to_bytes(), (0, 0));
    client.answer().unwrap().ok();
    let answer = query(&mut client, fid, info::DACL | info::OWNER, 1000).ok();
    let told = Descriptor::parse(&parts(&answer).1).unwrap();
    assert_eq!(told.dacl, Some(None));
    assert!(told.owner.is_some());
    let mut malformed = null.to_bytes();
    malformed[0] = 9;
    post(&mut client, 3, b"", &set, &malformed, (0, 0));
    let refused = client.answer().unwrap();
    refused.refused(Status::INVALID_SECURITY_DESCR);
}

#[test]
fn a_descriptor_that_does_not_fit_is_answered_with_its_length() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = created(&mut client, "F", 2, 0);
    let answer = query(&mut client, fid, info::DACL, 10);
    answer.refused(Status::BUFFER_TOO_SMALL);
    let (needed, data) = parts(&answer);
    assert!(needed[0] > 10 && data.is_empty());
}

#[test]
fn attributes_are_set_at_creation_and_invalid_ones_create_nothing() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let list = b"\0\0\0\0\0\x01\x02\0A\0hi";
    let parameters = create(&client, "F", 2, 0, (0, list.len()));
    post(&mut client, 1, b"", &parameters, list, (100, 0));
    client.answer().unwrap().ok();
    let file = crate::vfs::Vfs::attribute(&*server.fs, "F", "user.A");
    assert_eq!(file.unwrap(), b"hi");
    let bad = b"\0\0\0\0\0\x01\x02\0*\0hi";
    let parameters = create(&client, "G", 2, 0, (0, bad.len()));
    post(&mut client, 1, b"", &parameters, bad, (100, 0));
    let refused = client.answer().unwrap();
    refused.refused(Status::INVALID_EA_NAME);
    assert_eq!(
        parts(&refused),
        Default::default(),
        "a warning reply must have a body"
    );
    assert!(server.fs.contents("G").is_err());
}

#[test]
fn sparse_files_are_granted_and_other_controls_refused() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = created(&mut client, "F", 2, 0);
    let control = |client: &mut TestClient, code: u32, fid: u16| {
        let mut setup = code.to_le_bytes().to_vec();
        setup.extend(fid.to_le_bytes());
        setup.extend([1, 0]);
        post(client, 2, &setup, b"", b"", (0, 100));
        client.answer().unwrap()
    };
    control(&mut client, 0x0009_00c4, fid).ok();
    control(&mut client, 0x0014_4064, fid).refused(Status::NOT_SUPPORTED);
    control(&mut client, 0x0009_00c4, fid + 1).refused(Status::INVALID_HANDLE);
}

#[test]
fn nt_transact_rename_requires_an_open_file_and_renames_nothing() {
    let server = TestServer::new();
    let mut client = server.client(NT);
    let fid = client.open("\\OLD");
    for (fid, told) in [(fid, None), (fid + 1, Some(Status::INVALID_HANDLE))] {
        let parameters = [&fid.to_le_bytes()[..], &[0, 0], &client.string("NEW", 0)].concat();
        post(&mut client, 5, &[], &parameters, b"", (0, 0));
        let answer = client.answer().unwrap();
        match told {
            None => drop(answer.ok()),
            Some(status) => answer.refused(status),
        }
    }
    assert!(server.fs.contents("OLD").is_ok() && server.fs.contents("NEW").is_err());
}
