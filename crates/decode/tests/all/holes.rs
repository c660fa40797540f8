//! Packets that a capture lacks.

use std::{fs, path::Path};

use coax_capture::Reader;
use coax_decode::{Missing, messages};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// A capture without some of its packets, and its packets' numbers in the old one.
fn without(lacking: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/captures/suricata-write-padding.pcap");
    let whole = fs::read(path).unwrap();
    let (header, mut rest) = whole.split_at(FILE_HEADER);
    let (mut file, mut numbers) = (header.to_vec(), Vec::new());
    for number in 1.. {
        let Some(len) = rest.get(8..12) else { break };
        let len = u32::from_le_bytes(len.try_into().unwrap()) as usize;
        let (record, after) = rest.split_at(RECORD_HEADER + len);
        if !lacking.contains(&number) {
            file.extend(record);
            numbers.push(number);
        }
        rest = after;
    }
    (file, numbers)
}

/// Number of the frame in the whole capture and title of every message.
fn titles(lacking: &[usize]) -> (Vec<(usize, String)>, Missing) {
    let (file, numbers) = without(lacking);
    let mut found = Vec::new();
    let missing = messages(&mut Reader::new(&file[..]).unwrap(), |message| {
        let frame = usize::try_from(message.frame).unwrap();
        found.push((numbers[frame - 1], message.decoded.title.clone()));
    });
    (found, missing.unwrap())
}

#[test]
fn behind_a_packet_that_the_capture_lacks_all_messages_are_at_their_frames() {
    let (mut all, complete) = titles(&[]);
    assert_eq!((all.len(), complete), (16, Missing::default()));
    all.retain(|(frame, _)| *frame != 7);
    // with and without the end of the connection
    for lacking in [&[7][..], &[7, 21, 22, 23]] {
        let (found, missing) = titles(lacking);
        assert_eq!(found, all, "{lacking:?}");
        assert_eq!((missing.bytes, missing.connections), (160, 1));
    }
}

#[test]
fn what_nobody_acknowledges_comes_at_the_end_of_the_capture() {
    let answers = [2, 5, 8, 10, 12, 14, 16, 18, 20, 22, 23];
    let (mut requests, _) = titles(&answers);
    requests.retain(|(frame, _)| *frame != 7);
    let (found, missing) = titles(&[&answers[..], &[7, 21]].concat());
    assert_eq!((found, missing.bytes), (requests, 160));
}
