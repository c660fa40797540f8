//! Reading and writing from open to close, in all dialects.

use crate::testkit::{TestServer, block};
use coax_wire::{command as c, status::Status};
use std::{vec, vec::Vec};

const CORE: &str = "PC NETWORK PROGRAM 1.0";

fn write(count: u16, offset: u32, data: &[u8]) -> (Vec<u16>, Vec<u8>) {
    let words = vec![0, count, offset as u16, (offset >> 16) as u16, 0];
    let mut bytes = vec![1, count as u8, (count >> 8) as u8];
    bytes.extend(data);
    (words, bytes)
}

#[test]
fn a_core_client_that_never_logs_on_creates_writes_and_reads_back() {
    let server = TestServer::new();
    let mut client = server.client(CORE);
    let fid = client
        .paths(c::CREATE, &[0x20, 0, 0], &["\\HELLO.TXT"])
        .ok()
        .word(0);
    let (mut words, bytes) = write(5, 0, b"hello");
    words[0] = fid;
    assert_eq!(client.request(c::WRITE, &words, &bytes).ok().word(0), 5);
    let reply = client.request(c::READ, &[fid, 100, 1, 0, 0], b"").ok();
    assert_eq!(
        (reply.word(0), reply.bytes()),
        (4, b"\x01\x04\0ello".to_vec())
    );
    client.close(fid).ok();
    assert_eq!(server.fs.contents("HELLO.TXT").unwrap(), b"hello");
}

#[test]
fn a_write_of_nothing_sets_the_length() {
    let server = TestServer::new();
    server.fs.add_file("F", b"0123456789").unwrap();
    let mut client = server.client(CORE);
    let fid = client.paths(c::OPEN, &[2, 0], &["F"]).ok().word(0);
    for len in [4u16, 12] {
        client
            .request(c::WRITE, &[fid, 0, len, 0, 0], b"\x01\0\0")
            .ok();
    }
    client.close(fid).ok();
    assert_eq!(server.fs.contents("F").unwrap(), b"0123\0\0\0\0\0\0\0\0");
}

#[test]
fn a_read_past_the_end_returns_no_data_and_no_error() {
    let server = TestServer::new();
    server.fs.add_file("F", b"abc").unwrap();
    for dialect in [CORE, "LANMAN1.0", "NT LM 0.12"] {
        let mut client = server.client(dialect);
        let fid = client.open("F");
        let reply = client.request(c::READ, &[fid, 10, 3, 0, 0], b"").ok();
        assert_eq!((reply.word(0), reply.block().declared_bytes), (0, 3));
        let words = [0xff, 0, fid, 900, 0, 10, 0, 0, 0, 0];
        assert_eq!(client.request(c::READ_ANDX, &words, b"").ok().word(5), 0);
    }
}

#[test]
fn an_nt_client_gets_a_large_read_in_one_message() {
    let server = TestServer::new();
    server.fs.add_file("BIG", &vec![7; 100_000]).unwrap();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("BIG");
    let words = [0xff, 0, fid, 0, 0, 0x86a0, 0, 1, 0, 0, 0, 0];
    let reply = client.request(c::READ_ANDX, &words, b"").ok();
    assert_eq!((reply.word(5), reply.word(7)), (0x86a0, 1));
    let offset = usize::from(reply.word(6));
    assert_eq!(reply.message.len() - offset, 100_000);
    assert!(reply.message[offset..].iter().all(|&byte| byte == 7));
}

#[test]
fn a_read_is_full_if_the_server_offered_large_reads_whatever_the_clients_capabilities() {
    let server = TestServer::new();
    server.fs.add_file("BIG", &vec![7; 100_000]).unwrap();
    let mut client = server.client("NT LM 0.12");
    client.conn.context.client.capabilities = 0;
    client.conn.context.client.max_buffer = 4_356;
    let fid = client.open("BIG");
    // 65,534 bytes; for this client the high half of the count belongs to a timeout
    let words = [0xff, 0, fid, 0, 0, 0xfffe, 0, 3, 0, 0, 0, 0];
    let reply = client.request(c::READ_ANDX, &words, b"").ok();
    assert_eq!((reply.word(5), reply.word(7)), (0xfffe, 0));
    let mut chained = block(&[0x04, 0, fid, 0, 0, 0xfffe, 0, 0, 0, 0, 0, 0], b"");
    let close_at = 32 + chained.len();
    chained[3..5].copy_from_slice(&(close_at as u16).to_le_bytes());
    chained.extend(block(&[fid, 0, 0], b""));
    let reply = client.send_block(c::READ_ANDX, &chained).ok();
    assert!(
        reply.message.len() <= 4_356 + 3,
        "replies must share the buffer"
    );
    assert_eq!(reply.block().andx().map(|next| next.0), Some(c::CLOSE));
}

