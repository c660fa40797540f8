//! Which bytes of a file were moved.

/// Ranges kept apart; more are joined with their neighbours, and what lies between them counted as moved.
const MOST: usize = 1024;

/// Ranges of a file, in order and disjoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    list: Vec<(u64, u64)>,
    moved: u64,
}

impl Ranges {
    /// `len` bytes at `offset` were moved.
    pub(crate) fn add(&mut self, offset: u64, len: u64) {
        if len == 0 {
            return;
        }
        self.moved = self.moved.saturating_add(len);
        let end = offset.saturating_add(len);
        if let Some(last) = self
            .list
            .last_mut()
            .filter(|last| offset <= last.1 && offset >= last.0)
        {
            last.1 = last.1.max(end);
            return;
        }
        let first = self.list.partition_point(|range| range.1 < offset);
        let past = self.list.partition_point(|range| range.0 <= end);
        let inside = self.list.get(first..past).unwrap_or_default();
        let from = inside.first().map_or(offset, |range| range.0.min(offset));
        let to = inside.last().map_or(end, |range| range.1.max(end));
        self.list.splice(first..past.max(first), [(from, to)]);
        if self.list.len() > MOST {
            self.join_nearest();
        }
    }

    fn join_nearest(&mut self) {
        let distances = self.list.windows(2).map(|pair| match pair {
            [before, after] => after.0 - before.1,
            _ => u64::MAX,
        });
        let nearest = distances.enumerate().min_by_key(|(_, distance)| *distance);
        let Some((place, _)) = nearest else {
            return;
        };
        let (_, to) = self.list.remove(place + 1);
        if let Some(range) = self.list.get_mut(place) {
            range.1 = to;
        }
    }

    /// Where the last range ends.
    pub(crate) fn end(&self) -> u64 {
        self.list.last().map_or(0, |(_, to)| *to)
    }

    /// Bytes, each counted once.
    pub(crate) fn covered(&self) -> u64 {
        self.list.iter().map(|(from, to)| to - from).sum()
    }

    /// Bytes, counted as often as they were moved.
    pub(crate) const fn moved(&self) -> u64 {
        self.moved
    }

    /// What lies between: how many ranges, and their bytes.
    pub(crate) fn holes(&self) -> (u64, u64) {
        let (Some(first), Some(last)) = (self.list.first(), self.list.last()) else {
            return (0, 0);
        };
        let holes = self.list.len().saturating_sub(1) as u64;
        (holes, last.1 - first.0 - self.covered())
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn ranges(list: &[(u64, u64)]) -> Ranges {
        let mut ranges = Ranges::default();
        list.iter()
            .for_each(|(offset, len)| ranges.add(*offset, *len));
        ranges
    }

    #[test]
    fn what_is_moved_in_order_is_one_range() {
        let ranges = ranges(&[(0, 10), (10, 10), (20, 5)]);
        assert_eq!((ranges.covered(), ranges.holes()), (25, (0, 0)));
    }

    #[test]
    fn what_lies_within_adds_nothing_but_that_it_was_moved() {
        let ranges = ranges(&[(0, 10), (4, 6), (2, 3)]);
        assert_eq!((ranges.covered(), ranges.moved()), (10, 19));
        assert_eq!((ranges.end(), ranges.holes()), (10, (0, 0)));
    }

    #[test]
    fn holes_lie_between_and_close_again() {
        let mut ranges = ranges(&[(0, 10), (20, 10), (40, 10)]);
        assert_eq!(ranges.holes(), (2, 20));
        ranges.add(5, 20);
        assert_eq!(
            (ranges.holes(), ranges.covered(), ranges.moved()),
            ((1, 10), 40, 50)
        );
        ranges.add(0, 50);
        assert_eq!((ranges.holes(), ranges.covered()), ((0, 0), 50));
    }

    #[test]
    fn however_scattered_the_list_stays_short() {
        let mut ranges = Ranges::default();
        (0..10_000_u64).for_each(|i| ranges.add(i * 7919 % 100_000 * 10, 5));
        assert!(ranges.list.len() <= MOST + 1);
        assert!(ranges.list.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
}
