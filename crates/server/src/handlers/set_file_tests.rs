use super::*;
use crate::{
    testkit::{NOW, TestClient, TestServer},
    vfs::{FsTime, Vfs},
};
use coax_wire::{
    info::ea::Ea,
    io::Writer,
    time::{DosDateTime, FileTime, Span, ZoneMinutesWest},
};

const SECOND: i64 = 1_000_000_000;

/// FileBasicInformation of four times (Windows units) and attributes.
fn basic(times: [u64; 4], attributes: u32) -> Vec<u8> {
    let mut out = Writer::default();
    for time in times {
        out.u64(time);
    }
    out.u32(attributes).u32(0);
    out.into_vec()
}

fn hours_ago(hours: i64) -> u64 {
    FileTime::from_unix_ns(NOW.unix_ns() - hours * 3600 * SECOND).0
}

fn write(client: &mut TestClient, fid: u16, data: &[u8]) {
    let mut bytes = vec![1];
    bytes.extend((data.len() as u16).to_le_bytes());
    bytes.extend(data);
    let words = [fid, data.len() as u16, 0, 0, 0];
    client.request(0x0b, &words, &bytes).ok();
}

/// Creation, access, write, change and attributes by path.
fn times(client: &mut TestClient, path: &str) -> ([u64; 4], u32) {
    let got = client.query_path(0x101, path).ok();
    (
        [got.u64(0), got.u64(8), got.u64(16), got.u64(24)],
        got.u32(32),
    )
}

#[test]
fn core_clients_set_attributes_and_time_and_zero_keeps_the_time() {
    let mut client = TestServer::new().client("PC NETWORK PROGRAM 1.0");
    let fid = client.open("\\F");
    client.close(fid).ok();
    let stamp = 1_700_000_000u32;
    let words =
        |attributes: u16, time: u32| [attributes, time as u16, (time >> 16) as u16, 0, 0, 0, 0, 0];
    let query = |client: &mut TestClient| {
        let got = client.paths(0x08, &[], &["\\F"]).ok();
        let time = u32::from(got.word(1)) | u32::from(got.word(2)) << 16;
        (got.word(0), time)
    };
    client.paths(0x09, &words(0x03, stamp), &["\\F"]).ok();
    assert_eq!(query(&mut client), (0x03, stamp));
    client.paths(0x09, &words(0x80, 0), &["\\F"]).ok();
    assert_eq!(
        query(&mut client),
        (0x03, stamp),
        "NORMAL must not change the attributes"
    );
    client.paths(0x09, &words(0, 0), &["\\F"]).ok();
    assert_eq!(
        query(&mut client),
        (0, stamp),
        "0 must clear the attributes"
    );
}

#[test]
fn lan_manager_clients_set_times_through_an_open() {
    let mut client = TestServer::new().client("LANMAN1.0");
    let fid = client.open("\\F");
    let stamp = DosDateTime::from_unix_ns(1_500_000_000 * SECOND, ZoneMinutesWest(0));
    let words = [fid, 0, 0, 0, 0, stamp.date, stamp.time];
    client.request(0x22, &words, b"").ok();
    let got = client.request(0x23, &[fid], b"").ok();
    assert_eq!((got.word(4), got.word(5)), (stamp.date, stamp.time));
    assert_ne!(got.word(0), stamp.date, "the creation time must not change");
    let data = [0, 0, 0, 0, stamp.date, stamp.time]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect::<Vec<_>>();
    client.set_path(1, "\\F", &data).ok();
    let by_level = client.query_path(1, "\\F").ok();
    assert_eq!(
        (by_level.u16(8), by_level.u16(10)),
        (stamp.date, stamp.time)
    );
}

#[test]
fn basic_information_sets_four_times_and_attributes_and_zero_keeps_each() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = client.open("\\F");
    let wanted = [hours_ago(40), hours_ago(30), hours_ago(20), hours_ago(10)];
    client.set_fid(0x101, fid, &basic(wanted, 0x01)).ok();
    assert_eq!(times(&mut client, "\\F"), (wanted, 0x01));
    client.set_fid(1004, fid, &basic([0; 4], 0)).ok();
    assert_eq!(times(&mut client, "\\F"), (wanted, 0x01));
    client.set_path(1004, "\\F", &basic([0; 4], 0x80)).ok();
    assert_eq!(times(&mut client, "\\F"), (wanted, 0x80));
}

