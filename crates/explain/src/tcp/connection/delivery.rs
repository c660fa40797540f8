//! What each side says, in order, and handed on to who listens.

use crate::constants::MAX_CAPTURE_REORDERING;
use crate::netbios::marks;
use crate::report::Quality;
use crate::session::{Chunk, Moment, Scratch};
use crate::tcp::connection::{Connection, heading};
use crate::timeline::{Side, of_mut};
use coax_capture::Segment;
use coax_cause::Cause;

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
        let stream = of_mut(&mut self.streams, side);
        let len = u64::from(segment.len);
        if start > stream.delivered {
            let data = if is_heard { segment.data } else { &[] };
            let ends = segment.flags.has(marks::END);
            stream.early.keep(start, (len, ends), data);
            stream.hole_since.get_or_insert(moment.at);
            return;
        }
        let known = stream.delivered - start;
        if known >= len {
            return;
        }
        let ends = self.is_framed() && segment.flags.has(marks::END);
        let stream = of_mut(&mut self.streams, side);
        let kept = usize::try_from(known).unwrap_or(usize::MAX);
        let bytes = segment.data.get(kept..).unwrap_or_default();
        stream.delivered = start.saturating_add(len);
        let len = len - known;
        let chunk = Chunk {
            bytes,
            len,
            moment,
            ends,
        };
        self.push(side, chunk, scratch);
        self.push_early(side, moment, scratch);
    }

    fn push(&mut self, side: Side, chunk: Chunk<'_>, scratch: &mut Scratch) {
        let spent = self.charger.account();
        if self.conversation.push(side, chunk, spent, scratch) {
            of_mut(&mut self.streams, side).sent.is_whole();
        }
    }

    fn push_early(&mut self, side: Side, moment: Moment, scratch: &mut Scratch) {
        loop {
            let stream = of_mut(&mut self.streams, side);
            let Some((len, bytes, ends)) = stream.early.next(stream.delivered) else {
                break;
            };
            stream.delivered += len;
            let chunk = Chunk {
                bytes: &bytes,
                len,
                moment,
                ends: ends && self.is_framed(),
            };
            self.push(side, chunk, scratch);
        }
        let stream = of_mut(&mut self.streams, side);
        if stream.early.is_empty() {
            stream.hole_since = None;
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
            let stream = of_mut(&mut self.streams, side);
            let is_acked = stream.acked > stream.delivered;
            if !is_acked && !stream.early.is_overfull() {
                stream.unseen = None;
                continue;
            }
            let (since, packets) = stream.unseen.get_or_insert((moment.at, 0));
            *packets += 1;
            if moment.at - *since >= MAX_CAPTURE_REORDERING
                || *packets >= HOLE_PACKETS
                || stream.early.is_overfull()
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
        let stream = of_mut(&mut self.streams, side);
        let Some(end) = stream.hole_end() else {
            return;
        };
        let len = end - stream.delivered;
        stream.delivered = end;
        stream.highest = stream.highest.max(end);
        stream.unseen = None;
        quality.holes += 1;
        quality.missing_bytes = quality.missing_bytes.saturating_add(len);
        self.unseen |= moment.at <= self.charger.at();
        self.charger.catch_up(moment.at, Cause::Capture);
        let charges = self.charger.take_charges();
        self.conversation
            .record_charges(charges, moment.frame, heading(side));
        let spent = self.charger.account();
        self.conversation.gap(side, len, moment, spent, scratch);
        self.push_early(side, moment, scratch);
    }
}
