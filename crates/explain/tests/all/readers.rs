//! Files as programs of all ages left them, and frames as odd links and cards do: what is read of them.

use coax_explain::{Error, explain};
use coax_wire::time::{Span, Time};

use crate::common::{
    bytes, of,
    packets::{Owned, analyse, as_pcap, essence, packets},
    unpacked,
};

const SAMPLE: &str = "labelled/nagle_lan-client.pcapng.gz";
const RAW_IP: u32 = 101;
const FILE_HEADER: usize = 24;

/// The sample's packets, of which nothing says that they are in a file.
fn sample() -> Vec<Owned> {
    packets(&unpacked(SAMPLE)).1
}

/// A little-endian pcap file of them, with each record's header changed.
fn pcap(all: &[Owned], link: u32, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let whole = as_pcap(link, all, true, false);
    let mut out = whole[..FILE_HEADER].to_vec();
    let mut rest = &whole[FILE_HEADER..];
    while !rest.is_empty() {
        let kept = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let mut header = rest[..16].to_vec();
        change(&mut header);
        out.extend(header);
        out.extend(&rest[16..16 + kept]);
        rest = &rest[16 + kept..];
    }
    out
}

#[test]
fn files_from_before_version_2_3_and_those_of_a_patched_libpcap_are_read() {
    let all = sample();
    let before = essence(&of(&as_pcap(RAW_IP, &all, true, false)));
    // the two lengths the other way round
    let mut old = pcap(&all, RAW_IP, |header| header[8..].rotate_left(4));
    old[6..8].copy_from_slice(&2_u16.to_le_bytes());
    assert_eq!(essence(&of(&old)), before);
    // eight bytes more: interface, protocol, type, and one to align (magic A1B2CD34); microseconds
    let mut patched = pcap(&all, RAW_IP, |header| {
        let below = u32::from_le_bytes(header[4..8].try_into().unwrap()) / 1000;
        header[4..8].copy_from_slice(&below.to_le_bytes());
        header.extend([0; 8]);
    });
    patched[..4].copy_from_slice(&0xa1b2_cd34_u32.to_le_bytes());
    assert_eq!(essence(&of(&patched)), before);
}

#[test]
fn what_the_link_type_says_of_frame_check_sequences_is_no_part_of_it() {
    let all = sample();
    let before = essence(&of(&as_pcap(RAW_IP, &all, true, false)));
    // four bits say how long they are, and one that it is said (draft-ietf-opsawg-pcap 4)
    let told = as_pcap(RAW_IP | 0x2400_0000, &all, true, false);
    assert_eq!(essence(&of(&told)), before);
}

#[test]
fn a_file_that_ends_within_its_first_header_is_too_short_and_not_of_another_kind() {
    let whole = as_pcap(RAW_IP, &sample(), true, false);
    for len in [0, 3, 4, 10, FILE_HEADER - 1] {
        assert!(matches!(explain(&whole[..len]), Err(Error::Empty)), "{len}");
    }
    assert_eq!(of(&whole[..FILE_HEADER]).quality.packets, 0);
    assert!(matches!(
        explain(&b"\x7fELF"[..]),
        Err(Error::NotACapture(_))
    ));
}

#[test]
fn compressed_data_that_was_cut_or_spoilt_is_read_up_to_there() {
    let packed = bytes(SAMPLE);
    let whole = of(&packed).quality.packets;
    let cut = of(&packed[..packed.len() / 2]).quality;
    assert!(cut.packets > 0 && cut.packets < whole);
    assert!(cut.damage.unwrap().1.contains("compressed"));
    let mut spoilt = packed.clone();
    let middle = packed.len() / 2;
    spoilt[middle..middle + 64].fill(0xff);
    let spoilt = of(&spoilt).quality;
    assert!(spoilt.packets < whole && spoilt.damage.is_some());
}

/// A pcapng file of one section: blocks by their type and body.
fn blocks(all: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    let section = [
        &0x1a2b_3c4d_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xff; 8],
    ]
    .concat();
    for (kind, body) in std::iter::once(&(0x0a0d_0d0a, section)).chain(all) {
        let padded = body.len().next_multiple_of(4);
        let total = (padded as u32 + 12).to_le_bytes();
        out.extend(kind.to_le_bytes());
        out.extend(total);
        out.extend(body);
        out.resize(out.len() + padded - body.len(), 0);
        out.extend(total);
    }
    out
}

