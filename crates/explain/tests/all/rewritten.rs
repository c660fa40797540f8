//! What a capture says must not hang on addresses, on the version of IP, on fragments, on how much of each packet was
//! kept.

use coax_explain::{
    Account, Cause, advise,
    capture::LinkType,
    report::{Capture, Copy, Direction},
};
use coax_wire::time::{Span, Time};
use proptest::prelude::*;

use crate::common::{
    bytes,
    packets::{Owned, analyse, essence, packets},
    unpacked,
};

const ALL: [&str; 14] = [
    "base-client",
    "base-server",
    "rwnd-client",
    "rwnd-server",
    "andx4k-client",
    "andx4k-server",
    "raw60k-client",
    "raw60k-server",
    "nagle_lan-client",
    "nagle_lan-server",
    "nagle_lan_nd-client",
    "nagle_lan_nd-server",
    "shallow-client",
    "shallow-server",
];

/// The IPv4 packets of a labelled capture; all of these begin with their IP header.
fn labelled(name: &str) -> Vec<Owned> {
    let (link, all) = packets(&unpacked(&format!("labelled/{name}.pcapng.gz")));
    assert_eq!(link, LinkType::Ip, "{name}");
    let is_ipv4 = |packet: &Owned| packet.bytes[0] == 0x45;
    all.into_iter().filter(is_ipv4).collect()
}

fn total(capture: &Capture, cause: Cause) -> Span {
    let spent = capture.copies.iter().map(|copy| copy.account.get(cause).0);
    Span(spent.sum())
}

/// When the first copy begins, and how long it lasts.
fn extent(capture: &Capture) -> Option<(Time, Span)> {
    let copy = capture.copies.first()?;
    Some((copy.start, copy.wall))
}

/// Copies without what fragments and addresses may change: the numbers of frames.
fn told(capture: &Capture) -> Vec<(Option<String>, Direction, u64, Span, Account)> {
    let copies = capture.copies.iter();
    copies
        .map(|copy| {
            (
                copy.name.clone(),
                copy.direction,
                copy.bytes,
                copy.wall,
                copy.account,
            )
        })
        .collect()
}

/// Other addresses, in the other order, and other ports.
fn renamed(packet: &Owned) -> Owned {
    let mut packet = packet.clone();
    packet.bytes[12..20]
        .iter_mut()
        .for_each(|byte| *byte = !*byte);
    for at in [20, 22] {
        let port = u16::from_be_bytes([packet.bytes[at], packet.bytes[at + 1]]);
        packet.bytes[at..at + 2].copy_from_slice(&port.wrapping_add(7_777).to_be_bytes());
    }
    packet
}

/// The same with an IPv6 header, and hop-by-hop options behind it.
fn in_ipv6(packet: &Owned) -> Owned {
    let payload = &packet.bytes[20..];
    let length = u16::from_be_bytes([packet.bytes[2], packet.bytes[3]]) - 20 + 8;
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&[0, 64]);
    for address in [&packet.bytes[12..16], &packet.bytes[16..20]] {
        bytes.extend_from_slice(&[0xfd; 12]);
        bytes.extend_from_slice(address);
    }
    bytes.extend_from_slice(&[6, 0, 1, 4, 0, 0, 0, 0]);
    bytes.extend_from_slice(payload);
    Owned {
        at: packet.at,
        wire_len: packet.wire_len + 28,
        bytes,
    }
}

/// With zeros for what was not kept.
fn whole(packet: &Owned) -> Owned {
    let mut packet = packet.clone();
    packet.bytes.resize(packet.wire_len as usize, 0);
    packet
}

