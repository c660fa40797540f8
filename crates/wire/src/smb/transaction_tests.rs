//! Transactions' messages, byte for byte and forth and back.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
use super::*;
use crate::header::HEADER_LEN;
use alloc::{vec, vec::Vec};

fn message(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::default();
    out.zeros(HEADER_LEN);
    emit(&mut out);
    out.into_vec()
}

/// A TRANSACTION to `\PIPE\LANMAN` that asks for a list of shares, as DOS LAN Manager sends it.
const RAP: &[u8] = &[
    14, 19, 0, 0, 0, 8, 0, 0, 16, 0, 0, 0, 0, 0x88, 0x13, 0, 0, 0, 0, 19, 0, 77, 0, 0, 0, 0, 0, 0,
    0, 33, 0, // words and byte count
    b'\\', b'P', b'I', b'P', b'E', b'\\', b'L', b'A', b'N', b'M', b'A', b'N', 0,
    0, // name, pad
    0, 0, b'W', b'r', b'L', b'e', b'h', 0, b'B', b'1', b'3', b'B', b'W', b'z', 0, 1, 0, 0, 16,
];

#[test]
fn a_lan_manager_request_decodes_field_by_field() {
    let bytes = message(|out| {
        out.bytes(RAP);
    });
    let block = Block::first(&bytes).unwrap();
    let request = Request::parse(Kind::Transaction, &block, false).unwrap();
    assert_eq!(
        (
            request.total_parameters,
            request.max_parameters,
            request.max_data
        ),
        (19, 8, 4096)
    );
    assert_eq!(
        (request.timeout_ms, request.name.raw),
        (5000, &b"\\PIPE\\LANMAN"[..])
    );
    assert_eq!(request.parameters, &RAP[45..]);
    assert!(request.data.is_empty() && request.setup.is_empty());
}

#[test]
fn setup_words_that_the_word_count_does_not_cover_are_refused() {
    let mut bytes = message(|out| {
        out.bytes(RAP);
    });
    bytes[HEADER_LEN + 27] = 1;
    let block = Block::first(&bytes).unwrap();
    assert_eq!(
        Request::parse(Kind::Transaction, &block, false),
        Err(Error::WordCount {
            what: "transaction",
            found: 14
        })
    );
}

#[test]
fn counts_and_offsets_outside_the_message_are_refused() {
    for (at, value) in [(21, 200u8), (19, 200), (22, 9)] {
        let mut bytes = message(|out| {
            out.bytes(RAP);
        });
        bytes[HEADER_LEN + at] = value;
        let block = Block::first(&bytes).unwrap();
        assert_eq!(
            Request::parse(Kind::Transaction, &block, false),
            Err(Error::Outside { what: "parameters" })
        );
    }
}

fn sample(kind: Kind) -> Request<'static> {
    Request {
        kind,
        total_parameters: 9,
        total_data: 70,
        max_parameters: 10,
        max_data: 60_000,
        max_setup: 2,
        flags: if kind == Kind::NtTransact {
            0
        } else {
            flags::NO_RESPONSE
        },
        timeout_ms: if kind == Kind::NtTransact { 0 } else { 7 },
        function: if kind == Kind::Transaction { 0 } else { 4 },
        setup: &[4, 0, 1, 2],
        name: WireStr {
            raw: if kind == Kind::Transaction {
                b"\\\0P\0"
            } else {
                b""
            },
            unicode: true,
        },
        parameters: b"abcdefghi",
        data: b"0123456789",
    }
}

#[test]
fn messages_of_all_three_commands_survive_a_round_trip() {
    for kind in [Kind::Transaction, Kind::Transaction2, Kind::NtTransact] {
        let bytes = message(|out| sample(kind).emit(out));
        let block = Block::first(&bytes).unwrap();
        assert_eq!(Request::parse(kind, &block, true).unwrap(), sample(kind));
        let piece = Secondary {
            kind,
            total_parameters: 9,
            total_data: 70,
            parameters: b"",
            parameter_displacement: 9,
            data: b"abcdef",
            data_displacement: 64,
        };
        let bytes = message(|out| piece.emit(out));
        let block = Block::first(&bytes).unwrap();
        assert_eq!(Secondary::parse(kind, &block).unwrap(), piece);
        let reply = Response {
            kind,
            total_parameters: 2,
            total_data: 6,
            setup: &[1, 0],
            parameters: b"xy",
            parameter_displacement: 0,
            data: b"abcdef",
            data_displacement: 0,
        };
        let bytes = message(|out| reply.emit(out));
        let block = Block::first(&bytes).unwrap();
        assert_eq!(Response::parse(kind, &block).unwrap(), Some(reply));
    }
}

#[test]
fn secondaries_have_the_word_counts_of_the_specification() {
    for (kind, words) in [
        (Kind::Transaction, 8),
        (Kind::Transaction2, 9),
        (Kind::NtTransact, 18),
    ] {
        let piece = Secondary {
            kind,
            total_parameters: 0,
            total_data: 1,
            parameters: b"",
            parameter_displacement: 0,
            data: b"a",
            data_displacement: 0,
        };
        assert_eq!(message(|out| piece.emit(out))[HEADER_LEN], words);
    }
}

#[test]
fn a_trans2_reply_has_the_offsets_of_windows() {
    let reply = Response {
        kind: Kind::Transaction2,
        total_parameters: 2,
        total_data: 3,
        setup: &[],
        parameters: &[1, 2],
        parameter_displacement: 0,
        data: &[7, 8, 9],
        data_displacement: 0,
    };
    let want = vec![
        10, 2, 0, 3, 0, 0, 0, 2, 0, 56, 0, 0, 0, 3, 0, 60, 0, 0, 0, 0, 0, 8, 0, 0, 1, 2, 0, 0, 7,
        8, 9,
    ];
    assert_eq!(message(|out| reply.emit(out))[HEADER_LEN..], want);
}

#[test]
fn fit_predicts_the_size_that_emit_produces() {
    for kind in [Kind::Transaction, Kind::Transaction2, Kind::NtTransact] {
        for max in 120..140 {
            let (parameters, data) = Response::fit(kind, HEADER_LEN, 1, max, 10, 500);
            let reply = Response {
                kind,
                total_parameters: 10,
                total_data: 500,
                setup: &[0, 0],
                parameters: &[5; 10][..parameters],
                parameter_displacement: 0,
                data: &[6; 500][..data],
                data_displacement: 0,
            };
            let len = message(|out| reply.emit(out)).len();
            assert!(len <= max && len + 4 > max, "{kind:?} {max} {len}");
        }
    }
}

#[test]
fn an_interim_reply_is_distinguished_from_a_final_one() {
    let bytes = message(|out| BlockWriter::begin(out).finish(0));
    let block = Block::first(&bytes).unwrap();
    assert_eq!(Response::parse(Kind::Transaction2, &block).unwrap(), None);
}

#[test]
fn no_truncation_makes_a_decoder_panic() {
    for kind in [Kind::Transaction, Kind::Transaction2, Kind::NtTransact] {
        let whole = message(|out| sample(kind).emit(out));
        for len in HEADER_LEN..whole.len() {
            let Ok(block) = Block::first(&whole[..len]) else {
                continue;
            };
            let _ = Request::parse(kind, &block, true);
            let _ = Secondary::parse(kind, &block);
            let _ = Response::parse(kind, &block);
        }
    }
}
