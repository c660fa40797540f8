//! The longest waits, with the packets before and after each.

use coax_cause::Cause;
use coax_wire::time::Time;

use super::{charge::RecordedCharge, excerpts::Rungs};
use crate::report::{PacketExcerpt, PacketRow, Spot, Stall};

/// Waits that are reported of a copy.
pub(super) const MOST: usize = 5;
/// Packets shown before and after one.
const BEFORE: usize = 6;
const AFTER: usize = 4;

#[derive(Clone, Debug)]
struct Kept {
    stall: Stall,
    /// Packets that are still to come.
    wanted: usize,
}

/// The longest, the longest first.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    kept: Vec<Kept>,
    /// Whether any waits for packets.
    open: bool,
}

impl Stalls {
    /// A wait ended, and the packet that ended it is the next to come.
    pub(super) fn add(&mut self, charge: &RecordedCharge, rungs: &Rungs) {
        let is_long = self.kept.len() < MOST
            || self
                .kept
                .last()
                .is_some_and(|last| last.stall.spot.span < charge.span);
        if !is_long || charge.cause == Cause::Bandwidth {
            return;
        }
        let stall = Stall {
            cause: charge.cause,
            spot: spot(charge),
            ladder: PacketExcerpt {
                rungs: rungs.latest(BEFORE),
                gap: None,
            },
        };
        self.insert(Kept {
            stall,
            wanted: AFTER,
        });
        self.open = true;
    }

    fn insert(&mut self, kept: Kept) {
        let span = kept.stall.spot.span;
        let place = self
            .kept
            .partition_point(|other| other.stall.spot.span >= span);
        self.kept.insert(place, kept);
        self.kept.truncate(MOST);
    }

    /// A packet after the wait.
    pub(super) fn rung(&mut self, rung: &PacketRow) {
        if !self.open {
            return;
        }
        self.open = false;
        for kept in self.kept.iter_mut().filter(|kept| kept.wanted > 0) {
            let rungs = &mut kept.stall.ladder.rungs;
            if rungs.last().is_none_or(|last| last.frame < rung.frame) {
                rungs.push(*rung);
                kept.wanted -= 1;
            }
            self.open |= kept.wanted > 0;
        }
    }

    /// Takes over what another has.
    pub(super) fn merge(&mut self, other: &mut Self) {
        self.open |= other.open;
        other.open = false;
        other.kept.drain(..).for_each(|kept| self.insert(kept));
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Those that began before `end`.
    pub(super) fn told(self, end: Time) -> Vec<Stall> {
        let stalls = self.kept.into_iter().map(|kept| kept.stall);
        stalls.filter(|stall| stall.spot.at < end).collect()
    }
}

/// Where a charge is.
pub(super) fn spot(charge: &RecordedCharge) -> Spot {
    Spot {
        frame: charge.frame,
        at: charge.from,
        span: charge.span,
    }
}

#[cfg(test)]
mod tests {
    use coax_wire::time::Span;

    use super::*;
    use crate::report::Direction;

    #[test]
    fn however_long_data_was_carried_that_is_no_wait() {
        let charge = |cause, span| RecordedCharge {
            cause,
            from: Time(0),
            span: Span(span),
            frame: 1,
            to: Direction::ToClient,
        };
        let mut stalls = Stalls::default();
        stalls.add(&charge(Cause::Bandwidth, 9), &Rungs::default());
        assert!(stalls.is_empty());
        for span in [1, 3, 2] {
            stalls.add(&charge(Cause::Timeout, span), &Rungs::default());
        }
        let told = stalls.told(Time(1));
        let spans: Vec<u64> = told.iter().map(|stall| stall.spot.span.0).collect();
        assert_eq!(spans, [3, 2, 1]);
    }
}
