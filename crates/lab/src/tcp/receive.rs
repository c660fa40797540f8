//! The receiver: reassembly, the advertised window, and ACK rules.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    params::{AckRule, StackParams},
    ranges::Ranges,
};
use crate::{
    payload::{Buffer, Payload},
    segment::Segment,
};

/// The required reply to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// None: the segment carries no data.
    None,
    /// An ACK, possibly delayed.
    Later,
    /// An immediate ACK.
    Now,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// Next sequence number expected.
    pub(super) next: u64,
    /// Data in order, not read yet.
    pub(super) readable: Buffer,
    /// An ACK must be sent now.
    pub(super) ack_now: bool,
    /// The peer has closed its direction.
    pub(super) finished: bool,
    early: BTreeMap<u64, Payload>,
    /// What `early` covers.
    early_ranges: Ranges,
    /// The latest range received out of order, reported first (RFC 2018 4).
    latest_early: u64,
    fin_at: Option<u64>,
    /// The right edge of the advertised window.
    edge: u64,
    shown: u64,
    bytes_waiting: u64,
    segments_waiting: u32,
    out_of_order_in_a_row: u32,
    good_in_a_row: u32,
    distressed: bool,
}

impl Receiver {
    /// Handles a segment's data. `mss` is that of the connection.
    pub(super) fn take(&mut self, segment: &Segment, params: &StackParams, mss: u64) -> Reply {
        if segment.payload.is_empty() && !segment.flags.fin {
            return Reply::None;
        }
        let end = segment.seq.saturating_add(segment.payload.len());
        if segment.flags.fin {
            self.fin_at = Some(end);
        }
        if end < self.next || (end == self.next && !segment.flags.fin) {
            return Reply::Now;
        }
        if segment.seq > self.next {
            return self.keep_early(segment, params);
        }
        let fresh = self.within_window(segment.payload.skip(self.next.saturating_sub(segment.seq)));
        if fresh.is_empty() && !segment.flags.fin {
            return Reply::Now;
        }
        self.count_good(params);
        self.bytes_waiting = self.bytes_waiting.saturating_add(fresh.len());
        self.segments_waiting = self.segments_waiting.saturating_add(1);
        self.accept(fresh);
        let had_early = !self.early.is_empty();
        self.join_early();
        self.see_fin();
        if had_early || self.finished || self.is_due(segment, params, mss) {
            Reply::Now
        } else {
            Reply::Later
        }
    }

    /// The window to advertise, bytes.
    pub(super) fn window(&self, params: &StackParams, mss: u64) -> u64 {
        let size = u64::from(params.receive_window);
        let free = size.saturating_sub(self.readable.len());
        // RFC 1122 4.2.3.3, as in BSD
        let offer = if free < size / 4 && free < mss {
            0
        } else {
            free
        };
        if self.distressed {
            return offer.min(mss);
        }
        offer.max(self.edge.saturating_sub(self.next))
    }

    /// A segment with `window` was sent: everything up to `next` is acknowledged.
    pub(super) fn acknowledged(&mut self, window: u64) {
        self.ack_now = false;
        self.bytes_waiting = 0;
        self.segments_waiting = 0;
        self.shown = window;
        self.edge = self.next.saturating_add(window);
    }

    /// Whether to send a window update after a read of the application.
    pub(super) fn should_announce(&self, params: &StackParams, mss: u64) -> bool {
        let window = self.window(params, mss);
        let growth = self.next.saturating_add(window).saturating_sub(self.edge);
        if params.window_update_segments == 0 {
            return self.shown < mss
                && growth >= mss.min(u64::from(params.receive_window / 2).max(1));
        }
        let enough = mss.saturating_mul(u64::from(params.window_update_segments));
        growth > 0
            && (growth >= enough || growth.saturating_mul(2) >= u64::from(params.receive_window))
    }

