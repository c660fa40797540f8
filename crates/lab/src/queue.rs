//! The event queue: sorted by time, then by the order of scheduling.

use alloc::{collections::BinaryHeap, vec::Vec};
use core::cmp::Reverse;

use coax_wire::time::Time;

/// Pending events. Events of equal time are returned in the order of scheduling, so that runs are reproducible.
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

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Total number of scheduled events.
    pub const fn scheduled(&self) -> u64 {
        self.serial
    }

    /// Maximum number of pending events so far.
    pub const fn most(&self) -> usize {
        self.slots.len()
    }

    /// Schedules `event` at `at`.
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

    /// Time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Removes and returns the next event and its time.
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
