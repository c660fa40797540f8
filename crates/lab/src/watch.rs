//! What was seen of every frame, for plots. Unlike a capture it knows what became of a frame, and why it was sent.

use alloc::vec::Vec;

use coax_wire::time::Time;

use crate::{
    segment::{Segment, Sent},
    side::Side,
};

/// Most that is kept of one run: some 100 MB.
pub const MOST: usize = 1_500_000;

/// What happened to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Its card took it.
    Sent,
    /// It was sent, and will not arrive: no room in the sender's card, lost on the link, or no room in a router's queue.
    SentInVain,
    /// It arrived.
    Arrived,
    /// It arrived at a card without room for it.
    NoRoom,
}

/// A frame at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at: Time,
    /// Who sent it.
    pub from: Side,
    /// What happened.
    pub happened: Happened,
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Bytes of data.
    pub len: u32,
    /// Next sequence number that its sender expects; 0 if it does not say.
    pub ack: u64,
    /// Window that its sender offers.
    pub window: u32,
    /// Why it was sent.
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

/// What is kept. Where nothing is to be, it costs nothing.
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
