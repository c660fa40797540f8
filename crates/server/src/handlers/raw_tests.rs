//! Raw reads and writes.

use crate::{
    config::Config,
    share::ShareOptions,
    testkit::{Answer, TestClient, TestServer, block},
};
use coax_wire::{
    command as c,
    header::{Fid, Pid, Tid},
    io::Writer,
    smb::{
        read_raw,
        write_raw::{Request, mode::WRITE_THROUGH},
    },
    status::Status,
};
use std::{vec, vec::Vec};

const NT: &str = "NT LM 0.12";
const LANMAN: &str = "LANMAN1.0";
const CORE_PLUS: &str = "MICROSOFT NETWORKS 1.03";

trait Raw {
    fn read_raw(&mut self, fid: u16, offset: u64, count: u16) -> Vec<u8>;
    fn write_raw(&mut self, fid: u16, count: u16, mode: u16, data: &[u8]) -> Answer;
}

impl Raw for TestClient {
    #[track_caller]
    fn read_raw(&mut self, fid: u16, offset: u64, max_count: u16) -> Vec<u8> {
        let mut out = Writer::default();
        read_raw::Request {
            fid: Fid(fid),
            offset,
            max_count,
            min_count: 0,
            timeout_ms: 0,
        }
        .emit(&mut out);
        self.post(c::READ_RAW, out.as_slice());
        self.raw_answer().expect("raw data")
    }

    #[track_caller]
    fn write_raw(&mut self, fid: u16, count: u16, mode: u16, data: &[u8]) -> Answer {
        let request = Request {
            fid: Fid(fid),
            count,
            offset: 0,
            timeout_ms: 0,
            mode,
            data,
        };
        // Data offsets count from the header.
        let mut out = Writer::default();
        out.zeros(32);
        request.emit(&mut out);
        self.send_block(c::WRITE_RAW, &out.as_slice()[32..])
    }
}

fn interim(answer: &Answer) {
    assert_eq!(
        (answer.header.command, answer.status(), answer.word(0)),
        (c::WRITE_RAW, 0, 0xffff)
    );
}

fn completed(answer: &Answer, count: u16) {
    assert_eq!(
        (answer.header.command, answer.word(0)),
        (c::WRITE_COMPLETE, count)
    );
}

fn one(dialect: &str, contents: &[u8]) -> (TestServer, TestClient, u16) {
    let server = TestServer::new();
    server.fs.add_file("F", contents).unwrap();
    let mut client = server.client(dialect);
    let fid = client.open("F");
    (server, client, fid)
}

#[test]
fn a_raw_read_is_answered_with_up_to_65535_bytes_without_a_header() {
    let contents: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    for dialect in [LANMAN, NT] {
        let (_server, mut client, fid) = one(dialect, &contents);
        assert_eq!(client.read_raw(fid, 1, 0xffff), contents[1..65_536]);
        assert_eq!(client.read_raw(fid, 99_998, 500), contents[99_998..]);
        assert_eq!(client.read_raw(fid, 10, 5), contents[10..15]);
    }
}

#[test]
fn a_failed_raw_read_is_answered_with_an_empty_message() {
    let (_server, mut client, fid) = one(NT, b"0123456789");
    assert!(client.read_raw(fid, 10, 5).is_empty(), "end of file");
    assert!(client.read_raw(fid, 2 << 32, 5).is_empty(), "far beyond");
    assert!(client.read_raw(fid + 1, 0, 5).is_empty(), "no such FID");
    assert!(
        client.read_raw(fid, 0, 0).is_empty(),
        "zero bytes requested"
    );
    let tid = core::mem::replace(&mut client.header.tid, Tid(999));
    assert!(client.read_raw(fid, 0, 5).is_empty(), "no such tree");
    client.header.tid = tid;
    client
        .request(c::LOCK_BYTE_RANGE, &[fid, 5, 0, 0, 0], b"")
        .ok();
    assert_eq!(client.read_raw(fid, 0, 5), b"01234");
    client.header.pid = Pid(1);
    assert!(client.read_raw(fid, 0, 5).is_empty(), "locked");
}

#[test]
fn raw_mode_is_off_if_the_server_did_not_offer_it() {
    let off = Config {
        read_raw: false,
        write_raw: false,
        ..Config::default()
    };
    for (config, dialect) in [(off, LANMAN), (Config::default(), CORE_PLUS)] {
        let server = TestServer::with(config, ShareOptions::default());
        server.fs.add_file("F", b"0123456789").unwrap();
        let mut client = server.client(dialect);
        let fid = client.open("F");
        assert!(client.read_raw(fid, 0, 5).is_empty());
        let answer = client.write_raw(fid, 8, 0, b"ABC");
        answer.refused(Status::USE_STANDARD);
        completed(&answer, 3);
        assert_eq!(server.fs.contents("F").unwrap(), b"ABC3456789");
        client
            .request(c::READ, &[fid, 3, 0, 0, 0], b"")
            .ok()
            .bytes();
    }
}

