//! Byte-range locks between two clients.

use crate::{
    share::ShareOptions,
    testkit::{Answer, TestClient, TestServer, block},
};
use coax_wire::{
    command as c,
    header::{Fid, HEADER_LEN, Mid, Pid},
    io::Writer,
    smb::locking_andx::{FOREVER, Range, Request, kind},
    status::Status,
    time::Span,
};
use std::{vec, vec::Vec};

const NT: &str = "NT LM 0.12";
const LANMAN: &str = "LANMAN1.0";
const CORE: &str = "PC NETWORK PROGRAM 1.0";

fn range(offset: u64, length: u64) -> Range {
    Range {
        pid: 77,
        offset,
        length,
    }
}

fn lock(fid: u16, kind: u8, timeout_ms: u32, locks: &[Range]) -> Request {
    Request {
        fid: Fid(fid),
        kind,
        oplock_level: 0,
        timeout_ms,
        unlocks: Vec::new(),
        locks: locks.to_vec(),
    }
}

fn unlock(fid: u16, kind: u8, unlocks: &[Range]) -> Request {
    Request {
        unlocks: unlocks.to_vec(),
        ..lock(fid, kind, 0, &[])
    }
}

fn bytes(request: &Request) -> Vec<u8> {
    let mut out = Writer::default();
    request.emit(&mut out);
    out.into_vec()
}

trait Locks {
    fn ask(&mut self, request: &Request) -> Answer;
    fn begin(&mut self, request: &Request) -> Mid;
}

impl Locks for TestClient {
    #[track_caller]
    fn ask(&mut self, request: &Request) -> Answer {
        self.send_block(c::LOCKING_ANDX, &bytes(request))
    }

    #[track_caller]
    fn begin(&mut self, request: &Request) -> Mid {
        let mid = self.post(c::LOCKING_ANDX, &bytes(request));
        assert!(self.answer().is_none(), "the lock request must wait");
        mid
    }
}

fn two(dialect: &str) -> (TestServer, TestClient, u16, TestClient, u16) {
    let server = TestServer::new();
    server.fs.add_file("F", &[b'x'; 400]).unwrap();
    let (mut one, mut other) = (server.client(dialect), server.client(dialect));
    let (fid, fid2) = (one.open("F"), other.open("F"));
    (server, one, fid, other, fid2)
}

#[test]
fn a_core_lock_keeps_others_out_of_its_range_until_it_is_unlocked() {
    let (_server, mut one, fid, mut other, fid2) = two(CORE);
    one.request(c::LOCK_BYTE_RANGE, &[fid, 10, 0, 100, 0], b"")
        .ok();
    other
        .request(c::READ, &[fid2, 20, 95, 0, 0], b"")
        .refused(Status::FILE_LOCK_CONFLICT);
    other
        .request(c::LOCK_BYTE_RANGE, &[fid2, 1, 0, 109, 0], b"")
        .refused(Status::LOCK_NOT_GRANTED);
    other.request(c::READ, &[fid2, 10, 110, 0, 0], b"").ok();
    one.request(c::READ, &[fid, 20, 95, 0, 0], b"").ok();
    one.request(c::UNLOCK_BYTE_RANGE, &[fid, 10, 0, 100, 0], b"")
        .ok();
    one.request(c::UNLOCK_BYTE_RANGE, &[fid, 10, 0, 100, 0], b"")
        .refused(Status::RANGE_NOT_LOCKED);
    other.request(c::READ, &[fid2, 20, 95, 0, 0], b"").ok();
}

#[test]
fn a_lock_conflict_is_errlock_for_dos_and_depends_on_earlier_attempts_for_nt() {
    for (dialect, first, second) in [
        (LANMAN, 33 << 16 | 1, 33 << 16 | 1),
        (NT, Status::LOCK_NOT_GRANTED.0, Status::FILE_LOCK_CONFLICT.0),
    ] {
        let (_server, mut one, fid, mut other, fid2) = two(dialect);
        one.ask(&lock(fid, 0, 0, &[range(5, 5)])).ok();
        let again = lock(fid2, 0, 0, &[range(5, 5)]);
        assert_eq!(other.ask(&again).status(), first, "{dialect}");
        assert_eq!(other.ask(&again).status(), second, "{dialect}");
    }
}