/// The same in IP fragments of up to 520 bytes, the last of them first.
fn in_fragments(number: usize, packet: &Owned) -> Vec<Owned> {
    const MOST: usize = 520;
    let (header, payload) = packet.bytes.split_at(20);
    let pieces = payload.chunks(MOST).enumerate();
    let last = payload.len().div_ceil(MOST) - 1;
    let mut all: Vec<Owned> = pieces
        .map(|(place, piece)| {
            let mut bytes = header.to_vec();
            bytes[2..4].copy_from_slice(&(piece.len() as u16 + 20).to_be_bytes());
            bytes[4..6].copy_from_slice(&(number as u16).to_be_bytes());
            let more = if place == last { 0 } else { 0x2000 };
            bytes[6..8].copy_from_slice(&(more | (place * MOST / 8) as u16).to_be_bytes());
            bytes.extend_from_slice(piece);
            Owned {
                at: packet.at,
                wire_len: bytes.len() as u32,
                bytes,
            }
        })
        .collect();
    all.rotate_right(1);
    all
}

#[test]
fn other_addresses_and_ports_change_nothing() {
    for name in ALL {
        let all = labelled(name);
        let before = essence(&analyse(LinkType::Ip, &all));
        let after: Vec<Owned> = all.iter().map(renamed).collect();
        assert_eq!(essence(&analyse(LinkType::Ip, &after)), before, "{name}");
    }
}

#[test]
fn other_addresses_change_nothing_of_a_connection_that_began_before_the_capture() {
    // at ports of no service: nothing but the numbers of the ports tells who serves
    let moved = |packet: &Owned| {
        let mut packet = renamed(packet);
        let addresses = packet.bytes[12..20].iter_mut();
        addresses.for_each(|byte| *byte = !*byte);
        packet
    };
    for name in ["nagle_lan-client", "raw60k-server", "shallow-client"] {
        let all = &labelled(name)[40..];
        let [before, after] = [&moved as &dyn Fn(&Owned) -> Owned, &renamed].map(|change| {
            let all: Vec<Owned> = all.iter().map(change).collect();
            analyse(LinkType::Ip, &all)
        });
        assert!(
            !before.connections[0].has_start && !before.copies.is_empty(),
            "{name}"
        );
        assert_eq!(
            before.connections[0].client.port, after.connections[0].client.port,
            "{name}"
        );
        assert_eq!(essence(&after), essence(&before), "{name}");
    }
}

#[test]
fn raw_reads_are_found_in_a_capture_that_began_in_their_middle() {
    for end in ["client", "server"] {
        let all = labelled(&format!("raw60k-{end}"));
        let whole = analyse(LinkType::Ip, &all);
        let late = analyse(LinkType::Ip, &all[all.len() / 2..]);
        let [whole, copy] = [&whole, &late].map(|capture| &capture.copies[0]);
        assert_eq!(
            (copy.seen, copy.direction),
            ((false, true), Direction::ToClient)
        );
        assert!(
            copy.bytes > whole.bytes * 4 / 10 && copy.bytes < whole.bytes * 6 / 10,
            "{}",
            copy.bytes
        );
        // with a scale that nobody saw the window is as wide as nobody knows: nothing is said of it
        assert!(!late.connections[0].knows_windows_of(0), "{end}");
        assert_eq!(advise(&late, copy), Vec::new(), "{end}");
    }
}

#[test]
fn a_capture_that_began_in_the_middle_of_a_copy_has_its_cause() {
    // in `shallow`, path and repairs are near to each other where no SYN tells the round trip
    for (name, largest) in [
        ("rwnd", 1),
        ("andx4k", 1),
        ("raw60k", 1),
        ("nagle_lan", 1),
        ("shallow", 2),
    ] {
        for end in ["client", "server"] {
            let all = labelled(&format!("{name}-{end}"));
            let whole = analyse(LinkType::Ip, &all);
            let late = analyse(LinkType::Ip, &all[all.len() / 3..]);
            let [whole, late] = [&whole, &late].map(|capture| {
                let longest = capture.copies.iter().max_by_key(|copy| copy.wall);
                let account = &longest.unwrap().account;
                let mut causes = Cause::ALL.to_vec();
                causes.sort_by_key(|cause| std::cmp::Reverse(account.get(*cause)));
                causes
            });
            let (late, whole) = (&late[0], &whole[..largest]);
            assert!(
                whole.contains(late),
                "{name} captured at the {end}: {late:?}, {whole:?}"
            );
        }
    }
}

