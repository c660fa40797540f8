//! The core protocol and MICROSOFT NETWORKS 1.03 as specified: tests compare every request and every reply byte
//! for byte, headers included (Microsoft Networks SMB File Sharing Protocol, November 1988; sections in the names).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

use crate::{
    share::{Access, Admission, Share, ShareKind},
    testkit::{TestClient, TestServer},
};
use alloc::{string::ToString, sync::Arc, vec::Vec};
use coax_wire::command as c;

/// One end of a conversation, which sends and receives whole messages.
pub(super) struct Wire {
    pub(super) client: TestClient,
    pub(super) tid: u16,
    pid: u16,
    pub(super) uid: u16,
    mid: u16,
    /// Header flags of the requests.
    flags: u8,
}

const MAGIC: &[u8] = b"\xffSMB";

impl Wire {
    pub(super) fn new(server: &TestServer) -> Self {
        Self {
            client: server.connect(),
            tid: 0,
            pid: 0x7775,
            uid: 0,
            mid: 0,
            flags: 0,
        }
    }

    /// A connection to a share in that dialect (section 4).
    fn connected(server: &TestServer, dialect: &str) -> Self {
        Self::connected_to(server, dialect, b"\x04\\\\COAX\\DISK\0\x04\0\x04A:\0")
    }

    /// As `connected`, with share, password and device given.
    fn connected_to(server: &TestServer, dialect: &str, names: &[u8]) -> Self {
        let mut wire = Self::new(server);
        let count = [dialect.len() as u8 + 2, 0];
        let request = [b"\0", &count[..], b"\x02", dialect.as_bytes(), b"\0"].concat();
        wire.ok(c::NEGOTIATE, &request, b"\x01\0\0\0\0");
        let request = [b"\0", &[names.len() as u8, 0][..], names].concat();
        wire.send(c::TREE_CONNECT, &request);
        wire.tid = 1;
        wire.hear(c::TREE_CONNECT, [0; 4], b"\x02\x04\x41\x01\0\0\0");
        wire
    }

    /// Section 3: magic, command, class, zero, code, flags, flags2, twelve reserved bytes, TID, PID, UID, MID.
    fn head(&self, command: u8, status: [u8; 4], flags: u8) -> Vec<u8> {
        let mut head = [MAGIC, &[command], &status, &[flags, 0, 0], &[0; 12]].concat();
        for number in [self.tid, self.pid, self.uid, self.mid] {
            head.extend(number.to_le_bytes());
        }
        head
    }

    pub(super) fn send(&mut self, command: u8, block: &[u8]) {
        self.mid += 0x20;
        let message = [&self.head(command, [0; 4], self.flags), block].concat();
        let now = self.client.now;
        self.client.conn.handle_message(now, &message);
    }

    #[track_caller]
    pub(super) fn hear(&mut self, command: u8, status: [u8; 4], block: &[u8]) {
        let said = self.client.raw_answer().expect("a reply");
        let head = self.head(command, status, 0x80 | self.flags);
        assert_eq!(said[..32], head, "header of the reply to {command:#04x}");
        let (said, block) = (said[32..].escape_ascii(), block.escape_ascii());
        assert_eq!(
            said.to_string(),
            block.to_string(),
            "reply to {command:#04x}"
        );
        assert!(self.client.raw_answer().is_none(), "expected one reply");
    }

    /// Checks that this request has this reply.
    #[track_caller]
    pub(super) fn ok(&mut self, command: u8, request: &[u8], reply: &[u8]) {
        self.send(command, request);
        self.hear(command, [0; 4], reply);
    }

    /// Checks that the server refuses this request: the reply is the header and an empty block (section 5).
    #[track_caller]
    pub(super) fn refused(&mut self, command: u8, request: &[u8], class: u8, code: u8) {
        self.send(command, request);
        self.hear(command, [class, 0, code, 0], b"\0\0\0");
    }
}