/// An interface of raw IP that keeps so much of a packet, with nanoseconds.
fn interface(snap: u32) -> (u32, Vec<u8>) {
    let body = [
        &[101, 0, 0, 0][..],
        &snap.to_le_bytes(),
        &[9, 0, 1, 0, 9, 0, 0, 0],
    ];
    (1, body.concat())
}

/// What a packet's block says of its interface, in 32 bits or in 16 bits beside a count of drops; then as all have it.
fn packet(kind: u32, interface: [u8; 4], packet: &Owned) -> (u32, Vec<u8>) {
    let at = packet.at.0;
    let mut body = interface.to_vec();
    for word in [
        (at >> 32) as u32,
        at as u32,
        packet.bytes.len() as u32,
        packet.wire_len,
    ] {
        body.extend(word.to_le_bytes());
    }
    body.extend(&packet.bytes);
    (kind, body)
}

#[test]
fn obsolete_packet_blocks_say_what_enhanced_ones_do_though_drops_stand_beside_the_interface() {
    let all = sample();
    let before = essence(&of(&unpacked(SAMPLE)));
    for (kind, interface_word) in [(6, [0; 4]), (2, [0, 0, 7, 0])] {
        let mut file = vec![interface(0)];
        file.extend(all.iter().map(|it| packet(kind, interface_word, it)));
        assert_eq!(essence(&of(&blocks(&file))), before, "{kind}");
    }
}

#[test]
fn simple_packets_have_the_time_of_the_one_before_and_no_more_bytes_than_are_kept_of_any() {
    // the block is padded to a multiple of four
    const KEPT: usize = 58;
    let all = sample();
    let simple = |it: &Owned| {
        let kept = &it.bytes[..it.bytes.len().min(KEPT)];
        (3, [&it.wire_len.to_le_bytes()[..], kept].concat())
    };
    let mut file = vec![interface(KEPT as u32), packet(6, [0; 4], &all[0])];
    file.extend(all[1..40].iter().map(simple));
    let capture = of(&blocks(&file));
    assert_eq!(
        (capture.quality.packets, capture.quality.out_of_order),
        (40, 0)
    );
    assert_eq!(capture.span, Some((all[0].at, all[0].at)));
    let longer = all[1..40]
        .iter()
        .filter(|it| it.wire_len as usize > KEPT)
        .count() as u64;
    assert!(longer > 0);
    assert_eq!(
        (capture.quality.cut_packets, capture.quality.snap_len),
        (longer, KEPT as u32)
    );
}

#[test]
fn a_block_too_long_to_be_looked_at_is_passed_over_unless_it_holds_a_packet() {
    let all = sample();
    let mut file = vec![interface(0), (0x0bad, vec![7; 3 << 20])];
    file.extend(all.iter().map(|it| packet(6, [0; 4], it)));
    assert_eq!(
        essence(&of(&blocks(&file))),
        essence(&of(&unpacked(SAMPLE)))
    );
    file[1].0 = 6;
    let quality = of(&blocks(&file)).quality;
    assert_eq!(quality.packets, 0);
    assert!(quality.damage.unwrap().1.contains("length makes no sense"));
}

#[test]
fn drops_that_statistics_tell_of_again_and_again_are_counted_once() {
    // isb_ifdrop (5) and isb_osdrop (7), each counted from the capture's beginning
    let statistics = |card: u64, system: u64| {
        let mut body = vec![0; 12];
        for (code, count) in [(5_u16, card), (7, system)] {
            body.extend(code.to_le_bytes());
            body.extend(8_u16.to_le_bytes());
            body.extend(count.to_le_bytes());
        }
        (5, body)
    };
    let file = [
        interface(0),
        statistics(3, 1),
        statistics(3, 1),
        statistics(5, 2),
    ];
    assert_eq!(of(&blocks(&file)).quality.dropped, 7);
}

/// The sample with each IP packet behind a header, or changed.
fn changed(link: u32, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut all = sample();
    for packet in &mut all {
        let before = packet.bytes.len();
        change(&mut packet.bytes);
        packet.wire_len = packet.wire_len + packet.bytes.len() as u32 - before as u32;
    }
    as_pcap(link, &all, true, false)
}

