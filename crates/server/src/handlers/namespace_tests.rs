//! Creating, deleting and renaming, in all dialects with these commands.

use crate::{
    memfs::{Call, Fault},
    names::attributes::DosAttrib,
    testkit::{Answer, TestClient, TestServer, block},
    vfs::{FsTime, OpenHow, SetTimes, Vfs, VfsError},
};
use coax_wire::{command as c, status::Status, time::Span};
use std::{format, string::String, vec, vec::Vec};

const CORE: &str = "PC NETWORK PROGRAM 1.0";
const LANMAN: &str = "LANMAN1.0";
const LM21: &str = "DOS LANMAN2.1";
const NT: &str = "NT LM 0.12";

fn names(server: &TestServer, folder: &str) -> Vec<String> {
    let mut names = server.fs.open_dir(folder).unwrap().names().unwrap();
    names.sort();
    names
}

fn with_files(files: &[&str]) -> TestServer {
    let server = TestServer::new();
    for file in files {
        server.fs.add_file(file, file.as_bytes()).unwrap();
    }
    server
}

fn set_attributes(server: &TestServer, path: &str, attributes: u32) {
    let blob = DosAttrib {
        attributes: crate::names::attributes::Attributes(attributes),
        created: None,
    }
    .encode();
    let how = OpenHow {
        read: true,
        ..OpenHow::default()
    };
    let (file, _) = server.fs.open(path, how).unwrap();
    file.set_attribute(DosAttrib::NAME, &blob).unwrap();
}

/// NT_CREATE_ANDX of an existing file or folder. Returns the FID.
fn nt_open(client: &mut TestClient, path: &str, access: u32, share: u16, options: u32) -> u16 {
    let reply = nt_create(client, path, access, share, options, 1, 0).ok();
    let bytes = reply.block().words.to_vec();
    u16::from_le_bytes([bytes[5], bytes[6]])
}

fn nt_create(
    client: &mut TestClient,
    path: &str,
    access: u32,
    share: u16,
    options: u32,
    disposition: u32,
    attributes: u32,
) -> Answer {
    let mut words = [0u8; 48];
    words[0] = 0xff;
    let name = client.string(path, 1);
    words[5..7].copy_from_slice(&((name.len() - 3) as u16).to_le_bytes());
    words[7..11].copy_from_slice(&0u32.to_le_bytes());
    words[15..19].copy_from_slice(&access.to_le_bytes());
    words[31..33].copy_from_slice(&share.to_le_bytes());
    words[27..31].copy_from_slice(&attributes.to_le_bytes());
    words[35..39].copy_from_slice(&disposition.to_le_bytes());
    words[39..43].copy_from_slice(&options.to_le_bytes());
    let words: Vec<u16> = words
        .chunks(2)
        .map(|c| u16::from_le_bytes([c[0], c[1]]))
        .collect();
    client.request(c::NT_CREATE_ANDX, &words, &name)
}

#[test]
fn folders_are_made_checked_and_removed_in_every_generation() {
    for dialect in [CORE, LANMAN, LM21, NT] {
        let server = TestServer::new();
        let mut client = server.client(dialect);
        client.paths(c::CREATE_DIRECTORY, &[], &["\\DATA"]).ok();
        client
            .paths(c::CREATE_DIRECTORY, &[], &["\\data\\SUB"])
            .ok();
        client.paths(c::CHECK_DIRECTORY, &[], &["\\DATA\\SUB"]).ok();
        client
            .paths(c::DELETE_DIRECTORY, &[], &["\\DATA"])
            .refused(Status::DIRECTORY_NOT_EMPTY);
        client
            .paths(c::DELETE_DIRECTORY, &[], &["\\DATA\\Sub\\"])
            .ok();
        client.paths(c::DELETE_DIRECTORY, &[], &["\\DATA"]).ok();
        assert!(names(&server, "").is_empty(), "{dialect}");
    }
}

