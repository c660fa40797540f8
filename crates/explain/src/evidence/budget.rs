//! The memory that all evidence of an analysis shares, and which copies deserve the most of it.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use coax_wire::time::Span;

/// Bytes for recorders and for what the longest copies leave.
const BYTES: usize = 20 << 20;
/// The longest copies keep their graphs and ladders.
const DETAILED: usize = 12;
/// So many keep several frames a cause and their worst stalls; others one frame a cause.
const LISTED: usize = 1000;
/// When this number of places has detail, those that are no longer among the longest lose theirs.
const PRUNE_AT: usize = 2 * DETAILED;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryBudget(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    taken: AtomicUsize,
    longest: Mutex<[Longest; 2]>,
}

/// The longest walls so far.
#[derive(Debug, Default)]
struct Longest(BinaryHeap<Reverse<u64>>);

impl Longest {
    /// Whether this is one of the longest `most`: of equals, the first are.
    fn add(&mut self, wall: u64, most: usize) -> bool {
        let is_full = self.0.len() >= most;
        if is_full && wall <= self.least() {
            return false;
        }
        if is_full {
            self.0.pop();
        }
        self.0.push(Reverse(wall));
        true
    }

    fn least(&self) -> u64 {
        self.0.peek().map_or(0, |least| least.0)
    }
}

/// How much of its evidence a copy keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Light,
    Listed,
    Detailed,
}

impl MemoryBudget {
    /// One in which nothing has a place.
    pub(crate) fn none() -> Self {
        let room = Self::default();
        room.0.taken.store(BYTES, Ordering::Relaxed);
        room
    }

    /// A part of it, if there is as much left.
    pub(super) fn hold(&self, bytes: usize) -> Option<Hold> {
        let mut hold = Hold {
            room: self.clone(),
            bytes: 0,
        };
        hold.grow(bytes).then_some(hold)
    }

    /// What a copy that took so long deserves, going by those before it.
    pub(super) fn rank(&self, wall: Span) -> Rank {
        let mut longest = self
            .0
            .longest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let [detailed, listed] = &mut *longest;
        let is_detailed = detailed.add(wall.0, DETAILED);
        let is_listed = listed.add(wall.0, LISTED);
        match (is_detailed, is_listed) {
            (true, _) => Rank::Detailed,
            (false, true) => Rank::Listed,
            (false, false) => Rank::Light,
        }
    }

    /// Whether the number of places with detail has reached the limit.
    pub(crate) fn is_due(places: &[usize]) -> bool {
        places.len() >= PRUNE_AT
    }

    /// A copy shorter than this is not among the longest.
    pub(super) fn least_detailed(&self) -> u64 {
        let longest = self
            .0
            .longest
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let [detailed, _] = &*longest;
        detailed.least()
    }
}

/// A part of a [`MemoryBudget`], given back when it is dropped. A clone holds nothing.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    room: MemoryBudget,
    bytes: usize,
}

impl Hold {
    /// Takes more, if there is as much left.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let taken = &self.room.0.taken;
        if taken.load(Ordering::Relaxed).saturating_add(bytes) > BYTES {
            return false;
        }
        taken.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        true
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.room.0.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Clone for Hold {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_given_back() {
        let room = MemoryBudget::default();
        let hold = room.hold(BYTES - 10);
        assert!(hold.is_some());
        assert!(room.hold(11).is_none());
        drop(hold);
        assert!(room.hold(11).is_some());
    }

    #[test]
    fn only_the_longest_are_detailed() {
        let room = MemoryBudget::default();
        for wall in 1000..1000 + DETAILED as u64 {
            assert_eq!(room.rank(Span(wall)), Rank::Detailed);
        }
        assert_eq!(room.rank(Span(999)), Rank::Listed);
        assert_eq!(room.rank(Span(2000)), Rank::Detailed);
        assert_eq!(room.rank(Span(1000)), Rank::Listed);
    }
}
