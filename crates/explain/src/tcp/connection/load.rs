//! What segments show of the utilisation of the path: at the receiver of data by its arrival, at its sender by ACKs.

use crate::path::{NewAck, SegmentSizes, wire_bytes};
use crate::tcp::connection::Connection;
use crate::timeline::{Novelty, Side, of_mut};
use coax_capture::Segment;
use coax_wire::time::Time;

impl Connection {
    /// What a segment shows of the path behind which it is captured.
    pub(super) fn note_load(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        novelty: Option<Novelty>,
        at: Time,
    ) {
        if segment.len == 0 && self.path.is_behind(side.other()) {
            of_mut(&mut self.streams, side).echoes.sent(segment, at);
        }
        if segment.len == 0 || !self.path.is_behind(side) {
            return;
        }
        self.path.note_delivered(side, at, wire_bytes(segment));
        let other = of_mut(&mut self.streams, side.other());
        // what begins a message may have waited for its program
        if let Some(round) = other.echoes.came(segment, at)
            && novelty == Some(Novelty::New)
            && self.has_more(side)
        {
            self.path.note_round(side, at, round);
        }
    }

    /// What the path has delivered of `side`'s data, as its sender hears; `early` segments of it had been reported as received
    /// before their turn.
    pub(super) fn note_delivered_by_ack(
        &mut self,
        side: Side,
        ack: &NewAck,
        early: u32,
        sizes: SegmentSizes,
    ) {
        if self.path.is_behind(side) {
            return;
        }
        let segments = ack.bytes.div_ceil(sizes.mss.max(1));
        let bytes = ack.bytes + segments * sizes.overhead;
        let known = u64::from(early) * (sizes.mss + sizes.overhead);
        self.path
            .note_delivered(side, ack.at, bytes.saturating_sub(known));
    }

    /// A segment of `side` was received before its turn, as its sender hears.
    pub(super) fn note_delivered_early(&mut self, side: Side, at: Time, sizes: SegmentSizes) {
        let stream = of_mut(&mut self.streams, side);
        stream.early_acks = stream.early_acks.saturating_add(1);
        if !self.path.is_behind(side) {
            let bytes = sizes.mss + sizes.overhead;
            self.path.note_delivered(side, at, bytes);
        }
    }
}