#[test]
fn the_change_time_is_the_time_of_last_write_unless_a_client_set_it() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    client.close(fid).ok();
    let hour = |hours| hours_ago(hours);
    // A client unpacks an archive: it sets an old date, and the change time must not be old.
    client
        .set_path(0x101, "\\F", &basic([0, 0, hour(500), 0], 0))
        .ok();
    let ([_, _, modified, changed], _) = times(&mut client, "\\F");
    assert_eq!((modified, changed), (hour(500), hour(500)));
    let fid = client.open("\\F");
    client
        .set_fid(0x101, fid, &basic([0, 0, hour(400), 0], 0))
        .ok();
    assert_eq!(times(&mut client, "\\F").0[2..], [hour(400), hour(400)]);
    client
        .set_fid(0x101, fid, &basic([0, 0, 0, hour(300)], 0))
        .ok();
    assert_eq!(times(&mut client, "\\F").0[2..], [hour(400), hour(300)]);
    client.close(fid).ok();
    assert_eq!(times(&mut client, "\\F").0[2..], [hour(400), hour(400)]);
}

#[test]
fn the_directory_attribute_does_not_turn_a_file_into_a_folder() {
    let server = TestServer::new();
    server.fs.make_dir("dir").unwrap();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    client
        .set_fid(0x101, fid, &basic([0; 4], 0x10))
        .refused(Status::INVALID_PARAMETER);
    client.set_path(0x101, "\\dir", &basic([0; 4], 0x21)).ok();
    assert_eq!(times(&mut client, "\\dir").1, 0x31);
    client.set_path(0x101, "\\dir", &basic([0; 4], 0x10)).ok();
    assert_eq!(times(&mut client, "\\dir").1, 0x10);
}

#[test]
fn an_offline_file_keeps_its_offline_attribute() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = client.open("\\F");
    client.set_fid(0x101, fid, &basic([0; 4], 0x1020)).ok();
    assert_eq!(times(&mut client, "\\F").1, 0x1020);
}

#[test]
fn the_time_of_a_write_is_visible_after_two_seconds_or_at_the_close() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    let (before, _) = times(&mut client, "\\F");
    client.pass(Span::from_secs(60));
    server.fs.set_time(FsTime(client.now.unix_ns()));
    write(&mut client, fid, b"x");
    assert_eq!(
        times(&mut client, "\\F").0,
        before,
        "the time must not change yet"
    );
    client.pass(Span::from_secs(3));
    let shown = times(&mut client, "\\F").0[2];
    assert_eq!(
        shown,
        FileTime::from_unix_ns(NOW.unix_ns() + 62 * SECOND).0,
        "two seconds after the write"
    );
    write(&mut client, fid, b"y");
    client.pass(Span::from_secs(9));
    assert_eq!(
        times(&mut client, "\\F").0[2],
        shown,
        "only the first write sets the time"
    );
    client.close(fid).ok();
    assert_eq!(
        times(&mut client, "\\F").0[2],
        FileTime::from_unix_ns(client.now.unix_ns()).0,
        "the close sets the time"
    );
}

#[test]
fn a_new_length_is_visible_at_once() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    client.pass(Span::from_secs(5));
    client.set_fid(0x104, fid, &7u64.to_le_bytes()).ok();
    let shown = times(&mut client, "\\F").0[2];
    assert_eq!(shown, FileTime::from_unix_ns(client.now.unix_ns()).0);
}

#[test]
fn a_time_set_through_an_open_stays_whatever_is_written_through_it() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    let wanted = hours_ago(20);
    client
        .set_fid(0x101, fid, &basic([0, 0, wanted, 0], 0))
        .ok();
    client.pass(Span::from_secs(5));
    server.fs.set_time(FsTime(client.now.unix_ns()));
    write(&mut client, fid, b"x");
    client.pass(Span::from_secs(5));
    assert_eq!(times(&mut client, "\\F").0[2], wanted);
    client.close(fid).ok();
    assert_eq!(times(&mut client, "\\F").0[2], wanted);
    let again = client.open("\\F");
    write(&mut client, again, b"y");
    client.close(again).ok();
    assert!(
        times(&mut client, "\\F").0[2] > wanted,
        "a write through another open"
    );
}

#[test]
fn space_is_reserved_and_released_and_a_full_disk_is_reported_at_once() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    let sizes = |client: &mut TestClient| {
        let got = client.query_path(0x102, "\\F").ok();
        (got.u64(0), got.u64(8))
    };
    client.set_fid(0x103, fid, &4096u64.to_le_bytes()).ok();
    assert_eq!(sizes(&mut client), (4096, 0));
    client.set_fid(1020, fid, &37u64.to_le_bytes()).ok();
    assert_eq!(sizes(&mut client).1, 37);
    client.set_fid(1019, fid, &0u64.to_le_bytes()).ok();
    assert_eq!(sizes(&mut client), (0, 0));
    for level in [0x103, 0x104, 1019, 1020] {
        client
            .set_fid(level, fid, &(1u64 << 61).to_le_bytes())
            .refused(Status::DISK_FULL);
    }
    assert_eq!(sizes(&mut client), (0, 0));
}