#[test]
fn a_window_that_nothing_overran_is_as_wide_as_it_says_without_its_syn() {
    // a Solaris sender, and a receiver that offers no scale
    let (link, all) = packets(&unpacked("tcp/tcptrace-discard-solaris.pcap.gz"));
    let late = analyse(link, &all[1300..2400]);
    let [connection] = &late.connections[..] else {
        panic!("{:?}", late.connections.len());
    };
    assert!(!connection.has_start && connection.knows_windows_of(1));
}

#[test]
fn ipv6_changes_nothing() {
    for name in ["andx4k-client", "shallow-server", "rwnd-client"] {
        let all = labelled(name);
        let before = essence(&analyse(LinkType::Ip, &all));
        let after: Vec<Owned> = all.iter().map(in_ipv6).collect();
        assert_eq!(essence(&analyse(LinkType::Ip, &after)), before, "{name}");
    }
}

#[test]
fn fragments_change_nothing_but_the_numbers_of_frames() {
    for name in ["andx4k-client", "shallow-server", "raw60k-client"] {
        let all: Vec<Owned> = labelled(name).iter().map(whole).collect();
        let before = told(&analyse(LinkType::Ip, &all));
        let pieces = all.iter().enumerate();
        let after: Vec<Owned> = pieces
            .flat_map(|(n, packet)| in_fragments(n, packet))
            .collect();
        assert!(after.len() > all.len(), "{name}");
        assert_eq!(told(&analyse(LinkType::Ip, &after)), before, "{name}");
    }
}

#[test]
fn of_fragments_that_were_cut_the_first_counts_up_to_where_it_was_cut() {
    const KEPT: usize = 120;
    for name in ["andx4k-client", "shallow-server", "raw60k-client"] {
        let all: Vec<Owned> = labelled(name).iter().map(whole).collect();
        let cut = |packet: &Owned| {
            let mut packet = packet.clone();
            packet.bytes.truncate(KEPT);
            packet
        };
        let before: Vec<Owned> = all.iter().map(cut).collect();
        let pieces = all.iter().enumerate();
        let pieces = pieces.flat_map(|(number, packet)| in_fragments(number, packet));
        let after: Vec<Owned> = pieces.map(|piece| cut(&piece)).collect();
        let [before, after] = [before, after].map(|all| told(&analyse(LinkType::Ip, &all)));
        assert_eq!(after, before, "{name}");
    }
}

#[test]
fn packets_of_which_fragments_never_came_are_counted_be_they_few_or_many() {
    let all: Vec<Owned> = labelled("andx4k-client").iter().map(whole).collect();
    let long = all.iter().filter(|packet| packet.wire_len > 1000);
    for count in [1, 3, 70, 300] {
        let pieces = long.clone().take(count).enumerate();
        let first: Vec<Owned> = pieces
            .map(|(number, packet)| in_fragments(number, packet).remove(1))
            .collect();
        let quality = analyse(LinkType::Ip, &first).quality;
        assert_eq!(quality.incomplete_fragments, count as u64);
    }
}

#[test]
fn of_too_many_packets_in_pieces_only_the_oldest_is_given_up() {
    const MOST: usize = 64;
    let all: Vec<Owned> = labelled("andx4k-client").iter().map(whole).collect();
    let long = all.iter().filter(|packet| packet.wire_len > 1000);
    let pieces = long.take(MOST + 1).enumerate();
    let pieces = pieces.map(|(number, packet)| in_fragments(number, packet));
    let (ends, begins): (Vec<_>, Vec<_>) =
        pieces.map(|mut pieces| (pieces.remove(0), pieces)).unzip();
    // the end of each comes before all beginnings; that of the oldest never does
    let begins = begins.into_iter().skip(1).flatten();
    let after: Vec<Owned> = ends.into_iter().chain(begins).collect();
    let quality = analyse(LinkType::Ip, &after).quality;
    assert_eq!(quality.tcp_segments, MOST as u64);
    assert_eq!(quality.incomplete_fragments, 1);
}

