//! RACK (RFC 8985): detects losses from the send time of each segment.
//!
//! Not modelled: tail loss probes, and reordering windows that grow with duplicate selective ACKs.

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod plain;

use alloc::collections::{BTreeSet, VecDeque};

use coax_wire::time::{Span, Time};

use super::ranges::Ranges;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Out,
    Arrived,
    Lost,
}

/// An unacknowledged segment.
#[derive(Clone, Copy, Debug)]
struct Record {
    seq: u64,
    end: u64,
    /// Time of its last transmission.
    at: Time,
    again: bool,
    fate: Fate,
}

/// The information of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckInfo {
    /// Number of newly delivered bytes.
    pub(super) delivered: u64,
    /// Round-trip time of the latest of them that was sent once.
    pub(super) round: Option<Span>,
    /// It acknowledges more than the previous one.
    pub(super) advanced: bool,
}

/// The segments from the oldest unacknowledged one on.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    records: VecDeque<Record>,
    /// Bytes in flight.
    out: u64,
    /// Send time and end of each segment in flight.
    in_flight: BTreeSet<(Time, u64)>,
    /// The ends of lost segments.
    lost: BTreeSet<u64>,
    arrived: u32,
    /// What the arrived segments cover.
    arrived_ranges: Ranges,
    /// Send time and end of the most recently sent delivered segment (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: (Time, u64),
    /// Its round-trip time (`RACK.rtt`).
    round: u64,
    least_round: u64,
    /// Highest delivered sequence number (`RACK.fack`).
    highest: u64,
    reordered: bool,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            records: VecDeque::new(),
            out: 0,
            in_flight: BTreeSet::new(),
            lost: BTreeSet::new(),
            arrived: 0,
            arrived_ranges: Ranges::default(),
            newest: (Time(0), 0),
            round: 0,
            least_round: u64::MAX,
            highest: 0,
            reordered: false,
        }
    }
}

impl Scoreboard {
    /// Bytes in flight: sent, and neither delivered nor lost.
    pub(super) const fn out(&self) -> u64 {
        self.out
    }

    /// Whether a lost segment was not retransmitted yet.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Start and end of the first lost segment.
    pub(super) fn first_lost(&self) -> Option<(u64, u64)> {
        let end = *self.lost.first()?;
        let record = self.records.get(self.ending_at_or_above(end))?;
        Some((record.seq, record.end))
    }

    /// Records the transmission or retransmission of a segment.
    pub(super) fn sent(&mut self, now: Time, seq: u64, end: u64) {
        if self.records.back().is_none_or(|last| last.end <= seq) {
            self.records.push_back(Record {
                seq,
                end,
                at: now,
                again: false,
                fate: Fate::Out,
            });
            self.out = self.out.saturating_add(end.saturating_sub(seq));
            self.in_flight.insert((now, end));
            return;
        }
        let at = self.ending_at_or_above(seq.saturating_add(1));
        if let Some(record) = self.records.get_mut(at) {
            let before = record.at;
            (record.at, record.again) = (now, true);
            match record.fate {
                Fate::Arrived => return,
                Fate::Out => {
                    self.in_flight.remove(&(before, record.end));
                }
                Fate::Lost => {
                    record.fate = Fate::Out;
                    self.lost.remove(&record.end);
                    let len = record.end.saturating_sub(record.seq);
                    self.out = self.out.saturating_add(len);
                }
            }
            self.in_flight.insert((now, record.end));
        }
    }

    /// Handles the ACK number and the SACK ranges.
    pub(super) fn acknowledged(&mut self, now: Time, ack: u64, ranges: &[(u64, u64)]) -> AckInfo {
        let mut info = AckInfo::default();
        while let Some(front) = self.records.front_mut() {
            if front.end > ack {
                info.delivered = info
                    .delivered
                    .saturating_add(cut(front, ack, &mut self.out));
                break;
            }
            let Some(record) = self.records.pop_front() else {
                break;
            };
            info.advanced = true;
            if record.fate == Fate::Arrived {
                self.arrived = self.arrived.saturating_sub(1);
            } else {
                self.arrives(now, &record, &mut info);
            }
        }
        self.arrived_ranges.remove_below(ack);
        for (from, to) in ranges {
            self.selected(now, *from, *to, &mut info);
        }
        info
    }

