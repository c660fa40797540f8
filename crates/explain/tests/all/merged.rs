//! Files into which captures of both ends were merged.

use std::{fs::File, path::Path};

use coax_explain::{
    Analyser,
    capture::{Content, Dissector, LinkType, Packet, Reader},
    explain,
    report::{Capture, Grade},
};
use coax_wire::time::{Span, Time};

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