#[test]
fn a_total_length_of_0_is_the_frame_s_and_padding_behind_a_packet_is_no_data() {
    let before = essence(&of(&as_pcap(RAW_IP, &sample(), true, false)));
    // segmentation offload leaves the length to the card
    let offloaded = changed(RAW_IP, |packet| {
        if packet[0] == 0x45 {
            packet[2..4].fill(0);
        }
    });
    assert_eq!(essence(&of(&offloaded)), before);
    // the shortest frame of Ethernet has 46 bytes behind its header
    let padded = changed(1, |packet| {
        packet.resize(packet.len().max(46), 0xee);
        packet.splice(0..0, [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    });
    assert_eq!(essence(&of(&padded)), before);
}

#[test]
fn pppoe_and_an_authentication_header_are_gone_over() {
    let before = essence(&of(&as_pcap(RAW_IP, &sample(), true, false)));
    let pppoe = changed(1, |packet| {
        let mut head = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x64];
        head.extend([0x11, 0, 0, 5]);
        head.extend((packet.len() as u16 + 2).to_be_bytes());
        head.extend([0, 0x21]);
        packet.splice(0..0, head);
    });
    assert_eq!(essence(&of(&pppoe)), before);
    // IPv6, and behind it 24 bytes of authentication (RFC 4302: 4 more than its length says, in words of 32 bits)
    let ipv6 = changed(RAW_IP, |packet| {
        if packet[0] != 0x45 {
            return;
        }
        let len = u16::from_be_bytes([packet[2], packet[3]]) - 20 + 24;
        let mut head = vec![0x60, 0, 0, 0];
        head.extend(len.to_be_bytes());
        head.extend([51, 64]);
        for address in [12..16, 16..20] {
            head.extend([0xfd; 12]);
            head.extend(&packet[address]);
        }
        head.extend([6, 4]);
        head.extend([0; 22]);
        packet.splice(0..20, head);
    });
    let sixes = essence(&of(&ipv6));
    assert_eq!(sixes, before);
}

#[test]
fn the_clock_s_grain_is_what_all_times_are_multiples_of_and_disorder_is_told_by_the_worst() {
    let mut all = sample()[..6].to_vec();
    let begin = 1_000_000_000_000;
    for (packet, at_us) in all.iter_mut().zip([0, 60, 160, 110, 300, 280]) {
        packet.at = Time(begin + at_us * 1000);
    }
    let quality = of(&as_pcap(RAW_IP, &all, true, false)).quality;
    assert_eq!(
        (quality.out_of_order, quality.worst_disorder),
        (2, Span(50_000))
    );
    assert_eq!(quality.clock_grain, Span(20_000));
}

#[test]
fn of_links_that_are_not_understood_the_first_is_named_and_all_packets_are_counted() {
    let all = sample();
    // 802.11 with a radiotap header, plain 802.11, and raw IP
    let mut file: Vec<_> = [127_u8, 105, 101]
        .map(|link| {
            let mut interface = interface(0);
            interface.1[0] = link;
            interface
        })
        .to_vec();
    for (number, it) in all[..30].iter().enumerate() {
        file.push(packet(6, [number as u8 % 3, 0, 0, 0], it));
    }
    let quality = of(&blocks(&file)).quality;
    assert_eq!(
        (quality.unknown_links, quality.unknown_link),
        (20, Some(127))
    );
    assert_eq!(quality.tcp_segments, 10);
}

#[test]
fn segments_that_the_capturing_machine_joined_are_told_from_those_of_the_wire() {
    assert_eq!(of(&unpacked("tcp/mlab-C2DFE.pcap.gz")).quality.coalesced, 4);
    assert_eq!(of(&unpacked(SAMPLE)).quality.coalesced, 0);
}

#[test]
fn a_copy_is_listed_behind_as_many_connections_as_are_kept() {
    const KEPT: u16 = 20_000;
    let (link, mut all) = packets(&unpacked(SAMPLE));
    let before = essence(&analyse(link, &all));
    // its first packet is a SYN over IPv4 without options of IP: the port of the client is the first word of TCP
    let syn = all[0].clone();
    let ip = syn
        .bytes
        .windows(2)
        .position(|two| two == [0x45, 0])
        .unwrap();
    let others = (0..KEPT).map(|port| {
        let mut other = syn.clone();
        other.bytes[ip + 12..ip + 16].copy_from_slice(&[192, 0, 2, 1]);
        other.bytes[ip + 20..ip + 22].copy_from_slice(&(port + 1024).to_be_bytes());
        other
    });
    all.splice(0..0, others);
    let capture = analyse(link, &all);
    assert_eq!(capture.connections_left_out, 1);
    assert_eq!(capture.connections.len(), usize::from(KEPT));
    let [copy] = &essence(&capture)[..] else {
        panic!("{} copies", capture.copies.len());
    };
    assert_eq!(
        (copy.1, copy.2, copy.4),
        (before[0].1, before[0].2, before[0].4)
    );
}
