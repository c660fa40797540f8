//! Names that change while clients use them: by renames through another share or outside the server, by requests of
//! other clients at the same time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]

use crate::{
    Event, Server,
    memfs::MemFs,
    share::{Share, ShareKind},
    table::ShareId,
    testkit::{Answer, TestClient, TestServer, block},
    vfs::{Vfs, faulty::FaultyVfs},
};
use alloc::sync::Arc;
use coax_wire::{command as c, status::Status};
use std::{boxed::Box, collections::BTreeSet, format, string::String, vec, vec::Vec};

const NT: &str = "NT LM 0.12";
const ALL_ACCESS: u32 = 0x001f_01ff;
const OPEN: u32 = 1;
const DELETE_ON_CLOSE: u32 = 0x1000;

/// A server whose shares `DISK` and `AGAIN` have the same folder.
fn with_two_shares_of_one_folder() -> TestServer {
    let server = TestServer::new();
    let again = server.fs.clone();
    with_share(server, "AGAIN", again)
}

fn with_share(mut server: TestServer, name: &str, fs: Arc<MemFs>) -> TestServer {
    server.edit(|inner| {
        let share = Share::for_guests(3, name, ShareKind::Disk(fs));
        inner.shares.push(Arc::new(share));
    });
    server
}

/// Gives the two shares of one folder one path space.
fn join_shares(server: &TestServer) {
    server.server.locked(|tables| {
        for share in [ShareId(1), ShareId(3)] {
            tables.join_space(share, [ShareId(1)].into_iter());
        }
    });
}

fn client_on(server: &TestServer, share: &str) -> TestClient {
    let mut client = server.client(NT);
    client.connect_share(share);
    client
}

fn fid_of(created: &Answer) -> u16 {
    let words = created.block().words;
    u16::from_le_bytes([words[5], words[6]])
}

/// Opens with all rights and FILE_DELETE_ON_CLOSE.
fn open_to_delete(client: &mut TestClient, path: &str) -> u16 {
    let opened = client.nt_create(path, ALL_ACCESS, (OPEN, DELETE_ON_CLOSE));
    fid_of(&opened.ok())
}

/// FileRenameInformation as a pass-through level ([MS-SMB] 2.2.2.3.5).
const RENAME_INFORMATION: u16 = 1010;

fn rename_to(client: &mut TestClient, old: &str, new: &str, replace: bool) -> Answer {
    let name = rename_information(client, new, replace);
    client.set_path(RENAME_INFORMATION, old, &name)
}

fn rename_information(client: &TestClient, new: &str, replace: bool) -> Vec<u8> {
    let mut name = client.string(new, 0);
    name.truncate(name.len() - 2);
    let mut data = u32::from(replace).to_le_bytes().to_vec();
    data.extend([0; 4]);
    data.extend((name.len() as u32).to_le_bytes());
    data.extend(name);
    data
}

fn names(server: &TestServer, folder: &str) -> Vec<String> {
    let mut names = server.fs.open_dir(folder).unwrap().names().unwrap();
    names.sort();
    names
}

fn not_deleted(client: &mut TestClient) -> Vec<Event> {
    core::iter::from_fn(|| client.conn.poll_event())
        .filter(|event| matches!(event, Event::NotDeleted { .. }))
        .collect()
}

#[test]
fn delete_on_close_spares_a_new_file_under_the_old_name() {
    let renames: [fn(&TestServer); 2] = [
        |server| server.fs.rename("VIC.TXT", "NEW.TXT", false).unwrap(),
        |server| {
            let mut other = client_on(server, "AGAIN");
            rename_to(&mut other, "VIC.TXT", "NEW.TXT", false).ok();
        },
    ];
    for rename in renames {
        let server = with_two_shares_of_one_folder();
        server.fs.add_file("VIC.TXT", b"old").unwrap();
        let mut client = server.client(NT);
        let fid = open_to_delete(&mut client, "VIC.TXT");
        rename(&server);
        server.fs.add_file("VIC.TXT", b"precious").unwrap();
        client.close(fid).refused(Status::OBJECT_NAME_NOT_FOUND);
        assert_eq!(server.fs.contents("VIC.TXT").unwrap(), b"precious");
        assert_eq!(server.fs.contents("NEW.TXT").unwrap(), b"old");
        let mut other = server.client(NT);
        other.nt_create("NEW.TXT", ALL_ACCESS, (OPEN, 0)).ok();
    }
}