#[test]
fn a_length_is_set_by_path_only_through_the_pass_through_level() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = client.open("\\F");
    client
        .set_path(0x104, "\\F", &5u64.to_le_bytes())
        .refused(Status::INVALID_LEVEL);
    client.set_path(1020, "\\F", &5u64.to_le_bytes()).ok();
    assert_eq!(client.query_fid(0x102, fid).ok().u64(8), 5);
}

#[test]
fn a_length_needs_the_right_to_write_and_modes_are_checked() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let made = client.open("\\F");
    client.close(made).ok();
    let at = 32 + 1 + 30 + 2;
    let bytes = client.string("\\F", at);
    let words = [0xff, 0, 0, 0x40, 0x16, 0, 0, 0, 0x1, 0, 0, 0, 0, 0, 0];
    let reader = client.request(0x2d, &words, &bytes).ok().word(2);
    client
        .set_fid(0x104, reader, &1u64.to_le_bytes())
        .refused(Status::ACCESS_DENIED);
    for mode in [1u32, 0x30, 0x40] {
        client
            .set_fid(1016, reader, &mode.to_le_bytes())
            .refused(Status::INVALID_PARAMETER);
        client
            .set_path(1016, "\\F", &mode.to_le_bytes())
            .refused(Status::INVALID_PARAMETER);
    }
    client.set_path(1014, "\\F", &9u64.to_le_bytes()).ok();
    client
        .set_fid(0x107, reader, b"")
        .refused(Status::INVALID_LEVEL);
}

#[test]
fn a_file_marked_for_deletion_has_no_link_and_is_deleted_at_the_close() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = nt_open(&mut client, "\\F");
    client.set_fid(0x102, fid, &[1]).ok();
    let marked = client.query_fid(0x102, fid).ok();
    assert_eq!((marked.u32(16), marked.data[20]), (0, 1));
    client
        .query_path(0x101, "\\F")
        .refused(Status::DELETE_PENDING);
    client.set_fid(1013, fid, &[0]).ok();
    assert_eq!(client.query_path(0x102, "\\F").ok().u32(16), 1);
    client.set_path(1013, "\\F", &[1]).ok();
    client.close(fid).ok();
    client
        .query_path(0x101, "\\F")
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

/// Creates with all rights, sharing everything.
fn nt_open(client: &mut TestClient, path: &str) -> u16 {
    let name = client.string(path, 32 + 1 + 48 + 2);
    let mut words = Writer::default();
    words.u8(0xff).u8(0).u16(0).u8(0).u16(name.len() as u16);
    words.u32(0).u32(0).u32(0x001f_01ff).u64(0).u32(0x80);
    words.u32(7).u32(3).u32(0).u32(2).u8(0);
    let mut block = vec![24];
    block.extend(words.as_slice());
    block.extend((name.len() as u16).to_le_bytes());
    block.extend(name);
    let answer = client.send_block(0xa2, &block).ok();
    let words = answer.block().words;
    u16::from_le_bytes([words[5], words[6]])
}

fn rename_to(name: &str, replace: bool) -> Vec<u8> {
    let name = coax_wire::codepage::utf16::encode(name);
    let mut out = Writer::default();
    out.u32(u32::from(replace)).u32(0).u32(name.len() as u32);
    out.bytes(&name);
    out.into_vec()
}

#[test]
fn a_rename_stays_in_its_folder() {
    let server = TestServer::new();
    server.fs.make_dir("dir").unwrap();
    let mut client = server.client("NT LM 0.12");
    let fid = nt_open(&mut client, "\\dir\\F");
    let other = nt_open(&mut client, "\\dir\\G");
    client.close(other).ok();
    client
        .set_fid(1010, fid, &rename_to("G", false))
        .refused(Status::OBJECT_NAME_COLLISION);
    client
        .set_fid(1010, fid, &rename_to("\\dir\\G", true))
        .refused(Status::NOT_SUPPORTED);
    client.set_fid(1010, fid, &rename_to("G", true)).ok();
    let name = client.query_fid(0x104, fid).ok();
    assert_eq!(
        name.data[4..],
        coax_wire::codepage::utf16::encode("\\dir\\G")
    );
    client.close(fid).ok();
    client
        .set_path(1010, "\\dir\\G", &rename_to("H", false))
        .ok();
    client.query_path(0x101, "\\dir\\H").ok();
}

