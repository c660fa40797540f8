//! Disjoint ranges of sequence numbers: the work of a call grows with the ranges that it changes, not with all of them.

use alloc::collections::BTreeMap;

/// Ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// The end of each range by its start.
    ends: BTreeMap<u64, u64>,
    /// The place of the last [`Ranges::bytes_below`] and its result, which insertions and removals correct.
    counted: (u64, u64),
}

impl Ranges {
    /// The ranges in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ends.iter().map(|(start, end)| (*start, *end))
    }

    /// The end of the last range.
    pub(super) fn highest(&self) -> Option<u64> {
        self.ends.last_key_value().map(|(_, end)| *end)
    }

    /// The range that contains `at`.
    pub(super) fn around(&self, at: u64) -> Option<(u64, u64)> {
        let (start, end) = self.ends.range(..=at).next_back()?;
        (*end > at).then_some((*start, *end))
    }

    /// The first range that ends above `at`.
    pub(super) fn first_above(&self, at: u64) -> Option<(u64, u64)> {
        let next = || self.ends.range(at..).next();
        self.around(at)
            .or_else(|| next().map(|(start, end)| (*start, *end)))
    }

    /// Number of bytes in ranges below `at`. It walks over the ranges between `at` and the place of the call before.
    pub(super) fn bytes_below(&mut self, at: u64) -> u64 {
        let (place, bytes) = self.counted;
        let bytes = if at >= place {
            bytes.saturating_add(self.bytes_between(place, at))
        } else {
            bytes.saturating_sub(self.bytes_between(at, place))
        };
        self.counted = (at, bytes);
        bytes
    }

    /// Adds a range and joins it with those that it overlaps or touches. An empty range changes nothing.
    pub(super) fn insert(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (mut from, mut to) = (from, to);
        while let Some((start, end)) = self.last_up_to(to).filter(|(_, end)| *end >= from) {
            if start <= from && end >= to {
                return;
            }
            self.remove(start, end);
            (from, to) = (from.min(start), to.max(end));
        }
        self.add(from, to);
    }

    /// Removes the range that contains `at`, and returns it.
    pub(super) fn take_around(&mut self, at: u64) -> Option<(u64, u64)> {
        let (start, end) = self.around(at)?;
        self.remove(start, end);
        Some((start, end))
    }

    /// Removes what lies below `at`.
    pub(super) fn remove_below(&mut self, at: u64) {
        while let Some((start, end)) = self.first().filter(|(start, _)| *start < at) {
            self.remove(start, end);
            if end > at {
                self.add(at, end);
            }
        }
    }

    /// Removes all ranges.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn first(&self) -> Option<(u64, u64)> {
        let (start, end) = self.ends.first_key_value()?;
        Some((*start, *end))
    }

    /// The last range that starts at `at` or below.
    fn last_up_to(&self, at: u64) -> Option<(u64, u64)> {
        let (start, end) = self.ends.range(..=at).next_back()?;
        Some((*start, *end))
    }

    fn bytes_between(&self, from: u64, to: u64) -> u64 {
        let cut = self.around(from).filter(|(start, _)| *start < from);
        let whole = self.ends.range(from..to.max(from));
        cut.into_iter()
            .chain(whole.map(|(start, end)| (*start, *end)))
            .map(|(start, end)| end.min(to).saturating_sub(start.max(from)))
            .sum()
    }

    fn add(&mut self, start: u64, end: u64) {
        self.ends.insert(start, end);
        let (place, bytes) = &mut self.counted;
        *bytes = bytes.saturating_add(end.min(*place).saturating_sub(start));
    }

    fn remove(&mut self, start: u64, end: u64) {
        self.ends.remove(&start);
        let (place, bytes) = &mut self.counted;
        *bytes = bytes.saturating_sub(end.min(*place).saturating_sub(start));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Joins overlapping and touching ranges of an unsorted list.
    pub(in crate::tcp) fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        ranges.sort_unstable();
        ranges.dedup_by(|later, kept| {
            let joins = later.0 <= kept.1;
            if joins {
                kept.1 = kept.1.max(later.1);
            }
            joins
        });
        ranges
    }

    /// Number of bytes below `at`, counted over all ranges.
    pub(in crate::tcp) fn bytes_below(ranges: &[(u64, u64)], at: u64) -> u64 {
        let below = ranges
            .iter()
            .map(|(from, to)| to.min(&at).saturating_sub(*from));
        below.sum()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u64, u64),
        RemoveBelow(u64),
        TakeAround(u64),
        Count(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0_u64..300, 0_u64..20).prop_map(|(from, len)| Step::Insert(from, from + len)),
            1 => (0_u64..320).prop_map(Step::RemoveBelow),
            1 => (0_u64..320).prop_map(Step::TakeAround),
            2 => (0_u64..320).prop_map(Step::Count),
        ]
    }

    fn apply(step: &Step, ranges: &mut Ranges, plain: &mut Vec<(u64, u64)>) {
        match *step {
            Step::Insert(from, to) => {
                ranges.insert(from, to);
                plain.extend((from < to).then_some((from, to)));
                *plain = joined(core::mem::take(plain));
            }
            Step::RemoveBelow(at) => {
                ranges.remove_below(at);
                plain.retain(|(_, to)| *to > at);
                plain.iter_mut().for_each(|(from, _)| *from = at.max(*from));
            }
            Step::TakeAround(at) => {
                let found = plain
                    .iter()
                    .position(|(from, to)| (*from..*to).contains(&at));
                let taken = found.map(|place| plain.remove(place));
                assert_eq!(ranges.take_around(at), taken);
            }
            Step::Count(at) => assert_eq!(ranges.bytes_below(at), bytes_below(plain, at)),
        }
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_a_list_that_is_sorted_and_joined_after_each_step(
            steps in proptest::collection::vec(step(), 0..60),
            at in 0_u64..330,
        ) {
            let (mut ranges, mut plain) = (Ranges::default(), Vec::new());
            for step in &steps {
                apply(step, &mut ranges, &mut plain);
                prop_assert_eq!(&ranges.iter().collect::<Vec<_>>(), &plain);
            }
            prop_assert_eq!(ranges.highest(), plain.last().map(|(_, to)| *to));
            let above = plain.iter().find(|(_, to)| *to > at).copied();
            prop_assert_eq!(ranges.first_above(at), above);
            prop_assert_eq!(ranges.around(at), above.filter(|(from, _)| *from <= at));
            prop_assert_eq!(ranges.bytes_below(at), bytes_below(&plain, at));
        }
    }
}
