//! Changes of names wait up to a second for conflicting opens to close, as opens do (KB150384); a file marked for
//! deletion is deleted at its last close.

use super::*;

const READ: u32 = 0x0012_0089;

/// Posts a core command with these paths; the server does not answer it at once.
fn post(client: &mut TestClient, command: u8, paths: &[&str]) -> coax_wire::header::Mid {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.push(4);
        let text = client.string(path, 32 + 1 + 2 + 2 + bytes.len());
        bytes.extend(text);
    }
    let mid = client.post(command, &block(&[0], &bytes));
    assert!(client.answer().is_none(), "the reply was sent too early");
    mid
}

fn refused_in_the_end(client: &mut TestClient, command: u8, paths: &[&str]) {
    post(client, command, paths);
    client.pass(Span::from_millis(999));
    assert!(client.answer().is_none());
    client.pass(Span::from_millis(1));
    let answer = client.answer().unwrap();
    answer.refused(Status::SHARING_VIOLATION);
}

#[test]
fn a_delete_and_a_rename_wait_for_the_close_and_are_refused_after_a_second() {
    for (command, paths, left) in [
        (c::DELETE, &["A"][..], &["B"][..]),
        (c::RENAME, &["A", "C"], &["B", "C"]),
        (c::DELETE, &["*"], &[]),
    ] {
        let server = with_files(&["A", "B"]);
        let (mut one, mut two) = (server.client(LANMAN), server.client(NT));
        let fid = one.open("A");
        if command == c::DELETE && paths == ["*"] {
            post(&mut two, command, paths);
            assert_eq!(names(&server, ""), ["A", "B"], "no reply may be sent yet");
        } else {
            refused_in_the_end(&mut two, command, paths);
            post(&mut two, command, paths);
        }
        one.close(fid).ok();
        two.answer().unwrap().ok();
        assert_eq!(names(&server, ""), left);
    }
}

#[test]
fn a_folder_that_another_client_has_open_is_removed_after_the_close() {
    let server = with_files(&[]);
    server.fs.add_dir("D").unwrap();
    let (mut one, mut two) = (server.client(NT), server.client(NT));
    let fid = nt_open(&mut one, "D", READ, 3, 1);
    let path = two.string("D", 32 + 1 + 2 + 1);
    two.post(
        c::DELETE_DIRECTORY,
        &block(&[], &[&[4], &path[..]].concat()),
    );
    assert!(two.answer().is_none());
    one.close(fid).ok();
    two.answer().unwrap().ok();
    assert!(names(&server, "").is_empty());
}

#[test]
fn a_dos_client_is_refused_at_once_if_it_has_the_file_open_itself() {
    let server = with_files(&["A"]);
    let mut client = server.client(LM21);
    client.open("A");
    client
        .paths(c::DELETE, &[0], &["A"])
        .refused(Status::SHARING_VIOLATION);
}

#[test]
fn a_waiting_delete_that_is_cancelled_is_a_sharing_violation_and_leaves_nothing_behind() {
    let server = with_files(&["A"]);
    let (mut one, mut two) = (server.client(LANMAN), server.client(NT));
    let fid = one.open("A");
    let mid = post(&mut two, c::DELETE, &["A"]);
    two.post_as(mid, c::NT_CANCEL, &block(&[], b""));
    let answer = two.answer().unwrap();
    answer.refused(Status::SHARING_VIOLATION);
    one.close(fid).ok();
    assert!(two.answer().is_none());
    assert_eq!(names(&server, ""), ["A"]);
}

#[test]
fn openers_decide_whether_a_file_can_be_renamed_and_keep_access_to_it() {
    let server = with_files(&["A"]);
    let (mut one, mut two) = (server.client(NT), server.client(NT));
    let fid = nt_open(&mut one, "A", READ, 3, 0);
    refused_in_the_end(&mut two, c::RENAME, &["A", "B"]);
    one.close(fid).ok();
    let fid = nt_open(&mut one, "A", READ, 7, 0);
    two.paths(c::RENAME, &[0], &["A", "B"]).ok();
    let share = crate::table::ShareId(1);
    assert!(
        server
            .server
            .locked(|tables| tables.is_open_path(share, "B"))
    );
    one.close(fid).ok();
}

#[test]
fn a_disconnect_deletes_the_clients_delete_on_close_files() {
    let server = with_files(&["a"]);
    let mut client = server.client(NT);
    nt_open(&mut client, "a", 0x0001_0000, 7, 0x1000);
    let now = client.now;
    client.conn.handle_disconnect(now);
    assert!(names(&server, "").is_empty());
}

#[test]
fn a_rename_by_set_path_information_waits_too() {
    const RENAME_INFORMATION: u16 = 0x3f2;
    let server = with_files(&["A"]);
    let (mut one, mut two) = (server.client(NT), server.client(NT));
    for (name, closes) in [("B", true), ("C", false)] {
        let old = names(&server, "").remove(0);
        let fid = nt_open(&mut one, &old, READ, 3, 0);
        let new = coax_wire::codepage::utf16::encode(name);
        let data = [&[0; 8][..], &(new.len() as u32).to_le_bytes(), &new].concat();
        let parameters = two.path_parameters(RENAME_INFORMATION, &old);
        two.post_trans2(0x06, &parameters, &data);
        assert!(two.answer().is_none(), "waits");
        if closes {
            one.close(fid).ok();
            two.answer().unwrap().ok();
        } else {
            two.pass(Span::from_secs(1));
            two.answer().unwrap().refused(Status::SHARING_VIOLATION);
        }
        assert_eq!(names(&server, ""), ["B"]);
    }
}

#[test]
fn a_waiting_request_is_cancelled_by_a_log_off_or_a_tree_disconnect() {
    for (command, block) in [
        (c::LOGOFF_ANDX, block(&[0xff, 0], b"")),
        (c::TREE_DISCONNECT, block(&[], b"")),
    ] {
        let server = with_files(&["A"]);
        let mut client = server.client(NT);
        client.open("A");
        let waiting = post(&mut client, c::DELETE, &["A"]);
        let leaving = client.post(command, &block);
        let (first, second) = (client.answer().unwrap(), client.answer().unwrap());
        assert_eq!((first.header.mid, second.header.mid), (waiting, leaving));
        first.refused(Status::CANCELLED);
        second.ok();
        assert!(client.answer().is_none());
        assert_eq!(client.conn.held().opens, 0);
        assert_eq!(
            names(&server, ""),
            ["A"],
            "no remaining client has the right to delete it"
        );
    }
}
