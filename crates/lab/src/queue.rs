//! The order in which things happen: by time, and at one time in the order in which they were asked for.

use alloc::{collections::BinaryHeap, vec::Vec};
use core::cmp::Reverse;

use coax_wire::time::Time;

/// Events to come. What was scheduled first for a moment comes first: a run is the same each time it is made.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<(Time, u64, usize)>>,
    slots: Vec<Option<E>>,
    free: Vec<usize>,
    serial: u64,
}

impl<E> EventQueue<E> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            serial: 0,
        }
    }

    /// Events that are still to come.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Events that were ever scheduled.
    pub const fn scheduled(&self) -> u64 {
        self.serial
    }

    /// The most that were ever to come at once.
    pub const fn most(&self) -> usize {
        self.slots.len()
    }

    /// Has `event` come at `at`.
    pub fn push(&mut self, at: Time, event: E) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len().saturating_sub(1)
        });
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some(event);
        }
        self.heap.push(Reverse((at, self.serial, slot)));
        self.serial = self.serial.wrapping_add(1);
    }

    /// When the next event comes.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next event and its time.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Reverse((at, _, slot)) = self.heap.pop()?;
        self.free.push(slot);
        let event = self.slots.get_mut(slot)?.take()?;
        Some((at, event))
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_scheduled_first_for_a_moment_comes_first() {
        let mut queue = EventQueue::new();
        for (at, name) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b'), (5, 'e')] {
            queue.push(Time(at), name);
        }
        let mut order = alloc::string::String::new();
        while let Some((_, name)) = queue.pop() {
            order.push(name);
            if name == 'd' {
                queue.push(Time(5), 'f');
            }
        }
        assert_eq!(order, "abcdef");
        assert_eq!(queue.scheduled(), 6);
    }

    #[test]
    fn the_queue_keeps_no_more_slots_than_were_ever_waiting_at_once() {
        let mut queue = EventQueue::new();
        for round in 0..1000_u64 {
            queue.push(Time(round), round);
            queue.push(Time(round), round);
            queue.pop();
            queue.pop();
        }
        assert!(queue.is_empty());
        assert_eq!(queue.most(), 2);
    }
}
