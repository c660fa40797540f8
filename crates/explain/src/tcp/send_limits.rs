//! What a sender had heard of its peer at a time, as far as a capture can tell.

use crate::latest::Latest;
use crate::tcp::search_hint::SearchHint;
use crate::timeline::{AckSample, SendLimit, SentSegment};
use coax_wire::time::{Span, Time};

/// Acknowledgments remembered: those of about the last round trip count.
const MOST: usize = 256;

/// What a sender has on its way when an acknowledgment comes, and the least that it sends more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    /// Its data goes up to here.
    pub(super) highest: u64,
    /// The last of it, as it was sent.
    pub(super) last: Option<SentSegment>,
    /// Less room than this it leaves alone (RFC 1122 §4.2.3.4).
    pub(super) least: u64,
}

/// How far one side may send, by what the other acknowledged and offered, and when that was captured.
#[derive(Debug, Default)]
pub(super) struct SendLimits {
    log: Latest<AckSample, MOST>,
    /// The latest of it, and when that had been carried.
    last: (SendLimit, Time),
    /// What was known last of it.
    known: SearchHint,
    /// There is no room for another segment, since this data was sent.
    full: Option<SentSegment>,
}

impl SendLimits {
    /// An acknowledgment came: it acknowledged something new (`is_new`), or moved the edge, or neither.
    pub(super) fn heard(&mut self, mut heard: AckSample, is_new: bool, sending: &Sending) {
        let (last, carried) = self.last;
        let has_moved = heard.edge > last.edge;
        let room = |edge: u64| edge.saturating_sub(sending.highest);
        let full = (room(last.edge) < sending.least)
            .then(|| self.full.or(sending.last))
            .flatten();
        self.full = full;
        if !is_new && !has_moved {
            return;
        }
        heard.edge = heard.edge.max(last.edge);
        heard.carried = heard.carried.max(carried);
        if room(heard.edge) >= sending.least {
            // what is acknowledged only now moves the edge by as much; the rest had been acknowledged, and was not read
            let moved = (heard.edge - last.edge)
                - heard
                    .acked
                    .saturating_sub(last.acked)
                    .min(heard.edge - last.edge);
            (self.full, heard.freed) = (None, full.filter(|_| moved >= sending.least));
        }
        if self.log.is_full() {
            self.known.shift();
        }
        self.last = (heard.known(), heard.carried);
        self.log.push(heard);
    }

    /// Since what was sent there has been no room for more.
    pub(super) fn full(&self) -> Option<SentSegment> {
        self.full
    }

    /// The latest edge.
    pub(super) fn latest(&self) -> Option<u64> {
        self.last().map(|last| last.edge)
    }

    /// The latest.
    pub(super) fn last(&self) -> Option<SendLimit> {
        (self.log.len() > 0).then_some(self.last.0)
    }

    /// When the first that acknowledges all up to `end` had been carried, and when the one that followed it.
    pub(super) fn first_two_of(&self, end: u64) -> (Option<Time>, Option<Time>) {
        // new data has none, which is most of it
        if self.last.0.acked < end {
            return (None, None);
        }
        let first = self.log.partition_point(|heard| heard.acked < end);
        let carried = |place: usize| self.log.get(place).map(|heard| heard.carried);
        (carried(first), carried(first.saturating_add(1)))
    }

    /// The latest that a sender knew when what was captured at `at` left it, if from here to it and back takes `round`.
    pub(super) fn known(&self, at: Time, round: Span) -> Option<&AckSample> {
        let then = Time(at.0.checked_sub(round.0)?);
        let later = self.known.find(&self.log, |heard| heard.carried <= then);
        self.log.get(later.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(highest: u64) -> Sending {
        let last = SentSegment {
            end: highest,
            ..SentSegment::default()
        };
        Sending {
            highest,
            last: Some(last),
            least: 100,
        }
    }

    #[test]
    fn a_window_that_opens_tells_that_it_was_shut() {
        let mut send_limits = SendLimits::default();
        // all is acknowledged, but none of it was read; a little room is none; then there is room; then it moves as it should
        let told = [
            (0, 1000),
            (500, 1000),
            (950, 1000),
            (950, 1020),
            (950, 3000),
            (2000, 4000),
        ];
        for (acked, edge) in told {
            let heard = AckSample {
                acked,
                edge,
                ..AckSample::default()
            };
            let sent = if edge < 3000 { 950 } else { edge - 1000 };
            send_limits.heard(heard, true, &sending(sent.min(acked.max(950))));
        }
    }

    #[test]
    fn an_edge_counts_from_when_the_sender_can_know_it() {
        let mut send_limits = SendLimits::default();
        for (at, edge, is_new) in [(100, 1000, false), (200, 2000, true), (300, 1500, false)] {
            let heard = AckSample {
                at: Time(at),
                carried: Time(at),
                edge,
                ..AckSample::default()
            };
            send_limits.heard(heard, is_new, &sending(0));
        }
        let known = |at, round| {
            send_limits
                .known(Time(at), Span(round))
                .map(|heard| heard.edge)
        };
        assert_eq!(send_limits.latest(), Some(2000));
        assert_eq!(known(200, 0), Some(2000));
        assert_eq!(known(249, 50), Some(1000));
        assert_eq!(known(120, 50), None);
    }
}
