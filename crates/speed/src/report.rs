//! What was measured.

use alloc::vec::Vec;

use coax_wire::time::Span;

use crate::{rate::Rate, role::Role, sample::Sample};

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything was moved: all that was to be sent is acknowledged; all that was to be received is here, or the peer
    /// closed after as much as it liked.
    Done,
    /// The peer closed before as many bytes had come as were asked for.
    Short,
    /// The peer closed and had not sent a byte.
    Empty,
    /// The peer reset the connection: its program ended, or it has had enough.
    Reset,
    /// Nothing moved for as long as [`Config::idle`](crate::Config::idle) allows.
    Silent,
    /// The user stopped it.
    Interrupted,
    /// The operating system reported another error, which the driver knows.
    Broken,
}

/// What was measured of one transfer, ended or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which way the bytes went.
    pub role: Role,
    /// Bytes moved: received, or acknowledged by the peer's TCP; while nobody tells of acknowledgements, bytes handed to our
    /// own TCP.
    pub bytes: u64,
    /// Bytes that were to be moved, if that was said.
    pub wanted: Option<u64>,
    /// From the moment the connection stood to the end, as SPDTEST takes it; if it did not end well, to the last byte.
    pub elapsed: Span,
    /// From the moment the connection stood to the first byte.
    pub first_byte: Option<Span>,
    /// How it ended; `None` while it runs.
    pub end: Option<End>,
    /// What was moved in each second; the bytes add up to [`Self::bytes`] once it has ended.
    pub samples: Vec<Sample>,
}

impl Report {
    /// The speed over all of [`Self::elapsed`].
    pub const fn rate(&self) -> Rate {
        Rate {
            bytes: self.bytes,
            span: self.elapsed,
        }
    }

    /// The speed without the wait for the first byte.
    pub fn rate_since_first_byte(&self) -> Rate {
        let waited = self.first_byte.unwrap_or_default();
        Rate {
            bytes: self.bytes,
            span: Span(self.elapsed.0.saturating_sub(waited.0)),
        }
    }
}
