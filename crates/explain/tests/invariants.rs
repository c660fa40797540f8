//! What must not change the result: another start of time, another form of file, a file in pieces; and what damage must
//! not do.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use coax_explain::{Analyser, Cause, explain, report::Capture};
use coax_wire::time::Time;
use common::{
    bytes, of,
    packets::{Owned, analyse, as_pcap, essence, packets},
    unpacked,
};
use proptest::prelude::*;

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

/// What may stand before an IP packet: the file's link type, and the header.
fn link_headers() -> Vec<(u32, Vec<u8>)> {
    let hosts = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    let tags = [0x88, 0xa8, 0, 5, 0x81, 0, 0, 7];
    let cooked = [0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
    let cooked2 = [8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    let snap: &[u8] = &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let ring = [0x10, 0x40, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2];
    let via_bridge = [0x10, 0x40, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 2];
    let route: &[u8] = &[4, 0x30, 0, 0x10];
    vec![
        (1, [&hosts[..], &[8, 0]].concat()),
        (1, [&hosts[..], &tags, &[8, 0]].concat()),
        (113, cooked.to_vec()),
        (276, cooked2.to_vec()),
        (10, [&[0x50; 13], snap].concat()),
        (6, [&ring, snap].concat()),
        (6, [&via_bridge, route, snap].concat()),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (9, vec![0xff, 3, 0, 0x21]),
        (50, vec![0, 0x21]),
        (9, vec![0x21]),
    ]
}

#[test]
fn other_link_headers_change_nothing() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = essence(&of(&as_pcap(RAW_IP, &all, true, false)));
    for (link, header) in link_headers() {
        let mut framed = all.clone();
        for packet in &mut framed {
            packet.bytes.splice(0..0, header.iter().copied());
            packet.wire_len += header.len() as u32;
        }
        assert_eq!(
            essence(&of(&as_pcap(link, &framed, true, false))),
            before,
            "link {link}, {header:?}"
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