#[test]
fn a_write_through_is_answered_twice_and_a_write_behind_once() {
    for (mode, answers) in [(WRITE_THROUGH, 1), (0, 0)] {
        let (server, mut client, fid) = one(LANMAN, b"");
        interim(&client.write_raw(fid, 60_000, mode, b"head"));
        client.post_raw(&vec![7; 59_996]);
        if answers == 1 {
            completed(&client.answer().expect("a final reply").ok(), 60_000);
        }
        assert!(client.raw_answer().is_none());
        let contents = server.fs.contents("F").unwrap();
        assert_eq!((contents.len(), &contents[..5]), (60_000, &b"head\x07"[..]));
    }
}

#[test]
fn the_message_after_a_raw_write_is_its_data_whatever_its_contents() {
    let (server, mut client, fid) = one(NT, b"");
    let looks_like_a_request = b"\xffSMB\x04 and so on, to be written";
    let len = looks_like_a_request.len() as u16;
    interim(&client.write_raw(fid, len, 0, b""));
    client.post_raw(looks_like_a_request);
    assert!(client.raw_answer().is_none());
    assert_eq!(server.fs.contents("F").unwrap(), looks_like_a_request);
    client.close(fid).ok();
}

#[test]
fn data_that_comes_with_the_request_alone_is_answered_at_once() {
    let (server, mut client, fid) = one(LANMAN, b"");
    completed(&client.write_raw(fid, 4, 0, b"data").ok(), 4);
    client.request(c::READ, &[fid, 4, 0, 0, 0], b"").ok();
    assert_eq!(server.fs.contents("F").unwrap(), b"data");
}

#[test]
fn less_data_than_announced_is_written_and_an_empty_message_ends_the_write() {
    for (data, count) in [(&b"abc"[..], 5), (b"", 2)] {
        let (server, mut client, fid) = one(LANMAN, b"");
        interim(&client.write_raw(fid, 100, WRITE_THROUGH, b"12"));
        client.post_raw(data);
        completed(&client.answer().expect("a final reply").ok(), count);
        assert_eq!(
            server.fs.contents("F").unwrap(),
            [&b"12"[..], data].concat()
        );
    }
}

#[test]
fn more_data_than_announced_is_refused_completely() {
    let (server, mut client, fid) = one(LANMAN, b"");
    interim(&client.write_raw(fid, 5, WRITE_THROUGH, b"12"));
    client.post_raw(b"abcd");
    let answer = client.answer().expect("a final reply");
    answer.refused(Status::INVALID_SMB);
    completed(&answer, 2);
    assert_eq!(server.fs.contents("F").unwrap(), b"12");
}

#[test]
fn a_refused_raw_write_reports_no_bytes_and_its_early_data_is_skipped() {
    let (server, mut client, fid) = one(LANMAN, b"");
    let answer = client.write_raw(fid + 1, 9, 0, b"");
    answer.refused(Status::INVALID_HANDLE);
    completed(&answer, 0);
    client.post_raw(b"nine byte");
    assert!(client.raw_answer().is_none() && !client.conn.is_closing());
    completed(&client.write_raw(fid, 4, 0, b"data").ok(), 4);
    assert_eq!(server.fs.contents("F").unwrap(), b"data");
}

#[test]
fn a_raw_write_to_a_pipe_is_refused_so_that_the_client_writes_in_standard_mode() {
    let (_server, mut client, _) = one(NT, b"");
    client.connect_share("IPC$");
    let opened = client.nt_create("\\srvsvc", 0x0012_019f, (1, 0)).ok();
    let fid = u16::from_le_bytes(opened.block().words[5..7].try_into().unwrap());
    let answer = client.write_raw(fid, 100, WRITE_THROUGH, b"");
    answer.refused(Status::USE_STANDARD);
    completed(&answer, 0);
    client.close(fid).ok();
}

#[test]
fn more_data_in_the_request_than_in_total_is_malformed() {
    let (_server, mut client, fid) = one(LANMAN, b"");
    let answer = client.write_raw(fid, 2, 0, b"four");
    answer.refused(Status::INVALID_SMB);
    completed(&answer, 0);
}

#[test]
fn a_raw_write_into_another_clients_lock_is_refused_before_the_data() {
    let (server, mut client, fid) = one(LANMAN, b"0123456789");
    let mut other = server.client(LANMAN);
    let fid2 = other.open("F");
    other
        .request(c::LOCK_BYTE_RANGE, &[fid2, 1, 0, 9, 0], b"")
        .ok();
    let answer = client.write_raw(fid, 10, 0, b"AB");
    answer.refused(Status::FILE_LOCK_CONFLICT);
    completed(&answer, 0);
    assert_eq!(server.fs.contents("F").unwrap(), b"0123456789");
}

