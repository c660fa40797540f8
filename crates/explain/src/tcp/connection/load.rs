//! What segments show of the utilisation of the path: at the receiver of data by its arrival, at its sender by ACKs.

use crate::path::{NewAck, SegmentSizes, wire_bytes};
use crate::tcp::connection::Connection;
use crate::timeline::{Novelty, Side, least_delay, of, of_mut};
use coax_capture::Segment;
use coax_wire::time::{Span, Time};

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
        let clock = of(&self.streams, side).by_clock;
        let other = of_mut(&mut self.streams, side.other());
        let echoed = other.echoes.came(segment, at);
        if novelty != Some(Novelty::New) {
            return;
        }
        if clock.is_known {
            self.path.note_late(side, at, clock.late);
        } else if let Some(round) = echoed
            // what begins a message may have waited for its program
            && self.has_more(side)
        {
            self.path.note_round(side, at, round, true);
        }
    }

    /// How late a segment of `side` comes by that side's clock, captured behind the path.
    pub(super) fn note_clock(&mut self, segment: &Segment<'_>, side: Side, at: Time) {
        if !self.path.is_behind(side) {
            return;
        }
        let base = Span(self.path.way(side).0 / 2);
        let own = of_mut(&mut self.streams, side);
        own.by_clock = own.sender_clock.came(segment, at);
        if own.by_clock.is_first && own.by_clock.is_known {
            own.delays.add(own.by_clock.late, least_delay(base));
        }
    }

    /// What the path has delivered of `side`'s data, as its sender hears. SACK had reported `known` bytes of it before.
    pub(super) fn note_delivered_by_ack(
        &mut self,
        side: Side,
        ack: &NewAck,
        known: u64,
        sizes: SegmentSizes,
    ) {
        if !self.path.is_behind(side) {
            let bytes = on_wire(ack.bytes.saturating_sub(known), sizes);
            self.path.note_delivered(side, ack.at, bytes);
        }
    }

    /// Data of `side` arrived before its turn, as its sender hears in `segment`: what its newest SACK block has more than
    /// earlier ones, so that a lost acknowledgment costs nothing (Linux counts `tp->delivered` so). Without SACK, or if a
    /// retransmission filled a hole, it is one segment.
    pub(super) fn note_delivered_early(&mut self, side: Side, segment: &Segment<'_>, at: Time) {
        let sizes = self.sizes(side);
        let stream = of_mut(&mut self.streams, side);
        let newest = segment.newest_sack();
        let newest = newest.map(|(from, to)| (stream.offset(from), stream.offset(to)));
        let (from, to) = newest.map_or((0, 0), |(from, to)| (from, to.min(stream.highest)));
        let longer = to.saturating_sub(from.max(stream.sacked_to));
        stream.sacked_to = stream.sacked_to.max(to);
        let bytes = if longer > 0 { longer } else { sizes.mss };
        stream.early_acked = stream.early_acked.saturating_add(bytes);
        if !self.path.is_behind(side) {
            self.path.note_delivered(side, at, on_wire(bytes, sizes));
        }
    }
}

/// Bytes on the wire of this much data.
fn on_wire(bytes: u64, sizes: SegmentSizes) -> u64 {
    let segments = bytes.div_ceil(sizes.mss.max(1));
    bytes.saturating_add(segments.saturating_mul(sizes.overhead))
}
