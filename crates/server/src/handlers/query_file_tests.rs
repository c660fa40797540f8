use super::*;
use crate::testkit::{NOW, TestClient, TestServer};
use coax_wire::time::{DosDateTime, ZoneMinutesWest};

fn file_of_nine_bytes(client: &mut TestClient, path: &str) -> u16 {
    let fid = client.open(path);
    let words = [fid, 9, 0, 0, 0];
    let data = b"\x01\x09\0nine byte";
    client.request(0x0b, &words, data).ok();
    fid
}

#[test]
fn core_clients_query_attributes_time_and_length() {
    let mut client = TestServer::new().client("PC NETWORK PROGRAM 1.0");
    file_of_nine_bytes(&mut client, "\\A.TXT");
    let answer = client.paths(0x08, &[], &["\\a.txt"]).ok();
    assert_eq!(answer.word(0), 0x20);
    let seconds = u32::from(answer.word(1)) | u32::from(answer.word(2)) << 16;
    assert_eq!(u64::from(seconds), NOW.0 / 1_000_000_000);
    assert_eq!((answer.word(3), answer.word(4)), (9, 0));
    assert_eq!(answer.block().word_count(), 10);
    client
        .paths(0x08, &[], &["\\NOT"])
        .refused(Status::OBJECT_NAME_NOT_FOUND);
}

#[test]
fn lan_manager_clients_query_three_times_of_an_open_file() {
    let mut client = TestServer::new().client("LANMAN1.0");
    let fid = file_of_nine_bytes(&mut client, "\\A.TXT");
    let answer = client.request(0x23, &[fid], b"").ok();
    let now = DosDateTime::from_unix_ns(NOW.unix_ns(), ZoneMinutesWest(0));
    for stamp in 0..3 {
        assert_eq!(answer.word(stamp * 2), now.date);
        assert_eq!(answer.word(stamp * 2 + 1), now.time);
    }
    assert_eq!((answer.word(6), answer.word(8)), (9, 4096));
    assert_eq!(answer.word(10), 0x20);
    client
        .request(0x23, &[fid + 1], b"")
        .refused(Status::INVALID_HANDLE);
}

#[test]
fn old_levels_return_the_same_data_by_path_and_by_fid() {
    for dialect in ["LANMAN1.0", "LM1.2X002", "NT LM 0.12"] {
        let mut client = TestServer::new().client(dialect);
        let fid = file_of_nine_bytes(&mut client, "\\A.TXT");
        let by_path = client.query_path(1, "\\A.TXT").ok();
        let by_fid = client.query_fid(1, fid).ok();
        assert_eq!(by_path.data, by_fid.data);
        assert_eq!(by_path.parameters, [0, 0]);
        assert_eq!((by_path.data.len(), by_path.u32(12)), (22, 9));
        assert_eq!((by_path.u32(16), by_path.u16(20)), (4096, 0x20));
        let with_eas = client.query_path(2, "\\A.TXT").ok();
        assert_eq!((with_eas.data.len(), with_eas.u32(22)), (26, 0));
    }
}

#[test]
fn nt_levels_and_their_pass_through_twins_have_the_same_data() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = file_of_nine_bytes(&mut client, "\\dir.txt");
    let twins: [(u16, u16); 8] = [
        (0x101, 1004),
        (0x102, 1005),
        (0x103, 1007),
        (0x104, 1009),
        (0x107, 1018),
        (0x108, 1021),
        (0x109, 1022),
        (0x10b, 1028),
    ];
    for (level, twin) in twins {
        let first = client.query_fid(level, fid).ok();
        assert_eq!(
            first.data,
            client.query_fid(twin, fid).ok().data,
            "{level:#x}"
        );
        let by_path = client.query_path(level, "\\DIR.TXT").ok();
        assert_eq!(first.data, by_path.data, "{level:#x}");
    }
    let standard = client.query_fid(0x102, fid).ok();
    assert_eq!((standard.u64(0), standard.u64(8)), (4096, 9));
    assert_eq!((standard.u32(16), standard.u16(20)), (1, 0));
    let name = client.query_path(0x104, "\\DIR.TXT").ok();
    let expected: Vec<u8> = utf16::encode("\\dir.txt");
    assert_eq!(
        name.data[4..],
        expected,
        "expected the spelling on the disk"
    );
    let stream = client.query_fid(0x109, fid).ok();
    assert_eq!(stream.u64(8), 9);
    assert_eq!(stream.data[24..], utf16::encode("::$DATA"));
}

