//! Captures taken apart, changed and put together again.

use coax_explain::{
    Account, Analyser,
    capture::{LinkType, Packet, Reader},
    report::Capture,
};
use coax_wire::time::{Span, Time};

/// A packet of its own.
#[derive(Clone)]
pub struct Owned {
    pub at: Time,
    pub bytes: Vec<u8>,
    pub wire_len: u32,
}

pub fn packets(file: &[u8]) -> (LinkType, Vec<Owned>) {
    let mut reader = Reader::new(file).unwrap();
    let (mut link, mut all) = (LinkType::Ethernet, Vec::new());
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

pub fn analyse(link: LinkType, packets: &[Owned]) -> Capture {
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
pub type Essence = (Option<String>, u64, Span, (u64, u64), Account);

pub fn essence(capture: &Capture) -> Vec<Essence> {
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
pub fn as_pcap(link: u32, packets: &[Owned], nanoseconds: bool, big_endian: bool) -> Vec<u8> {
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
