//! The short ways for plain packets and blocks lead where the long ones lead.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Read;
use std::path::PathBuf;

use coax_capture::{Content, Dissector, Packet, Reader, Segment};

/// What is changed of a packet: Ethernet, IP and TCP headers.
const HEADERS: usize = 54;
const PACKETS_OF_EACH: usize = 12;

fn captures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures");
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_capture = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        extension == "pcap" || extension == "pcapng"
    };
    paths.filter(is_capture).collect()
}

/// Whether a packet is plain; then its segment has to be the dissector's.
fn is_plain(packet: &Packet<'_>) -> bool {
    let Some(plain) = Segment::of_plain_frame(packet) else {
        return false;
    };
    match Dissector::default().dissect(packet) {
        Content::Tcp(segment) => assert_eq!(format!("{plain:?}"), format!("{segment:?}")),
        other => panic!("{plain:?} instead of {other:?}"),
    }
    true
}

/// How many variants of a packet's headers are plain, each with one byte changed or all from there on cut off.
fn plain_variants(packet: &Packet<'_>) -> usize {
    let kept = packet.bytes.get(..HEADERS + 8).unwrap_or(packet.bytes);
    let of = |bytes: &[u8]| usize::from(is_plain(&Packet { bytes, ..*packet }));
    let variants = (0..kept.len()).map(|place| {
        let flips = [0xff, 0x01, 0x10, 0x40].map(|flip| {
            let mut bytes = kept.to_vec();
            let byte = bytes.get_mut(place);
            byte.into_iter().for_each(|byte| *byte ^= flip);
            of(&bytes)
        });
        flips.iter().sum::<usize>() + of(kept.get(..place).unwrap_or_default())
    });
    variants.sum()
}

#[test]
fn a_plain_frame_has_the_segment_that_the_dissector_finds_in_it() {
    let (mut plain, mut variants) = (0, 0);
    for path in captures() {
        let mut reader = Reader::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut left = PACKETS_OF_EACH;
        while let Some(packet) = reader.next_packet().unwrap() {
            plain += usize::from(is_plain(&packet));
            if left > 0 {
                variants += plain_variants(&packet);
                left -= 1;
            }
        }
    }
    assert!(plain > 300 && variants > 10_000, "{plain} {variants}");
}

/// Hands out one byte at a time, so that no block is whole before it is asked for.
struct Trickle<R>(R);

impl<R: Read> Read for Trickle<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into.get_mut(..1).unwrap_or_default())
    }
}

/// All that a reader tells of a file.
fn told(file: impl Read) -> Vec<String> {
    let Ok(mut reader) = Reader::new(file) else {
        return vec!["no capture".into()];
    };
    let mut told = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        told.push(format!("{packet:?}"));
    }
    told.push(format!("{:?} {}", reader.damage(), reader.dropped()));
    told
}

/// A pcapng file of two packets, with times in units of `resolution` (option if_tsresol).
fn pcapng(resolution: u8) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let len = (body.len() + 12) as u32;
        let parts = [
            &kind.to_le_bytes(),
            &len.to_le_bytes()[..],
            body,
            &len.to_le_bytes(),
        ];
        parts.concat()
    };
    let section = [
        &0x1a2b_3c4d_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xff; 8],
    ]
    .concat();
    let interface = [
        &[1, 0, 0, 0, 0, 0, 4, 0][..],
        &[9, 0, 1, 0, resolution, 0, 0, 0],
        &[0; 4],
    ];
    let packet = |len: u8| {
        let words = [0, 1, 2_000_000_000, u32::from(len), 60].map(u32::to_le_bytes);
        [
            words.concat(),
            vec![7; usize::from(len.next_multiple_of(4))],
        ]
        .concat()
    };
    let blocks = [
        block(0x0a0d_0d0a, &section),
        block(1, &interface.concat()),
        block(6, &packet(20)),
        block(6, &packet(33)),
    ];
    blocks.concat()
}

#[test]
fn a_block_that_is_there_as_a_whole_is_the_packet_that_it_is_in_parts() {
    for resolution in [6, 9, 12, 0x83] {
        let whole = pcapng(resolution);
        assert_eq!(told(whole.as_slice()).len(), 3);
        for place in 0..whole.len() {
            for flip in [0xff, 0x01, 0x04, 0x80] {
                let mut file = whole.clone();
                let byte = file.get_mut(place);
                byte.into_iter().for_each(|byte| *byte ^= flip);
                let in_parts = told(Trickle(file.as_slice()));
                assert_eq!(told(file.as_slice()), in_parts, "{place} {flip}");
                file.truncate(place);
                assert_eq!(told(file.as_slice()), told(Trickle(file.as_slice())));
            }
        }
    }
}
