//! Tests of the client's codecs: emitted messages survive a round trip, truncated or corrupted ones never panic, and
//! bytes from real servers decode correctly.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use crate::block::WireStr;

mod information;
mod names;
mod opens;
mod session;
mod transfers;

fn oem(raw: &[u8]) -> WireStr<'_> {
    WireStr {
        raw,
        unicode: false,
    }
}

fn wide(raw: &[u8]) -> WireStr<'_> {
    WireStr { raw, unicode: true }
}
