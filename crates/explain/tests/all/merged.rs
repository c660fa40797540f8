//! Files into which captures of both ends were merged.

use std::{fs::File, path::Path};

use coax_explain::{
    Analyser, Cause,
    capture::{Content, Dissector, LinkType, Packet, Reader},
    explain, explain_file,
    report::{Capture, Grade},
};
use coax_wire::time::{Span, Time};

use crate::common::packets::{Owned, as_pcap};

fn path(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/labelled");
    folder.join(format!("{name}.pcapng.gz"))
}

/// A packet's time, link, bytes and length.
type Recorded = (Time, LinkType, Vec<u8>, u32);

fn packets(name: &str, end: &str) -> Vec<Recorded> {
    let file = File::open(path(&format!("{name}-{end}"))).unwrap();
    let mut reader = Reader::new(file).unwrap();
    let mut all = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        all.push((
            packet.at,
            packet.link,
            packet.bytes.to_vec(),
            packet.wire_len,
        ));
    }
    all
}

/// The captures of both ends as `mergecap` writes them: sorted by time. One clock made both.
fn merged(name: &str) -> Capture {
    sorted(["client", "server"].map(|end| packets(name, end)).concat())
}

fn sorted(mut all: Vec<Recorded>) -> Capture {
    all.sort_by_key(|packet| packet.0);
    let mut analyser = Analyser::default();
    for (number, (at, link, bytes, wire_len)) in all.iter().enumerate() {
        analyser.packet(&Packet {
            number: number as u64 + 1,
            at: *at,
            link: *link,
            bytes,
            wire_len: *wire_len,
        });
    }
    analyser.finish()
}

fn one(name: &str, end: &str) -> Capture {
    explain(File::open(path(&format!("{name}-{end}"))).unwrap()).unwrap()
}

fn sent_again(capture: &Capture) -> u64 {
    let sides = capture.connections.iter().flat_map(|it| &it.sides);
    sides
        .map(|side| side.retransmissions + side.out_of_order)
        .sum()
}

#[test]
fn captures_of_both_ends_in_one_file_are_recognised_and_repeats_are_no_retransmissions() {
    for name in ["base", "rwnd", "raw60k", "shallow", "andx4k"] {
        let both = merged(name);
        assert!(both.quality.merged_ends, "{name}: {:?}", both.quality);
        assert_eq!(both.grade, Grade::Poor, "{name}");
        let alone = one(name, "client");
        let bytes = |capture: &Capture| capture.copies.iter().map(|it| it.bytes).sum::<u64>();
        assert_eq!(bytes(&both), bytes(&alone), "{name}");
        let truth = sent_again(&alone).max(sent_again(&one(name, "server")));
        let told = sent_again(&both);
        // a second capture adds none; of a loss on the way both the loss and its repair are seen
        assert!(told <= truth * 2 + 10, "{name}: {told} of {truth}");
    }
}

#[test]
fn a_capture_of_one_end_is_not_taken_for_both() {
    for name in ["base", "rwnd", "raw60k", "shallow", "andx4k", "nagle_lan"] {
        for end in ["client", "server"] {
            let capture = one(name, end);
            assert!(!capture.quality.merged_ends, "{name} {end}");
            assert_eq!(capture.quality.captured_later, 0, "{name} {end}");
        }
    }
}

/// The port of the server in the captures.
const SERVER_PORTS: [u16; 2] = [139, 445];

fn is_of_server((at, link, bytes, wire_len): &Recorded) -> bool {
    let packet = Packet {
        number: 1,
        at: *at,
        link: *link,
        bytes,
        wire_len: *wire_len,
    };
    match Dissector::default().dissect(&packet) {
        Content::Tcp(segment) => SERVER_PORTS.contains(&segment.from.port),
        _ => false,
    }
}

#[test]
fn directions_whose_clocks_differ_are_recognised() {
    for name in ["base", "rwnd", "raw60k"] {
        let mut late = packets(name, "client");
        let of_server = late.iter_mut().filter(|packet| is_of_server(packet));
        for packet in of_server {
            packet.0 = packet.0 + Span::from_millis(1);
        }
        let capture = sorted(late);
        assert!(
            capture.quality.clocks_differ,
            "{name}: {:?}",
            capture.quality
        );
        assert_eq!(capture.grade, Grade::Poor, "{name}");
        for end in ["client", "server"] {
            let quality = one(name, end).quality;
            assert!(!quality.clocks_differ, "{name} {end}: {quality:?}");
        }
    }
}