#[test]
fn opening_reading_and_closing_go_in_one_chain() {
    let server = TestServer::new();
    server.fs.add_file("F", b"chained").unwrap();
    let mut client = server.client("LANMAN1.0");
    let mut first = block(
        &[0x2e, 0, 0, 0x40, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
        b"F\0",
    );
    let second_at = 32 + first.len();
    first[3..5].copy_from_slice(&(second_at as u16).to_le_bytes());
    let mut second = block(&[0x04, 0, 0xffff, 0, 0, 100, 0, 0, 0, 0], b"");
    let third_at = second_at + second.len();
    second[3..5].copy_from_slice(&(third_at as u16).to_le_bytes());
    let whole = [first, second, block(&[0xffff, 0, 0], b"")].concat();
    let reply = client.send_block(c::OPEN_ANDX, &whole).ok();
    let (next, at) = reply.block().andx().expect("a read in the chain");
    assert_eq!(next, c::READ_ANDX);
    let read = coax_wire::block::Block::at(&reply.message, at).unwrap();
    let data = read
        .slice(usize::from(read.word(6).unwrap()), 7, "data")
        .unwrap();
    assert_eq!(data, b"chained");
    assert_eq!(read.andx().expect("a close in the chain").0, c::CLOSE);
    client.close(reply.word(2)).refused(Status::INVALID_HANDLE);
}

#[test]
fn a_failing_command_ends_its_chain_and_earlier_commands_stay_in_effect() {
    let server = TestServer::new();
    let mut client = server.client("LANMAN1.0");
    let mut first = block(
        &[0x2e, 0, 0, 0x42, 0x16, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0],
        b"NEW\0",
    );
    let second_at = 32 + first.len();
    first[3..5].copy_from_slice(&(second_at as u16).to_le_bytes());
    let whole = [first, block(&[0xff, 0, 0xffff], b"")].concat();
    let reply = client.send_block(c::OPEN_ANDX, &whole);
    reply.clone().refused(Status::INVALID_SMB);
    assert_eq!(
        reply
            .block()
            .andx()
            .expect("the reply to the failed read")
            .0,
        c::READ_ANDX
    );
    assert!(server.fs.contents("NEW").is_ok());
}

#[test]
fn compatibility_opens_of_one_process_share_a_position_and_other_opens_do_not() {
    let server = TestServer::new();
    server.fs.add_file("F", b"0123456789").unwrap();
    for (mode, shared) in [(0x02, 5), (0x42, 0)] {
        let mut client = server.client("LANMAN1.0");
        let words = [0xff, 0, 0, mode, 0x16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let mut open = || client.request(c::OPEN_ANDX, &words, b"F\0").ok().word(2);
        let (one, other) = (open(), open());
        client.request(c::READ, &[one, 5, 0, 0, 0], b"").ok();
        let here = client.request(c::SEEK, &[other, 1, 0, 0], b"").ok();
        assert_eq!(here.word(0), shared);
        client.conn.handle_disconnect(client.now);
    }
}

#[test]
fn a_write_reports_a_full_disk_and_acknowledged_data_is_in_the_file() {
    let server = TestServer::new();
    server.fs.set_options(crate::memfs::MemOptions {
        capacity: 70_000,
        ..Default::default()
    });
    let mut client = server.client("LANMAN1.0");
    let fid = client.open("F");
    let mut at = 0u32;
    loop {
        let (mut words, bytes) = write(8_000, at, &[1; 8_000]);
        words[0] = fid;
        let reply = client.request(c::WRITE, &words, &bytes);
        if reply.status() != 0 {
            reply.refused(Status::DISK_FULL);
            break;
        }
        at += u32::from(reply.word(0));
        assert!(
            at <= 70_000,
            "more bytes were acknowledged than written to the disk"
        );
    }
    client.close(fid).ok();
    assert_eq!(server.fs.contents("F").unwrap().len() as u32, at);
}

#[test]
fn a_write_count_above_the_data_sent_is_an_invalid_parameter_and_writes_nothing() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let fid = client.open("F");
    for bytes in [&b""[..], b"\x01\xff\xffab"] {
        client
            .request(c::WRITE, &[fid, 0xffff, 0, 0, 0], bytes)
            .refused(Status::INVALID_PARAMETER);
    }
    client.close(fid).ok();
    assert_eq!(server.fs.contents("F").unwrap(), b"");
}

#[test]
fn files_of_an_abandoned_connection_block_no_other_client() {
    let server = TestServer::new();
    let mut lost = server.client("NT LM 0.12");
    lost.open("A.TXT");
    assert_eq!(server.server.locked(|tables| tables.open_count()), 1);
    lost.conn.abandon();
    assert_eq!(server.server.locked(|tables| tables.open_count()), 0);
    assert!(lost.conn.is_closing());
}

#[test]
fn an_open_with_an_undefined_access_mode_is_refused_before_the_path_lookup() {
    let server = TestServer::new();
    let mut client = server.client(CORE);
    for mode in [0x04, 0x08, 0x0a, 0x50] {
        let reply = client.paths(c::OPEN, &[mode, 0x16], &["NONE\\NONE"]);
        reply.refused(Status::BAD_ACCESS);
    }
}
