//! Oplocks and waiting opens between two clients.

use crate::{
    config::Config,
    share::ShareOptions,
    testkit::{Answer, TestClient, TestServer, block},
};
use coax_wire::{
    command as c,
    header::{Flags, HEADER_LEN, Mid, Pid, Uid},
    status::Status,
    time::Span,
};
use std::vec::Vec;

const NT: &str = "NT LM 0.12";
const LANMAN: &str = "LANMAN1.0";
const CORE: &str = "PC NETWORK PROGRAM 1.0";

const EXCLUSIVE: u16 = 2;
const BATCH: u16 = 6;
const DENY_ALL: u16 = 0x12;
const DENY_NONE: u16 = 0x42;

fn open_andx(client: &TestClient, flags: u16, mode: u16, function: u16) -> Vec<u8> {
    let words = [
        0xff, 0, flags, mode, 0x16, 0, 0, 0, function, 0, 0, 0, 0, 0, 0,
    ];
    block(&words, &client.string("F", HEADER_LEN + 1 + 30 + 2))
}

trait Oplocks {
    fn send_flagged(&mut self, command: u8, flags: u8, block: &[u8]) -> Answer;
    fn open_with(&mut self, flags: u16, mode: u16) -> Answer;
    fn begin_open(&mut self, mode: u16, function: u16);
    fn asked_to_give_up(&mut self) -> (u16, u16);
    fn release(&mut self, fid: u16, level: u8);
}

impl Oplocks for TestClient {
    #[track_caller]
    fn send_flagged(&mut self, command: u8, flags: u8, block: &[u8]) -> Answer {
        self.header.flags = Flags(flags);
        let answer = self.send_block(command, block);
        self.header.flags = Flags(0);
        answer
    }

    #[track_caller]
    fn open_with(&mut self, flags: u16, mode: u16) -> Answer {
        let request = open_andx(self, flags, mode, 1);
        self.send_block(c::OPEN_ANDX, &request)
    }

    #[track_caller]
    fn begin_open(&mut self, mode: u16, function: u16) {
        let request = open_andx(self, 0, mode, function);
        self.post(c::OPEN_ANDX, &request);
        assert!(self.answer().is_none(), "the open must wait");
    }

    /// FID and level of the received oplock break.
    #[track_caller]
    fn asked_to_give_up(&mut self) -> (u16, u16) {
        let asked = self.answer().expect("a break");
        assert_eq!(asked.header.command, c::LOCKING_ANDX);
        let head = asked.header;
        assert_eq!(
            (head.mid, head.pid, head.uid, head.tid),
            (Mid(0xffff), Pid(0xffff), Uid(0), self.header.tid)
        );
        assert_eq!((head.flags, head.status), (Flags(0), 0));
        let words: Vec<u16> = (0..8).map(|word| asked.word(word)).collect();
        assert_eq!(
            (words[0], words[1], words[3] & 0xff),
            (0xff, 0, 2),
            "no AndX command; an oplock break"
        );
        assert_eq!((words[4], words[5], words[6], words[7]), (0, 0, 0, 0));
        assert!(asked.bytes().is_empty());
        (words[2], words[3] >> 8)
    }

    #[track_caller]
    fn release(&mut self, fid: u16, level: u8) {
        let words = [0xff, 0, fid, u16::from(level) << 8 | 2, 0, 0, 0, 0];
        self.post(c::LOCKING_ANDX, &block(&words, b""));
        assert!(
            self.answer().is_none(),
            "an acknowledgement must have no reply"
        );
    }
}

fn two(dialect: &str) -> (TestServer, TestClient, TestClient) {
    let server = TestServer::new();
    server.fs.add_file("F", b"contents").unwrap();
    let (one, other) = (server.client(dialect), server.client(dialect));
    (server, one, other)
}

#[test]
fn each_open_command_reports_the_oplock_in_its_own_field() {
    let (_server, mut one, _) = two(LANMAN);
    for flags in [EXCLUSIVE, BATCH] {
        let opened = one.open_with(flags, DENY_NONE).ok();
        assert_eq!(
            opened.word(11),
            0x8001,
            "the open must succeed with an oplock"
        );
        one.close(opened.word(2)).ok();
    }
    for (dialect, asked) in [
        (LANMAN, Flags::OPLOCK),
        (LANMAN, Flags::OPLOCK | Flags::OPBATCH),
        (CORE, 0),
    ] {
        let (_server, mut one, _) = two(dialect);
        let mut request = block(&[2, 0x16], b"\x04F\0");
        let opened = one.send_flagged(c::OPEN, asked, &request).ok();
        assert_eq!(opened.header.flags.0 & 0x60, asked);
        one.close(opened.word(0)).ok();
        request = block(&[0, 0, 0], b"\x04G\0");
        let created = one.send_flagged(c::CREATE, asked, &request).ok();
        assert_eq!(created.header.flags.0 & 0x60, asked);
    }
}