    fn selected(&mut self, now: Time, from: u64, to: u64, info: &mut AckInfo) {
        let mut at = self.records.partition_point(|record| record.seq < from);
        while let Some(record) = self.records.get_mut(at) {
            if record.end > to {
                break;
            }
            if record.fate == Fate::Arrived {
                // with all that arrived after it
                let seq = record.seq;
                let arrived = self.arrived_ranges.around(seq).unwrap_or((seq, to));
                at = self.ending_at_or_above(arrived.1.saturating_add(1));
                continue;
            }
            at = at.saturating_add(1);
            let before = *record;
            record.fate = Fate::Arrived;
            self.arrived = self.arrived.saturating_add(1);
            self.arrived_ranges.insert(before.seq, before.end);
            self.arrives(now, &before, info);
        }
    }

    /// The place of the first record that ends at `end` or above.
    fn ending_at_or_above(&self, end: u64) -> usize {
        self.records.partition_point(|record| record.end < end)
    }

    /// RFC 8985 6.2, steps 1 to 3.
    fn arrives(&mut self, now: Time, record: &Record, info: &mut AckInfo) {
        let len = record.end.saturating_sub(record.seq);
        info.delivered = info.delivered.saturating_add(len);
        match record.fate {
            Fate::Out => {
                self.out = self.out.saturating_sub(len);
                self.in_flight.remove(&(record.at, record.end));
            }
            Fate::Lost => {
                self.lost.remove(&record.end);
            }
            Fate::Arrived => {}
        }
        let round = now - record.at;
        if record.again {
            // the ACK arrived too early for the retransmitted copy
            if round.0 < self.least_round {
                return;
            }
        } else {
            self.least_round = self.least_round.min(round.0);
            info.round = Some(round);
            self.reordered |= record.end < self.highest;
        }
        self.highest = self.highest.max(record.end);
        if (record.at, record.end) > self.newest {
            self.newest = (record.at, record.end);
            self.round = round.0;
        }
    }

    /// Marks segments as lost that were sent sufficiently earlier than the latest delivered one (RFC 8985 6.2, steps 4
    /// and 5). Returns whether there was one, and when to check again.
    pub(super) fn detect(
        &mut self,
        now: Time,
        repairing: bool,
        duplicates: u32,
    ) -> (bool, Option<Time>) {
        let wait = Span(
            self.round
                .saturating_add(self.reorder_window(repairing, duplicates)),
        );
        let mut found = false;
        while let Some(first) = self.oldest_due(now, wait).filter(|at| *at <= self.newest) {
            self.lose(first);
            found = true;
        }
        let mut older = self.in_flight.range(..=self.newest);
        (found, older.next_back().map(|(at, _)| *at + wait))
    }

    /// The segment in flight that was sent first, if that is at least `wait` ago.
    fn oldest_due(&self, now: Time, wait: Span) -> Option<(Time, u64)> {
        let first = self.in_flight.first().copied();
        first.filter(|(at, _)| *at + wait <= now)
    }

    /// Marks a segment in flight as lost.
    fn lose(&mut self, sent: (Time, u64)) {
        self.in_flight.remove(&sent);
        let place = self.ending_at_or_above(sent.1);
        if let Some(record) = self.records.get_mut(place) {
            record.fate = Fate::Lost;
            self.lost.insert(record.end);
            let len = record.end.saturating_sub(record.seq);
            self.out = self.out.saturating_sub(len);
        }
    }

    /// The reordering window (RFC 8985 6.2, step 4).
    const fn reorder_window(&self, repairing: bool, duplicates: u32) -> u64 {
        let loss_indicated = repairing || (duplicates > 0 && self.arrived >= duplicates);
        if (loss_indicated && !self.reordered) || self.least_round == u64::MAX {
            0
        } else {
            self.least_round / 4
        }
    }