#[test]
fn a_rename_without_unicode_has_its_name_in_the_code_page() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = nt_open(&mut client, "\\F");
    client.header.flags2.0 &= !coax_wire::header::Flags2::UNICODE;
    let mut data = Writer::default();
    data.u32(0).u32(0).u32(4).bytes(b"NEW\x81");
    client.set_fid(1010, fid, data.as_slice()).ok();
    client.close(fid).ok();
    assert!(server.fs.contents("NEWü").is_ok());
}

fn eas(list: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Writer::default();
    let list = list.iter().map(|(name, value)| Ea {
        flags: 0,
        name: name.as_bytes(),
        value: value.as_bytes(),
    });
    ea::emit_list(list, &mut out);
    out.into_vec()
}

#[test]
fn extended_attributes_are_set_removed_and_found_in_any_case() {
    let mut client = TestServer::new().client("LM1.2X002");
    let fid = client.open("\\F");
    assert_eq!(
        client.query_path(4, "\\F").ok().data,
        b"\x04\0\0\0",
        "an empty list"
    );
    let two = eas(&[("EAONE", "VALUE1"), ("SECONDEA", "ValueTwo")]);
    client.set_fid(2, fid, &two).ok();
    assert_eq!(client.query_fid(4, fid).ok().data, two);
    assert_eq!(client.query_path(2, "\\F").ok().u32(22) as usize, two.len());
    client
        .set_path(2, "\\F", &eas(&[("secondea", "new"), ("NONE", "")]))
        .ok();
    client.set_fid(2, fid, &eas(&[("EAONE", "")])).ok();
    assert_eq!(
        client.query_fid(4, fid).ok().data,
        eas(&[("SECONDEA", "new")])
    );
    let mut names = Writer::default();
    ea::emit_names([b"X".as_slice(), b"SecondEA"], &mut names);
    let parameters = client.path_parameters(3, "\\F");
    let asked = client.trans2(5, &parameters, names.as_slice()).ok();
    assert_eq!(asked.data, eas(&[("X", ""), ("SECONDEA", "new")]));
}

#[test]
fn bad_names_and_lists_change_nothing() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = client.open("\\F");
    client
        .set_fid(2, fid, &eas(&[("GOOD", "1"), ("B:D", "2"), ("ALSO", "3")]))
        .refused(Status::INVALID_EA_NAME);
    client
        .set_fid(2, fid, b"\x40\0\0\0\0\0")
        .refused(Status::EA_LIST_INCONSISTENT);
    let long = alloc::string::String::from_utf8(vec![b'v'; 40_000]).unwrap();
    client.set_fid(2, fid, &eas(&[("ONE", &long)])).ok();
    client
        .set_fid(2, fid, &eas(&[("TWO", &long)]))
        .refused(Status::EA_TOO_LARGE);
    assert_eq!(client.query_fid(4, fid).ok().data, eas(&[("ONE", &long)]));
    let parameters = [fid.to_le_bytes(), 4u16.to_le_bytes()].concat();
    let little = client.trans2_within(7, &parameters, b"", 100).ok();
    assert_eq!(
        little.data, b"\x04\0\0\0",
        "the name is too long for this client"
    );
}

#[test]
fn reserved_space_that_was_not_written_is_free_after_the_last_close() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("\\F");
    client.set_fid(0x103, fid, &(1u64 << 20).to_le_bytes()).ok();
    assert_eq!(server.fs.stat("F").unwrap().allocated, 1 << 20);
    let told = client.query_path(0x102, "\\F").ok();
    assert_eq!((told.u64(0), told.u64(8)), (1 << 20, 0));
    client.close(fid).ok();
    assert_eq!(client.query_path(0x102, "\\F").ok().u64(0), 0);
    assert_eq!(server.fs.stat("F").unwrap().allocated, 0);
}

#[test]
fn the_close_of_another_open_that_wrote_ends_a_time_that_was_set() {
    let server = TestServer::new();
    let mut writer = server.client("NT LM 0.12");
    let mut setter = server.client("NT LM 0.12");
    let (first, second) = (writer.open("\\F"), setter.open("\\F"));
    write(&mut writer, first, b"x");
    let wanted = hours_ago(24);
    let data = basic([0, 0, wanted, 0], 0);
    setter.set_fid(0x101, second, &data).ok();
    writer.pass(Span::from_secs(10));
    assert_eq!(times(&mut writer, "\\F").0[2], wanted);
    writer.close(first).ok();
    let closed = FileTime::from_unix_ns(writer.now.unix_ns()).0;
    assert_eq!(times(&mut writer, "\\F").0[2], closed);
    setter.now = writer.now;
    setter.pass(Span::from_secs(3));
    write(&mut setter, second, b"y");
    setter.pass(Span::from_secs(3));
    assert_eq!(setter.query_fid(0x101, second).ok().u64(16), closed);
}
