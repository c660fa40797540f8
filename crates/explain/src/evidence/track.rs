//! How one side's bytes went on over time, in a bounded number of points.
//!
//! As points become too many every other one is left out, and from then on only every second packet makes one, then every
//! fourth, and so on. A pause keeps the points at both its ends, and what was sent again is preferred.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use super::{budget::Hold, charge::RecordedCharge};
use crate::report::{Graph, Point};

/// Points at most, with little memory and with more.
const FEW: usize = 128;
const MOST: usize = 3000;
/// A pause is this many times the mean distance of points.
const PAUSE: u64 = 4;

/// A packet with data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) at: Time,
    pub(crate) frame: u64,
    /// Where its data ends in the stream.
    pub(crate) end: u64,
    pub(crate) acked: u64,
    pub(crate) edge: u64,
    pub(crate) again: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Track {
    points: Vec<Point>,
    most: usize,
    /// Number of packets that make one point.
    stride: u64,
    packets: u64,
    /// What the time since the latest point was spent on.
    spent: Account,
    /// What most of it was spent on; without any, what it was before.
    most_spent: Span,
    cause: Cause,
    /// The latest packet, if it made no point.
    passed: Option<Point>,
}

impl Default for Track {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            most: FEW,
            stride: 1,
            packets: 0,
            spent: Account::default(),
            most_spent: Span(0),
            cause: Cause::Unattributed,
            passed: None,
        }
    }
}

impl Track {
    pub(super) fn charge(&mut self, charge: &RecordedCharge) {
        self.spent.add(charge.cause, charge.span);
        let most = self.spent.get(charge.cause);
        if most > self.most_spent {
            self.most_spent = most;
            self.cause = charge.cause;
        }
    }

    pub(super) fn sent(&mut self, sent: &Shown, hold: &mut Hold) {
        self.packets += 1;
        // the stride is a power of two
        let is_turn = self.packets & (self.stride - 1) == 0;
        if is_turn || sent.again || self.is_after_pause(sent.at) {
            if let Some(passed) = self.passed.take().filter(|_| !is_turn) {
                self.keep(passed, hold);
            }
            let point = self.point(sent);
            self.spent = Account::default();
            self.most_spent = Span(0);
            self.passed = None;
            self.keep(point, hold);
        } else {
            self.passed = Some(self.point(sent));
        }
    }

    /// Whether a packet comes so late after the one before that both have to be seen.
    fn is_after_pause(&self, at: Time) -> bool {
        let (Some(first), Some(passed)) = (self.points.first(), &self.passed) else {
            return false;
        };
        // the mean is the time of all by their number: it is not divided for every packet
        let (all, count) = (at - first.at, self.points.len() as u64);
        let least = (at - passed.at).0.div_ceil(PAUSE);
        least.saturating_mul(count) > all.0
    }

    fn point(&self, sent: &Shown) -> Point {
        Point {
            at: sent.at,
            frame: sent.frame,
            end: sent.end,
            acked: sent.acked,
            edge: sent.edge,
            cause: self.cause,
            again: sent.again,
        }
    }

    fn keep(&mut self, point: Point, hold: &mut Hold) {
        if self.points.len() >= self.most {
            let grown = (self.most * 2).min(MOST);
            if grown > self.most && hold.grow((grown - self.most) * size_of::<Point>()) {
                self.most = grown;
            } else {
                self.thin();
            }
        }
        self.points.push(point);
    }

    fn thin(&mut self) {
        let mut place = 0;
        let points = &self.points;
        let better: Vec<Point> = points
            .chunks(2)
            .filter_map(|pair| match pair {
                [first, second] if first.again && !second.again => Some(*first),
                pair => pair.last().copied(),
            })
            .collect();
        for point in better {
            if let Some(old) = self.points.get_mut(place) {
                *old = point;
                place += 1;
            }
        }
        self.points.truncate(place);
        self.stride = self.stride.saturating_mul(2);
    }

    /// The points up to `end`, with offsets from where the first packet's data ends.
    pub(super) fn told(self, end: Time) -> Graph {
        let mut points = self.points;
        points.extend(self.passed);
        points.retain(|point| point.at <= end);
        let base = points.iter().map(|point| point.end).min().unwrap_or(0);
        for point in &mut points {
            point.end -= base;
            point.acked = point.acked.saturating_sub(base);
            point.edge = point.edge.saturating_sub(base);
        }
        Graph {
            points,
            packets: self.packets,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::evidence::budget::MemoryBudget;

    fn track(packets: u64, at: impl Fn(u64) -> u64, again: u64) -> Graph {
        let mut hold = MemoryBudget::default().hold(0).unwrap();
        let mut track = Track::default();
        for number in 1..=packets {
            let sent = Shown {
                at: Time(at(number)),
                frame: number,
                end: number * 1000,
                acked: (number - 1) * 1000,
                edge: (number + 8) * 1000,
                again: number == again,
            };
            track.sent(&sent, &mut hold);
        }
        track.told(Time(u64::MAX))
    }

    #[test]
    fn few_packets_all_make_points() {
        let graph = track(100, |number| number, 0);
        assert_eq!((graph.points.len(), graph.packets), (100, 100));
        let first = graph.points.first().unwrap();
        assert_eq!((first.end, first.acked, first.edge), (0, 0, 8000));
    }

    #[test]
    fn of_many_packets_a_bounded_number_makes_points_from_the_first_to_the_last() {
        let graph = track(1_000_000, |number| number * 1000, 0);
        assert!((MOST / 2..=MOST + 1).contains(&graph.points.len()));
        assert_eq!(graph.points.last().unwrap().frame, 1_000_000);
        assert!(graph.points.windows(2).all(|pair| pair[0].at < pair[1].at));
    }

    #[test]
    fn what_was_sent_again_stays_when_points_are_thinned() {
        let graph = track(100_000, |number| number, 55_555);
        assert!(graph.points.iter().any(|point| point.again));
    }

    #[test]
    fn both_ends_of_a_pause_make_points_and_their_neighbours_none() {
        const LAST: u64 = 98_765;
        let late = |number| number + if number > LAST { 900_000 } else { 0 };
        let graph = track(100_000, late, 0);
        let frames: Vec<u64> = graph.points.iter().map(|point| point.frame).collect();
        let is_there = |frame| frames.contains(&frame);
        assert!(is_there(LAST) && is_there(LAST + 1), "{frames:?}");
        assert!(!is_there(LAST - 1) && !is_there(LAST + 2), "{frames:?}");
    }
}
