//! The rings of a network card.

use alloc::collections::VecDeque;

use coax_wire::time::Time;

use super::fate::Fate;

pub use coax_catalog::card::{NicParams, TxFull};

/// A ring of frames with known departure times.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    frames: VecDeque<(Time, u64)>,
    bytes: u64,
    limit: usize,
    full: TxFull,
}

impl Ring {
    pub(super) const fn new(limit: usize, full: TxFull) -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            limit,
            full,
        }
    }

    /// The result of one more frame at `now` if the ring is full.
    pub(super) fn refuses(&mut self, now: Time) -> Option<Fate> {
        self.drain(now);
        let until = self.frames.front()?.0;
        match self.full {
            _ if self.limit == 0 || self.frames.len() < self.limit => None,
            TxFull::Drop => Some(Fate::RingDropped),
            TxFull::Block => Some(Fate::RingBlocked { until }),
        }
    }

    /// Adds a frame that leaves at `until`.
    pub(super) fn take(&mut self, until: Time, bytes: u64) {
        self.frames.push_back((until, bytes));
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(super) fn bytes_waiting(&mut self, now: Time) -> u64 {
        self.drain(now);
        self.bytes
    }

    fn drain(&mut self, now: Time) {
        while let Some((until, bytes)) = self.frames.front().copied() {
            if until > now {
                return;
            }
            self.bytes = self.bytes.saturating_sub(bytes);
            self.frames.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_drops_or_waits_until_its_oldest_frame_has_left() {
        for (full, drops) in [(TxFull::Drop, true), (TxFull::Block, false)] {
            let mut ring = Ring::new(2, full);
            assert!(ring.refuses(Time(0)).is_none());
            ring.take(Time(10), 100);
            ring.take(Time(20), 100);
            match ring.refuses(Time(9)) {
                Some(Fate::RingDropped) => assert!(drops),
                Some(Fate::RingBlocked { until }) => assert!(!drops && until == Time(10)),
                other => unreachable!("{other:?}"),
            }
            assert!(ring.refuses(Time(10)).is_none());
            assert_eq!(ring.bytes_waiting(Time(10)), 100);
        }
    }
}
