//! The time in which at least one copy is under way.

use coax_wire::time::{Span, Time};

/// Copies' times that are looked at together.
const MOST: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Union {
    /// In order and disjoint; a copy that is still open may join some.
    late: Vec<(Time, Time)>,
    /// The sum of those that nothing can join any more.
    sum: Span,
}

impl Union {
    /// A copy went on from `begin` to `end`; one that ends later began at `oldest` or after that, if there is any.
    pub(super) fn add(&mut self, begin: Time, end: Time, oldest: impl FnOnce() -> Option<Time>) {
        let end = end.max(begin);
        let first = self.late.partition_point(|(_, to)| *to < begin);
        let past = self.late.partition_point(|(from, _)| *from <= end);
        let inside = self.late.get(first..past).unwrap_or_default();
        let from = inside.first().map_or(begin, |(from, _)| begin.min(*from));
        let to = inside.last().map_or(end, |(_, to)| end.max(*to));
        self.late.splice(first..past.max(first), [(from, to)]);
        if self.late.len() >= MOST {
            let oldest = oldest();
            let done = self
                .late
                .partition_point(|(_, to)| oldest.is_none_or(|oldest| *to < oldest));
            // of too many that an old one may join, the first count as they are
            let done = done.max(self.late.len().saturating_sub(MOST * 8));
            let spans = self.late.drain(..done).map(|(from, to)| (to - from).0);
            self.sum = Span(spans.fold(self.sum.0, u64::saturating_add));
        }
    }

    /// How long that is.
    pub(super) fn total(&self) -> Span {
        let spans = self.late.iter().map(|(from, to)| (*to - *from).0);
        Span(spans.fold(self.sum.0, u64::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once_however_many_there_are() {
        let mut union = Union::default();
        for number in 0..10_000 {
            let begin = number * 100;
            union.add(Time(begin), Time(begin + 10), || Some(Time(begin + 5)));
            union.add(Time(begin + 5), Time(begin + 20), || None);
        }
        assert_eq!(union.total(), Span(10_000 * 20));
    }

    #[test]
    fn a_long_one_that_ends_after_short_ones_joins_them() {
        let mut union = Union::default();
        for number in 1..200 {
            let begin = number * 100;
            union.add(Time(begin), Time(begin + 10), || Some(Time(0)));
        }
        union.add(Time(0), Time(50_000), || None);
        assert_eq!(union.total(), Span(50_000));
    }
}
