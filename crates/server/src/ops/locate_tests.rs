//! Finding files with old clients' spellings.

use crate::{testkit::TestServer, vfs::Vfs};
use coax_wire::{command as c, status::Status};

const CORE: &str = "PC NETWORK PROGRAM 1.0";

#[test]
fn a_file_is_found_in_any_case_and_through_folders_in_any_case() {
    let server = TestServer::new();
    server.fs.add_dir("Games").unwrap();
    server.fs.add_file("Games/Doom.wad", b"x").unwrap();
    let mut client = server.client(CORE);
    client
        .paths(c::OPEN, &[0, 0x16], &["\\GAMES\\DOOM.WAD"])
        .ok();
    client
        .paths(c::OPEN, &[0, 0x16], &["\\GAMES\\QUAKE.PAK"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::OPEN, &[0, 0x16], &["\\NONE\\DOOM.WAD"])
        .refused(Status::OBJECT_PATH_NOT_FOUND);
}

#[test]
fn a_long_name_is_found_by_its_8_3_name_and_by_no_other() {
    let server = TestServer::new();
    server
        .fs
        .add_file("A very long file name.text", b"x")
        .unwrap();
    let mut client = server.client(CORE);
    client.paths(c::OPEN, &[0, 0x16], &["AVERYL~1.TEX"]).ok();
    client
        .paths(c::OPEN, &[0, 0x16], &["AVERYL~2.TEX"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn a_file_created_or_removed_by_another_program_is_found_or_missed_at_once() {
    let server = TestServer::new();
    server.fs.add_file("First.txt", b"").unwrap();
    let mut client = server.client(CORE);
    client.paths(c::OPEN, &[0, 0x16], &["FIRST.TXT"]).ok();
    server
        .fs
        .set_time(crate::vfs::FsTime(crate::testkit::NOW.0 as i64 + 1_000));
    server.fs.add_file("Second.txt", b"").unwrap();
    let opened = client.paths(c::OPEN, &[0, 0x16], &["SECOND.TXT"]).ok();
    client.close(opened.word(0)).ok();
    client
        .paths(c::CREATE_NEW, &[0, 0, 0], &["second.TXT"])
        .refused(Status::OBJECT_NAME_COLLISION);
    server
        .fs
        .set_time(crate::vfs::FsTime(crate::testkit::NOW.0 as i64 + 2_000));
    server.fs.remove_file("Second.txt").unwrap();
    client
        .paths(c::OPEN, &[0, 0x16], &["SECOND.TXT"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    client
        .paths(c::CREATE_NEW, &[0, 0, 0], &["second.TXT"])
        .ok();
    assert!(server.fs.contents("second.TXT").is_ok());
    client.paths(c::OPEN, &[0, 0x16], &["First.txt"]).ok();
}

#[test]
fn the_server_reads_a_folder_once_however_many_files_it_creates_and_looks_up_there() {
    use crate::memfs::Call;
    let server = TestServer::new();
    let mut client = server.client(CORE);
    client
        .paths(c::OPEN, &[0, 0x16], &["NONE"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    server.fs.reset_calls();
    for number in 0..50 {
        let name = std::format!("File{number}");
        let fid = client
            .paths(c::CREATE_NEW, &[0, 0, 0], &[&name])
            .ok()
            .word(0);
        client.close(fid).ok();
        client
            .paths(c::OPEN, &[0, 0x16], &[&name.to_uppercase()])
            .ok();
    }
    assert_eq!(server.fs.calls(Call::Names), 0);
}
