//! A network card as its driver meets it: rings of so many frames.

use alloc::collections::VecDeque;

use coax_wire::time::{Span, Time};
use serde::Deserialize;

use super::Fate;
use crate::units::span;

/// What a driver does with a frame for which the card has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TxFull {
    /// It waits for room.
    #[default]
    Block,
    /// It drops the frame and tells nobody (KB Q244826).
    Drop,
}

/// A card and its driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NicParams {
    /// Frames that may wait to leave, the one that is leaving included; 0: no limit.
    pub tx_ring: usize,
    /// What happens to one more.
    pub tx_full: TxFull,
    /// The driver waits until each frame has left before it does anything else: cards with one buffer to send from.
    pub tx_wait: bool,
    /// Frames that may wait to be looked at after they arrived; 0: no limit. One more is dropped.
    pub rx_ring: usize,
    /// CPU time for each interrupt, that is, for each frame that arrives.
    #[serde(deserialize_with = "span")]
    pub interrupt: Span,
    /// Arrived frames are looked at only this often; 0: at once.
    #[serde(deserialize_with = "span")]
    pub poll: Span,
}

/// Frames that leave one after the other at moments known beforehand.
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

    /// What happens to one more frame at `now`, if there is no room.
    pub(super) fn refuses(&mut self, now: Time) -> Option<Fate> {
        self.drain(now);
        let until = self.frames.front()?.0;
        match self.full {
            _ if self.limit == 0 || self.frames.len() < self.limit => None,
            TxFull::Drop => Some(Fate::RingDropped),
            TxFull::Block => Some(Fate::RingBlocked { until }),
        }
    }

    /// Holds a frame that will have left at `until`.
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