const CORE: &str = "PC NETWORK PROGRAM 1.0";
const CORE_PLUS: &str = "MICROSOFT NETWORKS 1.03";
const EMPTY: &[u8] = b"\0\0\0";
const DOS: u8 = 1;
const SERVER: u8 = 2;

fn core() -> (TestServer, Wire) {
    let server = TestServer::new();
    let wire = Wire::connected(&server, CORE);
    (server, wire)
}

#[test]
fn a_negotiate_without_a_common_dialect_is_answered_with_minus_one() {
    let mut wire = Wire::new(&TestServer::new());
    let request = b"\0\x0a\0\x02FRENCH 1\0";
    wire.ok(c::NEGOTIATE, request, b"\x01\xff\xff\0\0");
}

#[test]
fn a_tree_is_connected_used_and_disconnected() {
    let (_, mut wire) = core();
    wire.ok(c::CHECK_DIRECTORY, b"\0\x03\0\x04\\\0", EMPTY);
    wire.ok(c::TREE_DISCONNECT, EMPTY, EMPTY);
    wire.refused(c::CHECK_DIRECTORY, b"\0\x03\0\x04\\\0", SERVER, 5);
    wire.refused(c::TREE_DISCONNECT, EMPTY, SERVER, 5);
    let nowhere = b"\0\x15\0\x04\\\\COAX\\NOWHERE\0\x04\0\x04A:\0";
    wire.tid = 0;
    wire.refused(c::TREE_CONNECT, nowhere, SERVER, 6);
}

