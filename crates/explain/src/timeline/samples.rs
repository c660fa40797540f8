//! Samples of what a side sent and of what it had heard when it sent.

use crate::constants::WINDOW_PARTS;
use coax_wire::time::{Span, Time};

/// What a segment's data is to the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// New bytes.
    New,
    /// Sent again: all of it was seen before.
    Again,
    /// It fills a hole that came before it.
    Fill,
    /// A keep-alive: one old byte or none.
    KeepAlive,
}

/// A segment of new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SentSegment {
    /// When it was captured.
    pub(crate) at: Time,
    /// When the path beyond the capture had carried it; `at` if it was captured after that.
    pub(crate) carried: Time,
    /// Where its data ends.
    pub(crate) end: u64,
    /// A message ended in it.
    pub(crate) is_whole: bool,
}

/// An acknowledgment that said something new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckSample {
    /// When it was captured.
    pub(crate) at: Time,
    /// When the path beyond the capture had carried it; `at` if it was captured after that.
    pub(crate) carried: Time,
    /// What it acknowledges ends here.
    pub(crate) acked: u64,
    /// What may be sent ends here.
    pub(crate) edge: u64,
    /// How much longer than the shortest time it took to come, captured behind the path, if its sender's timestamps show it.
    pub(crate) late: Span,
    /// When it left, everything of its side had come.
    pub(crate) is_late_alone: bool,
    /// There was no room for another segment before it, and there is now that a program has read: the data that had taken
    /// the last of the room.
    pub(crate) freed: Option<SentSegment>,
    /// It fills a hole: what it acknowledges last had waited for what was before it, and nobody held it back.
    pub(crate) fills: bool,
    /// It acknowledges two full segments or more that nothing had acknowledged: no receiver delays that (RFC 5681 §4.2).
    pub(crate) is_of_two: bool,
    /// When the path had carried the next data behind what it acknowledges, if any was sent by then.
    pub(crate) next: Option<Time>,
    /// The data that it acknowledges last, as it was sent; that which filled the hole, if it did.
    pub(crate) of: Option<SentSegment>,
}

/// How far it let a sender go: no two acknowledgments have both the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SendLimit {
    pub(crate) at: Time,
    pub(crate) acked: u64,
    pub(crate) edge: u64,
}

impl AckSample {
    /// The same in short.
    pub(crate) fn known(&self) -> SendLimit {
        SendLimit {
            at: self.at,
            acked: self.acked,
            edge: self.edge,
        }
    }
}

impl SendLimit {
    /// Whether a sender that has sent up to `start` may wait until the window is wider, though a segment has room in it:
    /// one that sends in large pieces does as long as less than a third of the window is left (Linux `tcp_tso_win_divisor`;
    /// RFC 1122 §4.2.3.4 would allow half).
    pub(crate) fn is_nearly_full(&self, start: u64) -> bool {
        let left = self.edge.saturating_sub(start);
        left < self.edge.saturating_sub(self.acked) / WINDOW_PARTS
    }
}