/// Copies with all but their names, which lie far behind in a message.
fn unnamed(capture: &Capture) -> Vec<(Direction, u64, Span, Account)> {
    let copies = capture.copies.iter();
    copies
        .map(|copy| (copy.direction, copy.bytes, copy.wall, copy.account))
        .collect()
}

#[test]
fn ninety_six_bytes_of_each_packet_are_enough() {
    // 94 here leave of a message what 96 leave behind an Ethernet header and a TCP header without timestamps
    for (name, kept) in ALL.into_iter().flat_map(|name| [(name, 96), (name, 94)]) {
        let mut all = labelled(name);
        let before = analyse(LinkType::Ip, &all);
        all.iter_mut()
            .for_each(|packet| packet.bytes.truncate(kept));
        let after = analyse(LinkType::Ip, &all);
        assert!(after.quality.cut_packets > 0);
        assert_eq!(after.quality.snap_len as usize, kept, "{name}");
        assert_eq!(unnamed(&after), unnamed(&before), "{name}, {kept}");
    }
}

/// Where no messages are known, turns show what waits for what.
#[test]
fn without_headers_of_smb_a_request_and_its_answer_are_round_trips() {
    for end in ["client", "server"] {
        for name in ["andx4k", "raw60k", "nagle_lan", "rwnd"] {
            let mut all = labelled(&format!("{name}-{end}"));
            let before = analyse(LinkType::Ip, &all).copies.remove(0);
            all.iter_mut().for_each(|packet| packet.bytes.truncate(44));
            let cut = analyse(LinkType::Ip, &all);
            assert!(cut.connections.iter().any(|cut| cut.headers_cut), "{name}");
            let after = &cut.copies[0];
            let (cause, wall) = (before.account.dominant(), after.wall.0);
            assert_eq!(after.account.dominant(), cause, "{name}-{end}");
            let least = before.account.get(cause).0 * 100 / before.wall.0 - 25;
            let share = after.account.get(cause).0 * 100 / wall;
            assert!(share >= least, "{name}-{end}: {share} % of {cause:?}");
        }
    }
}

#[test]
fn pipes_are_told_from_files_where_the_names_of_shares_were_cut() {
    // seven services by pipes, and files, of which several are open at a time; behind a VLAN tag 96 bytes keep one byte of a FID
    let (link, mut all) = packets(&bytes("suricata-xp-filecontainer.pcap"));
    let before = analyse(link, &all);
    assert_eq!(before.copies.len(), 37);
    all.iter_mut().for_each(|packet| packet.bytes.truncate(96));
    let after = analyse(link, &all);
    assert!(after.copies.iter().all(|copy| copy.name.is_none()));
    let ends = |copy: &Copy| {
        (
            copy.direction,
            copy.bytes,
            copy.moved,
            copy.start + copy.wall,
        )
    };
    let pairs = || before.copies.iter().zip(&after.copies);
    assert!(pairs().all(|(before, after)| ends(before) == ends(after)));
    // of two that are open at a time it may be the wrong one that is closed first
    let same = pairs()
        .filter(|(before, after)| before.start == after.start && before.account == after.account);
    assert!(same.count() >= 36);
}

