//! The client's halves of the codecs: what is emitted is parsed again as it was, what is cut or bent is refused or
//! decodes to something, and bytes that real servers sent mean what they meant.

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
