//! Messages as DOS clients and smbclient send them.

use crate::{
    Event,
    config::Config,
    share::ShareOptions,
    testkit::{TestClient, TestServer},
};
use alloc::{string::String, vec, vec::Vec};
use coax_wire::{command as c, status::Status};

const NAMES: &[u8] = b"\x04JIM\0\x04ANN\0";

fn server() -> TestServer {
    let config = Config {
        messages: true,
        ..Config::default()
    };
    TestServer::with(config, ShareOptions::default())
}

fn block(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
    bytes
}

fn received(client: &mut TestClient) -> Vec<(String, String, String)> {
    let events = core::iter::from_fn(|| client.conn.poll_event());
    events
        .filter_map(|event| match event {
            Event::Message { from, to, text } => Some((from, to, text)),
            _ => None,
        })
        .collect()
}

fn send(client: &mut TestClient, text: &[u8]) -> u32 {
    let bytes = [NAMES, &block(text)].concat();
    client.request(c::SEND_SINGLE_BLOCK, &[], &bytes).status()
}

#[test]
fn a_single_block_needs_no_dialect_and_no_log_on() {
    let server = server();
    let mut client = server.connect();
    assert_eq!(send(&mut client, b"tea?\x14now\r\nhere\r\n"), 0);
    let told = ("JIM".into(), "ANN".into(), "tea?\nnow\nhere".into());
    assert_eq!(received(&mut client), [told]);
}

#[test]
fn the_blocks_of_a_message_are_joined_and_limited_to_1600_bytes() {
    let server = server();
    let mut client = server.connect();
    let group = client
        .request(c::SEND_START_MULTI_BLOCK, &[], NAMES)
        .ok()
        .word(0);
    for _ in 0..20 {
        let bytes = block(&[b'x'; 128]);
        client
            .request(c::SEND_TEXT_MULTI_BLOCK, &[group], &bytes)
            .ok();
    }
    assert!(received(&mut client).is_empty());
    client.request(c::SEND_END_MULTI_BLOCK, &[group], b"").ok();
    let told = received(&mut client);
    assert_eq!(told.len(), 1);
    assert!(told.iter().all(|(_, _, text)| text.len() == 1600));
}

#[test]
fn an_unknown_message_gets_no_text_and_no_end() {
    let server = server();
    let mut client = server.connect();
    let group = client
        .request(c::SEND_START_MULTI_BLOCK, &[], NAMES)
        .ok()
        .word(0);
    let other = group.wrapping_add(1);
    for (command, bytes) in [
        (c::SEND_TEXT_MULTI_BLOCK, block(b"x")),
        (c::SEND_END_MULTI_BLOCK, Vec::new()),
    ] {
        let answer = client.request(command, &[other], &bytes);
        assert_eq!(answer.status(), Status::BAD_TID.0);
    }
    client.request(c::SEND_END_MULTI_BLOCK, &[group], b"").ok();
    assert_eq!(received(&mut client).len(), 1);
    let again = client.request(c::SEND_END_MULTI_BLOCK, &[group], b"");
    assert_eq!(again.status(), Status::BAD_TID.0);
}

#[test]
fn an_address_that_sends_too_much_is_refused_on_all_its_connections() {
    let server = server();
    let mut first = server.connect_from("10.0.0.1:1000");
    for _ in 0..10 {
        assert_eq!(send(&mut first, b"x"), 0);
    }
    assert_eq!(send(&mut first, b"x"), Status::SERVER_PAUSED.0);
    let mut second = server.connect_from("10.0.0.1:1001");
    assert_eq!(send(&mut second, b"x"), Status::SERVER_PAUSED.0);
    let mut other = server.connect_from("10.0.0.2:1000");
    assert_eq!(send(&mut other, b"x"), 0);
    assert_eq!(received(&mut first).len(), 10);
    assert!(received(&mut second).is_empty());
}

#[test]
fn a_server_that_receives_no_messages_says_so() {
    let server = TestServer::new();
    let mut client = server.connect();
    assert_eq!(send(&mut client, b"x"), Status::MESSAGES_OFF.0);
    let answer = client.request(c::SEND_START_MULTI_BLOCK, &[], NAMES);
    assert_eq!(answer.status(), Status::MESSAGES_OFF.0);
    assert!(received(&mut client).is_empty());
}

#[test]
fn a_malformed_message_is_refused_and_not_delivered() {
    let server = server();
    let mut client = server.connect();
    for bytes in [
        &b"\x04JIM\0"[..],
        b"\x04JIM\0\x04ANN\0\x01\xff\xffx",
        b"JIM\0ANN\0",
    ] {
        let answer = client.request(c::SEND_SINGLE_BLOCK, &[], bytes);
        assert_ne!(answer.status(), 0);
    }
    assert!(received(&mut client).is_empty());
}
