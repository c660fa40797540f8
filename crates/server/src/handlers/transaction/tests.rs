//! Transactions in several messages, in both directions.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use super::*;
use crate::{
    config::{Config, Limits},
    context::Park,
    error::Result,
    share::ShareOptions,
    testkit::{Answer, TestClient, TestServer},
};
use alloc::{vec, vec::Vec};
use coax_wire::{
    block::WireStr,
    header::{HEADER_LEN, Mid},
    smb::transaction::Secondary,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// The ticket that the next parked mirror waits for.
static TICKET: AtomicU64 = AtomicU64::new(0);

/// Echoes parameters and data. Parameters that begin with `park` wait first.
pub(super) fn mirror(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    if whole.parameters.starts_with(b"park") && call.retry.is_none() {
        let ticket = crate::table::Ticket(TICKET.fetch_add(1, Ordering::SeqCst) + 1_000_000);
        return Ok(TransFlow::Park(Park {
            ticket,
            deadline: None,
        }));
    }
    let reply = TransReply::new(whole.parameters.clone(), whole.data.clone());
    Ok(TransReply {
        setup: if whole.kind == Kind::Transaction2 {
            vec![7, 0]
        } else {
            vec![]
        },
        ..reply
    }
    .into())
}

const KINDS: [Kind; 3] = [Kind::Transaction, Kind::Transaction2, Kind::NtTransact];

fn request<'a>(kind: Kind, parameters: &'a [u8], data: &'a [u8]) -> Request<'a> {
    Request {
        kind,
        total_parameters: parameters.len() as u32,
        total_data: data.len() as u32,
        max_parameters: 60_000,
        max_data: 60_000,
        max_setup: 0,
        flags: 0,
        timeout_ms: 0,
        function: 0xfff0,
        setup: if kind == Kind::Transaction2 {
            &[0xf0, 0xff]
        } else {
            &[]
        },
        name: WireStr {
            raw: b"\\\0T\0E\0S\0T\0\\\0M\0",
            unicode: true,
        },
        parameters,
        data,
    }
}

fn emitted(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::default();
    emit(out.zeros(HEADER_LEN));
    out.into_vec()[HEADER_LEN..].to_vec()
}

fn post(client: &mut TestClient, request: &Request<'_>) -> Mid {
    let block = emitted(|out| request.emit(out));
    client.post(request.kind.command(), &block)
}

/// The message with these ranges of `parameters` and `data`.
fn piece<'a>(
    whole: &Request<'a>,
    parameters: core::ops::Range<usize>,
    data: core::ops::Range<usize>,
) -> Secondary<'a> {
    Secondary {
        kind: whole.kind,
        total_parameters: whole.total_parameters,
        total_data: whole.total_data,
        parameter_displacement: parameters.start as u32,
        parameters: &whole.parameters[parameters],
        data_displacement: data.start as u32,
        data: &whole.data[data],
    }
}

/// Sends a secondary of the previous request.
fn post_piece(client: &mut TestClient, mid: Mid, piece: &Secondary<'_>) {
    let block = emitted(|out| piece.emit(out));
    client.post_as(mid, piece.kind.secondary(), &block);
}

fn first_of<'a>(whole: &Request<'a>, parameters: usize, data: usize) -> Request<'a> {
    Request {
        parameters: &whole.parameters[..parameters],
        data: &whole.data[..data],
        ..*whole
    }
}

/// Collects all messages of an answer: status, number of messages, parameters, data.
fn collect(client: &mut TestClient, kind: Kind) -> (u32, usize, Vec<u8>, Vec<u8>) {
    let (mut parameters, mut data) = (vec![], vec![]);
    let (mut status, mut messages) = (0, 0);
    while let Some(answer) = client.answer() {
        assert_eq!(answer.header.command, kind.command());
        let limit = usize::from(client.conn.context.client.max_buffer);
        assert!(answer.message.len() <= limit.max(SMALLEST_BUFFER));
        let block = answer.block();
        let response = Response::parse(kind, &block)
            .unwrap()
            .expect("a final reply");
        assert_eq!(response.parameter_displacement as usize, parameters.len());
        assert_eq!(response.data_displacement as usize, data.len());
        parameters.extend(response.parameters);
        data.extend(response.data);
        (status, messages) = (answer.header.status, messages + 1);
    }
    (status, messages, parameters, data)
}

