//! A capture in pieces of any size gives what the whole file gives.

use std::{io::Write as _, path::Path};

use coax_explain::{Pieces, explain};
use proptest::prelude::*;

/// The outcome as text: the report, or the error.
fn whole(bytes: &[u8]) -> String {
    match explain(bytes) {
        Ok(capture) => format!("{capture:?}"),
        Err(error) => error.to_string(),
    }
}

/// The same of pieces whose sizes follow `sizes` in turn.
fn in_pieces(mut bytes: &[u8], sizes: &[usize]) -> String {
    let mut pieces = Pieces::default();
    let mut turn = 0;
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(sizes[turn % sizes.len()].clamp(1, bytes.len()));
        if let Err(error) = pieces.push(piece.to_vec()) {
            return error.to_string();
        }
        (bytes, turn) = (rest, turn + 1);
    }
    match pieces.finish() {
        Ok(capture) => format!("{capture:?}"),
        Err(error) => error.to_string(),
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// The captures of the repository.
fn captures() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end == "pcap" || end == "pcapng")
        })
        .filter(|path| path.metadata().unwrap().len() < 400_000)
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// A pcapng file with a block of 3 MB that is no packet, before the last packets.
fn with_a_long_block(capture: &[u8]) -> Vec<u8> {
    let len = 3_000_000_u32;
    let mut block = vec![0; len as usize];
    block[..4].copy_from_slice(&0x0bad_u32.to_le_bytes());
    block[4..8].copy_from_slice(&len.to_le_bytes());
    let end = block.len() - 4;
    block[end..].copy_from_slice(&len.to_le_bytes());
    [capture, &block].concat()
}

#[test]
fn every_capture_in_pieces_is_the_whole_capture() {
    let captures = captures();
    assert!(captures.len() > 10);
    for bytes in &captures {
        let expected = whole(bytes);
        assert_eq!(in_pieces(bytes, &[70_001]), expected);
        assert_eq!(in_pieces(bytes, &[1, 65_536, 3, 17_000]), expected);
        assert_eq!(in_pieces(&packed(bytes), &[999, 65_536]), expected);
    }
}

#[test]
fn a_block_that_is_skipped_may_be_cut_too() {
    let is_pcapng = |bytes: &&Vec<u8>| bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]);
    let all = captures();
    let long = with_a_long_block(all.iter().find(is_pcapng).expect("a pcapng file"));
    assert_eq!(in_pieces(&long, &[100_000]), whole(&long));
    let cut = &long[..long.len() - 1_000_000];
    assert_eq!(in_pieces(cut, &[100_000]), whole(cut));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damaged_captures_too(
        which in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        sizes in prop::collection::vec(1_usize..200_000, 1..5),
        gzip in any::<bool>(),
    ) {
        let all = captures();
        let mut bytes = which.get(&all).clone();
        if gzip {
            bytes = packed(&bytes);
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        for (place, value) in places {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        prop_assert_eq!(in_pieces(&bytes, &sizes), whole(&bytes));
    }
}
