//! Packets in segments that come late, twice, cut, or not at all.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use coax_wire::time::Time;

use super::{Captured, Framing, Packet, Place, Stream, early::MAX_SEGMENTS};

/// The frame of segments whose frame does not matter.
const FRAME: Place = (1, Time(1));

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
    stream.segment(seq, captured(bytes, bytes.len(), 1), &mut out);
    out
}

/// Data of a segment of `len` bytes in a frame.
fn captured(data: &[u8], len: usize, frame: u64) -> Captured<'_> {
    Captured {
        data,
        len,
        place: (frame, Time(frame)),
    }
}

fn whole(bytes: &[u8]) -> Packet {
    Packet {
        bytes: bytes.to_vec(),
        len: bytes.len(),
        place: FRAME,
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
    stream.segment(1000, captured(&first[..60], first.len(), 1), &mut out);
    assert_eq!(
        out,
        [Packet {
            bytes: first[..60].to_vec(),
            len: first.len(),
            place: FRAME,
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
    stream.segment(1000, captured(&first[..12], 12, 1), &mut out);
    let rest = [&second[5..], &third[..]].concat();
    stream.segment(1000 + 28 + 5, captured(&rest, rest.len(), 1), &mut out);
    assert!(out.is_empty(), "the missing segment may still come");
    stream.give_up(&mut out);
    let cut = Packet {
        bytes: first[..12].to_vec(),
        len: first.len(),
        place: FRAME,
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

#[test]
fn an_acknowledgment_gives_up_the_holes_before_it_and_no_other() {
    let (first, second, third) = (packet(20, 1), packet(20, 2), packet(20, 3));
    let len = first.len();
    let mut stream = started();
    let mut out = Vec::new();
    // the first and the third of five are missing
    for (index, bytes, frame) in [(1, &first, 5), (3, &second, 7), (4, &third, 8)] {
        stream.segment(
            1000 + index * len as u32,
            captured(bytes, len, frame),
            &mut out,
        );
    }
    stream.acknowledged(1000, &mut out);
    stream.acknowledged(1000 + len as u32 - 1, &mut out);
    assert!(out.is_empty(), "the receiver does not have it either");
    stream.acknowledged(1000 + 2 * len as u32, &mut out);
    let at = |bytes: &[u8], frame| Packet {
        place: (frame, Time(frame)),
        ..whole(bytes)
    };
    assert_eq!(out, [at(&first, 5)]);
    stream.acknowledged(1000 + 4 * len as u32, &mut out);
    assert_eq!(out, [at(&first, 5), at(&second, 7), at(&third, 8)]);
    assert_eq!(stream.missing(), 2 * len as u64);
}

#[test]
fn a_message_is_complete_with_the_frame_that_fills_the_hole_before_it() {
    let (first, second) = (packet(20, 1), packet(20, 2));
    let mut stream = started();
    let mut out = Vec::new();
    stream.segment(1028, captured(&second, 28, 4), &mut out);
    stream.segment(1000, captured(&first, 28, 6), &mut out);
    let frames: Vec<u64> = out.iter().map(|packet| packet.place.0).collect();
    assert_eq!(frames, [6, 6]);
}

#[test]
fn the_end_gives_a_message_as_far_as_it_came() {
    let first = packet(20, 1);
    let mut stream = started();
    let mut out = feed(&mut stream, 1000, &first[..12]);
    stream.end(&mut out);
    stream.end(&mut out);
    let cut = Packet {
        bytes: first[..12].to_vec(),
        ..whole(&first)
    };
    assert_eq!(out, [cut]);
    let mut other = started();
    let mut out = feed(&mut other, 1000, &[0, 0, 0, 90, 1, 2, 3, 4, 5, 6]);
    other.end(&mut out);
    assert_eq!(out, [], "that is none of SMB");
}

#[test]
fn segments_behind_a_hole_are_bounded_in_number_and_looked_at_once() {
    let mut stream = started();
    let mut out = Vec::new();
    let segments = 5 * MAX_SEGMENTS;
    for index in 1..=segments as u32 {
        // of a capture that has only headers
        stream.segment(1000 + index * 100, captured(&[], 100, 1), &mut out);
        assert!(stream.early.len() <= MAX_SEGMENTS, "{index}");
    }
    // once when it comes, and once when it is due
    assert!(stream.early.steps < 3 * segments, "{}", stream.early.steps);
}

#[test]
fn of_a_segment_that_comes_again_the_longer_one_counts() {
    let bytes = packet(20, 7);
    let mut stream = started();
    let mut out = feed(&mut stream, 1010, &bytes[10..]);
    out.extend(feed(&mut stream, 1010, &bytes[10..12]));
    out.extend(feed(&mut stream, 1000, &bytes[..10]));
    assert_eq!(out, [whole(&bytes)]);
}