#[test]
fn the_next_request_on_the_file_reports_a_write_behind_error_once() {
    let next: [fn(&mut TestClient, u16) -> Answer; 4] = [
        |client, fid| client.request(c::READ, &[fid, 1, 0, 0, 0], b""),
        |client, fid| client.request(c::WRITE, &[fid, 1, 0, 0, 0], b"\x01\x01\0A"),
        |client, fid| client.request(c::SEEK, &[fid, 0, 0, 0], b""),
        |client, fid| client.request(c::FLUSH, &[fid], b""),
    ];
    for next in next {
        let (server, mut client, fid) = one(LANMAN, b"");
        server.fs.set_options(crate::memfs::MemOptions {
            capacity: 4_000,
            ..Default::default()
        });
        interim(&client.write_raw(fid, 60_000, 0, b""));
        client.post_raw(&[1; 60_000]);
        assert!(client.raw_answer().is_none());
        server.fs.set_options(crate::memfs::MemOptions::default());
        next(&mut client, fid).refused(Status::DISK_FULL);
        next(&mut client, fid).ok();
        client.close(fid).ok();
    }
}

#[test]
fn a_close_after_a_failed_write_behind_reports_the_error_and_closes() {
    let (server, mut client, fid) = one(LANMAN, b"");
    server.fs.set_options(crate::memfs::MemOptions {
        capacity: 4_000,
        ..Default::default()
    });
    interim(&client.write_raw(fid, 60_000, 0, b""));
    client.post_raw(&[1; 60_000]);
    client.close(fid).refused(Status::DISK_FULL);
    client.close(fid).refused(Status::INVALID_HANDLE);
}

#[test]
fn a_connection_that_breaks_before_the_raw_data_keeps_the_bytes_already_written() {
    let (server, mut client, fid) = one(LANMAN, b"0123456789");
    interim(&client.write_raw(fid, 10, WRITE_THROUGH, b"AB"));
    client.conn.handle_disconnect(client.now);
    assert!(client.raw_answer().is_none());
    assert_eq!(server.fs.contents("F").unwrap(), b"AB23456789");
}

#[test]
fn a_raw_read_that_crosses_an_oplock_break_gets_an_empty_reply() {
    let server = TestServer::new();
    server.fs.add_file("F", b"0123456789").unwrap();
    let mut holder = server.client(LANMAN);
    let mut bytes = holder.string("F", 0);
    let words = [0xff, 0, 2, 0x42, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let fid = holder.request(c::OPEN_ANDX, &words, &bytes).ok().word(2);
    let mut other = server.client(LANMAN);
    bytes = other.string("F", 0);
    let plain = [0xff, 0, 0, 0x42, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    other.post(c::OPEN_ANDX, &block(&plain, &bytes));
    let asked = holder.answer().expect("a break");
    assert_eq!(asked.header.command, c::LOCKING_ANDX);
    assert!(holder.read_raw(fid, 0, 5).is_empty());
    let release = [0xff, 0, fid, 2, 0, 0, 0, 0];
    holder.post(c::LOCKING_ANDX, &block(&release, b""));
    assert_eq!(holder.read_raw(fid, 0, 5), b"01234");
    other.answer().expect("opened").ok();
}

#[test]
fn multiplexed_mode_is_refused_so_that_clients_fall_back() {
    let (_server, mut client, fid) = one(LANMAN, b"0123456789");
    for command in [c::READ_MPX, c::WRITE_MPX, c::WRITE_MPX_SECONDARY] {
        let answer = client.request(command, &[fid, 0, 0, 5, 0, 0, 0, 0], b"");
        answer.refused(Status::USE_STANDARD);
        assert_eq!(answer.status(), 251 << 16 | 2);
    }
    client.request(c::READ, &[fid, 5, 0, 0, 0], b"").ok();
}

#[test]
fn raw_mode_is_offered_with_signing_unless_every_client_must_sign() {
    use crate::config::Signing;
    for (signing, offered) in [
        (Signing::Off, true),
        (Signing::Offered, true),
        (Signing::Required, false),
    ] {
        let config = Config {
            signing,
            ..Config::default()
        };
        let server = TestServer::with(config, ShareOptions::default());
        server.fs.add_file("F", b"0123456789").unwrap();
        let answer = server.connect().negotiate(&[NT]);
        let capabilities = u32::from_le_bytes(answer.message[52..56].try_into().unwrap());
        assert_eq!(capabilities & 1 != 0, offered, "{signing:?}");
        if offered {
            let mut client = server.client(NT);
            let fid = client.open("\\F");
            assert_eq!(client.read_raw(fid, 0, 100), b"0123456789");
        }
    }
}
