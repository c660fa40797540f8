//! The window's edge as a sender knew it at a time.

use std::collections::VecDeque;

use coax_wire::time::{Span, Time};

/// Edges remembered: those of about the last round trip count.
const MOST: usize = 256;

/// How far one side may send, by what the other acknowledged and offered, and when that was captured.
#[derive(Debug, Default)]
pub(super) struct Edges(VecDeque<(Time, u64)>);

impl Edges {
    /// An acknowledgment came: it acknowledged something new, or moved the edge, or neither.
    pub(super) fn heard(&mut self, at: Time, edge: u64, is_new: bool) {
        let before = self.0.back().map_or(0, |last| last.1);
        if !is_new && edge <= before {
            return;
        }
        let edge = edge.max(before);
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((at, edge));
    }

    /// The latest edge.
    pub(super) fn latest(&self) -> Option<u64> {
        self.0.back().map(|last| last.1)
    }

    /// When the latest acknowledgment was captured that a sender knew when what was captured at `at` left it. It may
    /// have been a little quicker than `round`, of which all that was measured may have been by a busy machine.
    pub(super) fn released(&self, at: Time, round: Span) -> Option<Time> {
        const NOISE_NS: u64 = 100_000;
        let slack = (round.0 / 8).min(1_000_000) + NOISE_NS;
        let then = Time(at.0.checked_sub(round.0)?.saturating_add(slack).min(at.0));
        self.by(then).map(|edge| edge.0)
    }

    /// The edge that a sender knew when what was captured at `at` left it, if from here to it and back takes `round`.
    pub(super) fn known(&self, at: Time, round: Span) -> Option<u64> {
        let then = Time(at.0.checked_sub(round.0)?);
        self.by(then).map(|edge| edge.1)
    }

    /// The latest of those captured by `then`. Next to the sender it is nearly always the last.
    fn by(&self, then: Time) -> Option<(Time, u64)> {
        if let Some(last) = self.0.back().filter(|last| last.0 <= then) {
            return Some(*last);
        }
        let later = self.0.partition_point(|edge| edge.0 <= then);
        self.0.get(later.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_counts_from_when_the_sender_can_know_it() {
        let mut edges = Edges::default();
        edges.heard(Time(100), 1000, false);
        edges.heard(Time(200), 2000, true);
        edges.heard(Time(300), 1500, false);
        assert_eq!(edges.latest(), Some(2000));
        assert_eq!(edges.known(Time(200), Span(0)), Some(2000));
        assert_eq!(edges.known(Time(249), Span(50)), Some(1000));
        assert_eq!(edges.known(Time(120), Span(50)), None);
    }
}