    /// Ranges received out of order, the latest first (RFC 2018 4).
    pub(super) fn sack_ranges(&self, most: usize) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = self.early_ranges.iter().take(most).collect();
        let Some(latest) = self.early_ranges.around(self.latest_early) else {
            return ranges;
        };
        match ranges.iter().position(|range| *range == latest) {
            Some(at) => ranges.swap(0, at),
            None => ranges.iter_mut().take(1).for_each(|first| *first = latest),
        }
        ranges
    }

    fn keep_early(&mut self, segment: &Segment, params: &StackParams) -> Reply {
        self.out_of_order_in_a_row = self.out_of_order_in_a_row.saturating_add(1);
        self.good_in_a_row = 0;
        if params.distress_after > 0 && self.out_of_order_in_a_row > params.distress_after {
            self.distressed = true;
        }
        let inside = segment.seq.saturating_add(segment.payload.len()) <= self.edge;
        if params.reassembly && inside && !segment.payload.is_empty() {
            self.latest_early = segment.seq;
            self.insert_early(segment.seq, segment.payload.clone());
        }
        Reply::Now
    }

    fn insert_early(&mut self, seq: u64, payload: Payload) {
        let end = seq.saturating_add(payload.len());
        let replaced = self.early.insert(seq, payload);
        let old_end = replaced.map_or(seq, |old| seq.saturating_add(old.len()));
        if old_end <= end {
            self.early_ranges.insert(seq, end);
            return;
        }
        // the segment that is replaced was longer: what it alone covered is no longer there
        let covered = self.early_ranges.take_around(seq).unwrap_or_default();
        for (start, payload) in self.early.range(covered.0..covered.1) {
            let end = start.saturating_add(payload.len());
            self.early_ranges.insert(*start, end);
        }
    }

    fn count_good(&mut self, params: &StackParams) {
        self.out_of_order_in_a_row = 0;
        self.good_in_a_row = self.good_in_a_row.saturating_add(1);
        if self.good_in_a_row > params.distress_until {
            self.distressed = false;
        }
    }

    /// The part of `payload`, which starts at `next`, that fits into the window.
    fn within_window(&self, payload: Payload) -> Payload {
        let room = self.edge.saturating_sub(self.next);
        if payload.len() <= room {
            return payload;
        }
        let mut buffer = Buffer::default();
        buffer.push(payload);
        buffer.take(room)
    }

    fn accept(&mut self, payload: Payload) {
        self.next = self.next.saturating_add(payload.len());
        self.readable.push(payload);
    }

    fn join_early(&mut self) {
        while let Some(entry) = self.early.first_entry() {
            if *entry.key() > self.next {
                break;
            }
            let (start, payload) = entry.remove_entry();
            self.accept(payload.skip(self.next.saturating_sub(start)));
        }
        self.early_ranges.remove_below(self.next);
    }

    fn see_fin(&mut self) {
        if self.fin_at == Some(self.next) && !self.finished {
            self.finished = true;
            self.next = self.next.saturating_add(1);
        }
    }

    fn is_due(&self, segment: &Segment, params: &StackParams, mss: u64) -> bool {
        let bytes = mss.saturating_mul(u64::from(params.ack_every));
        let enough = match params.ack_rule {
            AckRule::SegmentsAtLeast => self.segments_waiting >= params.ack_every,
            AckRule::BytesAtLeast => self.bytes_waiting >= bytes,
            AckRule::BytesMoreThan => self.bytes_waiting > bytes,
        };
        enough || params.delayed_ack.0 == 0 || (params.ack_on_push && segment.flags.psh)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(seq: u64, len: u64) -> Segment {
        Segment {
            seq,
            payload: Payload::pattern(seq, len),
            ..Segment::default()
        }
    }

    fn receiver(params: &StackParams) -> Receiver {
        let mut receiver = Receiver::default();
        receiver.acknowledged(u64::from(params.receive_window));
        receiver
    }

    #[test]
    fn data_out_of_order_is_kept_joined_and_reported_in_sack() {
        let params = StackParams::default();
        let mut receiver = receiver(&params);
        assert_eq!(
            receiver.take(&segment(2000, 1000), &params, 1000),
            Reply::Now
        );
        assert_eq!(
            receiver.take(&segment(4000, 1000), &params, 1000),
            Reply::Now
        );
        assert_eq!(receiver.sack_ranges(3), [(4000, 5000), (2000, 3000)]);
        assert_eq!(receiver.take(&segment(0, 2500), &params, 1000), Reply::Now);
        assert_eq!((receiver.next, receiver.readable.len()), (3000, 3000));
        assert!(receiver.readable.slice(0, 3000).is_pattern_at(0));
    }

    #[test]
    fn a_receiver_without_reassembly_throws_early_data_away() {
        let params = StackParams {
            reassembly: false,
            ..StackParams::default()
        };
        let mut receiver = receiver(&params);
        receiver.take(&segment(1000, 1000), &params, 1000);
        receiver.take(&segment(0, 1000), &params, 1000);
        assert_eq!(receiver.next, 1000);
    }

    #[test]
    fn more_than_two_segments_is_not_two_segments() {
        for (rule, replies) in [
            (AckRule::BytesAtLeast, [Reply::Later, Reply::Now]),
            (AckRule::BytesMoreThan, [Reply::Later, Reply::Later]),
        ] {
            let params = StackParams {
                ack_rule: rule,
                ..StackParams::default()
            };
            let mut receiver = receiver(&params);
            let got = [0, 1460].map(|seq| receiver.take(&segment(seq, 1460), &params, 1460));
            assert_eq!(got, replies);
            assert_eq!(
                receiver.take(&segment(2920, 1460), &params, 1460),
                Reply::Now
            );
        }
    }

    #[test]
    fn a_full_buffer_shuts_the_window_and_takes_no_byte_more() {
        let params = StackParams {
            receive_window: 2000,
            ..StackParams::default()
        };
        let mut receiver = receiver(&params);
        receiver.take(&segment(0, 1460), &params, 1460);
        receiver.take(&segment(1460, 1460), &params, 1460);
        assert_eq!((receiver.next, receiver.window(&params, 1460)), (2000, 0));
        receiver.acknowledged(0);
        receiver.readable.take(400);
        assert!(!receiver.should_announce(&params, 1460));
        receiver.readable.take(1600);
        assert!(receiver.should_announce(&params, 1460));
    }

    #[test]
    fn a_receiver_in_distress_offers_one_segment_until_enough_came_in_order() {
        let params = StackParams {
            distress_after: 4,
            distress_until: 2,
            ..StackParams::default()
        };
        let mut receiver = receiver(&params);
        for i in 0..5 {
            receiver.take(&segment(10_000 + i, 1), &params, 1460);
        }
        assert_eq!(receiver.window(&params, 1460), 1460);
        for i in 0..3 {
            receiver.take(&segment(i, 1), &params, 1460);
        }
        assert!(receiver.window(&params, 1460) > 60_000);
    }

    /// The ranges joined anew from everything that arrived early.
    fn ranges_of_early(receiver: &Receiver, most: usize) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (start, payload) in &receiver.early {
            let end = start + payload.len();
            match ranges.last_mut() {
                Some(last) if last.1 >= *start => last.1 = last.1.max(end),
                _ => ranges.push((*start, end)),
            }
        }
        let latest = receiver.latest_early;
        let place = ranges
            .iter()
            .position(|(from, to)| (*from..*to).contains(&latest));
        if let Some(place) = place {
            ranges.swap(0, place);
        }
        ranges.truncate(most);
        ranges
    }

    proptest! {
        #[test]
        fn sack_reports_what_arrived_early_whatever_arrives(
            segments in proptest::collection::vec((0_u64..40, 0_u64..6), 0..80),
        ) {
            let params = StackParams::default();
            let mut receiver = receiver(&params);
            for (place, len) in segments {
                // the same place may come again with less, with more, or with an overlap
                receiver.take(&segment(place * 2, len), &params, 1460);
                for most in 0..5 {
                    prop_assert_eq!(
                        receiver.sack_ranges(most),
                        ranges_of_early(&receiver, most)
                    );
                }
            }
        }
    }
}
