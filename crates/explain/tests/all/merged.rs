//! Files into which captures of both ends were merged.

use std::{fs::File, path::Path};

use coax_explain::{
    Analyser,
    capture::{Packet, Reader},
    explain,
    report::{Capture, Grade},
};

fn path(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/labelled");
    folder.join(format!("{name}.pcapng.gz"))
}

/// The captures of both ends as `mergecap` writes them: sorted by time. One clock made both.
fn merged(name: &str) -> Capture {
    let mut all = Vec::new();
    for end in ["client", "server"] {
        let file = File::open(path(&format!("{name}-{end}"))).unwrap();
        let mut reader = Reader::new(file).unwrap();
        while let Some(packet) = reader.next_packet().unwrap() {
            all.push((
                packet.at,
                packet.link,
                packet.bytes.to_vec(),
                packet.wire_len,
            ));
        }
    }
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
