//! What each side says, in order, and handed on to who listens.

use crate::report::Quality;
use crate::session::{Chunk, Moment, Scratch};
use crate::tcp::connection::{Connection, heading};
use crate::timeline::{Side, of_mut};
use coax_capture::Segment;
use coax_cause::Cause;
use coax_wire::time::Span;

/// A hole that was acknowledged is a fault of the capture when so long has passed, or so many packets: until then, what
/// fills it may only have been written down late.
const HOLE_PATIENCE: Span = Span(5_000_000);
const HOLE_PACKETS: u32 = 32;
impl Connection {
    /// Hands on what is in order now.
    pub(super) fn data(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        start: u64,
        moment: Moment,
        scratch: &mut Scratch,
    ) {
        let is_heard = self.conversation.may_be_smb();
        let half = of_mut(&mut self.halves, side);
        let len = u64::from(segment.len);
        if start > half.delivered {
            half.keep_early(start, len, if is_heard { segment.data } else { &[] });
            return;
        }
        let known = half.delivered - start;
        if known >= len {
            return;
        }
        let kept = usize::try_from(known).unwrap_or(usize::MAX);
        let bytes = segment.data.get(kept..).unwrap_or_default();
        half.delivered = start.saturating_add(len);
        let len = len - known;
        self.push(side, Chunk { bytes, len, moment }, scratch);
        self.push_early(side, moment, scratch);
    }

    fn push(&mut self, side: Side, chunk: Chunk<'_>, scratch: &mut Scratch) {
        let spent = self.ledger.account();
        if self.conversation.push(side, chunk, spent, scratch) {
            of_mut(&mut self.halves, side).sent.is_whole();
        }
    }

    fn push_early(&mut self, side: Side, moment: Moment, scratch: &mut Scratch) {
        while let Some((len, bytes)) = of_mut(&mut self.halves, side).next_early() {
            of_mut(&mut self.halves, side).delivered += len;
            let bytes = &bytes;
            self.push(side, Chunk { bytes, len, moment }, scratch);
        }
    }

    /// Goes over holes that nothing will fill any more.
    pub(super) fn settle_holes(
        &mut self,
        moment: Moment,
        scratch: &mut Scratch,
        quality: &mut Quality,
    ) {
        for side in [Side::Client, Side::Server] {
            let half = of_mut(&mut self.halves, side);
            let is_acked = half.acked > half.delivered;
            if !is_acked && !half.is_overfull() {
                half.unseen = None;
                continue;
            }
            let (since, packets) = half.unseen.get_or_insert((moment.at, 0));
            *packets += 1;
            if moment.at - *since >= HOLE_PATIENCE || *packets >= HOLE_PACKETS || half.is_overfull()
            {
                self.skip_hole(side, moment, scratch, quality);
            }
        }
    }

    pub(super) fn skip_hole(
        &mut self,
        side: Side,
        moment: Moment,
        scratch: &mut Scratch,
        quality: &mut Quality,
    ) {
        let half = of_mut(&mut self.halves, side);
        let Some(end) = half.hole_end() else {
            return;
        };
        let len = end - half.delivered;
        half.delivered = end;
        half.highest = half.highest.max(end);
        half.unseen = None;
        quality.holes += 1;
        quality.missing_bytes = quality.missing_bytes.saturating_add(len);
        self.unseen |= moment.at <= self.ledger.at();
        self.ledger.catch_up(moment.at, Cause::Capture);
        let charges = self.ledger.take_charges();
        self.conversation
            .record_charges(charges, moment.frame, heading(side));
        let spent = self.ledger.account();
        self.conversation.gap(side, len, moment, spent, scratch);
        self.push_early(side, moment, scratch);
    }
}
