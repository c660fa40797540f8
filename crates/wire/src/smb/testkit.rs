//! Test helpers for all commands: messages with an empty header, truncated and modified messages.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::{block::Block, header::HEADER_LEN, io::Writer};
use alloc::vec::Vec;

/// A message of a header of zeros and what `emit` appends.
pub fn message(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::default();
    out.zeros(HEADER_LEN);
    emit(&mut out);
    out.into_vec()
}

/// The bytes that `emit` appends after a header.
pub fn block_bytes(emit: impl FnOnce(&mut Writer)) -> Vec<u8> {
    message(emit).split_off(HEADER_LEN)
}

/// A message of a header of zeros and `block`.
pub fn with_header(block: &[u8]) -> Vec<u8> {
    message(|out| {
        out.bytes(block);
    })
}

/// The first block of a message that has one.
pub fn first(message: &[u8]) -> Block<'_> {
    Block::first(message).unwrap()
}

/// Calls `look` with the first block of every prefix of a message, and of the message with each byte after the header
/// set to 0, to 0xFF, and incremented.
pub fn cut_and_bent(message: &[u8], look: impl Fn(&Block<'_>)) {
    for len in 0..message.len() {
        if let Ok(block) = Block::first(&message[..len]) {
            look(&block);
        }
    }
    for at in HEADER_LEN..message.len() {
        for value in [0, 0xff, message[at].wrapping_add(1)] {
            let mut bent = message.to_vec();
            bent[at] = value;
            if let Ok(block) = Block::first(&bent) {
                look(&block);
            }
        }
    }
}
