//! Captures compressed with gzip that were cut short.
#![cfg(feature = "std")]
#![allow(clippy::unwrap_used)]

use std::io::Write as _;

use coax_capture::{Error, Reader};
use flate2::{Compression, write::GzEncoder};

const CAPTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/captures/arkime-smbclient.pcap"
);

fn compressed() -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(&std::fs::read(CAPTURE).unwrap()).unwrap();
    out.finish().unwrap()
}

/// The packets of a file, and what is wrong with it.
fn read(file: &[u8]) -> Result<(u64, Option<&'static str>), Error> {
    let mut reader = Reader::new(file)?;
    let mut packets = 0;
    while reader.next_packet()?.is_some() {
        packets += 1;
    }
    Ok((packets, reader.damage().map(|damage| damage.what)))
}

#[test]
fn a_file_that_ends_early_is_read_up_to_there_and_not_called_damaged() {
    let whole = compressed();
    let (all, none) = read(&whole).unwrap();
    assert!(all > 10 && none.is_none(), "{all} {none:?}");
    let cut = whole.get(..whole.len() / 2).unwrap();
    let (some, why) = read(cut).unwrap();
    assert!(some > 0 && some < all, "{some} of {all}");
    assert_eq!(why, Some("the compressed data ends early"));
}

#[test]
fn a_file_without_a_packet_is_too_short() {
    let whole = compressed();
    for len in [11, 15, 20] {
        let error = read(whole.get(..len).unwrap()).unwrap_err().to_string();
        assert!(error.contains("too short"), "{len}: {error}");
    }
}
