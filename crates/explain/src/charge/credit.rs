//! How late packets came, and why.

use crate::constants::MAX_JITTER;
use crate::timeline::{Advance, Delays, least_delay};
use coax_cause::Cause;
use coax_wire::time::Span;

/// Lateness that was seen and not charged yet is kept for this number of the latest packets.
const KEPT: u64 = 4;

/// How late packets of one side came, as far as nothing was taken for the way there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Credit {
    left: u64,
    most: u64,
}

impl Credit {
    /// A packet came late by `late`.
    pub(super) fn add(&mut self, late: Span) {
        self.most = self.most.max(late.0);
        let most = self.most.saturating_mul(KEPT);
        self.left = self.left.saturating_add(late.0).min(most);
    }

    /// How much of a wait may have been the way there.
    pub(super) fn take(&mut self, wait: Span) -> Span {
        let taken = wait.0.min(self.left).min(self.most);
        self.left -= taken;
        Span(taken)
    }
}

/// Why packets were late by `late` on a path with such `delays`; `otherwise`, if it varies or that is unknown.
pub(super) fn late_cause(advance: &Advance, delays: Delays, late: Span, otherwise: Cause) -> Cause {
    let round = advance.round();
    match delays {
        _ if advance.is_shared => Cause::Queueing,
        Delays::Queue if late > least_delay(Span(round.0 / 2)) => Cause::Queueing,
        // a busy machine sends nothing for some milliseconds too
        Delays::Standstill if late > MAX_JITTER.max(round) => Cause::Bandwidth,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_there_is_late_no_more_than_the_way_back_was() {
        let mut credit = Credit::default();
        assert_eq!(credit.take(Span(50)), Span(0));
        credit.add(Span(20));
        credit.add(Span(10));
        // not longer than the latest packet, and not more than all of them together
        assert_eq!(credit.take(Span(50)), Span(20));
        assert_eq!(credit.take(Span(50)), Span(10));
        assert_eq!(credit.take(Span(50)), Span(0));
        (0..100).for_each(|_| credit.add(Span(20)));
        assert_eq!((0..100).map(|_| credit.take(Span(50)).0).sum::<u64>(), 80);
    }
}