fn interim(client: &mut TestClient, kind: Kind) {
    let answer: Answer = client.answer().expect("an interim reply").ok();
    assert_eq!(answer.header.command, kind.command());
    assert_eq!(answer.message[HEADER_LEN..], [0, 0, 0]);
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

#[test]
fn a_transaction_in_one_message_is_answered_in_one() {
    let server = TestServer::new();
    for kind in KINDS {
        let mut client = server.client("NT LM 0.12");
        post(&mut client, &request(kind, b"parameters", b"data"));
        assert_eq!(
            collect(&mut client, kind),
            (0, 1, b"parameters".to_vec(), b"data".to_vec())
        );
    }
}

#[test]
fn secondaries_arrive_in_any_order_and_only_the_last_is_answered() {
    let server = TestServer::new();
    let (parameters, data) = (bytes(100), bytes(5_000));
    for kind in KINDS {
        let mut client = server.client("NT LM 0.12");
        let whole = request(kind, &parameters, &data);
        let mid = post(&mut client, &first_of(&whole, 40, 0));
        interim(&mut client, kind);
        for (p, d) in [
            (80..100, 3_000..5_000),
            (80..80, 0..1_000),
            (40..80, 1_000..3_000),
        ] {
            assert!(client.answer().is_none());
            post_piece(&mut client, mid, &piece(&whole, p, d));
        }
        assert_eq!(
            collect(&mut client, kind),
            (0, 1, parameters.clone(), data.clone())
        );
        assert!(client.conn.context.transactions.is_empty());
    }
}

#[test]
fn an_answer_is_split_into_messages_that_fit_the_clients_buffer() {
    let server = TestServer::new();
    let (parameters, data) = (bytes(1_500), bytes(9_001));
    for kind in KINDS {
        let mut client = server.client("NT LM 0.12");
        client.conn.context.client.max_buffer = 1_024;
        post(&mut client, &request(kind, &parameters, &data));
        // Each message holds 1,024 bytes less header, words and padding.
        let messages = if kind == Kind::NtTransact { 12 } else { 11 };
        assert_eq!(
            collect(&mut client, kind),
            (0, messages, parameters.clone(), data.clone())
        );
    }
}

#[test]
fn data_beyond_the_clients_limit_is_truncated_with_buffer_overflow() {
    let server = TestServer::new();
    for (dialect, status) in [("NT LM 0.12", 0x8000_0005), ("LANMAN2.1", 0x00ea_0001)] {
        let mut client = server.client(dialect);
        let small = Request {
            max_data: 10,
            ..request(Kind::Transaction2, b"p", &[9; 30])
        };
        post(&mut client, &small);
        assert_eq!(
            collect(&mut client, Kind::Transaction2),
            (status, 1, b"p".to_vec(), vec![9; 10])
        );
    }
}

#[test]
fn no_answer_is_sent_if_the_client_wants_none() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let one_way = Request {
        flags: flags::NO_RESPONSE | flags::DISCONNECT_TID,
        ..request(Kind::Transaction, b"", b"")
    };
    post(&mut client, &one_way);
    assert!(client.answer().is_none());
    post(&mut client, &request(Kind::Transaction, b"", b""));
    client.answer().unwrap().refused(Status::BAD_TID);
}

