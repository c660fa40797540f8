//! What must not change the result: another start of time, another form of file, a file in pieces; and what damage must
//! not do.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use coax_explain::{
    Account, Analyser, Cause,
    capture::{Link, Packet, Reader},
    explain,
    report::Capture,
};
use coax_wire::time::{Span, Time};
use common::{bytes, of, unpacked};
use proptest::prelude::*;

/// A packet of its own.
#[derive(Clone)]
struct Owned {
    at: Time,
    bytes: Vec<u8>,
    wire_len: u32,
}

fn packets(file: &[u8]) -> (Link, Vec<Owned>) {
    let mut reader = Reader::new(file).unwrap();
    let (mut link, mut all) = (Link::Ethernet, Vec::new());
    while let Some(packet) = reader.next_packet().unwrap() {
        link = packet.link;
        all.push(Owned {
            at: packet.at,
            bytes: packet.bytes.to_vec(),
            wire_len: packet.wire_len,
        });
    }
    (link, all)
}

fn analyse(link: Link, packets: &[Owned]) -> Capture {
    let mut analyser = Analyser::default();
    for (number, packet) in packets.iter().enumerate() {
        analyser.packet(&Packet {
            number: number as u64 + 1,
            at: packet.at,
            link,
            bytes: &packet.bytes,
            wire_len: packet.wire_len,
        });
    }
    analyser.finish()
}

/// What must be the same: copies with their sizes, times, causes and requests.
type Essence = (Option<String>, u64, Span, (u64, u64), Account);

fn essence(capture: &Capture) -> Vec<Essence> {
    let of_copy = |copy: &coax_explain::report::Copy| {
        (
            copy.name.clone(),
            copy.bytes,
            copy.wall,
            copy.frames,
            copy.account,
        )
    };
    capture.copies.iter().map(of_copy).collect()
}

/// The same packets as a pcap file.
fn as_pcap(link: u32, packets: &[Owned], nanoseconds: bool, big_endian: bool) -> Vec<u8> {
    let word = |value: u32| {
        if big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let magic = if nanoseconds {
        0xa1b2_3c4d_u32
    } else {
        0xa1b2_c3d4
    };
    let mut out = word(magic).to_vec();
    let version: [u8; 4] = if big_endian {
        [0, 2, 0, 4]
    } else {
        [2, 0, 4, 0]
    };
    out.extend_from_slice(&version);
    for value in [0, 0, 262_144, link] {
        out.extend_from_slice(&word(value));
    }
    for packet in packets {
        let below = packet.at.0 % 1_000_000_000;
        let unit = if nanoseconds { below } else { below / 1000 };
        for value in [
            packet.at.0 / 1_000_000_000,
            unit,
            packet.bytes.len() as u64,
            u64::from(packet.wire_len),
        ] {
            out.extend_from_slice(&word(value as u32));
        }
        out.extend_from_slice(&packet.bytes);
    }
    out
}

const SAMPLE: &str = "labelled/nagle_lan-client.pcapng.gz";
const RAW_IP: u32 = 101;

#[test]
fn another_start_of_time_changes_nothing() {
    let (link, mut all) = packets(&unpacked(SAMPLE));
    let before = essence(&analyse(link, &all));
    all.iter_mut()
        .for_each(|packet| packet.at = Time(packet.at.0 - 1_234_567_890_123_456_789));
    assert_eq!(essence(&analyse(link, &all)), before);
}

#[test]
fn every_form_of_file_says_the_same() {
    let original = unpacked(SAMPLE);
    let before = essence(&of(&original));
    assert!(!before.is_empty());
    assert_eq!(essence(&of(&bytes(SAMPLE))), before, "gzip");
    let (_, all) = packets(&original);
    for (nanoseconds, big_endian) in [(false, false), (false, true), (true, false), (true, true)] {
        let file = as_pcap(RAW_IP, &all, nanoseconds, big_endian);
        assert_eq!(essence(&of(&file)), before, "{nanoseconds} {big_endian}");
    }
}

#[test]
fn a_file_in_pieces_says_what_the_whole_says() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let whole = essence(&of(&as_pcap(RAW_IP, &all, true, false)));
    for cut in [1, 100, 733, all.len() - 1] {
        let mut analyser = Analyser::default();
        for part in [&all[..cut], &all[cut..]] {
            analyser
                .read(as_pcap(RAW_IP, part, true, false).as_slice())
                .unwrap();
        }
        assert_eq!(essence(&analyser.finish()), whole, "cut at {cut}");
    }
}

#[test]
fn other_link_headers_change_nothing() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = essence(&of(&as_pcap(RAW_IP, &all, true, false)));
    let ethernet: &[u8] = &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let tagged: &[u8] = &[
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 8, 0,
    ];
    let cooked: &[u8] = &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
    let cooked2: &[u8] = &[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    let snap: &[u8] = &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let fddi = [&[0x50; 13], snap].concat();
    let ring = [&[0x10, 0x40, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2], snap].concat();
    let routed = [
        &[
            0x10, 0x40, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 2, 4, 0x30, 0, 0x10,
        ],
        snap,
    ]
    .concat();
    let null: &[u8] = &[2, 0, 0, 0];
    let headers = [
        (1, ethernet),
        (1, tagged),
        (113, cooked),
        (276, cooked2),
        (10, &fddi),
        (6, &ring),
        (6, &routed),
        (0, null),
        (108, &[0, 0, 0, 2]),
    ];
    for (link, header) in headers {
        let mut framed = all.clone();
        for packet in &mut framed {
            packet.bytes.splice(0..0, header.iter().copied());
            packet.wire_len += header.len() as u32;
        }
        assert_eq!(
            essence(&of(&as_pcap(link, &framed, true, false))),
            before,
            "link {link}"
        );
    }
}

#[test]
fn dropping_captured_frames_is_the_capture_s_fault() {
    let (link, all) = packets(&unpacked("labelled/raw60k-client.pcapng.gz"));
    let kept: Vec<Owned> = all
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 97 != 50)
        .map(|(_, packet)| packet.clone())
        .collect();
    let (before, after) = (analyse(link, &all), analyse(link, &kept));
    assert!(after.quality.missing_bytes > 0 && before.quality.missing_bytes == 0);
    let timeout = |capture: &Capture| {
        capture
            .copies
            .iter()
            .map(|copy| copy.account.get(Cause::Timeout).0)
            .sum::<u64>()
    };
    assert!(timeout(&after) <= timeout(&before));
}

#[test]
fn a_file_cut_anywhere_is_read_up_to_there() {
    let file = unpacked("labelled/nagle_lan_nd-client.pcapng.gz");
    let whole = of(&file).quality.packets;
    let mut last = 0;
    for cut in (0..file.len()).step_by(file.len() / 60) {
        let Ok(capture) = explain(&file[..cut]) else {
            assert!(cut < 28, "{cut}");
            continue;
        };
        assert!(capture.quality.packets >= last && capture.quality.packets <= whole);
        last = capture.quality.packets;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn flipped_bits_break_no_sum(flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..60)) {
        let mut file = bytes("suricata-andx-chain.pcap");
        for (place, bit) in flips {
            let place = place.index(file.len());
            file[place] ^= 1 << bit;
        }
        if let Ok(capture) = explain(file.as_slice()) {
            for copy in capture.copies {
                prop_assert_eq!(copy.account.total(), copy.wall);
            }
        }
    }
}
