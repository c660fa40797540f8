//! Finding places in a queue that is in order. What is asked for goes on with time, so it lies near what was found last.

use crate::latest::Latest;
use std::{cell::Cell, collections::VecDeque};

/// Steps from there before it is looked for in all of the queue.
const NEAR: usize = 4;

/// A queue in which things have places from the oldest on.
pub(super) trait Queue<T> {
    /// What is there.
    fn at(&self, place: usize) -> Option<&T>;
    /// How many come before the first of which `is_before` does not hold.
    fn search(&self, is_before: impl Fn(&T) -> bool) -> usize;
}

impl<T> Queue<T> for VecDeque<T> {
    #[inline]
    fn at(&self, place: usize) -> Option<&T> {
        self.get(place)
    }

    fn search(&self, is_before: impl Fn(&T) -> bool) -> usize {
        self.partition_point(is_before)
    }
}

impl<T, const MOST: usize> Queue<T> for Latest<T, MOST> {
    #[inline]
    fn at(&self, place: usize) -> Option<&T> {
        self.get(place)
    }

    fn search(&self, is_before: impl Fn(&T) -> bool) -> usize {
        self.partition_point(is_before)
    }
}

/// Where the last search ended.
#[derive(Debug, Default)]
pub(super) struct SearchHint(Cell<usize>);

impl SearchHint {
    /// How many of `queue` come before the first of which `is_before` does not hold.
    #[inline]
    pub(super) fn find<T>(&self, queue: &impl Queue<T>, is_before: impl Fn(&T) -> bool) -> usize {
        let holds = |place: usize| queue.at(place).is_some_and(&is_before);
        let mut place = self.0.get();
        for _ in 0..NEAR {
            if place > 0 && !holds(place - 1) {
                place -= 1;
            } else if holds(place) {
                place += 1;
            } else {
                self.0.set(place);
                return place;
            }
        }
        let place = queue.search(is_before);
        self.0.set(place);
        place
    }

    /// The queue's first was taken off.
    pub(super) fn shift(&mut self) {
        *self.0.get_mut() = self.0.get().saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_a_search_of_all_finds_wherever_it_was() {
        let mut queue: VecDeque<usize> = (0..100).map(|number| number * 3).collect();
        let mut search_hint = SearchHint::default();
        for turn in 0..400 {
            let wanted = turn * 37 % 320;
            let found = search_hint.find(&queue, |number| *number <= wanted);
            assert_eq!(found, queue.partition_point(|number| *number <= wanted));
            if turn % 5 == 0 {
                queue.pop_front();
                search_hint.shift();
            }
        }
        assert!(queue.len() < 30);
    }
}