#[test]
fn inconsistent_counts_are_refused_and_leave_nothing_behind() {
    let server = TestServer::new();
    let data = bytes(100);
    let mut client = server.client("NT LM 0.12");
    let whole = request(Kind::Transaction2, b"abcdef", &data);
    let lies: [fn(&mut Secondary<'_>); 4] = [
        |piece| piece.total_data = 101,
        |piece| piece.total_data = 9,
        |piece| piece.data_displacement = 91,
        |piece| piece.data_displacement = 9,
    ];
    for lie in lies {
        let mid = post(&mut client, &first_of(&whole, 6, 10));
        interim(&mut client, Kind::Transaction2);
        let mut bad = piece(&whole, 6..6, 10..20);
        lie(&mut bad);
        post_piece(&mut client, mid, &bad);
        client.answer().unwrap().refused(Status::INVALID_SMB);
        assert!(client.conn.context.transactions.is_empty());
        post_piece(&mut client, mid, &piece(&whole, 6..6, 10..100));
        client.answer().unwrap().refused(Status::INVALID_SMB);
    }
    let too_much = Request {
        total_data: 9,
        ..request(Kind::Transaction2, b"", &data)
    };
    post(&mut client, &too_much);
    client.answer().unwrap().refused(Status::INVALID_SMB);
}

#[test]
fn a_total_that_shrinks_to_the_bytes_received_completes_the_transaction() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let whole = request(Kind::NtTransact, b"abcd", &[5; 60]);
    let mid = post(&mut client, &first_of(&whole, 4, 20));
    interim(&mut client, Kind::NtTransact);
    let mut last = piece(&whole, 4..4, 20..30);
    last.total_data = 30;
    post_piece(&mut client, mid, &last);
    assert_eq!(
        collect(&mut client, Kind::NtTransact),
        (0, 1, b"abcd".to_vec(), vec![5; 30])
    );
}

#[test]
fn announced_bytes_are_bounded_and_abandoned_transactions_are_discarded() {
    let limits = Limits {
        transaction_bytes: 10_000,
        ..Limits::default()
    };
    let server = TestServer::with(
        Config {
            limits,
            ..Config::default()
        },
        ShareOptions::default(),
    );
    let mut client = server.client("NT LM 0.12");
    let greedy = Request {
        total_data: u32::MAX,
        ..request(Kind::NtTransact, b"", b"a")
    };
    post(&mut client, &greedy);
    client
        .answer()
        .unwrap()
        .refused(Status::INSUFF_SERVER_RESOURCES);
    for _ in 0..1_000 {
        let begun = Request {
            total_data: 500,
            ..request(Kind::Transaction2, b"", b"a")
        };
        post(&mut client, &begun);
        interim(&mut client, Kind::Transaction2);
    }
    assert!(client.conn.context.transactions.len() < 10);
    client.request(0x71, &[], b"").ok();
    assert!(client.conn.context.transactions.is_empty());
}

#[test]
fn an_assembled_transaction_that_waits_is_answered_under_the_first_command() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let whole = request(Kind::NtTransact, b"park me", b"some data");
    let mid = post(&mut client, &first_of(&whole, 3, 0));
    interim(&mut client, Kind::NtTransact);
    post_piece(&mut client, mid, &piece(&whole, 3..7, 0..9));
    assert!(client.answer().is_none());
    client
        .conn
        .context
        .cancel_where(client.now, |header| header.mid == mid);
    assert_eq!(
        collect(&mut client, Kind::NtTransact),
        (0, 1, b"park me".to_vec(), b"some data".to_vec())
    );
}

#[test]
fn unknown_functions_are_refused() {
    let server = TestServer::new();
    let mut client = server.client("NT LM 0.12");
    let unknown = Request {
        function: 0xeeee,
        setup: &[0xee, 0xee],
        name: WireStr {
            raw: b"\\\0",
            unicode: true,
        },
        ..request(Kind::Transaction, b"", b"")
    };
    for (kind, status) in [
        (Kind::Transaction, Status::NOT_SUPPORTED),
        (Kind::Transaction2, Status::INVALID_FUNCTION),
        (Kind::NtTransact, Status::INVALID_SMB),
    ] {
        post(&mut client, &Request { kind, ..unknown });
        client.answer().unwrap().refused(status);
    }
}
