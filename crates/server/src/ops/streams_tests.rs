use super::*;
use crate::{
    config::Config,
    share::ShareOptions,
    table::access,
    testkit::{Answer, TestClient, TestServer},
    vfs::Vfs,
};
use coax_wire::codepage::utf16;
use coax_wire::{status::Status, time::Span};

const OPEN: u32 = 1;
const CREATE: u32 = 2;
const OPEN_IF: u32 = 3;
const OVERWRITE: u32 = 4;
const ALL: u32 = 0x0013_019f;

fn server() -> TestServer {
    let options = ShareOptions {
        streams: true,
        ..ShareOptions::default()
    };
    let config = Config {
        sharing_violation_delay: Span::from_secs(0),
        ..Config::default()
    };
    TestServer::with(config, options)
}

fn fid(answer: Answer) -> u16 {
    let answer = answer.ok();
    u16::from_le_bytes([answer.message[38], answer.message[39]])
}

/// Opens with all rights, sharing everything.
fn open(client: &mut TestClient, path: &str, disposition: u32) -> u16 {
    fid(client.nt_create(path, ALL, (disposition, 0)))
}

fn write(client: &mut TestClient, fid: u16, offset: u32, data: &[u8]) -> Answer {
    let mut bytes = alloc::vec![1];
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.extend(data);
    let (low, high) = (offset as u16, (offset >> 16) as u16);
    client.request(0x0b, &[fid, data.len() as u16, low, high, 0], &bytes)
}

fn read(client: &mut TestClient, fid: u16) -> Vec<u8> {
    let answer = client.request(0x0a, &[fid, 1000, 0, 0, 0], b"").ok();
    answer.bytes()[3..].to_vec()
}

/// Creates a stream with these contents and closes it.
fn put(client: &mut TestClient, path: &str, data: &[u8]) {
    let fid = open(client, path, OPEN_IF);
    write(client, fid, 0, data).ok();
    client.close(fid).ok();
}

/// Names and lengths of FileStreamInformation.
fn listed(client: &mut TestClient, path: &str) -> Vec<(String, u64)> {
    let answer = client.query_path(0x109, path).ok();
    let (mut at, mut found) = (0, Vec::new());
    while !answer.data.is_empty() {
        let len = answer.u32(at + 4) as usize;
        let name = utf16::decode(&answer.data[at + 24..at + 24 + len]);
        found.push((name, answer.u64(at + 8)));
        match answer.u32(at) {
            0 => break,
            next => at += next as usize,
        }
    }
    found
}

fn rename_to(client: &mut TestClient, fid: u16, name: &str, replace: bool) -> Answer {
    let name = utf16::encode(name);
    let mut data = alloc::vec![u8::from(replace), 0, 0, 0, 0, 0, 0, 0];
    data.extend((name.len() as u32).to_le_bytes());
    data.extend(name);
    client.set_fid(1010, fid, &data)
}

#[test]
fn streams_are_refused_and_not_announced_on_shares_without_streams() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let refused = client.nt_create("\\F:one", ALL, (OPEN_IF, 0));
    refused.refused(Status::OBJECT_NAME_INVALID);
    let attributes = |client: &mut TestClient| client.trans2(3, &[5, 1], b"").ok().u32(0);
    assert_eq!(attributes(&mut client) & 0x0004_0000, 0);
    let mut client = server().client("NT LM 0.12");
    assert_eq!(attributes(&mut client) & 0x0004_0000, 0x0004_0000);
}

#[test]
fn a_stream_is_found_in_any_case_and_stored_in_sambas_format() {
    let server = server();
    let mut client = server.client("NT LM 0.12");
    put(&mut client, "\\F:One", b"hello");
    let fid = open(&mut client, "\\f:ONE:$DATA", OPEN);
    write(&mut client, fid, 5, b" there").ok();
    assert_eq!(read(&mut client, fid), b"hello there");
    let kept = server
        .fs
        .attribute("F", "user.DosStream.One:$DATA")
        .unwrap();
    assert_eq!(kept, b"hello there\0");
    assert_eq!(server.fs.contents("F").unwrap(), b"");
}