#[test]
fn lock_and_read_and_write_and_unlock_do_both_steps() {
    let (server, mut one, fid, mut other, fid2) = two(LANMAN);
    let read = one.request(c::LOCK_AND_READ, &[fid, 4, 8, 0, 0], b"").ok();
    assert_eq!(read.bytes(), b"\x01\x04\0xxxx");
    let write = |fid| (vec![fid, 4, 8, 0, 0], b"\x01\x04\0WXYZ".to_vec());
    let (words, data) = write(fid2);
    other
        .request(c::WRITE_AND_UNLOCK, &words, &data)
        .refused(Status::FILE_LOCK_CONFLICT);
    let (words, data) = write(fid);
    assert_eq!(
        one.request(c::WRITE_AND_UNLOCK, &words, &data).ok().word(0),
        4
    );
    one.request(c::WRITE_AND_UNLOCK, &words, &data)
        .refused(Status::RANGE_NOT_LOCKED);
    assert_eq!(&server.fs.contents("F").unwrap()[8..12], b"WXYZ");
}

#[test]
fn a_waiting_lock_is_granted_and_answered_at_the_unlock() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    let mid = other.begin(&lock(fid2, 0, 60_000, &[range(5, 10)]));
    one.ask(&unlock(fid, 0, &[range(0, 10)])).ok();
    let answer = other.answer().expect("granted").ok();
    assert_eq!((answer.header.mid, answer.block().word_count()), (mid, 2));
    one.ask(&lock(fid, 0, 0, &[range(5, 1)]))
        .refused(Status::LOCK_NOT_GRANTED);
}

#[test]
fn a_waiting_lock_fails_at_its_timeout_and_not_before() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    other.begin(&lock(fid2, 0, 2_000, &[range(5, 10)]));
    other.pass(Span::from_millis(1_999));
    assert!(other.answer().is_none());
    other.pass(Span::from_millis(1));
    other
        .answer()
        .expect("refused")
        .refused(Status::FILE_LOCK_CONFLICT);
    assert_eq!(other.conn.poll_timeout(), None);
}

#[test]
fn an_unlock_in_a_request_whose_lock_waits_happens_once() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    other.ask(&lock(fid2, 0, 0, &[range(50, 1)])).ok();
    let both = Request {
        unlocks: vec![range(50, 1)],
        ..lock(fid2, 0, FOREVER, &[range(0, 10)])
    };
    other.begin(&both);
    one.ask(&lock(fid, 0, 0, &[range(50, 1)])).ok();
    one.ask(&unlock(fid, 0, &[range(0, 10)])).ok();
    other.answer().expect("granted").ok();
}

#[test]
fn several_ranges_are_locked_together_or_not_at_all() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(100, 10)])).ok();
    other
        .ask(&lock(fid2, 0, 0, &[range(0, 10), range(100, 10)]))
        .refused(Status::LOCK_NOT_GRANTED);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
}

#[test]
fn ranges_of_64_bits_lie_above_four_gibibytes() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    let far = range(7 << 32, 10);
    one.ask(&lock(fid, kind::LARGE_FILES, 0, &[far])).ok();
    other.ask(&lock(fid2, 0, 0, &[range(0, 0xffff_ffff)])).ok();
    other
        .ask(&lock(fid2, kind::LARGE_FILES, 0, &[far]))
        .refused(Status::FILE_LOCK_CONFLICT);
    let past_the_end = range(u64::MAX, 2);
    other
        .ask(&lock(fid2, kind::LARGE_FILES, 0, &[past_the_end]))
        .refused(Status::INVALID_LOCK_RANGE);
}

