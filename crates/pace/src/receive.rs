//! The receive window: what the client may send at once.

use coax_wire::time::{Span, Time};

use crate::{
    constants::{FIRST_RECEIVE_SEGMENTS, STALL, STALL_ROUND_TRIPS, UNSCALED_WINDOW},
    ladder::Ladder,
};

/// Bytes that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// How many.
    pub bytes: u64,
    /// How many are still missing of the message that they belong to; 0 at the end of a message.
    pub rest: u64,
    /// The shortest round-trip time of the connection; zero if it is not known.
    pub rtt: Span,
    /// Segments that arrived behind a gap since the connection began; 0 if the system does not count them.
    pub out_of_order: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveSide {
    ladder: Ladder,
    mss: u32,
    /// When the last bytes arrived, if their message was incomplete.
    waiting_since: Option<Time>,
    /// Bytes of the present message so far, or since the last loss in it.
    run: u64,
    /// The time that they took, as far as it is not yet counted.
    busy: Span,
    /// Segments behind a gap so far.
    out_of_order: u64,
    /// Bytes that may still belong to the window in which the last gap was seen: further gaps among them are the same loss.
    repairing: u64,
}

impl ReceiveSide {
    pub(crate) fn new(mss: u32, learned: Option<u32>) -> Self {
        Self {
            ladder: Ladder::new(
                FIRST_RECEIVE_SEGMENTS,
                UNSCALED_WINDOW / mss.max(1),
                learned,
            ),
            mss,
            waiting_since: None,
            run: 0,
            busy: Span(0),
            out_of_order: 0,
            repairing: 0,
        }
    }

    pub(crate) fn window(&self) -> Option<u32> {
        let segments = self.ladder.limit()?;
        Some(segments.saturating_mul(self.mss).min(UNSCALED_WINDOW))
    }

    pub(crate) fn learned(&self) -> Option<u32> {
        self.ladder.learned()
    }

    pub(crate) fn resumed(&mut self, now: Time) {
        if self.waiting_since.is_some() {
            self.waiting_since = Some(now);
        }
    }

    /// Whether a pause or a gap in the sequence shows a loss that was not counted yet.
    fn is_new_loss(&mut self, gap: Span, got: Received) -> bool {
        let behind_a_gap = got.out_of_order > self.out_of_order;
        self.out_of_order = self.out_of_order.max(got.out_of_order);
        let repairing = self.repairing;
        self.repairing = repairing.saturating_sub(got.bytes);
        let stall = STALL.0.max(got.rtt.0.saturating_mul(STALL_ROUND_TRIPS));
        if gap.0 >= stall {
            self.repairing = 0;
            return repairing == 0;
        }
        if !behind_a_gap || repairing > 0 {
            return false;
        }
        self.repairing = u64::from(self.window().unwrap_or(UNSCALED_WINDOW));
        true
    }

    pub(crate) fn received(&mut self, now: Time, got: Received) {
        let gap = self.waiting_since.map_or(Span(0), |since| now - since);
        if self.waiting_since.is_none() {
            (self.run, self.busy) = (0, Span(0));
        }
        if self.is_new_loss(gap, got) {
            self.ladder.lost();
            (self.run, self.busy) = (0, Span(0));
        }
        let mss = u64::from(self.mss).max(1);
        self.ladder.passed(got.bytes.div_ceil(mss));
        self.busy = Span(self.busy.0.saturating_add(gap.0));
        let window = u64::from(self.window().unwrap_or(UNSCALED_WINDOW)).max(1);
        // A window counts when something follows it: its sender has waited for the acknowledgment.
        let before = self.run.saturating_sub(1) / window;
        self.run = self.run.saturating_add(got.bytes);
        // Time in a message that fits into the window says nothing of the window.
        let windows = (self.run.saturating_sub(1) / window).saturating_sub(before);
        if self.run > window {
            self.ladder
                .carried(windows, core::mem::take(&mut self.busy), got.rtt);
        }
        self.waiting_since = (got.rest > 0).then_some(now);
    }
}