#[test]
fn a_stream_list_contains_the_data_and_each_stream_with_its_length() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F", b"data");
    put(&mut client, "\\F:b", b"12");
    put(&mut client, "\\F:a", b"");
    let list = listed(&mut client, "\\F");
    let expected = [("::$DATA", 4), (":a:$DATA", 0), (":b:$DATA", 2)];
    assert_eq!(
        list,
        expected.map(|(name, size)| (String::from(name), size))
    );
    client.paths(0x00, &[], &["\\D"]).ok();
    assert!(listed(&mut client, "\\D").is_empty());
    put(&mut client, "\\D:x", b"1");
    assert_eq!(listed(&mut client, "\\D"), [(":x:$DATA".into(), 1)]);
}

#[test]
fn a_folder_has_no_data_stream_and_no_stream_is_a_folder() {
    let mut client = server().client("NT LM 0.12");
    client.paths(0x00, &[], &["\\D"]).ok();
    let as_file = client.nt_create("\\D::$DATA", ALL, (OPEN, 0));
    as_file.refused(Status::FILE_IS_A_DIRECTORY);
    for path in ["\\D::$DATA", "\\D:x", "\\F:x"] {
        let as_folder = client.nt_create(path, ALL, (OPEN_IF, 1));
        as_folder.refused(Status::NOT_A_DIRECTORY);
    }
}

#[test]
fn extended_attributes_belong_to_the_file_and_not_to_its_streams() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F:a", b"12");
    client
        .query_path(4, "\\F:a")
        .refused(Status::INVALID_PARAMETER);
    assert_eq!(client.query_path(4, "\\F").ok().u32(0), 4, "an empty list");
    let fid = open(&mut client, "\\F:a", OPEN);
    let list = b"\x0c\0\0\0\0\x01\x01\0E\0xx";
    client
        .set_fid(2, fid, list)
        .refused(Status::INVALID_PARAMETER);
}

#[test]
fn a_file_is_not_deleted_while_an_open_of_its_stream_does_not_share_deletion() {
    let server = server();
    let mut client = server.client("NT LM 0.12");
    put(&mut client, "\\F:a", b"12");
    let held = fid(nt_create_sharing(&mut client, "\\F:a", 3));
    client
        .paths(0x06, &[0], &["\\F"])
        .refused(Status::SHARING_VIOLATION);
    client
        .nt_create("\\F", access::DELETE, (OPEN, 0))
        .refused(Status::SHARING_VIOLATION);
    fid(nt_create_sharing(&mut client, "\\F", 0));
    let same = nt_create_sharing(&mut client, "\\F:a", 0);
    same.refused(Status::SHARING_VIOLATION);
    fid(nt_create_sharing(&mut client, "\\F:b", 0));
    client.close(held).ok();
}

/// Opens for reading, or creates, with the given sharing.
fn nt_create_sharing(client: &mut TestClient, path: &str, sharing: u32) -> Answer {
    nt_create_with(client, path, 0, sharing)
}

fn nt_create_with(client: &mut TestClient, path: &str, flags: u32, sharing: u32) -> Answer {
    let mut block = alloc::vec![24, 0xff, 0, 0, 0, 0];
    let name = client.string(path, 83);
    block.extend((name.len() as u16).to_le_bytes());
    for field in [flags, 0, 3, 0, 0, 0, sharing, OPEN_IF, 0, 2] {
        block.extend(u32::to_le_bytes(field));
    }
    block.push(0);
    block.extend((name.len() as u16).to_le_bytes());
    block.extend(name);
    client.send_block(0xa2, &block)
}