#[test]
fn shared_locks_coexist_and_prevent_writes() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, kind::SHARED, 0, &[range(0, 10)])).ok();
    other
        .ask(&lock(fid2, kind::SHARED, 0, &[range(0, 10)]))
        .ok();
    one.request(c::WRITE, &[fid, 1, 0, 0, 0], b"\x01\x01\0A")
        .refused(Status::FILE_LOCK_CONFLICT);
    one.request(c::READ, &[fid, 1, 0, 0, 0], b"").ok();
}

#[test]
fn a_cancel_must_name_type_and_range_of_the_request_that_waits() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, kind::LARGE_FILES, 0, &[range(100, 10)]))
        .ok();
    let mid = other.begin(&lock(fid2, kind::LARGE_FILES, FOREVER, &[range(100, 10)]));
    let cancel = |kind, offset| lock(fid2, kind | kind::CANCEL, 0, &[range(offset, 10)]);
    for wrong in [cancel(0, 100), cancel(kind::LARGE_FILES, 0)] {
        let answer = other.ask(&wrong);
        answer.refused(Status::CANCEL_VIOLATION);
        assert_eq!(
            answer.status(),
            173 << 16 | 1,
            "expected a DOS class and code"
        );
    }
    other.ask(&cancel(kind::LARGE_FILES, 100)).ok();
    let failed = other.answer().expect("a reply to the lock request");
    failed.refused(Status::FILE_LOCK_CONFLICT);
    assert_eq!(failed.header.mid, mid);
}

#[test]
fn nt_cancel_ends_a_waiting_lock_and_nothing_is_locked_later() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    let mid = other.begin(&lock(fid2, 0, FOREVER, &[range(0, 10)]));
    other.post_as(mid, c::NT_CANCEL, &block(&[], b""));
    other
        .answer()
        .expect("cancelled")
        .refused(Status::FILE_LOCK_CONFLICT);
    one.ask(&unlock(fid, 0, &[range(0, 10)])).ok();
    assert!(other.answer().is_none());
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
}

#[test]
fn nt_cancel_that_crosses_the_grant_is_too_late_and_the_lock_stays() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    let mid = other.begin(&lock(fid2, 0, FOREVER, &[range(0, 10)]));
    one.ask(&unlock(fid, 0, &[range(0, 10)])).ok();
    other.post_as(mid, c::NT_CANCEL, &block(&[], b""));
    other.answer().expect("granted").ok();
    assert!(other.answer().is_none());
    one.ask(&lock(fid, 0, 0, &[range(0, 10)]))
        .refused(Status::LOCK_NOT_GRANTED);
}

#[test]
fn a_close_fails_its_waiting_locks_before_its_own_reply() {
    for how in [
        c::CLOSE,
        c::PROCESS_EXIT,
        c::LOGOFF_ANDX,
        c::TREE_DISCONNECT,
    ] {
        let (_server, mut one, fid, mut other, fid2) = two(NT);
        one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
        let waiting = other.begin(&lock(fid2, 0, 10_000, &[range(0, 10)]));
        let words: &[u16] = match how {
            c::CLOSE => &[fid2, 0, 0],
            c::LOGOFF_ANDX => &[0xff, 0],
            _ => &[],
        };
        let closing = other.post(how, &block(words, b""));
        let failed = other.answer().expect("a reply to the lock request");
        failed.refused(Status::RANGE_NOT_LOCKED);
        assert_eq!(failed.header.mid, waiting, "{how:#x}");
        assert_eq!(other.answer().expect("closed").ok().header.mid, closing);
    }
}

#[test]
fn changing_the_kind_of_a_lock_is_refused_as_windows_does() {
    let (_server, mut one, fid, ..) = two(NT);
    one.ask(&lock(fid, kind::SHARED, 0, &[range(0, 10)])).ok();
    one.ask(&lock(fid, kind::CHANGE_TYPE, 0, &[range(0, 10)]))
        .refused(Status::ATOMIC_LOCKS_NOT_SUPPORTED);
}