#[test]
fn another_open_waits_until_the_holder_acknowledges_the_break() {
    let (_server, mut one, mut other) = two(LANMAN);
    let fid = one.open_with(EXCLUSIVE, DENY_NONE).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    assert_eq!(
        one.asked_to_give_up(),
        (fid, 0),
        "LANMAN has no level II oplocks"
    );
    one.request(c::WRITE, &[fid, 1, 0, 0, 0], b"\x01\x01\0C")
        .ok();
    assert!(other.answer().is_none());
    one.release(fid, 0);
    let opened = other.answer().expect("opened").ok();
    assert_eq!(opened.word(11), 1, "without an oplock");
}

#[test]
fn nt_clients_keep_level_ii_until_a_client_writes() {
    let (_server, mut one, mut other) = two(NT);
    let fid = one.open_with(EXCLUSIVE, DENY_NONE).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    assert_eq!(one.asked_to_give_up(), (fid, 1));
    one.release(fid, 1);
    let fid2 = other.answer().expect("opened").ok().word(2);
    other
        .request(c::WRITE, &[fid2, 1, 0, 0, 0], b"\x01\x01\0C")
        .ok();
    assert_eq!(one.asked_to_give_up(), (fid, 0));
    other
        .request(c::WRITE, &[fid2, 1, 0, 0, 0], b"\x01\x01\0D")
        .ok();
    assert!(one.answer().is_none(), "once");
}

#[test]
fn an_open_that_truncates_the_file_breaks_oplocks_to_none() {
    let (_server, mut one, mut other) = two(NT);
    let fid = one.open_with(EXCLUSIVE, DENY_NONE).ok().word(2);
    other.begin_open(DENY_NONE, 2);
    assert_eq!(one.asked_to_give_up(), (fid, 0));
    one.release(fid, 0);
    other.answer().expect("opened").ok();
}

#[test]
fn a_close_acknowledges_an_oplock_break() {
    let (_server, mut one, mut other) = two(LANMAN);
    let fid = one.open_with(BATCH, DENY_NONE).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    assert_eq!(one.asked_to_give_up(), (fid, 0));
    one.close(fid).ok();
    other.answer().expect("opened").ok();
}

#[test]
fn a_batch_oplock_is_broken_even_for_an_open_with_a_share_mode_conflict() {
    let (_server, mut one, mut other) = two(LANMAN);
    let fid = one.open_with(BATCH, DENY_ALL).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    assert_eq!(one.asked_to_give_up(), (fid, 0));
    one.close(fid).ok();
    other.answer().expect("opened").ok();
}

#[test]
fn the_other_open_fails_if_the_oplock_holder_keeps_its_file_open() {
    let (_server, mut one, mut other) = two(LANMAN);
    let fid = one.open_with(BATCH, DENY_ALL).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    one.asked_to_give_up();
    one.release(fid, 0);
    assert!(
        other.answer().is_none(),
        "the open must wait, because the file may be closed in time"
    );
    other.pass(Span::from_secs(1));
    other
        .answer()
        .expect("refused")
        .refused(Status::SHARING_VIOLATION);
}

#[test]
fn a_holder_that_never_acknowledges_loses_its_oplock_at_the_timeout() {
    let config = Config {
        oplock_break_timeout: Span::from_secs(5),
        ..Config::default()
    };
    let server = TestServer::with(config, ShareOptions::default());
    server.fs.add_file("F", b"contents").unwrap();
    let (mut one, mut other) = (server.client(LANMAN), server.client(LANMAN));
    one.open_with(EXCLUSIVE, DENY_NONE).ok();
    other.begin_open(DENY_NONE, 1);
    assert_eq!(
        other.conn.poll_timeout(),
        Some(other.now + Span::from_secs(5))
    );
    other.pass(Span::from_millis(4_999));
    assert!(other.answer().is_none());
    other.pass(Span::from_millis(1));
    other.answer().expect("opened").ok();
}

#[test]
fn locks_sent_with_the_acknowledgement_are_granted_before_the_other_open() {
    let (_server, mut one, mut other) = two(LANMAN);
    let fid = one.open_with(EXCLUSIVE, DENY_NONE).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    one.asked_to_give_up();
    let words = [0xff, 0, fid, 2, 0, 0, 0, 1];
    let range = b"\x4d\0\0\0\0\0\x08\0\0\0";
    one.request(c::LOCKING_ANDX, &words, range).ok();
    let fid2 = other.answer().expect("opened").ok().word(2);
    other
        .request(c::READ, &[fid2, 1, 0, 0, 0], b"")
        .refused(Status::FILE_LOCK_CONFLICT);
}

