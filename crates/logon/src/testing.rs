//! Helpers of this crate's tests.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use alloc::vec::Vec;

/// Decodes hexadecimal text; blanks are skipped.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Like [`hex`], for a length known at compile time.
pub fn hex_array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().unwrap()
}