/// The error of a command for each path: the DOS code of a core client, the NTSTATUS of an NT client.
fn assert_refused(server: &TestServer, command: u8, cases: &[(&str, u32, Status)]) {
    let (core, nt) = (&mut server.client(CORE), &mut server.client(NT));
    for (path, code, status) in cases {
        assert_eq!(
            core.paths(command, &[], &[*path]).status(),
            code << 16 | 1,
            "{path}"
        );
        nt.paths(command, &[], &[*path]).refused(*status);
    }
}

#[test]
fn folder_errors_use_each_clients_status_codes() {
    let server = with_files(&["FILE"]);
    let create = [
        ("\\FILE", 5, Status::OBJECT_NAME_COLLISION),
        ("\\NONE\\X", 3, Status::OBJECT_PATH_NOT_FOUND),
        ("\\..\\X", 3, Status::OBJECT_PATH_SYNTAX_BAD),
    ];
    assert_refused(&server, c::CREATE_DIRECTORY, &create);
    let delete = [
        ("\\NONE", 3, Status::OBJECT_NAME_NOT_FOUND),
        ("\\FILE", 3, Status::NOT_A_DIRECTORY),
        ("\\", 5, Status::ACCESS_DENIED),
    ];
    assert_refused(&server, c::DELETE_DIRECTORY, &delete);
    let check = [
        ("\\NONE", 3, Status::OBJECT_NAME_NOT_FOUND),
        ("\\FILE", 3, Status::NOT_A_DIRECTORY),
        ("\\NONE\\X", 3, Status::OBJECT_PATH_NOT_FOUND),
        ("\\A|B", 3, Status::OBJECT_NAME_INVALID),
        ("..", 3, Status::OBJECT_PATH_SYNTAX_BAD),
    ];
    assert_refused(&server, c::CHECK_DIRECTORY, &check);
}

#[test]
fn an_nt_client_without_nt_statuses_gets_the_dos_codes_of_nt_servers() {
    let server = with_files(&["A", "B"]);
    let mut client = server.client(NT);
    client.header.flags2.0 &= !coax_wire::header::Flags2::NT_STATUS;
    let code = |status: u32| status >> 16;
    let reply = client.paths(c::RENAME, &[0], &["A", "B"]);
    assert_eq!(code(reply.status()), 183);
    let reply = client.paths(c::CREATE_DIRECTORY, &[], &["A"]);
    assert_eq!(code(reply.status()), 5);
    let reply = client.paths(c::CHECK_DIRECTORY, &[], &[".."]);
    assert_eq!(code(reply.status()), 161);
    let reply = client.paths(c::CHECK_DIRECTORY, &[], &["A\t"]);
    assert_eq!(code(reply.status()), 3);
    let reply = client.paths(c::DELETE, &[0], &["A\t"]);
    assert_eq!(code(reply.status()), 123);
}

#[test]
fn del_star_dot_star_empties_a_folder_of_a_thousand_files_in_linear_time() {
    let mut calls = Vec::new();
    for count in [100, 1_000] {
        let server = TestServer::new();
        for n in 0..count {
            server
                .fs
                .add_file(&format!("TMP/FILE{n:04}.TXT"), b"x")
                .unwrap();
        }
        server.fs.add_dir("TMP/KEEP").unwrap();
        let mut client = server.client(CORE);
        client
            .paths(c::DELETE, &[0x16], &["\\TMP\\????????.???"])
            .ok();
        assert_eq!(names(&server, "TMP"), ["KEEP"]);
        calls.push([Call::Stat, Call::Open, Call::OpenDir].map(|call| server.fs.calls(call)));
        client
            .paths(c::DELETE, &[0x16], &["\\TMP\\*.*"])
            .refused(Status::NO_SUCH_FILE);
    }
    for (few, many) in calls[0].iter().zip(calls[1]) {
        assert!(many <= few * 10 + 20, "{calls:?}");
    }
}

