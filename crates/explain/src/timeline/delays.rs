//! Why packets take longer than the shortest time of the path, where no packet of the capture explains it.
//!
//! A queue of other packets has a memory: what leaves while it stands meets what is left of it. So the waits of packets that
//! follow each other, each after the one before has arrived, are correlated. Those of a path that varies by itself (radio
//! links, changes of route) are not, and neither are those of a path that stands still now and then: most packets do not
//! wait on it, and a few wait for long.

use crate::constants::{MIN_DELAY, MIN_MEMORY, MIN_MEMORY_ERRORS, MIN_WAITS};
use coax_wire::time::Span;

/// What makes packets late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delays {
    /// Too few packets show it.
    #[default]
    Unknown,
    /// The path carries other packets first.
    Queue,
    /// It carries nothing for some time.
    Standstill,
    /// It varies.
    Varies,
}

/// A wait that counts, of a path whose shortest time one way is `base`.
pub(crate) fn least_delay(base: Span) -> Span {
    MIN_DELAY.max(Span(base.0 / 4))
}

/// The waits of packets that left when nothing of their direction was on its way: no packet of their own was before them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DelayPattern {
    waits: u32,
    late: u32,
    last: Option<f64>,
    /// Of pairs of a wait and the next: how many, and the sums of both, of their squares and of their product, milliseconds.
    pairs: u32,
    sums: [f64; 5],
    /// What an earlier pass has seen.
    known: Delays,
}

impl DelayPattern {
    /// A packet waited, and counts as late if that is more than `least`.
    pub(crate) fn add(&mut self, wait: Span, least: Span) {
        self.waits = self.waits.saturating_add(1);
        self.late = self.late.saturating_add(u32::from(wait > least));
        let next = wait.0 as f64 / 1e6;
        if let Some(one) = self.last.replace(next) {
            self.pairs = self.pairs.saturating_add(1);
            let terms = [one, next, one * one, next * next, one * next];
            for (sum, term) in self.sums.iter_mut().zip(terms) {
                *sum += term;
            }
        }
    }

    /// What makes the packets late.
    pub(crate) fn delays(&self) -> Delays {
        if self.waits < MIN_WAITS {
            return self.known;
        }
        let least_memory = MIN_MEMORY.max(MIN_MEMORY_ERRORS / f64::from(self.waits).sqrt());
        if self.memory() >= least_memory {
            Delays::Queue
        } else if self.late.saturating_mul(2) > self.waits {
            Delays::Varies
        } else {
            Delays::Standstill
        }
    }

    /// Takes what another pass has seen, until there is enough of this one.
    pub(crate) fn calibrate(&mut self, by: &Self) {
        self.known = by.delays();
    }

    /// The correlation of each wait and the next.
    fn memory(&self) -> f64 {
        let count = f64::from(self.pairs.max(1));
        let [one, next, one_squared, next_squared, product] = self.sums.map(|sum| sum / count);
        let variances = (one_squared - one * one) * (next_squared - next * next);
        // a millionth of a square millisecond: no wait varies
        (product - one * next) / variances.max(1e-12).sqrt().max(1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(waits_ms: impl IntoIterator<Item = u64>) -> Delays {
        let mut pattern = DelayPattern::default();
        for wait in waits_ms {
            pattern.add(Span::from_millis(wait), Span::from_millis(1));
        }
        pattern.delays()
    }

    #[test]
    fn waits_that_resemble_the_one_before_are_a_queue() {
        // a queue that fills for ten packets and drains for ten
        let queue = (0..100_u64).map(|at| 10 - (at % 20).abs_diff(10));
        assert_eq!(judged(queue), Delays::Queue);
    }

    #[test]
    fn waits_that_do_not_are_a_path_that_varies() {
        assert_eq!(judged((0..100).map(|at| at * 7919 % 31)), Delays::Varies);
    }

    #[test]
    fn a_few_long_waits_among_many_short_ones_are_a_path_that_stands_still() {
        let stands = (0..100).map(|at| if at % 25 == 7 { 200 } else { 0 });
        assert_eq!(judged(stands), Delays::Standstill);
    }

    #[test]
    fn few_waits_show_nothing_unless_an_earlier_pass_has_seen_more() {
        assert_eq!(judged([1, 2, 3]), Delays::Unknown);
        let mut earlier = DelayPattern::default();
        (0..100).for_each(|at| earlier.add(Span(at * 7919 % 31 * 1_000_000), Span(1)));
        let mut pattern = DelayPattern::default();
        pattern.calibrate(&earlier);
        assert_eq!(pattern.delays(), Delays::Varies);
    }
}