const RAW_IP: u32 = 101;
const SECOND: i64 = 1_000_000_000;

/// Captures of both ends in one file, the server's by a clock that is ahead.
fn file(name: &str, ahead_ns: i64, change: impl Fn(&mut Owned)) -> (Vec<u8>, usize) {
    let [client, server] = ["client", "server"].map(|end| packets(name, end));
    let count = server.len();
    let owned = |packet: Recorded, ahead_ns: i64| Owned {
        at: Time(packet.0.0.saturating_add_signed(ahead_ns)),
        bytes: packet.2,
        wire_len: packet.3,
    };
    let server = server.into_iter().map(|packet| {
        let mut packet = owned(packet, ahead_ns);
        change(&mut packet);
        packet
    });
    let client = client.into_iter().map(|packet| owned(packet, 0));
    let mut all: Vec<Owned> = client.chain(server).collect();
    all.sort_by_key(|packet| packet.at);
    (as_pcap(RAW_IP, &all, true, false), count)
}

/// Whether two captures say the same of their copies: of all causes to a hundredth of the time.
fn are_alike(one: &Capture, other: &Capture) -> bool {
    let copies = one.copies.iter().zip(&other.copies);
    one.copies.len() == other.copies.len()
        && copies.into_iter().all(|(one, other)| {
            let most = one.wall.0 / 100;
            let is_near = |cause| {
                let times = [one, other].map(|copy| copy.account.get(cause).0);
                times[0].abs_diff(times[1]) <= most
            };
            one.bytes == other.bytes && Cause::ALL.into_iter().all(is_near)
        })
}

fn separated(file: &[u8]) -> Capture {
    explain_file(|| Ok(file)).unwrap()
}

#[test]
fn of_both_ends_only_the_client_s_packets_count_however_their_clocks_differ() {
    for name in ["base", "rwnd", "raw60k", "shallow", "andx4k"] {
        let alone = one(name, "client");
        for ahead in [0, 5 * SECOND, -5 * SECOND, 3600 * SECOND] {
            let (file, of_server) = file(name, ahead, |_| {});
            let capture = separated(&file);
            assert!(!capture.quality.merged_ends, "{name} {ahead}");
            // what the client's capture lacks counts as the client's
            let kept = of_server as u64 - capture.quality.other_end;
            assert!(kept <= 2, "{name} {ahead}: {kept}");
            assert!(are_alike(&capture, &alone), "{name} {ahead}");
        }
    }
}

#[test]
fn where_routers_are_between_the_time_to_live_tells_the_ends_apart() {
    let (name, alone) = ("rwnd", one("rwnd", "client"));
    // the first packet is the client's; what its clock differs by lies among the delays of the path
    let client = packets(name, "client")[0].2[12..16].to_vec();
    let (file, of_server) = file(name, SECOND / 50, |packet| {
        let is_received = packet.bytes[12..16] == client;
        packet.bytes[8] = if is_received { 60 } else { 128 };
    });
    let capture = separated(&file);
    assert_eq!(capture.quality.other_end, of_server as u64);
    assert!(are_alike(&capture, &alone));
}

#[test]
fn a_capture_that_is_in_its_file_twice_counts_once() {
    let alone = one("rwnd", "client");
    let all = packets("rwnd", "client");
    let owned = |late_ms: u64| -> Vec<Owned> {
        let all = all.iter();
        all.map(move |(at, _, bytes, wire_len)| Owned {
            at: *at + Span::from_millis(late_ms),
            bytes: bytes.clone(),
            wire_len: *wire_len,
        })
        .collect()
    };
    let mut mirrored = [owned(0), owned(2)].concat();
    mirrored.sort_by_key(|packet| packet.at);
    let appended = [owned(0), owned(0)].concat();
    for twice in [mirrored, appended] {
        let capture = separated(&as_pcap(RAW_IP, &twice, true, false));
        assert!(are_alike(&capture, &alone));
    }
}