#[test]
fn delete_patterns_match_as_in_dos() {
    let all = ["A.TXT", "AB.TXT", "ABC.TXT", "README", "X.DOC"];
    let cases: [(&str, &str, &[&str]); 8] = [
        (CORE, "\\*.TXT", &["README", "X.DOC"]),
        (CORE, "\\.T?T", &["README", "X.DOC"]),
        (CORE, "\\*.", &["A.TXT", "AB.TXT", "ABC.TXT", "X.DOC"]),
        (
            CORE,
            "\\??B.*",
            &["A.TXT", "AB.TXT", "ABC.TXT", "README", "X.DOC"],
        ),
        (CORE, "\\A??.*", &["README", "X.DOC"]),
        (LANMAN, "\\AB?.TXT", &["A.TXT", "README", "X.DOC"]),
        (NT, "\\AB?.TXT", &["A.TXT", "AB.TXT", "README", "X.DOC"]),
        (NT, "\\*", &[]),
    ];
    for (dialect, pattern, left) in cases {
        let server = with_files(&all);
        let mut client = server.client(dialect);
        client.paths(c::DELETE, &[0], &[pattern]);
        assert_eq!(names(&server, ""), left, "{dialect} {pattern}");
    }
}

#[test]
fn dos_clients_delete_by_8_3_names_and_others_by_long_ones() {
    let server = with_files(&["Letter to Ann.html", "OLD.HTM"]);
    let mut dos = server.client(LM21);
    let mut nt = server.client(NT);
    nt.paths(c::DELETE, &[0], &["*.htm"]).ok();
    assert_eq!(names(&server, ""), ["Letter to Ann.html"]);
    dos.paths(c::DELETE, &[0], &["\\LETTER*.HTM"]).ok();
    assert!(names(&server, "").is_empty());
}