#[test]
fn delete_on_close_spares_a_new_folder_under_the_old_name() {
    let server = TestServer::new();
    server.fs.add_dir("DIR").unwrap();
    let mut client = server.client(NT);
    let fid = open_to_delete(&mut client, "DIR");
    server.fs.rename("DIR", "MOVED", false).unwrap();
    server.fs.add_dir("DIR").unwrap();
    client.close(fid).refused(Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(names(&server, ""), ["DIR", "MOVED"]);
}

#[test]
fn delete_on_close_spares_a_new_file_in_a_new_folder_under_the_old_names() {
    let server = TestServer::new();
    server.fs.add_file("DIR/F", b"old").unwrap();
    let mut client = server.client(NT);
    let fid = open_to_delete(&mut client, "DIR\\F");
    server.fs.rename("DIR", "MOVED", false).unwrap();
    server.fs.add_file("DIR/F", b"precious").unwrap();
    client.close(fid).refused(Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(server.fs.contents("DIR/F").unwrap(), b"precious");
    assert_eq!(server.fs.contents("MOVED/F").unwrap(), b"old");
}

#[test]
fn an_event_reports_a_file_that_was_not_deleted_because_its_name_was_taken() {
    let server = TestServer::new();
    server.fs.add_file("F", b"old").unwrap();
    let mut client = server.client(NT);
    open_to_delete(&mut client, "F");
    server.fs.rename("F", "G", false).unwrap();
    server.fs.add_file("F", b"precious").unwrap();
    client.request(c::TREE_DISCONNECT, &[], b"").ok();
    let expected = Event::NotDeleted {
        share: "DISK".into(),
        path: "F".into(),
        status: Status::OBJECT_NAME_NOT_FOUND,
    };
    assert_eq!(not_deleted(&mut client), [expected]);
    assert_eq!(server.fs.contents("F").unwrap(), b"precious");
}

#[test]
fn a_last_close_on_another_share_deletes_the_name_on_the_share_of_the_mark() {
    // The same identities on two disks stand for a share of a folder and a share of the folder above it.
    let above = Arc::new(MemFs::new());
    let server = with_share(TestServer::new(), "ABOVE", above.clone());
    server.fs.add_file("F", b"marked").unwrap();
    above.add_file("DIR-F", b"the same file").unwrap();
    let mut last = client_on(&server, "ABOVE");
    let opened = last.nt_create("DIR-F", ALL_ACCESS, (OPEN, 0)).ok();
    let mut client = server.client(NT);
    let fid = open_to_delete(&mut client, "F");
    client.close(fid).ok();
    last.close(fid_of(&opened)).ok();
    assert!(names(&server, "").is_empty());
    assert_eq!(above.contents("DIR-F").unwrap(), b"the same file");
}

#[test]
fn a_rename_through_another_share_of_the_folder_moves_the_open_and_its_deletion() {
    let server = with_two_shares_of_one_folder();
    join_shares(&server);
    server.fs.add_file("OLD", b"marked").unwrap();
    let mut client = server.client(NT);
    let fid = open_to_delete(&mut client, "OLD");
    let mut other = client_on(&server, "AGAIN");
    rename_to(&mut other, "OLD", "NEW", false).ok();
    server.fs.add_file("OLD", b"precious").unwrap();
    client.close(fid).ok();
    assert_eq!(names(&server, ""), ["OLD"]);
    assert_eq!(server.fs.contents("OLD").unwrap(), b"precious");
}

#[test]
fn a_folder_is_not_renamed_while_a_file_in_it_is_open_through_another_share() {
    let server = with_two_shares_of_one_folder();
    join_shares(&server);
    server.fs.add_file("DIR/F", b"").unwrap();
    let mut client = server.client(NT);
    let fid = fid_of(&client.nt_create("DIR\\F", ALL_ACCESS, (OPEN, 0)).ok());
    let mut other = client_on(&server, "AGAIN");
    rename_to(&mut other, "DIR", "MOVED", false).refused(Status::ACCESS_DENIED);
    client.close(fid).ok();
    rename_to(&mut other, "DIR", "MOVED", false).ok();
}

/// A file system that runs another request just before one of its calls.
#[derive(Clone)]
struct Meanwhile {
    server: TestServer,
    faulty: FaultyVfs,
    /// The other client, which reaches the same share past the fault-injecting file system.
    other: Arc<spin::Mutex<TestClient>>,
}

impl Meanwhile {
    fn new(files: &[&str]) -> Self {
        let mut server = TestServer::new();
        for file in files {
            server.fs.add_file(file, b"").unwrap();
        }
        let beside = Server {
            config: server.server.config.clone(),
            shares: server.server.shares.clone(),
            accounts: coax_logon::accounts::Accounts::default(),
            tables: server.server.tables.clone(),
        };
        let other = TestClient::on(&Arc::new(beside), NT);
        let faulty = FaultyVfs::new(server.fs.clone());
        let disk = Share::for_guests(1, "DISK", ShareKind::Disk(Arc::new(faulty.clone())));
        server.edit(|inner| inner.shares = vec![Arc::new(disk)]);
        Self {
            server,
            faulty,
            other: Arc::new(spin::Mutex::new(other)),
        }
    }

    /// Runs `one` with `two` just before its call of this number. Both may fail, and `two` may wait for `one`. Returns
    /// the number of calls of `one`.
    fn run(&self, one: fn(&mut TestClient), two: fn(&mut TestClient), number: u64) -> u64 {
        let mut client = self.server.client(NT);
        let other = self.other.clone();
        self.faulty.restart(Box::new(move |seen| {
            if seen.number == number {
                two(&mut other.lock());
            }
            None
        }));
        one(&mut client);
        let calls = self.faulty.count();
        let mut other = self.other.lock();
        let now = other.now;
        other.conn.handle_wake(now);
        calls
    }
}

/// Runs two requests with every interleaving where the second happens between two disk calls of the first, and asserts
/// that no two of the resulting names are the same without case.
fn never_collide(files: &[&str], one: fn(&mut TestClient), two: fn(&mut TestClient)) {
    let calls = Meanwhile::new(files).run(one, two, u64::MAX);
    assert!(calls > 0);
    for number in 0..calls {
        let meanwhile = Meanwhile::new(files);
        meanwhile.run(one, two, number);
        let names = names(&meanwhile.server, "");
        let folded: BTreeSet<String> = names.iter().map(|name| name.to_uppercase()).collect();
        assert_eq!(folded.len(), names.len(), "before call {number}: {names:?}");
        assert!(folded.contains("FOO"), "before call {number}: {names:?}");
    }
}

fn post_create(client: &mut TestClient, path: &str) {
    let mut bytes = vec![4];
    bytes.extend(client.string(path, 32 + 1 + 6 + 2 + 1));
    client.post(c::CREATE_NEW, &block(&[0, 0, 0], &bytes));
}

fn post_rename(client: &mut TestClient, old: &str, new: &str) {
    let mut bytes = vec![4];
    bytes.extend(client.string(old, 32 + 1 + 2 + 2 + 1));
    bytes.push(4);
    bytes.extend(client.string(new, 32 + 1 + 2 + 2 + bytes.len()));
    client.post(c::RENAME, &block(&[0x16], &bytes));
}

fn post_make_dir(client: &mut TestClient, path: &str) {
    let mut bytes = vec![4];
    bytes.extend(client.string(path, 32 + 1 + 2 + 1));
    client.post(c::CREATE_DIRECTORY, &block(&[], &bytes));
}

#[test]
fn two_requests_at_once_never_create_names_that_differ_only_in_case() {
    let ways: [fn(&mut TestClient); 3] = [
        |client| post_create(client, "\\FOO"),
        |client| post_rename(client, "\\B", "\\FOO"),
        |client| post_make_dir(client, "\\FOO"),
    ];
    for two in ways {
        never_collide(&["A", "B"], |client| post_create(client, "\\foo"), two);
        never_collide(&["A", "B"], |client| post_make_dir(client, "\\foo"), two);
        never_collide(
            &["A", "B"],
            |client| post_rename(client, "\\A", "\\foo"),
            two,
        );
    }
}

#[test]
fn a_rename_that_changes_only_the_case_succeeds() {
    let server = TestServer::new();
    server.fs.add_file("Long file name.txt", b"").unwrap();
    let mut client = server.client(NT);
    let paths = ["\\Long file name.txt", "\\LONG FILE NAME.TXT"];
    client.paths(c::RENAME, &[0x16], &paths).ok();
    assert_eq!(names(&server, ""), ["LONG FILE NAME.TXT"]);
}

#[test]
fn a_rename_onto_another_hard_link_of_the_file_removes_the_old_name() {
    let server = TestServer::new();
    server.fs.add_file("OLD", b"contents").unwrap();
    server.fs.hard_link("OLD", "LINK").unwrap();
    let mut client = server.client(NT);
    rename_to(&mut client, "OLD", "LINK", false).refused(Status::OBJECT_NAME_COLLISION);
    rename_to(&mut client, "OLD", "LINK", true).ok();
    assert_eq!(names(&server, ""), ["LINK"]);
    assert_eq!(server.fs.contents("LINK").unwrap(), b"contents");
    let old = client.query_path(0x0101, "OLD");
    old.refused(Status::OBJECT_NAME_NOT_FOUND);
    client.query_path(0x0101, "LINK").ok();
}

#[test]
fn a_rename_of_an_open_onto_another_hard_link_moves_the_open() {
    let server = TestServer::new();
    server.fs.add_file("OLD", b"contents").unwrap();
    server.fs.hard_link("OLD", "LINK").unwrap();
    let mut client = server.client(NT);
    let fid = open_to_delete(&mut client, "OLD");
    let name = rename_information(&client, "LINK", true);
    client.set_fid(RENAME_INFORMATION, fid, &name).ok();
    assert_eq!(names(&server, ""), ["LINK"]);
    client.close(fid).ok();
    assert!(names(&server, "").is_empty(), "the open follows the rename");
}

#[test]
fn a_rename_onto_another_hard_link_that_is_open_is_refused() {
    let server = TestServer::new();
    server.fs.add_file("OLD", b"contents").unwrap();
    server.fs.hard_link("OLD", "LINK").unwrap();
    let mut client = server.client(NT);
    client.nt_create("LINK", ALL_ACCESS, (OPEN, 0)).ok();
    rename_to(&mut client, "OLD", "LINK", true).refused(Status::ACCESS_DENIED);
    assert_eq!(names(&server, ""), ["LINK", "OLD"]);
}

/// Creates `text` relative to the folder `root`, as NT_CREATE_ANDX with a RootDirectoryFid.
fn create_under(client: &mut TestClient, root: u16, text: &str) -> Answer {
    const CREATE: u32 = 2;
    let mut block = vec![24, 0xff, 0, 0, 0, 0];
    let name = client.string(text, 32 + 1 + 48 + 2);
    block.extend((name.len() as u16).to_le_bytes());
    for field in [0, u32::from(root), ALL_ACCESS, 0, 0, 0, 7, CREATE, 0, 2] {
        block.extend(u32::to_le_bytes(field));
    }
    block.push(0);
    block.extend((name.len() as u16).to_le_bytes());
    block.extend(name);
    client.send_block(c::NT_CREATE_ANDX, &block)
}

#[test]
fn a_create_under_an_open_folder_follows_the_rename_of_the_folder() {
    let server = TestServer::new();
    server.fs.add_dir("OLD").unwrap();
    let mut client = server.client(NT);
    let folder = client.nt_create("OLD", ALL_ACCESS, (OPEN, 1)).ok();
    rename_to(&mut client, "OLD", "NEW", false).ok();
    server.fs.add_dir("OLD").unwrap();
    create_under(&mut client, fid_of(&folder), "F").ok();
    assert_eq!(names(&server, "NEW"), ["F"]);
    assert!(names(&server, "OLD").is_empty());
}

#[test]
fn a_create_under_an_open_file_is_refused() {
    let server = TestServer::new();
    server.fs.add_file("F", b"").unwrap();
    let mut client = server.client(NT);
    let file = client.nt_create("F", ALL_ACCESS, (OPEN, 0)).ok();
    create_under(&mut client, fid_of(&file), "G").refused(Status::INVALID_HANDLE);
}

/// Replaces the folder `OLD` by another one of that name; the old one becomes `NEW`.
fn replace_folder(client: &mut TestClient, server: &TestServer) {
    client.paths(c::RENAME, &[0x16], &["\\OLD", "\\NEW"]).ok();
    server.fs.add_file("OLD/WRONG", b"").unwrap();
}

fn with_a_full_folder() -> TestServer {
    let server = TestServer::new();
    for number in 0..20 {
        server.fs.add_file(&format!("OLD/F{number}"), b"").unwrap();
    }
    server
}

#[test]
fn a_find_first2_search_does_not_continue_in_another_folder_of_the_same_name() {
    let server = with_a_full_folder();
    let mut client = server.client(NT);
    let mut first: Vec<u8> = [0x16u16, 5, 0, 0x101]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    first.extend([0; 4]);
    first.extend(client.string("\\OLD\\*", 0));
    let found = client.trans2(0x01, &first, b"").ok();
    let sid = u16::from_le_bytes([found.parameters[0], found.parameters[1]]);
    let mut next: Vec<u8> = [sid, 5, 0x101, 0, 0, 8]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    next.extend(client.string("", 0));
    client.trans2(0x02, &next, b"").ok();
    replace_folder(&mut client, &server);
    let end = client.trans2(0x02, &next, b"");
    end.refused(Status::OBJECT_PATH_NOT_FOUND);
}

#[test]
fn a_core_search_does_not_continue_in_another_folder_of_the_same_name() {
    let server = with_a_full_folder();
    let mut client = server.client("PC NETWORK PROGRAM 1.0");
    let first = client.request(c::SEARCH, &[5, 0x16], b"\x04\\OLD\\*.*\0\x05\0\0");
    let first = first.ok().bytes();
    let key = &first[3 + 4 * 43..3 + 4 * 43 + 21];
    let next = [b"\x04\0\x05\x15\0", key].concat();
    client.request(c::SEARCH, &[5, 0x16], &next).ok();
    replace_folder(&mut client, &server);
    let end = client.request(c::SEARCH, &[5, 0x16], &next);
    end.refused(Status::OBJECT_PATH_NOT_FOUND);
}
