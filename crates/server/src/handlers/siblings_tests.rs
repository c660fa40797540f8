//! A client that reconnects, and which shares the work of a connection may touch.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{
    Reach,
    config::Config,
    share::ShareOptions,
    table::ShareId,
    testkit::{TestClient, TestServer, block},
};
use coax_wire::{
    command as c,
    header::{Header, Tid},
    io::Writer,
    time::Span,
};
use std::vec::Vec;

const NT: &str = "NT LM 0.12";
/// NT_CREATE_ANDX: read and write, without sharing.
const ALONE: u32 = 0x0012_019f;

fn server(reset: bool) -> TestServer {
    let config = Config {
        reset_on_zero_vc: reset,
        ..Config::default()
    };
    let server = TestServer::with(config, ShareOptions::default());
    server.fs.add_file("F", b"contents").unwrap();
    server
}

/// Sets up the session of virtual circuit 0.
fn begin_anew(client: &mut TestClient) {
    client.negotiate(&[NT]);
    let words = [0xff, 0, 0xffff, 50, 0, 0, 0, 0, 0, 0, 0, 0xd0fc, 0x0080];
    client.post(c::SESSION_SETUP_ANDX, &block(&words, &[0; 12]));
}

fn deliver(client: &mut TestClient) {
    let now = client.now;
    client.conn.handle_wake(now);
}

/// Holds F open without sharing.
fn holder(server: &TestServer, address: &str) -> TestClient {
    let mut client = server.client_from(address, NT);
    exclusive(&mut client).ok();
    client
}

fn exclusive(client: &mut TestClient) -> crate::testkit::Answer {
    let name = client.string("F", 0);
    let mut words: Vec<u8> = std::vec![0xff, 0, 0, 0, 0];
    words.extend((name.len() as u16 - 2).to_le_bytes());
    for number in [0, 0, ALONE, 0, 0, 0x80, 0, 1, 0, 2] {
        words.extend(u32::to_le_bytes(number));
    }
    words.push(0);
    let words: Vec<u16> = words
        .chunks(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let pad = client.string("F", 1);
    client.request(c::NT_CREATE_ANDX, &words, &pad)
}

#[test]
fn virtual_circuit_zero_closes_the_client_s_other_connections_before_it_is_answered() {
    let server = server(true);
    let mut old = holder(&server, "10.0.0.1:1000");
    let mut other = holder_of_nothing(&server, "10.0.0.2:1000");
    let mut new = server.connect_from("10.0.0.1:1001");
    begin_anew(&mut new);
    assert!(
        new.answer().is_none(),
        "the open must wait for the old connection"
    );
    deliver(&mut old);
    assert!(old.conn.is_closing());
    deliver(&mut other);
    assert!(!other.conn.is_closing());
    old.conn.handle_disconnect(old.now);
    deliver(&mut new);
    assert_eq!(new.answer().unwrap().status(), 0);
    assert_eq!(server.server.locked(|tables| tables.open_count()), 0);
    assert_eq!(new.conn.poll_timeout(), None);
}

fn holder_of_nothing(server: &TestServer, address: &str) -> TestClient {
    server.client_from(address, NT)
}

#[test]
fn a_log_on_waits_no_longer_than_five_seconds_for_connections_that_do_not_close() {
    let server = server(true);
    let _stuck = holder(&server, "10.0.0.1:1000");
    let mut new = server.connect_from("10.0.0.1:1001");
    begin_anew(&mut new);
    new.pass(Span::from_millis(4_999));
    assert!(new.answer().is_none());
    new.pass(Span::from_millis(1));
    assert_eq!(new.answer().unwrap().status(), 0);
}

#[test]
fn without_the_parameter_virtual_circuit_zero_closes_nothing() {
    let server = server(false);
    let mut old = holder(&server, "10.0.0.1:1000");
    let mut new = server.connect_from("10.0.0.1:1001");
    begin_anew(&mut new);
    assert_eq!(new.answer().unwrap().status(), 0);
    deliver(&mut old);
    assert!(!old.conn.is_closing());
}

#[test]
fn only_a_connection_that_blocks_the_same_client_is_probed() {
    let server = server(false);
    for (address, probed) in [("10.0.0.1:2", true), ("10.0.0.2:2", false)] {
        let mut old = holder(&server, "10.0.0.1:1");
        let mut new = server.client_from(address, NT);
        let words = block(&[0, 0x16], b"\x04F\0");
        new.header.flags2 = coax_wire::header::Flags2(0);
        new.post(c::OPEN, &words);
        assert!(new.answer().is_none(), "the open must wait for a close");
        deliver(&mut old);
        assert_eq!(old.conn.take_probe(), probed, "{address}");
        assert!(!old.conn.take_probe(), "the event must be reported once");
        old.conn.handle_disconnect(old.now);
        deliver(&mut new);
        assert_eq!(
            new.answer().unwrap().status(),
            0,
            "the open must succeed after the close"
        );
        new.conn.handle_disconnect(new.now);
    }
}

fn message(client: &TestClient, command: u8, block: &[u8]) -> Vec<u8> {
    let mut out = Writer::default();
    let header = Header {
        command,
        ..client.header
    };
    header.emit(&mut out);
    out.bytes(block);
    out.into_vec()
}

#[test]
fn a_request_touches_its_trees_disk_and_one_without_disk_access_none() {
    let server = server(false);
    let mut client = server.client(NT);
    let disk = Reach::Share(ShareId(1));
    let reach = |client: &TestClient, command, words: &[u16]| {
        client
            .conn
            .reach(&message(client, command, &block(words, b"")))
    };
    assert_eq!(reach(&client, c::ECHO, &[1]), Reach::Nothing);
    assert_eq!(reach(&client, c::CLOSE, &[1, 0, 0]), disk);
    assert_eq!(reach(&client, c::LOGOFF_ANDX, &[0xff, 0]), Reach::Nothing);
    client.open("F");
    assert_eq!(reach(&client, c::LOGOFF_ANDX, &[0xff, 0]), disk);
    assert_eq!(client.conn.shares_held(), [ShareId(1)]);
    let before = client.header.tid;
    client.connect_share("IPC$");
    assert_eq!(reach(&client, c::CLOSE, &[1, 0, 0]), Reach::Nothing);
    client.header.tid = Tid(0x7777);
    assert_eq!(reach(&client, c::CLOSE, &[1, 0, 0]), Reach::Nothing);
    client.header.tid = before;
    client.conn.hang_up();
    client.conn.close_share(client.now, ShareId(1));
    assert!(client.conn.shares_held().is_empty());
    assert_eq!(server.server.locked(|tables| tables.open_count()), 0);
}
