//! Tests of DCE/RPC with bytes from Windows XP, and with malformed input.

use super::{ndr::*, *};
use alloc::{vec, vec::Vec};
use proptest::prelude::*;

/// The bind of SRVSVC as Windows XP writes it to `\srvsvc`.
const BIND: &[u8] = &[
    0x05, 0x00, 0x0b, 0x03, 0x10, 0x00, 0x00, 0x00, 0x48, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0xb8, 0x10, 0xb8, 0x10, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
    0xc8, 0x4f, 0x32, 0x4b, 0x70, 0x16, 0xd3, 0x01, 0x12, 0x78, 0x5a, 0x47, 0xbf, 0x6e, 0xe1, 0x88,
    0x03, 0x00, 0x00, 0x00, 0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8, 0x08, 0x00,
    0x2b, 0x10, 0x48, 0x60, 0x02, 0x00, 0x00, 0x00,
];

#[test]
fn a_windows_xp_bind_decodes_and_encodes_to_the_same_bytes() {
    let header = Header::parse(BIND).unwrap();
    assert_eq!(
        (header.ptype, header.fragment_bytes, header.call_id),
        (ptype::BIND, 72, 1)
    );
    let bind = Bind::parse(body(&header, BIND).unwrap()).unwrap();
    assert_eq!(bind.max_transmit, 4280);
    assert_eq!(bind.contexts[0].interface, srvsvc::INTERFACE);
    assert_eq!(bind.contexts[0].transfers, [NDR]);
    let mut out = Writer::default();
    bind.emit(1, &mut out);
    assert_eq!(out.as_slice(), BIND);
}

#[test]
fn a_bind_ack_aligns_its_results_after_the_address() {
    let ack = BindAck {
        ptype: ptype::BIND_ACK,
        max_transmit: 4280,
        max_receive: 4280,
        group: 1,
        address: "\\PIPE\\srvsvc",
        verdicts: vec![Verdict::Accepted, Verdict::UnknownTransfer],
    };
    let mut out = Writer::default();
    ack.emit(7, &mut out);
    let bytes = out.as_slice();
    assert_eq!(bytes[24..26], [13, 0]);
    assert_eq!(&bytes[26..39], b"\\PIPE\\srvsvc\0");
    assert_eq!(bytes[40..44], [2, 0, 0, 0]);
    assert_eq!(bytes[44..48], [0, 0, 0, 0]);
    assert_eq!(bytes[68..72], [2, 0, 2, 0]);
    assert_eq!(bytes.len(), 92);
    assert_eq!(Header::parse(bytes).unwrap().fragment_bytes, 92);
}

#[test]
fn a_long_answer_is_cut_into_fragments_whose_stubs_join_to_the_whole() {
    let stub: Vec<u8> = (0..10_000u32).map(|n| n as u8).collect();
    let fragments = response_fragments(0, 3, &stub, 4280);
    assert_eq!(fragments.len(), 3);
    let mut joined: Vec<u8> = Vec::new();
    for (i, fragment) in fragments.iter().enumerate() {
        let header = Header::parse(fragment).unwrap();
        assert!(fragment.len() <= 4280);
        assert_eq!(usize::from(header.fragment_bytes), fragment.len());
        assert_eq!(header.flags & pfc::FIRST != 0, i == 0);
        assert_eq!(header.flags & pfc::LAST != 0, i == 2);
        joined.extend(&fragment[24..]);
    }
    assert_eq!(joined, stub);
    assert_eq!(response_fragments(0, 3, &[], 4280).len(), 1);
}

#[test]
fn strings_with_contradicting_counts_are_refused() {
    let counts = |max: u32, offset: u32, actual: u32| {
        let mut stub: Vec<u8> = [max, offset, actual]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        stub.extend([b'A', 0, 0, 0]);
        Arguments::new(&stub).text("name").ok()
    };
    assert_eq!(counts(2, 0, 2).unwrap(), "A");
    assert_eq!(counts(1, 0, 2), None);
    assert_eq!(counts(2, 1, 1), None);
    assert_eq!(counts(u32::MAX, 0, u32::MAX), None);
    assert_eq!(counts(3, 0, 3), None);
}

#[test]
fn the_time_of_day_is_local_and_knows_its_weekday() {
    // 2026-11-21 was a Saturday; 90 minutes east of UTC it began at 22:30 UTC of the day before.
    let tod = srvsvc::TimeOfDay::new(1_795_219_200_250_000_000 - 5_400_000_000_000, -90);
    assert_eq!(
        (tod.date, tod.time, tod.weekday),
        ([21, 11, 2026], [0, 0, 0, 25], 6)
    );
}

#[test]
fn a_share_list_of_level_1_points_and_defers_in_order() {
    let share = srvsvc::ShareInfo {
        name: "A".into(),
        comment: "b".into(),
        ..Default::default()
    };
    let stub = srvsvc::share_enum_results(1, &[share], true);
    let words: Vec<u32> = stub
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    assert_eq!(words[..2], [1, 1]);
    assert_eq!((words[3], words[5]), (1, 1), "count and array size");
    assert_eq!(words[7], srvsvc::share_type::DISK);
    assert_eq!(words[9..13], [2, 0, 2, 0x41]);
    assert_eq!(words[13..17], [2, 0, 2, 0x62]);
    assert_eq!(
        (words[17], words[19], words[20]),
        (1, 0, 0),
        "total, resume handle, result"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_decode_or_are_refused_and_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..120),
        opnum in 0u16..64,
    ) {
        if let Some(header) = Header::parse(&bytes) {
            let _ = body(&header, &bytes).map(Bind::parse);
        }
        let _ = Bind::parse(&bytes);
        let _ = Request::parse(bytes.first().copied().unwrap_or(0), &bytes);
        let _ = srvsvc::Call::parse(opnum, &bytes);
        let _ = wkssvc::parse(opnum, &bytes);
    }
}

#[test]
fn a_share_list_request_and_reply_survive_a_round_trip() {
    let stub = srvsvc::share_enum_arguments("\\\\SERVER", 0xffff_ffff);
    let call = srvsvc::Call::parse(srvsvc::SHARE_ENUM, &stub).unwrap();
    let want = srvsvc::Call::ShareEnum {
        level: 1,
        resume: true,
    };
    assert_eq!(call, Some(want));
    let share = |name: &str, kind, comment: &str| srvsvc::ShareInfo {
        name: name.into(),
        kind,
        comment: comment.into(),
        ..Default::default()
    };
    let shares = [
        share("GAMES", 0, "old ones"),
        share("IPC$", 0x8000_0003, ""),
    ];
    for resume in [false, true] {
        let results = srvsvc::share_enum_results(1, &shares, resume);
        let (list, code) = srvsvc::parse_share_enum_results(&results).unwrap();
        assert_eq!((&list[..], code), (&shares[..], 0));
        for len in 0..results.len() {
            assert!(srvsvc::parse_share_enum_results(&results[..len]).is_err());
        }
        for at in 0..results.len() {
            let mut bent = results.clone();
            bent[at] ^= 0xff;
            if let Ok((list, _)) = srvsvc::parse_share_enum_results(&bent) {
                assert!(list.len() <= 2);
            }
        }
    }
}