#[test]
fn an_unexpected_oplock_acknowledgement_changes_nothing() {
    let (_server, mut one, mut other) = two(NT);
    let fid = one.open_with(EXCLUSIVE, DENY_NONE).ok().word(2);
    one.release(fid, 0);
    other.begin_open(DENY_NONE, 1);
    assert_eq!(one.asked_to_give_up(), (fid, 1));
    let words = [0xff, 0, 999, 2, 0, 0, 0, 0];
    one.request(c::LOCKING_ANDX, &words, b"")
        .refused(Status::INVALID_HANDLE);
}

#[test]
fn no_oplock_is_granted_if_oplocks_are_off_and_fake_ones_are_never_broken() {
    let base = ShareOptions::default();
    let off = ShareOptions {
        oplocks: false,
        ..base.clone()
    };
    let fake = ShareOptions {
        fake_oplocks: true,
        ..base
    };
    for (options, action) in [(off, 1), (fake, 0x8001)] {
        let server = TestServer::with(Config::default(), options);
        server.fs.add_file("F", b"contents").unwrap();
        let (mut one, mut other) = (server.client(NT), server.client(NT));
        assert_eq!(one.open_with(BATCH, DENY_NONE).ok().word(11), action);
        other.open_with(BATCH, DENY_NONE).ok();
        assert!(one.answer().is_none());
    }
}

#[test]
fn an_open_with_a_share_mode_conflict_succeeds_if_the_file_is_closed_in_time() {
    for dialect in [CORE, LANMAN, NT] {
        let (_server, mut one, mut other) = two(dialect);
        let fid = one.open_with(0, DENY_ALL).ok().word(2);
        other.begin_open(DENY_NONE, 1);
        other.pass(Span::from_millis(600));
        assert!(other.answer().is_none());
        one.close(fid).ok();
        other.answer().expect("opened").ok();
        assert_eq!(other.conn.poll_timeout(), None);
    }
}

#[test]
fn an_open_with_a_share_mode_conflict_is_refused_after_a_second() {
    let (_server, mut one, mut other) = two(NT);
    one.open_with(0, DENY_ALL).ok();
    other.begin_open(DENY_NONE, 1);
    other.pass(Span::from_millis(999));
    assert!(other.answer().is_none());
    other.pass(Span::from_millis(1));
    other
        .answer()
        .expect("refused")
        .refused(Status::SHARING_VIOLATION);
}

#[test]
fn a_close_that_leaves_a_conflict_does_not_extend_the_opens_wait() {
    let (_server, mut one, mut other) = two(NT);
    one.open_with(0, 0x20).ok();
    let second = one.open_with(0, 0x20).ok().word(2);
    other.begin_open(DENY_NONE, 1);
    other.pass(Span::from_millis(900));
    one.close(second).ok();
    assert!(other.answer().is_none());
    other.pass(Span::from_millis(100));
    other
        .answer()
        .expect("refused")
        .refused(Status::SHARING_VIOLATION);
}

#[test]
fn a_dos_client_does_not_wait_for_its_own_opens_and_an_nt_client_does() {
    let (_server, mut one, _) = two(LANMAN);
    one.open_with(0, DENY_ALL).ok();
    one.open_with(0, DENY_NONE)
        .refused(Status::SHARING_VIOLATION);
    let (_server, mut one, _) = two(NT);
    let fid = one.open_with(0, DENY_ALL).ok().word(2);
    one.begin_open(DENY_NONE, 1);
    let closing = one.post(c::CLOSE, &block(&[fid, 0, 0], b""));
    let answers = [one.answer(), one.answer()].map(|answer| answer.expect("a reply").ok());
    assert!(answers.iter().any(|answer| answer.header.mid == closing));
}

#[test]
fn a_waiting_open_can_be_cancelled_and_the_later_close_wakes_no_request() {
    let (_server, mut one, mut other) = two(NT);
    let fid = one.open_with(0, DENY_ALL).ok().word(2);
    let request = open_andx(&other, 0, DENY_NONE, 1);
    let mid = other.post(c::OPEN_ANDX, &request);
    other.post_as(mid, c::NT_CANCEL, &block(&[], b""));
    other
        .answer()
        .expect("cancelled")
        .refused(Status::SHARING_VIOLATION);
    one.close(fid).ok();
    assert!(other.answer().is_none());
    assert_eq!(other.conn.poll_timeout(), None);
}

#[test]
fn an_open_is_refused_at_once_if_the_delay_is_zero() {
    let config = Config {
        sharing_violation_delay: Span::from_secs(0),
        ..Config::default()
    };
    let server = TestServer::with(config, ShareOptions::default());
    server.fs.add_file("F", b"contents").unwrap();
    let (mut one, mut other) = (server.client(NT), server.client(NT));
    one.open_with(0, DENY_ALL).ok();
    other
        .open_with(0, DENY_NONE)
        .refused(Status::SHARING_VIOLATION);
}
