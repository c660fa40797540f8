//! The result of a transfer.

use alloc::vec::Vec;

use coax_wire::time::Span;

use crate::{rate::Rate, role::Role, sample::Sample};

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Complete. A sender: all data is acknowledged. A receiver: all requested data has arrived, or the peer closed
    /// where no amount was requested.
    Done,
    /// The peer closed before the requested amount had arrived.
    Short,
    /// The peer closed without sending a byte.
    Empty,
    /// The peer reset the connection.
    Reset,
    /// No data moved for the time of [`Config::idle`](crate::Config::idle).
    Silent,
    /// The user stopped it.
    Interrupted,
    /// The operating system reported another error; the driver has the details.
    Broken,
}

/// The measurement of a transfer, finished or running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The direction.
    pub role: Role,
    /// Bytes received, or acknowledged by the peer's TCP. Without ACK information: bytes written to the local TCP.
    pub bytes: u64,
    /// Requested number of bytes, if any.
    pub wanted: Option<u64>,
    /// Time from the established connection to the end, as in SPDTEST; to the last byte if the transfer failed.
    pub elapsed: Span,
    /// Time from the established connection to the first byte.
    pub first_byte: Option<Span>,
    /// How it ended; `None` while it runs.
    pub end: Option<End>,
    /// The data of each second; after the end, their bytes add up to [`Self::bytes`].
    pub samples: Vec<Sample>,
}

impl Report {
    /// The rate over [`Self::elapsed`].
    pub const fn rate(&self) -> Rate {
        Rate {
            bytes: self.bytes,
            span: self.elapsed,
        }
    }

    /// The rate without the wait for the first byte.
    pub fn rate_since_first_byte(&self) -> Rate {
        let waited = self.first_byte.unwrap_or_default();
        Rate {
            bytes: self.bytes,
            span: Span(self.elapsed.0.saturating_sub(waited.0)),
        }
    }
}
