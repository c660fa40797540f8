//! Pipes: binds, fragmented calls, faults, partial reads.

use super::{services::Service, *};
use crate::testkit::{NOW, TestServer};
use coax_wire::{
    io::Writer,
    rpc::{self, Bind, Context, Header, NDR, Request, pfc, ptype},
};
use proptest::prelude::*;
use std::{vec, vec::Vec};

struct Story {
    server: TestServer,
    pipe: Pipe,
}

impl Story {
    fn new() -> Self {
        Self {
            server: TestServer::new(),
            pipe: Pipe::new(Service::Server),
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<()> {
        let asker = Asker {
            server: &self.server.server,
            user: None,
            now: NOW,
        };
        self.pipe.write(&asker, data)
    }

    fn read(&mut self) -> Vec<u8> {
        self.pipe.read(65_535).unwrap().data
    }

    fn bound() -> Self {
        let mut story = Self::new();
        story.write(&bind(&[NDR])).unwrap();
        let ack = story.read();
        assert_eq!(Header::parse(&ack).unwrap().ptype, ptype::BIND_ACK);
        story
    }
}

fn bind(transfers: &[rpc::Syntax]) -> Vec<u8> {
    let bind = Bind {
        max_transmit: 4280,
        max_receive: 4280,
        group: 0,
        contexts: vec![Context {
            id: 0,
            interface: rpc::srvsvc::INTERFACE,
            transfers: transfers.to_vec(),
        }],
    };
    let mut out = Writer::default();
    bind.emit(1, &mut out);
    out.into_vec()
}

fn request(opnum: u16, flags: u8, stub: &[u8]) -> Vec<u8> {
    let request = Request {
        context: 0,
        opnum,
        stub,
    };
    let mut out = Writer::default();
    request.emit(flags, 2, &mut out);
    out.into_vec()
}

const WHOLE: u8 = pfc::FIRST | pfc::LAST;

/// NetrServerGetInfo, without a server name, level 100.
const SERVER_INFO: &[u8] = &[0, 0, 0, 0, 100, 0, 0, 0];

#[test]
fn a_call_in_fragments_cut_anywhere_is_answered_once() {
    let mut story = Story::bound();
    let bytes = [
        request(21, pfc::FIRST, &SERVER_INFO[..3]),
        request(21, 0, &SERVER_INFO[3..5]),
        request(21, pfc::LAST, &SERVER_INFO[5..]),
    ]
    .concat();
    for piece in bytes.chunks(7) {
        story.write(piece).unwrap();
    }
    let answer = story.read();
    assert_eq!(Header::parse(&answer).unwrap().ptype, ptype::RESPONSE);
    assert_eq!(story.pipe.available(), 0);
    let mut whole = Story::bound();
    whole.write(&request(21, WHOLE, SERVER_INFO)).unwrap();
    assert_eq!(whole.read(), answer);
}

fn fault_of(answer: &[u8]) -> u32 {
    assert_eq!(Header::parse(answer).unwrap().ptype, ptype::FAULT);
    u32::from_le_bytes(answer[24..28].try_into().unwrap())
}

#[test]
fn unknown_operations_and_bad_arguments_cause_faults_and_keep_the_pipe_usable() {
    let mut story = Story::bound();
    story.write(&request(63, WHOLE, SERVER_INFO)).unwrap();
    assert_eq!(fault_of(&story.read()), rpc::fault::OP_RNG_ERROR);
    story.write(&request(21, WHOLE, &[0; 5])).unwrap();
    assert_eq!(fault_of(&story.read()), rpc::fault::NDR);
    story.write(&request(21, pfc::LAST, SERVER_INFO)).unwrap();
    assert_eq!(fault_of(&story.read()), rpc::fault::PROTO_ERROR);
    story.write(&request(21, WHOLE, SERVER_INFO)).unwrap();
    assert_eq!(Header::parse(&story.read()).unwrap().ptype, ptype::RESPONSE);
}

#[test]
fn a_call_without_a_bind_is_a_fault() {
    let mut story = Story::new();
    story.write(&request(21, WHOLE, SERVER_INFO)).unwrap();
    assert_eq!(fault_of(&story.read()), rpc::fault::CONTEXT_MISMATCH);
}

#[test]
fn oversized_arguments_cause_a_fault() {
    let mut story = Story::bound();
    let mut flags = pfc::FIRST;
    for _ in 0..20 {
        story.write(&request(21, flags, &[0; 4000])).unwrap();
        flags = 0;
    }
    assert_eq!(fault_of(&story.read()), rpc::fault::REMOTE_NO_MEMORY);
}

#[test]
fn another_transfer_syntax_is_rejected_and_another_protocol_version_gets_a_nak() {
    let mut story = Story::new();
    story.write(&bind(&[rpc::srvsvc::INTERFACE])).unwrap();
    let ack = story.read();
    assert_eq!(ack[44..48], [2, 0, 2, 0]);
    let mut old = bind(&[NDR]);
    old[0] = 4;
    story.write(&old).unwrap();
    assert_eq!(Header::parse(&story.read()).unwrap().ptype, ptype::BIND_NAK);
    assert!(story.write(b"GET / HTTP/1.0\r\n\r\n").is_err());
}

#[test]
fn a_partial_read_reports_that_more_follows() {
    let mut story = Story::bound();
    story.write(&request(21, WHOLE, SERVER_INFO)).unwrap();
    let whole = story.pipe.message_bytes();
    assert_eq!(story.pipe.peek(4), [5, 0, 2, 3]);
    let first = story.pipe.read(10).unwrap();
    assert_eq!((first.data.len(), first.more), (10, true));
    let rest = story.pipe.read(1000).unwrap();
    assert_eq!((rest.data.len(), rest.more), (whole - 10, false));
    assert!(story.pipe.read(1).is_err());
}

#[test]
fn a_client_that_never_reads_gets_a_busy_error() {
    let mut story = Story::bound();
    let call = request(21, WHOLE, SERVER_INFO);
    let refused = (0..100_000).any(|_| story.write(&call).is_err());
    assert!(refused);
    assert!(story.pipe.available() < MAX_UNREAD + 1000);
}

#[test]
fn pipes_are_found_with_and_without_prefix_and_without_case() {
    for path in ["\\srvsvc", "srvsvc", "\\PIPE\\SrvSvc", "\\pipe\\srvsvc"] {
        assert_eq!(Service::by_path(path), Some(Service::Server), "{path}");
    }
    assert_eq!(Service::by_name("\\\\SrvSvc"), Some(Service::Server));
    assert_eq!(Service::by_name("\\pipe\\srvsvc"), None);
    assert_eq!(Service::by_path("\\lsarpc"), None);
    assert_eq!(Service::by_path("\\PIPE\\"), None);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..60, value: u8) {
        let mut story = Story::new();
        let _ = story.write(&bytes);
        let mut bent = [bind(&[NDR]), request(15, WHOLE, &bytes)].concat();
        bent[at] = value;
        let mut story = Story::new();
        let _ = story.write(&bent);
        prop_assert!(story.pipe.available() < 10_000);
    }
}
