//! What must not change the result: another start of time, another form of file, a file in pieces; and what damage must
//! not do.

use coax_explain::{Analyser, Cause, explain, report::Capture};
use coax_wire::time::{Span, Time};
use proptest::prelude::*;

use crate::common::{
    bytes, of,
    packets::{Essence, Owned, analyse, as_pcap, essence, packets},
    unpacked,
};

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
        assert_eq!(essence(&analyser.finish()), whole, "truncated at {cut}");
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
        (1, [&hosts[..], LABELS].concat()),
        (1, [&hosts[..], LABELS, &[0; 4], &hosts, &[8, 0]].concat()),
        (276, [&[0x88, 0x47], &cooked2[2..], &LABELS[2..]].concat()),
        (9, [&[0xff, 3, 2, 0x81], &LABELS[2..]].concat()),
    ]
}

/// The EtherType of MPLS and two labels.
const LABELS: &[u8] = &[0x88, 0x47, 0, 0x12, 0x30, 64, 0, 0x45, 0x61, 64];

/// What a tunnel puts between its IP header and the packet: the protocol, and the headers.
fn tunnel_headers() -> Vec<(u8, Vec<u8>)> {
    let ethernet = [2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 4, 8, 0];
    let udp = |port: u16| [&[0xc0, 0][..], &port.to_be_bytes(), &[0; 4]].concat();
    let vxlan = [8, 0, 0, 0, 0, 0, 7, 0];
    vec![
        (4, vec![]),
        (47, vec![0, 0, 8, 0]),
        (47, [&[0xb0, 0, 8, 0][..], &[0; 12]].concat()),
        (47, [&[0, 0, 0x65, 0x58], &ethernet[..]].concat()),
        (
            47,
            [&[0x10, 0, 0x88, 0xbe], &[0; 12][..], &ethernet].concat(),
        ),
        (
            47,
            [&[0x30, 0x81, 0x88, 0x0b], &[0; 12][..], &[0xff, 3, 0, 0x21]].concat(),
        ),
        (47, [&[0, 0][..], LABELS].concat()),
        (17, [&udp(4789), &vxlan[..], &ethernet].concat()),
        (17, [&udp(8472), &vxlan[..], &ethernet].concat()),
        (
            47,
            [&[0, 0, 8, 0][..], &ipv4_header(1000, 4, (0, false))].concat(),
        ),
    ]
}

/// An IPv4 header before so many bytes; of a fragment, its offset and whether more follow.
fn ipv4_header(len: usize, protocol: u8, (offset, more): (usize, bool)) -> Vec<u8> {
    let place = (offset / 8) as u16 | u16::from(more) << 13;
    let mut header = vec![0x45, 0];
    header.extend(((20 + len) as u16).to_be_bytes());
    header.extend([0x12, 0x34]);
    header.extend(place.to_be_bytes());
    header.extend([64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    header
}

#[test]
fn tunnels_change_nothing() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let before = essence(&of(&as_pcap(RAW_IP, &all, true, false)));
    for (protocol, header) in tunnel_headers() {
        let mut wrapped = all.clone();
        for packet in &mut wrapped {
            let len = header.len() + packet.wire_len as usize;
            let ip = ipv4_header(len, protocol, (0, false));
            packet.bytes = [&ip, &header, &packet.bytes].map(|part| &part[..]).concat();
            packet.wire_len += (ip.len() + header.len()) as u32;
        }
        let found = of(&as_pcap(RAW_IP, &wrapped, true, false));
        assert_eq!(essence(&found), before, "{protocol}, {header:?}");
    }
}

#[test]
fn a_tunnel_s_packets_may_be_fragmented() {
    let (_, all) = packets(&unpacked(SAMPLE));
    let essential = |packets: &[Owned]| {
        let found = of(&as_pcap(RAW_IP, packets, true, false));
        let copies = essence(&found).into_iter();
        copies
            .map(|(name, bytes, span, _, account)| (name, bytes, span, account))
            .collect::<Vec<_>>()
    };
    let mut pieces = Vec::new();
    for (number, packet) in all.iter().enumerate() {
        let whole = [&[0, 0, 8, 0], &packet.bytes[..]].concat();
        let cut = 40.min(whole.len());
        for (part, place) in [(&whole[..cut], (0, true)), (&whole[cut..], (cut, false))] {
            let mut bytes = ipv4_header(part.len(), 47, place);
            bytes[4..6].copy_from_slice(&(number as u16).to_be_bytes());
            bytes.extend(part);
            let wire_len = bytes.len() as u32;
            pieces.push(Owned {
                at: packet.at,
                bytes,
                wire_len,
            });
        }
    }
    assert_eq!(essential(&pieces), essential(&all));
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

#[test]
fn packets_out_of_order_are_sorted() {
    let (link, all) = packets(&unpacked(SAMPLE));
    let before = essence(&analyse(link, &all));
    let mut shuffled = all.clone();
    // as several queues of a card deliver them
    shuffled.chunks_mut(7).for_each(<[Owned]>::reverse);
    let after = analyse(link, &shuffled);
    assert!(after.quality.out_of_order > 100);
    let timeless = |all: Vec<Essence>| -> Vec<_> {
        all.into_iter().map(|it| (it.0, it.1, it.2, it.4)).collect()
    };
    assert_eq!(timeless(essence(&after)), timeless(before));
}

#[test]
fn one_time_stamp_far_off_changes_nothing_else() {
    let (link, all) = packets(&unpacked(SAMPLE));
    let before = essence(&analyse(link, &all));
    for seconds in [-128_i64, 128] {
        let mut wrong = all.clone();
        let at = &mut wrong[500].at;
        *at = Time(at.0.saturating_add_signed(seconds * 1_000_000_000));
        let after = analyse(link, &wrong);
        assert_eq!(after.quality.replaced_times, 1, "{seconds}");
        for ((_, bytes, span, _, account), was) in essence(&after).into_iter().zip(&before) {
            assert_eq!((bytes, span), (was.1, was.2), "{seconds}");
            assert_eq!(account.total(), span, "{seconds}");
        }
    }
}

#[test]
fn a_clock_that_is_set_back_keeps_sums_exact() {
    let (link, mut all) = packets(&unpacked(SAMPLE));
    let before = essence(&analyse(link, &all));
    for packet in &mut all[500..] {
        packet.at = Time(packet.at.0 - 128_000_000_000);
    }
    let after = analyse(link, &all);
    assert_eq!(after.quality.clock_steps, 1);
    for ((_, bytes, span, _, account), was) in essence(&after).into_iter().zip(&before) {
        assert_eq!((bytes, account.total()), (was.1, span));
        assert!(span <= was.2 && was.2.0 - span.0 < Span::from_secs(1).0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn wrong_times_break_no_sum(times in prop::collection::vec((any::<prop::sample::Index>(), -400_000_000_000_i64..400_000_000_000), 1..20)) {
        let (link, mut all) = packets(&unpacked("labelled/andx4k-client.pcapng.gz"));
        for (place, shift) in times {
            let place = place.index(all.len());
            let at = &mut all[place].at;
            *at = Time(at.0.saturating_add_signed(shift));
        }
        let capture = analyse(link, &all);
        prop_assert!(!capture.copies.is_empty());
        for copy in capture.copies {
            prop_assert_eq!(copy.account.total(), copy.wall);
        }
    }

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