#[test]
fn locks_belong_to_the_low_half_of_the_process_identifier() {
    let (_server, mut one, fid, ..) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    one.header.pid = Pid(78);
    one.request(c::READ, &[fid, 1, 0, 0, 0], b"")
        .refused(Status::FILE_LOCK_CONFLICT);
    one.header.pid = Pid(0x1_0000 | 77);
    one.request(c::READ, &[fid, 1, 0, 0, 0], b"").ok();
}

#[test]
fn a_request_that_announces_more_ranges_than_it_contains_locks_nothing() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    let mut cut = bytes(&lock(fid, 0, 0, &[range(0, 10), range(20, 10)]));
    cut.truncate(cut.len() - 1);
    one.send_block(c::LOCKING_ANDX, &cut)
        .refused(Status::INVALID_SMB);
    other.ask(&lock(fid2, 0, 0, &[range(0, 10)])).ok();
}

#[test]
fn a_lock_chained_with_a_read_waits_and_then_the_read_follows() {
    let (_server, mut one, fid, mut other, fid2) = two(NT);
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    let mut first = bytes(&lock(fid2, 0, FOREVER, &[range(0, 10)]));
    let at = (HEADER_LEN + first.len()) as u16;
    first[1] = c::READ_ANDX;
    first[3..5].copy_from_slice(&at.to_le_bytes());
    let read = block(&[0xff, 0, fid2, 0, 0, 5, 0, 0, 0, 0], b"");
    other.post(c::LOCKING_ANDX, &[first, read].concat());
    assert!(other.answer().is_none());
    one.ask(&unlock(fid, 0, &[range(0, 10)])).ok();
    let answer = other.answer().expect("both").ok();
    let (next, at) = answer.block().andx().expect("a read in the chain");
    assert_eq!(next, c::READ_ANDX);
    let read = coax_wire::block::Block::at(&answer.message, at).unwrap();
    assert_eq!(read.word(5).unwrap(), 5);
}

#[test]
fn without_blocking_locks_no_lock_waits_and_without_locking_no_lock_conflicts() {
    let base = ShareOptions::default();
    let no_waits = ShareOptions {
        blocking_locks: false,
        ..base.clone()
    };
    let no_locks = ShareOptions {
        locking: false,
        ..base
    };
    for (options, locks) in [(no_waits, true), (no_locks, false)] {
        let server = TestServer::with(crate::config::Config::default(), options);
        server.fs.add_file("F", b"0123456789").unwrap();
        let (mut one, mut other) = (server.client(NT), server.client(NT));
        let (fid, fid2) = (one.open("F"), other.open("F"));
        one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
        let answer = other.ask(&lock(fid2, 0, FOREVER, &[range(0, 10)]));
        let read = other.request(c::READ, &[fid2, 1, 0, 0, 0], b"");
        if locks {
            answer.refused(Status::LOCK_NOT_GRANTED);
            read.refused(Status::FILE_LOCK_CONFLICT);
        } else {
            answer.ok();
            read.ok();
            one.ask(&unlock(fid, 0, &[range(3, 3)])).ok();
        }
    }
}

#[test]
fn without_strict_locking_locks_conflict_only_with_locks() {
    let options = ShareOptions {
        strict_locking: false,
        ..ShareOptions::default()
    };
    let server = TestServer::with(crate::config::Config::default(), options);
    server.fs.add_file("F", b"0123456789").unwrap();
    let (mut one, mut other) = (server.client(NT), server.client(NT));
    let (fid, fid2) = (one.open("F"), other.open("F"));
    one.ask(&lock(fid, 0, 0, &[range(0, 10)])).ok();
    other.request(c::READ, &[fid2, 1, 0, 0, 0], b"").ok();
    other
        .ask(&lock(fid2, 0, 0, &[range(0, 10)]))
        .refused(Status::LOCK_NOT_GRANTED);
}