#[test]
fn a_deleted_file_stays_until_its_last_stream_is_closed() {
    let server = server();
    let mut client = server.client("NT LM 0.12");
    put(&mut client, "\\F:a", b"12");
    let held = open(&mut client, "\\F:a", OPEN);
    client.paths(0x06, &[0], &["\\F"]).ok();
    assert_eq!(read(&mut client, held), b"12");
    for path in ["\\F", "\\F:a", "\\F:b"] {
        let again = client.nt_create(path, ALL, (OPEN_IF, 0));
        again.refused(Status::DELETE_PENDING);
    }
    client
        .query_path(0x101, "\\F:a")
        .refused(Status::DELETE_PENDING);
    assert!(server.fs.stat("F").is_ok());
    client.close(held).ok();
    assert_eq!(server.fs.stat("F"), Err(VfsError::NotFound));
    let left = server.server.locked(|tables| tables.census());
    assert_eq!((left.opens, left.files), (0, 0));
}

#[test]
fn a_stream_is_deleted_without_its_file_at_once_or_at_its_close() {
    let server = server();
    let mut client = server.client("NT LM 0.12");
    for name in ["\\F:a", "\\F:b", "\\F:c"] {
        put(&mut client, name, b"12");
    }
    client.paths(0x06, &[0], &["\\F:A"]).ok();
    client
        .paths(0x06, &[0], &["\\F:a"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
    const DELETE_ON_CLOSE: u32 = 0x1000;
    let held = fid(client.nt_create("\\F:b", ALL, (OPEN, DELETE_ON_CLOSE)));
    client.close(held).ok();
    let held = open(&mut client, "\\F:c", OPEN);
    client.set_fid(0x102, held, &[1]).ok();
    assert_eq!(listed(&mut client, "\\F").len(), 2);
    client.close(held).ok();
    assert_eq!(listed(&mut client, "\\F"), [("::$DATA".into(), 0)]);
}

#[test]
fn overwriting_a_file_removes_its_streams_and_overwriting_a_stream_only_its_contents() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F:a", b"12");
    put(&mut client, "\\F:b", b"34");
    let stream = open(&mut client, "\\F:a", OVERWRITE);
    assert_eq!(read(&mut client, stream), b"");
    client.close(stream).ok();
    assert_eq!(listed(&mut client, "\\F").len(), 3);
    let file = open(&mut client, "\\F", OVERWRITE);
    client.close(file).ok();
    assert_eq!(listed(&mut client, "\\F").len(), 1);
}

#[test]
fn an_open_stream_can_be_renamed_but_only_over_an_empty_and_closed_one() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F:full", b"12");
    put(&mut client, "\\F:empty", b"");
    put(&mut client, "\\F:old", b"345");
    let held = open(&mut client, "\\F:old", OPEN);
    rename_to(&mut client, held, ":new", false).ok();
    rename_to(&mut client, held, ":full", false).refused(Status::OBJECT_NAME_COLLISION);
    rename_to(&mut client, held, ":full", true).refused(Status::INVALID_PARAMETER);
    let empty = open(&mut client, "\\F:empty", OPEN);
    rename_to(&mut client, held, ":empty", true).refused(Status::INVALID_PARAMETER);
    client.close(empty).ok();
    rename_to(&mut client, held, ":Empty", true).ok();
    rename_to(&mut client, held, "plain", true).refused(Status::INVALID_PARAMETER);
    write(&mut client, held, 3, b"6").ok();
    let list = listed(&mut client, "\\F");
    let expected = [("::$DATA", 0), (":Empty:$DATA", 4), (":full:$DATA", 2)];
    assert_eq!(
        list,
        expected.map(|(name, size)| (String::from(name), size))
    );
    rename_to(&mut client, held, "::$DATA", true).ok();
    assert_eq!(read(&mut client, held), b"3456");
    let list = listed(&mut client, "\\F");
    let expected = [("::$DATA", 4), (":full:$DATA", 2)];
    assert_eq!(
        list,
        expected.map(|(name, size)| (String::from(name), size))
    );
    client.close(held).ok();
}

#[test]
fn a_stream_that_others_have_open_cannot_be_renamed() {
    let server = server();
    let (mut one, mut two) = (server.client("NT LM 0.12"), server.client("NT LM 0.12"));
    put(&mut one, "\\F:old", b"345");
    let held = open(&mut one, "\\F:old", OPEN);
    let other = open(&mut two, "\\F:old", OPEN);
    rename_to(&mut one, held, ":new", false).refused(Status::SHARING_VIOLATION);
    assert_eq!(read(&mut two, other), b"345");
}