    /// Retransmission timeout: the oldest segment is lost, and all segments sent at least a round-trip time ago (RFC
    /// 8985 6.3).
    pub(super) fn timed_out(&mut self, now: Time) {
        let wait = Span(self.round.saturating_add(self.reorder_window(false, 0)));
        let front = self.records.front();
        let front = front.filter(|record| record.fate == Fate::Out);
        if let Some(oldest) = front.map(|record| (record.at, record.end)) {
            self.lose(oldest);
        }
        while let Some(sent) = self.oldest_due(now, wait) {
            self.lose(sent);
        }
    }
}

/// Removes the part of a segment below `ack`. Returns the number of newly delivered bytes.
fn cut(record: &mut Record, ack: u64, out: &mut u64) -> u64 {
    let covered = ack.saturating_sub(record.seq);
    record.seq = record.seq.max(ack);
    if record.fate == Fate::Out {
        *out = out.saturating_sub(covered);
    }
    if record.fate == Fate::Arrived {
        0
    } else {
        covered
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Ten segments of 100 bytes, sent at intervals of one millisecond.
    fn ten() -> Scoreboard {
        let mut board = Scoreboard::default();
        for i in 0..10 {
            board.sent(Time(i * MS), i * 100, (i + 1) * 100);
        }
        board
    }

    #[test]
    fn what_is_under_way_is_what_was_sent_less_what_arrived_and_what_is_lost() {
        let mut board = ten();
        assert_eq!(board.out(), 1000);
        let info = board.acknowledged(Time(20 * MS), 150, &[(300, 500)]);
        assert_eq!((info.delivered, info.advanced), (350, true));
        assert_eq!(info.round, Some(Span(16 * MS)));
        assert_eq!(board.out(), 650);
        assert_eq!(board.detect(Time(20 * MS), true, 3), (true, None));
        assert_eq!((board.out(), board.first_lost()), (500, Some((150, 200))));
        board.sent(Time(20 * MS), 150, 200);
        assert_eq!((board.out(), board.first_lost()), (550, Some((200, 300))));
    }

    #[test]
    fn one_that_arrived_early_means_a_loss_only_after_a_quarter_of_the_round_trip() {
        let mut board = ten();
        board.acknowledged(Time(20 * MS), 0, &[(100, 200)]);
        // sent at 0, plus its round-trip time of 19 ms and a quarter of that
        let due = Time(23_750_000);
        assert_eq!(board.detect(Time(20 * MS), false, 3), (false, Some(due)));
        assert_eq!(board.detect(due, false, 3), (true, None));
        assert_eq!(board.first_lost(), Some((0, 100)));
    }

    #[test]
    fn three_early_segments_indicate_a_loss_unless_reordering_was_seen() {
        let mut board = ten();
        board.acknowledged(Time(20 * MS), 0, &[(100, 400)]);
        assert!(board.detect(Time(20 * MS), false, 3).0);
        let mut overtaken = ten();
        overtaken.acknowledged(Time(20 * MS), 0, &[(100, 400)]);
        overtaken.acknowledged(Time(20 * MS), 400, &[]);
        overtaken.acknowledged(Time(26 * MS), 400, &[(500, 800)]);
        assert!(!overtaken.detect(Time(26 * MS), true, 3).0);
    }

    #[test]
    fn a_segment_sent_again_is_lost_when_something_sent_later_arrived() {
        let mut board = ten();
        board.acknowledged(Time(20 * MS), 0, &[(100, 1000)]);
        board.detect(Time(20 * MS), true, 3);
        board.sent(Time(20 * MS), 0, 100);
        board.sent(Time(21 * MS), 1000, 1100);
        assert!(!board.detect(Time(30 * MS), true, 3).0);
        board.acknowledged(Time(41 * MS), 0, &[(100, 1100)]);
        assert!(board.detect(Time(41 * MS), true, 3).0);
        assert_eq!(board.first_lost(), Some((0, 100)));
    }

    #[test]
    fn a_timeout_loses_the_oldest_and_what_was_sent_a_round_trip_ago() {
        let mut board = ten();
        board.acknowledged(Time(20 * MS), 100, &[]);
        // a round-trip time of 20 ms and a quarter: includes segments sent up to 3 ms
        board.timed_out(Time(28 * MS));
        assert_eq!((board.out(), board.first_lost()), (600, Some((100, 200))));
    }
}
