//! Names that differ only in case, and names that only local programs can create.

use crate::{
    config::Config,
    share::ShareOptions,
    testkit::{TestClient, TestServer},
    vfs::Vfs,
};
use coax_wire::{
    command as c,
    header::{Flags, Flags2},
    status::Status,
};
use std::{format, string::String, vec::Vec};

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

/// Logs on again as a client with this name; paths are case-sensitive unless `caseless`.
fn introduce(client: &mut TestClient, native: &str, caseless: bool) {
    client.header.flags2.0 &= !Flags2::UNICODE;
    let words = [0xff, 0, 16_644, 50, 1, 0, 0, 0, 0, 0, 0, 0x50, 0];
    let bytes = format!("\0\0Linux version 6.1\0{native}\0");
    let answer = client.request(c::SESSION_SETUP_ANDX, &words, bytes.as_bytes());
    client.header.uid = answer.ok().header.uid;
    client.header.flags = Flags(if caseless { Flags::CASELESS } else { 0 });
}

#[test]
fn a_linux_client_without_nocase_renames_by_case_alone() {
    let server = with_files(&["a.txt"]);
    let mut client = server.client(NT);
    introduce(&mut client, "CIFS VFS Client for Linux", false);
    // mv looks up the new name first. If the server found it, it would be the same file, and the kernel would do
    // nothing.
    client
        .query_path(0x101, "\\A.TXT")
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::RENAME, &[0x16], &["\\a.txt", "\\A.TXT"])
        .ok();
    assert_eq!(names(&server, ""), ["A.TXT"]);
    client
        .query_path(0x101, "\\a.txt")
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn case_counts_only_for_trusted_clients_on_shares_that_let_the_client_decide() {
    let linux = "CIFS VFS Client for Linux";
    for (native, caseless, by_client, found) in [
        (linux, false, true, false),
        (linux, true, true, true),
        (linux, false, false, true),
        ("Windows 4.0", false, true, true),
    ] {
        let options = ShareOptions {
            case_by_client: by_client,
            ..ShareOptions::default()
        };
        let server = TestServer::with(Config::default(), options);
        server.fs.add_file("a.txt", b"").unwrap();
        let mut client = server.client(NT);
        introduce(&mut client, native, caseless);
        let answer = client.query_path(0x101, "\\A.TXT");
        assert_eq!(answer.answer.status() == 0, found, "{native} {caseless}");
    }
}

#[test]
fn a_reserved_name_on_the_disk_is_opened_and_deleted_by_its_alias() {
    for dialect in [NT, "LANMAN1.0", "PC NETWORK PROGRAM 1.0"] {
        let server = with_files(&["aux.txt", "con", "foo.", "trailing "]);
        let mut client = server.client(dialect);
        for alias in ["AUX~1.TXT", "CON~1", "FOO~1", "TRAILI~1"] {
            let fid = client.open(&format!("\\{alias}"));
            client.close(fid).ok();
            client.paths(c::DELETE, &[0], &[alias]).ok();
        }
        assert!(names(&server, "").is_empty(), "{dialect}");
    }
}
