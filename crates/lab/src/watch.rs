//! Records of every frame, for plots. Unlike a capture, they contain the frame's fate and the reason for sending it.

use alloc::vec::Vec;

use coax_wire::time::Time;

use crate::{
    segment::{Segment, Sent},
    side::Side,
};

/// Maximum number of records of a run, about 100 MB.
pub const MOST: usize = 1_500_000;

/// An event of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Its card sent it.
    Sent,
    /// It was sent and will not arrive: the sender's card or a router's queue was full, or the link lost it.
    SentInVain,
    /// It arrived.
    Arrived,
    /// The receiving card was full.
    NoRoom,
}

/// A record of a frame at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Time.
    pub at: Time,
    /// Sender.
    pub from: Side,
    /// Event.
    pub happened: Happened,
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Number of data bytes.
    pub len: u32,
    /// ACK number; 0 without the ACK flag.
    pub ack: u64,
    /// Advertised window.
    pub window: u32,
    /// Reason for sending it.
    pub sent: Sent,
}

impl Seen {
    pub(crate) fn new(at: Time, from: Side, happened: Happened, segment: &Segment) -> Self {
        Self {
            at,
            from,
            happened,
            seq: segment.seq,
            len: u32::try_from(segment.payload.len()).unwrap_or(u32::MAX),
            ack: if segment.flags.ack { segment.ack } else { 0 },
            window: segment.window,
            sent: segment.sent,
        }
    }
}

/// The records; `None` if recording is off.
#[derive(Debug, Default)]
pub(crate) struct Watch(Option<Vec<Seen>>);

impl Watch {
    pub(crate) fn new(kept: bool) -> Self {
        Self(kept.then(Vec::new))
    }

    pub(crate) fn saw(&mut self, at: Time, from: Side, happened: Happened, segment: &Segment) {
        if let Some(seen) = self.0.as_mut().filter(|seen| seen.len() < MOST) {
            seen.push(Seen::new(at, from, happened, segment));
        }
    }

    pub(crate) fn seen(&self) -> &[Seen] {
        self.0.as_deref().unwrap_or_default()
    }
}
