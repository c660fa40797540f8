//! Packets in segments that come late, twice, cut, or not at all.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{Framing, Packet, Stream};

/// A session packet of an SMB message with `len` bytes after the header.
fn packet(len: u8, fill: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, len + 4, 0xff, b'S', b'M', b'B'];
    bytes.resize(8 + usize::from(len), fill);
    bytes
}

fn started() -> Stream {
    let mut stream = Stream::new(Framing::Nbt);
    stream.begin(1000);
    stream
}

fn feed(stream: &mut Stream, seq: u32, bytes: &[u8]) -> Vec<Packet> {
    let mut out = Vec::new();
    stream.segment(seq, bytes, bytes.len(), &mut out);
    out
}

fn whole(bytes: &[u8]) -> Packet {
    Packet {
        bytes: bytes.to_vec(),
        len: bytes.len(),
    }
}

#[test]
fn two_packets_in_three_segments_in_any_order_and_twice() {
    let (first, second) = (packet(20, 1), packet(30, 2));
    let all = [first.clone(), second.clone()].concat();
    let cuts = [(0, 10), (10, 40), (40, all.len())];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut stream = started();
        let mut found = Vec::new();
        for index in order.iter().chain(&order) {
            let (from, to) = cuts[*index];
            found.extend(feed(&mut stream, 1000 + from as u32, &all[from..to]));
        }
        assert_eq!(found, [whole(&first), whole(&second)], "{order:?}");
    }
}

#[test]
fn sequence_numbers_wrap() {
    let mut stream = Stream::new(Framing::Nbt);
    stream.begin(u32::MAX - 3);
    let bytes = packet(20, 7);
    assert!(feed(&mut stream, u32::MAX - 3, &bytes[..9]).is_empty());
    assert_eq!(feed(&mut stream, 5, &bytes[9..]), [whole(&bytes)]);
}

#[test]
fn of_a_cut_segment_the_kept_bytes_are_given_and_the_next_packet_is_found() {
    let (first, second) = (packet(100, 1), packet(10, 2));
    let mut stream = started();
    let mut out = Vec::new();
    stream.segment(1000, &first[..60], first.len(), &mut out);
    assert_eq!(
        out,
        [Packet {
            bytes: first[..60].to_vec(),
            len: first.len()
        }]
    );
    assert_eq!(
        feed(&mut stream, 1000 + first.len() as u32, &second),
        [whole(&second)]
    );
}

#[test]
fn after_a_segment_that_the_capture_lacks_the_next_header_is_found() {
    let (first, second, third) = (packet(20, 1), packet(20, 2), packet(20, 3));
    let mut stream = started();
    let mut out = Vec::new();
    stream.segment(1000, &first[..12], 12, &mut out);
    let rest = [&second[5..], &third[..]].concat();
    stream.segment(1000 + 28 + 5, &rest, rest.len(), &mut out);
    assert!(out.is_empty(), "the missing segment may still come");
    stream.give_up(&mut out);
    let cut = Packet {
        bytes: first[..12].to_vec(),
        len: first.len(),
    };
    assert_eq!(out, [cut, whole(&third)]);
}

#[test]
fn a_capture_that_begins_in_the_middle_begins_with_the_next_message() {
    let mut stream = Stream::new(Framing::Nbt);
    let bytes = [vec![9; 50], packet(20, 1)].concat();
    assert_eq!(feed(&mut stream, 5000, &bytes), [whole(&packet(20, 1))]);
}

#[test]
fn another_protocol_is_given_up_with_its_memory() {
    let mut stream = started();
    let noise = vec![0x47; 1 << 16];
    let mut seq = 1000_u32;
    for _ in 0..100 {
        assert!(feed(&mut stream, seq, &noise).is_empty());
        seq = seq.wrapping_add(noise.len() as u32);
    }
    assert_eq!(stream.bytes.capacity(), 0);
}
