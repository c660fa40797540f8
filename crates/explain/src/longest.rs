//! A list of limited length that keeps the longest.

use std::{cmp::Reverse, collections::BinaryHeap};

use coax_wire::time::Span;

/// Up to `MOST` entries. When it is full, the shortest makes room for a longer one.
#[derive(Debug)]
pub(crate) struct Longest<T, const MOST: usize> {
    entries: Vec<T>,
    /// Lengths and places, the shortest first.
    shortest: BinaryHeap<Reverse<(Span, usize)>>,
}

impl<T, const MOST: usize> Default for Longest<T, MOST> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            shortest: BinaryHeap::new(),
        }
    }
}

impl<T, const MOST: usize> Longest<T, MOST> {
    /// Adds `entry`. Returns its place, if it has one, and the entry that is left out, if one is.
    pub(crate) fn add(&mut self, entry: T, length: Span) -> (Option<usize>, Option<T>) {
        if self.entries.len() < MOST {
            let place = self.entries.len();
            self.shortest.push(Reverse((length, place)));
            self.entries.push(entry);
            return (Some(place), None);
        }
        let Some(mut top) = self.shortest.peek_mut() else {
            return (None, Some(entry));
        };
        let Reverse((shortest, place)) = *top;
        let Some(old) = self.entries.get_mut(place).filter(|_| shortest < length) else {
            return (None, Some(entry));
        };
        *top = Reverse((length, place));
        (Some(place), Some(std::mem::replace(old, entry)))
    }

    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.entries.get(place)
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.entries.get_mut(place)
    }

    /// All entries, in no particular order once some were left out.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.shortest.clear();
        std::mem::take(&mut self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_makes_room_for_a_longer_one() {
        let mut list: Longest<&str, 2> = Longest::default();
        assert_eq!(list.add("3", Span(3)), (Some(0), None));
        assert_eq!(list.add("1", Span(1)), (Some(1), None));
        assert_eq!(list.add("1 again", Span(1)), (None, Some("1 again")));
        assert_eq!(list.add("2", Span(2)), (Some(1), Some("1")));
        assert_eq!(list.add("4", Span(4)), (Some(1), Some("2")));
        assert_eq!(list.add("5", Span(5)), (Some(0), Some("3")));
        assert_eq!((list.get(0), list.get(2)), (Some(&"5"), None));
        assert_eq!(list.take(), ["5", "4"]);
    }
}