#[test]
fn a_file_is_created_written_sought_read_and_closed() {
    let (server, mut wire) = core();
    // 5.2: attributes 0x20, time 0; the file handle comes back
    let create = b"\x03\x20\0\0\0\0\0\x07\0\x04\\A.TXT\0";
    wire.ok(c::CREATE, create, b"\x01\x01\0\0\0");
    // 5.6: handle, count, offset, left; data block
    let write = b"\x05\x01\0\x05\0\0\0\0\0\x05\0\x08\0\x01\x05\0hello";
    wire.ok(c::WRITE, write, b"\x01\x05\0\0\0");
    // 5.7 from the end, one back, and absolutely
    let from_end = b"\x04\x01\0\x02\0\xff\xff\xff\xff\0\0";
    wire.ok(c::SEEK, from_end, b"\x02\x04\0\0\0\0\0");
    let absolutely = b"\x04\x01\0\0\0\x02\0\0\0\0\0";
    wire.ok(c::SEEK, absolutely, b"\x02\x02\0\0\0\0\0");
    // 5.5: count, four reserved words, data block; a second time at the end of the file
    wire.ok(
        c::READ,
        b"\x05\x01\0\x03\0\x01\0\0\0\x03\0\0\0",
        b"\x05\x03\0\0\0\0\0\0\0\0\0\x06\0\x01\x03\0ell",
    );
    wire.ok(
        c::READ,
        b"\x05\x01\0\x10\0\x05\0\0\0\x10\0\0\0",
        b"\x05\0\0\0\0\0\0\0\0\0\0\x03\0\x01\0\0",
    );
    // 5.4 and 5.3: the time of the last write is set to 2026-11-20 00:00:00
    wire.ok(c::FLUSH, b"\x01\x01\0\0\0", EMPTY);
    wire.ok(c::CLOSE, b"\x03\x01\0\x80\x8d\xff\x6a\0\0", EMPTY);
    wire.refused(c::CLOSE, b"\x03\x01\0\0\0\0\0\0\0", DOS, 6);
    assert_eq!(server.fs.contents("A.TXT").unwrap(), b"hello");
    // 5.12: attribute, time, size, five reserved words
    wire.ok(
        c::QUERY_INFORMATION,
        b"\0\x08\0\x04\\A.TXT\0",
        b"\x0a\x20\0\x80\x8d\xff\x6a\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
}

#[test]
fn writing_nothing_sets_the_length_and_a_gap_reads_as_zeros() {
    let (server, mut wire) = core();
    wire.ok(
        c::CREATE,
        b"\x03\0\0\0\0\0\0\x04\0\x04\\A\0",
        b"\x01\x01\0\0\0",
    );
    let nothing_at = |offset: u8| {
        let mut request = *b"\x05\x01\0\0\0\0\0\0\0\0\0\x03\0\x01\0\0";
        request[5] = offset;
        request
    };
    wire.ok(c::WRITE, &nothing_at(4), b"\x01\0\0\0\0");
    let beyond = b"\x05\x01\0\x01\0\x06\0\0\0\0\0\x04\0\x01\x01\0x";
    wire.ok(c::WRITE, beyond, b"\x01\x01\0\0\0");
    assert_eq!(server.fs.contents("A").unwrap(), b"\0\0\0\0\0\0x");
    wire.ok(c::WRITE, &nothing_at(2), b"\x01\0\0\0\0");
    assert_eq!(server.fs.contents("A").unwrap(), b"\0\0");
}

#[test]
fn an_open_returns_attributes_time_size_and_access() {
    let (server, mut wire) = core();
    server.fs.add_file("A", b"abc").unwrap();
    // 5.1: deny none (4), read and write (2); attributes to match: hidden, system
    wire.ok(
        c::OPEN,
        b"\x02\x42\0\x06\0\x04\0\x04\\A\0",
        b"\x07\x01\0\x20\0\0\xdf\0\x6b\x03\0\0\0\x02\0\0\0",
    );
    // a second open that denies writing conflicts with the first, which may write: ERRbadshare
    wire.refused(c::OPEN, b"\x02\x20\0\x06\0\x04\0\x04\\A\0", DOS, 32);
    wire.refused(c::OPEN, b"\x02\x40\0\x06\0\x04\0\x04\\B\0", DOS, 2);
    wire.refused(c::OPEN, b"\x02\x40\0\x06\0\x06\0\x04\\X\\B\0", DOS, 3);
    // a read-only handle does not allow writes
    wire.ok(
        c::OPEN,
        b"\x02\x40\0\x06\0\x04\0\x04\\A\0",
        b"\x07\x02\0\x20\0\0\xdf\0\x6b\x03\0\0\0\0\0\0\0",
    );
    let write = b"\x05\x02\0\x01\0\0\0\0\0\0\0\x04\0\x01\x01\0x";
    wire.refused(c::WRITE, write, DOS, 5);
}

#[test]
fn an_open_by_file_control_block_gets_the_available_access_and_excludes_others() {
    let (server, mut wire) = core();
    server.fs.add_file("A", b"abc").unwrap();
    wire.ok(
        c::OPEN,
        b"\x02\xff\0\x16\0\x04\0\x04\\A\0",
        b"\x07\x01\0\x20\0\0\xdf\0\x6b\x03\0\0\0\x02\0\0\0",
    );
    // the same circuit may open it again in this mode, another may not open it at all
    wire.ok(
        c::OPEN,
        b"\x02\x00\0\x16\0\x04\0\x04\\A\0",
        b"\x07\x02\0\x20\0\0\xdf\0\x6b\x03\0\0\0\0\0\0\0",
    );
    let mut other = Wire::connected(&server, CORE);
    other.send(c::OPEN, b"\x02\x40\0\x16\0\x04\0\x04\\A\0");
    other.client.pass(coax_wire::time::Span::from_secs(2));
    other.hear(c::OPEN, [DOS, 0, 32, 0], EMPTY);
}

#[test]
fn only_the_process_that_locked_a_range_can_unlock_it() {
    let (server, mut wire) = core();
    server.fs.add_file("A", b"abcdef").unwrap();
    let open = b"\x02\x42\0\x06\0\x04\0\x04\\A\0";
    let opened = b"\x07\x01\0\x20\0\0\xdf\0\x6b\x06\0\0\0\x02\0\0\0";
    wire.ok(c::OPEN, open, opened);
    // 5.14: handle, count, offset
    let range = b"\x05\x01\0\x02\0\0\0\x01\0\0\0\0\0";
    wire.ok(c::LOCK_BYTE_RANGE, range, EMPTY);
    wire.refused(c::LOCK_BYTE_RANGE, range, DOS, 33);
    let mut other = Wire::connected(&server, CORE);
    other.ok(c::OPEN, open, opened);
    other.refused(c::READ, b"\x05\x01\0\x06\0\0\0\0\0\0\0\0\0", DOS, 33);
    other.refused(c::UNLOCK_BYTE_RANGE, range, DOS, 33);
    wire.pid += 1;
    wire.refused(c::UNLOCK_BYTE_RANGE, range, DOS, 33);
    wire.pid -= 1;
    wire.ok(c::UNLOCK_BYTE_RANGE, range, EMPTY);
    other.ok(c::LOCK_BYTE_RANGE, range, EMPTY);
}

#[test]
fn core_plus_locks_and_reads_in_one_message_and_writes_and_unlocks() {
    let server = TestServer::new();
    server.fs.add_file("A", b"abcdef").unwrap();
    let mut wire = Wire::connected(&server, CORE_PLUS);
    let open = b"\x02\x42\0\x06\0\x04\0\x04\\A\0";
    let opened = b"\x07\x01\0\x20\0\0\xdf\0\x6b\x06\0\0\0\x02\0\0\0";
    wire.ok(c::OPEN, open, opened);
    wire.ok(
        c::LOCK_AND_READ,
        b"\x05\x01\0\x02\0\x01\0\0\0\0\0\0\0",
        b"\x05\x02\0\0\0\0\0\0\0\0\0\x05\0\x01\x02\0bc",
    );
    let mut other = Wire::connected(&server, CORE_PLUS);
    other.ok(c::OPEN, open, opened);
    other.refused(
        c::LOCK_AND_READ,
        b"\x05\x01\0\x01\0\x02\0\0\0\0\0\0\0",
        DOS,
        33,
    );
    wire.ok(
        c::WRITE_AND_UNLOCK,
        b"\x05\x01\0\x02\0\x01\0\0\0\0\0\x05\0\x01\x02\0BC",
        b"\x01\x02\0\0\0",
    );
    other.ok(
        c::LOCK_AND_READ,
        b"\x05\x01\0\x01\0\x02\0\0\0\0\0\0\0",
        b"\x05\x01\0\0\0\0\0\0\0\0\0\x04\0\x01\x01\0C",
    );
}

#[test]
fn a_raw_read_of_core_plus_gets_an_empty_reply_and_read_takes_over() {
    let server = TestServer::new();
    server.fs.add_file("A", b"abcdef").unwrap();
    let mut wire = Wire::connected(&server, CORE_PLUS);
    let opened = b"\x07\x01\0\x20\0\0\xdf\0\x6b\x06\0\0\0\0\0\0\0";
    wire.ok(c::OPEN, b"\x02\x40\0\x06\0\x04\0\x04\\A\0", opened);
    // handle, offset, maximum, minimum, timeout, reserved
    wire.send(c::READ_RAW, b"\x08\x01\0\0\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(
        wire.client.raw_answer(),
        Some(Vec::new()),
        "expected neither header nor data"
    );
    wire.ok(
        c::READ,
        b"\x05\x01\0\x06\0\0\0\0\0\0\0\0\0",
        b"\x05\x06\0\0\0\0\0\0\0\0\0\x09\0\x01\x06\0abcdef",
    );
}

#[test]
fn a_search_over_two_requests_resumes_from_the_last_entrys_status() {
    let (server, mut wire) = core();
    for name in ["A.TXT", "B.TXT", "C.DOC"] {
        server.fs.add_file(name, b"xy").unwrap();
    }
    // 5.22: at most one entry; pattern, empty search status
    wire.send(c::SEARCH, b"\x02\x01\0\0\0\x0e\0\x04\\????.TXT\0\x05\0\0");
    let first = wire.client.raw_answer().unwrap();
    let entry = &first[32 + 1 + 2 + 2 + 3..];
    assert_eq!(first[32..40], *b"\x01\x01\0\x2e\0\x05\x2b\0");
    // the name sought, as a file control block has it; the server's first byte is never zero
    assert_eq!(entry[1..12], *b"????    TXT");
    assert_ne!(entry[12], 0);
    // attribute, time, date (2026-11-21), size, name of 13 bytes, filled as Windows fills it
    assert_eq!(
        entry[21..43],
        *b"\x20\0\0\x75\x5d\x02\0\0\0A.TXT\0  \0\0\0\0\0"
    );
    let next = [b"\x02\x01\0\0\0\x1a\0\x04\0\x05\x15\0", &entry[..21]].concat();
    wire.send(c::SEARCH, &next);
    let second = wire.client.raw_answer().unwrap();
    let entry = &second[40..];
    assert_eq!(second[32..40], *b"\x01\x01\0\x2e\0\x05\x2b\0");
    assert_eq!(
        entry[21..43],
        *b"\x20\0\0\x75\x5d\x02\0\0\0B.TXT\0  \0\0\0\0\0"
    );
    let end = [b"\x02\x01\0\0\0\x1a\0\x04\0\x05\x15\0", &entry[..21]].concat();
    wire.refused(c::SEARCH, &end, DOS, 18);
    wire.refused(
        c::SEARCH,
        b"\x02\x01\0\0\0\x0b\0\x04\\*.BAS\0\x05\0\0",
        DOS,
        18,
    );
}

#[test]
fn files_are_renamed_and_deleted_by_wildcards() {
    let (server, mut wire) = core();
    for name in ["A1.OLD", "A2.OLD", "B1.OLD"] {
        server.fs.add_file(name, b"").unwrap();
    }
    wire.ok(
        c::RENAME,
        b"\x01\0\0\x14\0\x04\\A?.OLD\0\x04\\A?.NEW\0\0\0",
        EMPTY,
    );
    wire.refused(
        c::RENAME,
        b"\x01\0\0\x12\0\x04\\NONE\0\x04\\A1.NEW\0\0\0",
        DOS,
        2,
    );
    // the new name exists: ERRnoaccess is the closest DOS error (5.11)
    let onto = b"\x01\0\0\x12\0\x04\\B1.OLD\0\x04\\A1.NEW\0";
    wire.refused(c::RENAME, onto, DOS, 5);
    assert!(server.fs.contents("A2.NEW").is_ok());
    wire.ok(c::DELETE, b"\x01\0\0\x09\0\x04\\A?.NEW\0", EMPTY);
    wire.refused(c::DELETE, b"\x01\0\0\x09\0\x04\\A?.NEW\0", DOS, 2);
    wire.ok(c::DELETE, b"\x01\0\0\x06\0\x04\\*.*\0", EMPTY);
    assert!(server.fs.contents("B1.OLD").is_err());
}

#[test]
fn attributes_and_times_are_set_and_hidden_files_are_deleted_only_on_request() {
    let (server, mut wire) = core();
    server.fs.add_file("A", b"abc").unwrap();
    // 5.13: hidden and archive, 2026-11-20 00:00:00, five reserved words; path and a null string
    let set = b"\x08\x22\0\x80\x8d\xff\x6a\0\0\0\0\0\0\0\0\0\0\x06\0\x04\\A\0\x04\0";
    wire.ok(c::SET_INFORMATION, set, EMPTY);
    let query = b"\0\x04\0\x04\\A\0";
    let hidden = b"\x0a\x22\0\x80\x8d\xff\x6a\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    wire.ok(c::QUERY_INFORMATION, query, hidden);
    // a time of zero keeps the file's time
    let plain = b"\x08\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x06\0\x04\\A\0\x04\0";
    wire.ok(c::SET_INFORMATION, plain, EMPTY);
    let shown = b"\x0a\x20\0\x80\x8d\xff\x6a\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    wire.ok(c::QUERY_INFORMATION, query, shown);
    wire.ok(c::SET_INFORMATION, set, EMPTY);
    wire.refused(c::DELETE, b"\x01\0\0\x04\0\x04\\A\0", DOS, 2);
    wire.ok(c::DELETE, b"\x01\x02\0\x04\0\x04\\A\0", EMPTY);
    wire.refused(c::QUERY_INFORMATION, query, DOS, 2);
}

#[test]
fn folders_are_made_checked_and_removed() {
    let (server, mut wire) = core();
    server.fs.add_file("FILE", b"").unwrap();
    let sub = b"\0\x06\0\x04\\SUB\0";
    wire.ok(c::CREATE_DIRECTORY, sub, EMPTY);
    wire.refused(c::CREATE_DIRECTORY, sub, DOS, 5);
    wire.ok(c::CHECK_DIRECTORY, sub, EMPTY);
    wire.refused(c::CHECK_DIRECTORY, b"\0\x07\0\x04\\FILE\0", DOS, 3);
    wire.refused(c::CHECK_DIRECTORY, b"\0\x07\0\x04\\NONE\0", DOS, 3);
    wire.ok(
        c::CREATE_NEW,
        b"\x03\0\0\0\0\0\0\x08\0\x04\\SUB\\A\0",
        b"\x01\x01\0\0\0",
    );
    wire.ok(c::CLOSE, b"\x03\x01\0\0\0\0\0\0\0", EMPTY);
    wire.refused(c::DELETE_DIRECTORY, sub, DOS, 5);
    wire.ok(c::DELETE, b"\x01\0\0\x08\0\x04\\SUB\\A\0", EMPTY);
    wire.ok(c::DELETE_DIRECTORY, sub, EMPTY);
    wire.refused(c::DELETE_DIRECTORY, sub, DOS, 3);
}

#[test]
fn a_new_file_must_be_new_and_a_temporary_one_is_named_by_the_server() {
    let (server, mut wire) = core();
    let new = b"\x03\0\0\0\0\0\0\x04\0\x04\\N\0";
    wire.ok(c::CREATE_NEW, new, b"\x01\x01\0\0\0");
    wire.refused(c::CREATE_NEW, new, DOS, 80);
    // 5.16: handle; the name alone
    wire.send(c::CREATE_TEMPORARY, b"\x03\0\0\0\0\0\0\x03\0\x04\\\0");
    let reply = wire.client.raw_answer().unwrap();
    assert_eq!(reply[32..35], *b"\x01\x02\0");
    let name = reply[38..].strip_suffix(b"\0").unwrap();
    assert_eq!(reply[35..38], [name.len() as u8 + 2, 0, 4]);
    assert!(name.len() <= 12, "8.3: {}", name.escape_ascii());
    let name = core::str::from_utf8(name).unwrap();
    assert_eq!(server.fs.contents(name).unwrap(), b"");
    let write = b"\x05\x02\0\x01\0\0\0\0\0\0\0\x04\0\x01\x01\0x";
    wire.ok(c::WRITE, write, b"\x01\x01\0\0\0");
}

#[test]
fn the_end_of_a_process_closes_its_files_and_no_others() {
    let (_, mut wire) = core();
    wire.ok(
        c::CREATE,
        b"\x03\0\0\0\0\0\0\x04\0\x04\\A\0",
        b"\x01\x01\0\0\0",
    );
    wire.pid += 1;
    wire.ok(
        c::CREATE,
        b"\x03\0\0\0\0\0\0\x04\0\x04\\B\0",
        b"\x01\x02\0\0\0",
    );
    wire.ok(c::PROCESS_EXIT, EMPTY, EMPTY);
    wire.refused(c::FLUSH, b"\x01\x02\0\0\0", DOS, 6);
    wire.ok(c::FLUSH, b"\x01\x01\0\0\0", EMPTY);
}

#[test]
fn the_disk_has_units_blocks_bytes_and_free_units() {
    let (_, mut wire) = core();
    // 5.20: 2 GB in clusters of 64 sectors of 512 bytes, all free, one reserved word
    wire.ok(
        c::QUERY_INFORMATION_DISK,
        EMPTY,
        b"\x05\xff\xff\x40\0\0\x02\xff\xff\0\0\0\0",
    );
}

#[test]
fn a_job_is_opened_written_and_closed_and_leaves_the_queue() {
    let mut server = TestServer::new();
    let fs = server.fs.clone();
    server.edit(|inner| {
        let printer = Share {
            admission: Admission {
                guest: Some(Access::Write),
                ..Admission::default()
            },
            ..Share::for_guests(3, "LASER", ShareKind::Printer(fs))
        };
        inner.shares.push(Arc::new(printer));
    });
    let mut wire = Wire::connected_to(&server, CORE, b"\x04\\\\COAX\\LASER\0\x04\0\x04LPT1:\0");
    // 5.23: two bytes of set-up data, graphics mode, user
    wire.ok(
        c::OPEN_PRINT_FILE,
        b"\x02\x02\0\x01\0\x05\0\x04JIM\0",
        b"\x01\x01\0\0\0",
    );
    wire.ok(
        c::WRITE_PRINT_FILE,
        b"\x01\x01\0\x08\0\x01\x05\0\x1bEabc",
        EMPTY,
    );
    wire.ok(c::CLOSE_PRINT_FILE, b"\x01\x01\0\0\0", EMPTY);
    wire.refused(c::CLOSE_PRINT_FILE, b"\x01\x01\0\0\0", DOS, 6);
    // 5.26: ten from the first; the queue is empty, restart at the first
    wire.ok(
        c::GET_PRINT_QUEUE,
        b"\x02\x0a\0\0\0\0\0",
        b"\x02\0\0\0\0\x03\0\x01\0\0",
    );
    assert_eq!(server.fs.contents("JIM-001.prn").unwrap(), b"\x1bEabc");
}

#[test]
fn a_raw_write_of_core_plus_is_refused_before_its_data_and_write_takes_over() {
    let server = TestServer::new();
    let mut wire = Wire::connected(&server, CORE_PLUS);
    wire.ok(
        c::CREATE,
        b"\x03\0\0\0\0\0\0\x04\0\x04\\A\0",
        b"\x01\x01\0\0\0",
    );
    // handle, total count, reserved, offset, timeout, mode, reserved, data length, data offset
    let request = b"\x0c\x01\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    wire.send(c::WRITE_RAW, request);
    // ERRuseSTD; the final reply's form with a count of 0 says that the server expects no data
    wire.hear(c::WRITE_COMPLETE, [SERVER, 0, 251, 0], b"\x01\0\0\0\0");
    let write = b"\x05\x01\0\x03\0\0\0\0\0\0\0\x06\0\x01\x03\0abc";
    wire.ok(c::WRITE, write, b"\x01\x03\0\0\0");
    assert_eq!(server.fs.contents("A").unwrap(), b"abc");
}

#[test]
fn messages_between_users_are_refused() {
    let (_, mut wire) = core();
    // 6.1: originator, destination, text
    let message = b"\0\x10\0\x04JIM\0\x04ANN\0\x01\x03\0tea";
    wire.refused(c::SEND_SINGLE_BLOCK, message, SERVER, 82);
}