#[test]
fn streams_are_renamed_by_path_to_names_that_begin_with_a_colon() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F:old", b"345");
    put(&mut client, "\\G", b"");
    let mut rename = |old: &str, new: &str| client.paths(0x07, &[0x16], &[old, new]);
    rename("\\F:old", "\\F:new").refused(Status::INVALID_PARAMETER);
    rename("\\F:old", "\\H").refused(Status::INVALID_PARAMETER);
    rename("\\F:old", "::$DATA").refused(Status::OBJECT_NAME_COLLISION);
    rename("\\G", "\\F:new").refused(Status::OBJECT_NAME_INVALID);
    rename("\\F:none", ":new").refused(Status::OBJECT_NAME_NOT_FOUND);
    rename("\\F:old", ":new").ok();
    let list = listed(&mut client, "\\F");
    assert_eq!(list[1], (":new:$DATA".into(), 3));
}

#[test]
fn a_folder_with_an_open_stream_is_renamed_and_the_stream_stays_usable() {
    let mut client = server().client("NT LM 0.12");
    client.paths(0x00, &[], &["\\D"]).ok();
    let held = open(&mut client, "\\D:x", CREATE);
    client.paths(0x07, &[0x16], &["\\D", "\\E"]).ok();
    write(&mut client, held, 0, b"12").ok();
    let name = client.query_fid(0x104, held).ok();
    assert_eq!(utf16::decode(&name.data[4..]), "\\E:x");
    client.close(held).ok();
    assert_eq!(listed(&mut client, "\\E"), [(":x:$DATA".into(), 2)]);
}

#[test]
fn a_stream_longer_than_an_attribute_fails_with_disk_full_and_is_unchanged() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F:a", b"12");
    let held = open(&mut client, "\\F:a", OPEN);
    write(&mut client, held, 65_530, b"123456").refused(Status::DISK_FULL);
    client
        .set_fid(0x104, held, &65_536u64.to_le_bytes())
        .refused(Status::DISK_FULL);
    assert_eq!(read(&mut client, held), b"12");
    client.set_fid(0x104, held, &65_535u64.to_le_bytes()).ok();
    assert_eq!(listed(&mut client, "\\F")[1].1, 65_535);
}

#[test]
fn attributes_set_through_a_stream_change_the_file_and_read_only_covers_its_streams() {
    let mut client = server().client("NT LM 0.12");
    put(&mut client, "\\F:a", b"12");
    let held = open(&mut client, "\\F:a", OPEN);
    let mut basic = alloc::vec![0; 40];
    basic[32] = 1;
    client.set_fid(0x101, held, &basic).ok();
    client.close(held).ok();
    assert_eq!(client.query_path(0x101, "\\F").ok().u32(32), 1);
    for path in ["\\F:a", "\\F:new"] {
        let refused = client.nt_create(path, access::WRITE_DATA, (OPEN_IF, 0));
        refused.refused(Status::ACCESS_DENIED);
    }
    client
        .paths(0x06, &[0], &["\\F:a"])
        .refused(Status::CANNOT_DELETE);
}

#[test]
fn an_extended_reply_reports_whether_a_file_has_attributes_and_streams() {
    let mut client = server().client("NT LM 0.12");
    let mut status = |path: &str, flags: u32| {
        let answer = nt_create_with(&mut client, path, flags, 7).ok();
        let status = u16::from_le_bytes([answer.message[98], answer.message[99]]);
        let fid = fid(answer);
        client.close(fid).ok();
        status
    };
    const EXTENDED: u32 = 0x10;
    assert_eq!((status("\\F", 0), status("\\F", EXTENDED)), (0, 7));
    status("\\F:a", 0);
    assert_eq!(status("\\F", EXTENDED), 5);
    let list = b"\x0c\0\0\0\0\x01\x02\0E\0xx";
    client.set_path(2, "\\F", list).ok();
    let answer = nt_create_with(&mut client, "\\F", EXTENDED, 7).ok();
    assert_eq!(answer.message[98], 4);
}
