//! DOS programs that save by deleting and recreating a file keep its long name.

use crate::{
    testkit::{TestClient, TestServer},
    vfs::{FsTime, Vfs},
};
use coax_wire::{command as c, status::Status, time::Span};
use std::{string::String, vec::Vec};

const LANMAN: &str = "LANMAN1.0";
const NT: &str = "NT LM 0.12";
const LONG: &str = "A letter to my aunt.text";
const SHORT: &str = "ALETTE~1.TEX";

fn names(server: &TestServer, folder: &str) -> Vec<String> {
    let mut names = server.fs.open_dir(folder).unwrap().names().unwrap();
    names.sort();
    names
}

fn with_letter() -> (TestServer, TestClient) {
    let server = TestServer::new();
    server.fs.add_file(LONG, b"Dear aunt").unwrap();
    let client = server.client(LANMAN);
    (server, client)
}

fn create(client: &mut TestClient, name: &str) {
    let made = client.paths(c::CREATE_NEW, &[0, 0, 0], &[name]).ok();
    client.close(made.word(0)).ok();
}

fn created(client: &mut TestClient, name: &str) -> u64 {
    client.query_path(0x101, name).ok().u64(0)
}

#[test]
fn a_file_deleted_and_recreated_under_its_8_3_name_keeps_its_long_name() {
    let (server, mut client) = with_letter();
    client.paths(c::DELETE, &[0], &[SHORT]).ok();
    client.pass(Span::from_secs(14));
    create(&mut client, SHORT);
    assert_eq!(names(&server, ""), [LONG]);
    client.paths(c::OPEN, &[0, 0x16], &[SHORT]).ok();
}

#[test]
fn a_recreated_file_keeps_its_creation_time_too() {
    let (server, mut client) = with_letter();
    let mut modern = server.client(NT);
    let before = created(&mut modern, LONG);
    let later = FsTime(crate::testkit::NOW.0 as i64 + 5_000_000_000);
    server.fs.set_time(later);
    client.paths(c::DELETE, &[0], &[SHORT]).ok();
    create(&mut client, SHORT);
    assert_eq!(created(&mut modern, LONG), before);
    create(&mut client, "NEW.TXT");
    assert_ne!(created(&mut modern, "NEW.TXT"), before);
}

#[test]
fn the_long_name_is_forgotten_after_fifteen_seconds() {
    let (server, mut client) = with_letter();
    client.paths(c::DELETE, &[0], &[SHORT]).ok();
    client.pass(Span::from_secs(15));
    create(&mut client, SHORT);
    assert_eq!(names(&server, ""), [SHORT]);
}

#[test]
fn an_editor_that_renames_the_old_file_away_and_the_new_one_in_keeps_the_long_name() {
    let (server, mut client) = with_letter();
    create(&mut client, "TEMP.$$$");
    client.paths(c::RENAME, &[0], &[SHORT, "ALETTE~1.BAK"]).ok();
    client.paths(c::RENAME, &[0], &["TEMP.$$$", SHORT]).ok();
    assert_eq!(names(&server, ""), [LONG, "ALETTE~1.BAK"]);
}

#[test]
fn a_folder_and_a_file_in_another_folder_do_not_get_the_long_name() {
    let (server, mut client) = with_letter();
    server.fs.add_dir("SUB").unwrap();
    client.paths(c::DELETE, &[0], &[SHORT]).ok();
    create(&mut client, "SUB\\ALETTE~1.TEX");
    client.paths(c::CREATE_DIRECTORY, &[], &[SHORT]).ok();
    assert_eq!(names(&server, ""), [SHORT, "SUB"]);
    assert_eq!(names(&server, "SUB"), [SHORT]);
}

#[test]
fn a_long_name_in_use_again_is_not_given_to_a_second_file() {
    let (server, mut client) = with_letter();
    client.paths(c::RENAME, &[0], &[SHORT, "LETTER.TXT"]).ok();
    server.fs.add_file(LONG, b"from elsewhere").unwrap();
    server
        .fs
        .set_time(FsTime(crate::testkit::NOW.0 as i64 + 1_000));
    client
        .paths(c::CREATE_NEW, &[0, 0, 0], &[SHORT])
        .refused(Status::OBJECT_NAME_COLLISION);
    assert_eq!(names(&server, ""), [LONG, "LETTER.TXT"]);
}