#[test]
fn an_8_3_name_is_reported_and_opens_the_file() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = file_of_nine_bytes(&mut client, "\\A very long name.text");
    let told = client.query_fid(0x108, fid).ok();
    let units: Vec<u16> = told.data[4..]
        .chunks(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
        .collect();
    let short = alloc::string::String::from_utf16(&units).unwrap();
    assert_eq!(short, "AVERYL~1.TEX");
    let path = alloc::format!("\\{short}");
    assert_eq!(client.query_path(0x102, &path).ok().u64(8), 9);
}

#[test]
fn properties_of_an_open_are_reported_by_fid_and_are_zero_by_path() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = file_of_nine_bytes(&mut client, "\\F");
    client.set_fid(1014, fid, &123u64.to_le_bytes()).ok();
    client.set_fid(1016, fid, &2u32.to_le_bytes()).ok();
    assert_eq!(client.query_fid(1014, fid).ok().u64(0), 123);
    assert_eq!(client.query_fid(1016, fid).ok().u32(0), 2);
    assert_ne!(client.query_fid(1008, fid).ok().u32(0), 0);
    assert_eq!(client.query_path(1014, "\\F").ok().u64(0), 0);
    assert_eq!(client.query_path(1016, "\\F").ok().u32(0), 0);
    let inode = client.query_fid(1006, fid).ok().u64(0);
    assert_eq!(client.query_path(1006, "\\F").ok().u64(0), inode);
    assert_eq!(client.query_fid(1017, fid).ok().u32(0), 0);
    assert_eq!(client.query_fid(1034, fid).ok().u64(40), 9);
    assert_eq!(client.query_fid(1035, fid).ok().u32(0), 0x20);
}

#[test]
fn a_path_can_be_valid_without_a_file() {
    let mut client = TestServer::new().client("LM1.2X002");
    let valid = client.query_path(6, "\\NOT.YET").ok();
    assert!(valid.data.is_empty());
    client
        .query_path(6, "\\A*B")
        .refused(Status::OBJECT_NAME_INVALID);
    let fid = client.open("\\F");
    client.query_fid(6, fid).refused(Status::INVALID_LEVEL);
    client
        .query_path(0x200, "\\F")
        .refused(Status::INVALID_LEVEL);
}

#[test]
fn levels_of_fixed_size_are_never_truncated_and_names_are() {
    let mut client = TestServer::new().client("NT LM 0.12");
    let fid = client.open("\\LONGNAME");
    let ask = |level: u16| [fid.to_le_bytes(), level.to_le_bytes()].concat();
    client
        .trans2_within(7, &ask(0x101), b"", 39)
        .refused(Status::BUFFER_TOO_SMALL);
    let cut = client.trans2_within(7, &ask(0x104), b"", 10);
    cut.refused(Status::BUFFER_OVERFLOW);
    assert_eq!(cut.data, b"\x12\0\0\0\\\0L\0O\0");
}

#[test]
fn folders_have_no_length_no_stream_and_the_directory_bit() {
    let server = TestServer::new();
    crate::vfs::Vfs::make_dir(&*server.fs, "dir").unwrap();
    let mut client = server.client("NT LM 0.12");
    let standard = client.query_path(0x102, "\\dir").ok();
    assert_eq!((standard.u64(0), standard.u64(8)), (0, 0));
    assert_eq!((standard.u32(16), standard.u16(20)), (1, 0x100));
    assert_eq!(client.query_path(0x101, "\\dir").ok().u32(32), 0x10);
    assert!(client.query_path(0x109, "\\dir").ok().data.is_empty());
    assert_eq!(client.query_path(0x101, "\\").ok().u32(32), 0x10);
}

#[test]
fn path_queries_on_the_pipe_share_are_refused() {
    let mut client = TestServer::new().client("NT LM 0.12");
    client.connect_share("IPC$");
    client
        .query_path(0x101, "\\lsass")
        .refused(Status::INVALID_DEVICE_REQUEST);
    client
        .paths(0x08, &[], &["\\lsass"])
        .refused(Status::ACCESS_DENIED);
}