#[test]
fn a_session_header_that_the_capture_lost_costs_its_message_and_no_more() {
    let all = labelled("nagle_lan-client");
    let before = analyse(LinkType::Ip, &all);
    let is_header = |packet: &Owned| packet.wire_len == 20 + 32 + 4;
    let place = all.iter().rposition(is_header).unwrap() - 200;
    let place = all[..place].iter().rposition(is_header).unwrap();
    let kept: Vec<Owned> = [&all[..place], &all[place + 1..]].concat();
    let after = analyse(LinkType::Ip, &kept);
    assert_eq!(after.quality.missing_bytes, 4);
    let [before, after] = [&before, &after].map(|capture| &capture.copies[0]);
    assert_eq!((after.wall, after.seen), (before.wall, (true, true)));
    assert!(after.requests[0].count + 1 >= before.requests[0].count);
    assert!(after.bytes + 4096 >= before.bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn frames_that_the_capture_lost_are_no_timeouts(
        which in any::<prop::sample::Index>(),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let name = ALL[which.index(ALL.len())];
        let all = labelled(name);
        let before = analyse(LinkType::Ip, &all);
        // frames are counted from 1; what is lost lies within the copy
        let (first, last) = before.copies[0].frames;
        let (first, last) = (first as usize, last as usize - 1);
        let lost: Vec<usize> = lost.iter().map(|place| first + place.index(last - first)).collect();
        let kept = all.iter().enumerate().filter(|(place, _)| !lost.contains(place));
        let kept: Vec<Owned> = kept.map(|(_, packet)| packet.clone()).collect();
        let after = analyse(LinkType::Ip, &kept);
        // what is estimated from all packets shifts a little; where packets were lost on the way as well (shallow), one more
        // that the capture lost can make a repair look slower than it was
        let repairs = |capture: &Capture| {
            total(capture, Cause::Timeout).0 + total(capture, Cause::FastRecovery).0
        };
        let spent = [&before, &after].map(repairs);
        let part = if name.starts_with("shallow") { 100 } else { 1000 };
        let noise = before.copies[0].wall.0 / part;
        prop_assert!(spent[1] <= spent[0] + noise, "{}: {:?}, lost {:?}", name, spent, lost);
        for copy in &after.copies {
            prop_assert_eq!(copy.account.total(), copy.wall);
        }
        // without the answer to its open a copy begins later, and without its CLOSE it ends earlier
        let is_same_copy = extent(&before) == extent(&after);
        if after.quality.missing_bytes > before.quality.missing_bytes && is_same_copy {
            let spent = [&before, &after].map(|capture| total(capture, Cause::Capture));
            prop_assert!(spent[1] > spent[0], "{}: {:?}, lost {:?}", name, spent, lost);
        }
    }
}

#[test]
fn a_packet_of_the_last_exchange_that_the_capture_lost_is_charged_to_the_capture() {
    let mut wrong = Vec::new();
    for name in ALL {
        let all = labelled(name);
        let before = analyse(LinkType::Ip, &all);
        let last = before.copies[0].frames.1 as usize;
        for place in last - 8..last - 1 {
            let kept: Vec<Owned> = [&all[..place], &all[place + 1..]].concat();
            let after = analyse(LinkType::Ip, &kept);
            let spent = [&before, &after].map(|capture| total(capture, Cause::Capture));
            // without its CLOSE a copy ends earlier
            let is_same_copy = extent(&before) == extent(&after);
            let lacks_more = after.quality.missing_bytes > before.quality.missing_bytes;
            if lacks_more && is_same_copy && spent[1] <= spent[0] {
                wrong.push(format!(
                    "{name}: packet {place}, {} before the last",
                    last - place
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn an_acknowledgment_that_the_capture_lost_does_not_make_a_needless_probe_a_timer_s() {
    let mut packets = labelled("andx4k-server");
    // of what the server's probe had sent again just before
    packets.remove(800);
    let capture = analyse(LinkType::Ip, &packets);
    assert_eq!(total(&capture, Cause::Timeout).0, 0);
}

#[test]
fn a_packet_that_the_capture_lost_does_not_change_what_the_path_delivered() {
    let all = labelled("shallow-server");
    let before = analyse(LinkType::Ip, &all);
    let repair = |capture: &Capture| total(capture, Cause::FastRecovery).0;
    // duplicate ACKs with SACK blocks, and data, in windows that are nearly saturated
    for place in [3739, 3849, 4226, 4251, 4342, 4358] {
        let kept: Vec<Owned> = [&all[..place], &all[place + 1..]].concat();
        let after = analyse(LinkType::Ip, &kept);
        let change = repair(&after).abs_diff(repair(&before));
        assert!(change <= before.copies[0].wall.0 / 100, "{place}: {change}");
    }
}