#[test]
fn hidden_files_are_deleted_only_if_the_search_attributes_include_them() {
    let server = with_files(&["HID", "PLAIN", "DIR/F"]);
    set_attributes(&server, "HID", 2);
    let mut client = server.client(NT);
    client
        .paths(c::DELETE, &[0], &["HID"])
        .refused(Status::NO_SUCH_FILE);
    for search in [0, 0x16] {
        let reply = client.paths(c::DELETE, &[search], &["DIR"]);
        reply.refused(Status::FILE_IS_A_DIRECTORY);
    }
    client.paths(c::DELETE, &[0], &["*"]).ok();
    assert_eq!(names(&server, ""), ["DIR", "HID"]);
    client.paths(c::DELETE, &[2], &["*"]).ok();
    assert_eq!(names(&server, ""), ["DIR"]);
    client
        .paths(c::DELETE, &[0], &["HID"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn a_read_only_file_stops_a_deletion_and_files_before_it_are_gone() {
    let server = with_files(&["A", "B", "C"]);
    set_attributes(&server, "B", 1);
    let mut client = server.client(CORE);
    let reply = client.paths(c::DELETE, &[0], &["\\*.*"]);
    assert_eq!(reply.status(), 5 << 16 | 1);
    assert_eq!(names(&server, ""), ["B", "C"]);
    server
        .client(NT)
        .paths(c::DELETE, &[0], &["B"])
        .refused(Status::CANNOT_DELETE);
}

#[test]
fn an_open_file_is_not_deleted_and_a_disk_that_fails_is_reported() {
    let server = with_files(&["A", "B"]);
    let (mut one, mut two) = (server.client(LANMAN), server.client(NT));
    let fid = one.open("A");
    one.paths(c::DELETE, &[0], &["A"])
        .refused(Status::SHARING_VIOLATION);
    one.close(fid).ok();
    server
        .fs
        .inject(Fault::next(Call::RemoveFile, VfsError::Io(5)));
    two.paths(c::DELETE, &[0], &["A"])
        .refused(Status::UNEXPECTED_IO_ERROR);
    one.open("A");
    two.paths(c::DELETE, &[0], &["B"]).ok();
    assert_eq!(names(&server, ""), ["A"]);
}

#[test]
fn ren_star_a_star_b_renames_them_all() {
    for dialect in [CORE, LM21, NT] {
        let server = with_files(&["ONE.A", "TWO.A", "THREE.C"]);
        let mut client = server.client(dialect);
        client.paths(c::RENAME, &[6], &["\\*.A", "\\*.B"]).ok();
        assert_eq!(
            names(&server, ""),
            ["ONE.B", "THREE.C", "TWO.B"],
            "{dialect}"
        );
        client
            .paths(c::RENAME, &[6], &["\\*.A", "\\*.B"])
            .refused(Status::NO_SUCH_FILE);
        client.paths(c::RENAME, &[6], &["\\T*.*", "\\X*.*"]).ok();
        assert_eq!(
            names(&server, ""),
            ["ONE.B", "XHREE.C", "XWO.B"],
            "{dialect}"
        );
        assert_eq!(server.fs.contents("XWO.B").unwrap(), b"TWO.A");
    }
}

#[test]
fn one_file_gets_no_name_with_the_wildcards_of_nt() {
    let server = with_files(&["A.TXT"]);
    let mut client = server.client(NT);
    for name in ["\\B<", "\\B>", "\\B\"TXT"] {
        let reply = client.paths(c::RENAME, &[0x16], &["\\A.TXT", name]);
        assert_eq!(reply.status(), Status::OBJECT_NAME_INVALID.0, "{name}");
        assert_eq!(names(&server, ""), ["A.TXT"], "{name}");
    }
}

#[test]
fn a_rename_by_pattern_stops_at_the_first_existing_name() {
    let server = with_files(&["A.1", "B.1", "B.2", "C.1"]);
    let mut client = server.client(CORE);
    let reply = client.paths(c::RENAME, &[0], &["*.1", "*.2"]);
    assert_eq!(
        reply.status(),
        5 << 16 | 1,
        "the core protocol has only this error"
    );
    assert_eq!(names(&server, ""), ["A.2", "B.1", "B.2", "C.1"]);
}

#[test]
fn names_are_found_under_their_new_name_in_any_case_and_by_8_3_name_at_once() {
    let server = with_files(&["dir/Long name one.txt", "dir/b"]);
    let mut dos = server.client(LM21);
    let mut nt = server.client(NT);
    dos.paths(
        c::RENAME,
        &[0],
        &["\\DIR\\LONGNA~1.TXT", "\\DIR\\SHORT.TXT"],
    )
    .ok();
    assert_eq!(names(&server, "dir"), ["SHORT.TXT", "b"]);
    nt.paths(
        c::RENAME,
        &[0],
        &["\\dir\\short.txt", "\\DIR\\Again a long one.txt"],
    )
    .ok();
    dos.paths(c::RENAME, &[0], &["\\DIR\\AGAINA~1.TXT", "\\AGAINA~1.TXT"])
        .ok();
    assert_eq!(
        names(&server, ""),
        ["Again a long one.txt", "dir"],
        "a move must keep the long name"
    );
    dos.paths(c::DELETE, &[0], &["\\AGAINA~1.TXT"]).ok();
    assert_eq!(names(&server, ""), ["dir"]);
}

#[test]
fn only_the_case_of_a_name_can_be_changed() {
    let server = with_files(&["test1.txt"]);
    let mut client = server.client(NT);
    client
        .paths(c::RENAME, &[0], &["TEST1.TXT", "TEST1.TXT"])
        .ok();
    assert_eq!(
        names(&server, ""),
        ["test1.txt"],
        "renaming a file to its own name"
    );
    client
        .paths(c::RENAME, &[0], &["test1.txt", "Test1.txt"])
        .ok();
    assert_eq!(names(&server, ""), ["Test1.txt"]);
    client
        .paths(c::RENAME, &[0], &["tesT1.txt", "TEST2.txt"])
        .ok();
    client
        .paths(c::RENAME, &[0], &["test1.txt", "test1.txt"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn renaming_keeps_contents_times_and_attributes() {
    let server = with_files(&["A"]);
    set_attributes(&server, "A", 0x22);
    let how = OpenHow {
        read: true,
        ..OpenHow::default()
    };
    let times = SetTimes {
        modified: Some(FsTime(1_000_000_000)),
        accessed: None,
    };
    server
        .fs
        .open("A", how)
        .unwrap()
        .0
        .set_times(times)
        .unwrap();
    let before = (
        server.fs.stat("A").unwrap(),
        server.fs.attribute("A", DosAttrib::NAME),
    );
    let mut client = server.client(NT);
    client
        .paths(c::RENAME, &[0], &["A", "B"])
        .refused(Status::NO_SUCH_FILE);
    client.paths(c::RENAME, &[2], &["A", "B"]).ok();
    let after = (
        server.fs.stat("B").unwrap(),
        server.fs.attribute("B", DosAttrib::NAME),
    );
    assert_eq!(
        (after.0.modified, after.0.id),
        (before.0.modified, before.0.id)
    );
    assert_eq!(after.1, before.1);
}

#[test]
fn a_folder_is_renamed_unless_it_has_open_files_or_would_contain_itself() {
    let server = with_files(&["d/f", "d/e/g"]);
    let (mut one, mut two) = (server.client(NT), server.client(NT));
    let fid = nt_open(&mut one, "d\\f", 0x0012_0089, 7, 0);
    two.paths(c::RENAME, &[0], &["d", "n"])
        .refused(Status::ACCESS_DENIED);
    one.close(fid).ok();
    two.paths(c::RENAME, &[0], &["d", "d\\e\\d"])
        .refused(Status::ACCESS_DENIED);
    two.paths(c::RENAME, &[0], &["d", "n"]).ok();
    two.paths(c::CHECK_DIRECTORY, &[], &["N\\E"]).ok();
    two.paths(c::CHECK_DIRECTORY, &[], &["D\\E"])
        .refused(Status::OBJECT_PATH_NOT_FOUND);
}

#[test]
fn a_delete_breaks_a_batch_oplock_and_changes_nothing_before_the_acknowledgement() {
    let server = with_files(&["A.X", "B.X", "C.X"]);
    let (mut holder, mut other) = (server.client(LANMAN), server.client(NT));
    let words = [0xff, 0, 6, 0x42, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let fid = holder.request(c::OPEN_ANDX, &words, b"B.X\0").ok().word(2);
    let mut bytes = vec![4];
    bytes.extend(other.string("*.X", 38));
    other.post(c::DELETE, &block(&[0], &bytes));
    assert!(other.answer().is_none());
    assert_eq!(
        names(&server, "").len(),
        3,
        "the open of A.X must wait as well"
    );
    assert_eq!(holder.answer().unwrap().header.command, c::LOCKING_ANDX);
    holder.close(fid).ok();
    other.answer().unwrap().ok();
    assert!(names(&server, "").is_empty());
}

#[test]
fn a_holder_that_never_acknowledges_loses_its_oplock_and_keeps_its_file() {
    let server = with_files(&["B.X"]);
    let (mut holder, mut other) = (server.client(LANMAN), server.client(NT));
    let words = [0xff, 0, 6, 0x42, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    holder.request(c::OPEN_ANDX, &words, b"B.X\0").ok();
    let mut bytes = vec![4];
    bytes.extend(other.string("B.X", 38));
    other.post(c::DELETE, &block(&[0], &bytes));
    other.pass(Span::from_secs(36));
    other.answer().unwrap().refused(Status::SHARING_VIOLATION);
}

#[test]
fn nt_rename_renames_links_and_copies_one_file() {
    let server = with_files(&["a", "d/x"]);
    let mut client = server.client(NT);
    let mut run = |level: u16, old: &str, new: &str| {
        client.paths(c::NT_RENAME, &[0x16, level, 0, 0], &[old, new])
    };
    run(0x104, "a", "b").ok();
    run(0x103, "b", "c").ok();
    run(0x105, "b", "e").ok();
    run(0x104, "*", "x").refused(Status::OBJECT_PATH_SYNTAX_BAD);
    run(0x102, "b", "x").refused(Status::INVALID_PARAMETER);
    run(0x106, "b", "x").refused(Status::ACCESS_DENIED);
    run(0x103, "b", "C").refused(Status::OBJECT_NAME_COLLISION);
    run(0x103, "d", "k").refused(Status::FILE_IS_A_DIRECTORY);
    run(0x104, "d\\x", "").ok();
    assert_eq!(names(&server, ""), ["b", "c", "d", "e", "x"]);
    let id = |path: &str| server.fs.stat(path).unwrap().id;
    assert_eq!((id("b"), server.fs.stat("b").unwrap().links), (id("c"), 2));
    assert_ne!(id("b"), id("e"));
    assert_eq!(server.fs.contents("e").unwrap(), b"a");
}

#[test]
fn users_with_read_access_cannot_change_names() {
    let mut server = with_files(&["A", "D/F"]);
    server.edit(|server| {
        std::sync::Arc::make_mut(&mut server.shares[0])
            .admission
            .read_only = true;
    });
    let mut client = server.client(NT);
    client
        .paths(c::DELETE, &[0], &["*"])
        .refused(Status::ACCESS_DENIED);
    client
        .paths(c::RENAME, &[0], &["A", "B"])
        .refused(Status::ACCESS_DENIED);
    client
        .paths(c::CREATE_DIRECTORY, &[], &["X"])
        .refused(Status::ACCESS_DENIED);
    client
        .paths(c::DELETE_DIRECTORY, &[], &["D"])
        .refused(Status::ACCESS_DENIED);
    client
        .request(
            c::COPY,
            &[0xffff, 0x10, 0],
            &[client_path("A"), client_path("B")].concat(),
        )
        .refused(Status::ACCESS_DENIED);
    client.paths(c::CHECK_DIRECTORY, &[], &["D"]).ok();
}

/// A path of COPY and MOVE: UTF-16LE after one byte of padding or the second half of a terminator.
fn client_path(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect()
}

#[test]
fn a_folder_marked_for_deletion_accepts_no_new_files_and_is_deleted_at_its_close() {
    const ALL: u32 = 0x001f_01ff;
    const DIRECTORY_DELETE_ON_CLOSE: u32 = 0x1001;
    let server = with_files(&["f"]);
    server.fs.add_dir("d").unwrap();
    let (mut one, mut two) = (server.client(NT), server.client(NT));
    two.paths(c::CHECK_DIRECTORY, &[], &["D"]).ok();
    let held = nt_open(&mut one, "d", 0x0012_0089, 7, 1);
    let fid = nt_open(&mut one, "d", ALL, 7, DIRECTORY_DELETE_ON_CLOSE);
    one.close(fid).ok();
    two.paths(c::CREATE_DIRECTORY, &[], &["d\\x"])
        .refused(Status::DELETE_PENDING);
    two.paths(c::RENAME, &[0], &["f", "d\\f"])
        .refused(Status::DELETE_PENDING);
    two.paths(c::CREATE, &[0, 0, 0], &["d\\n"])
        .refused(Status::DELETE_PENDING);
    one.close(held).ok();
    two.paths(c::CHECK_DIRECTORY, &[], &["D"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(names(&server, ""), ["f"]);
}

#[test]
fn a_file_deleted_at_its_close_is_removed_from_its_folders_index() {
    let server = with_files(&["dir/Some long name.txt", "dir/b"]);
    let (mut nt, mut dos) = (server.client(NT), server.client(LM21));
    let found = |dos: &mut TestClient| {
        dos.paths(
            c::RENAME,
            &[0],
            &["\\DIR\\SOMELO~1.TXT", "\\DIR\\SOMELO~1.TXT"],
        )
    };
    found(&mut dos).ok();
    let fid = nt_open(&mut nt, "dir\\Some long name.txt", 0x0001_0000, 7, 0x1000);
    server.fs.reset_calls();
    nt.close(fid).ok();
    found(&mut dos).refused(Status::OBJECT_NAME_NOT_FOUND);
    assert_eq!(
        server.fs.calls(Call::Names),
        0,
        "the index must be up to date"
    );
}

#[test]
fn a_read_only_file_cannot_be_created_with_delete_on_close() {
    let server = with_files(&["old"]);
    let mut client = server.client(NT);
    for (path, disposition) in [("new", 2u32), ("old", 5)] {
        let reply = nt_create(
            &mut client,
            path,
            0x0012_0089 | 0x1_0000,
            7,
            0x1000,
            disposition,
            1,
        );
        reply.refused(Status::CANNOT_DELETE);
    }
    assert_eq!(names(&server, ""), ["old"]);
}

#[path = "copy_tests.rs"]
mod copy;

#[path = "patience_tests.rs"]
mod patience;
