//! Numbered frames of one station: which are new, which come again, and what was acknowledged.

use std::collections::VecDeque;

/// Frames remembered. No window is longer than 127 frames (LLC), and those of NBIPX are shorter.
const MOST: usize = 256;

/// A frame that was seen in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    /// Its number, counted on without wrapping.
    pub(super) number: u64,
    /// The session whose data it has.
    pub(super) session: u32,
    /// Where in that session's stream the data begins, and how much it is.
    pub(super) start: u64,
    pub(super) len: u32,
}

/// What a frame is by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The next one. `fills`: it was sent before; it was lost then, or came behind one that was, and was discarded.
    Next { number: u64, fills: bool },
    /// It was seen before; `None`: too long ago.
    Again(Option<Numbered>),
    /// One before it is missing: receivers discard it.
    Early,
}

/// What an acknowledgment says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acked {
    /// All before this number are acknowledged.
    pub(super) until: u64,
    /// Whether that is new.
    pub(super) is_new: bool,
    /// Acknowledged frames that the capture lacks.
    pub(super) missing: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Numbers {
    modulus: u64,
    /// The next in order, if any was seen.
    next: Option<u64>,
    /// One past the highest seen.
    seen: u64,
    acked: u64,
    frames: VecDeque<Numbered>,
    /// The most frames that were not acknowledged.
    pub(super) most_unacknowledged: u64,
    /// Frames that were sent again.
    pub(super) again: u64,
}

impl Numbers {
    /// Numbers are counted modulo `modulus`, a power of two.
    pub(super) fn new(modulus: u64) -> Self {
        Self {
            modulus,
            next: None,
            seen: 0,
            acked: 0,
            frames: VecDeque::new(),
            most_unacknowledged: 0,
            again: 0,
        }
    }

    /// The next frame has this number.
    pub(super) fn begin(&mut self, first: u64) {
        // so far from 0 that a number before it is none below 0
        let first = self.modulus.saturating_mul(2).saturating_add(first);
        self.next = Some(first);
        (self.seen, self.acked) = (first, first);
        self.frames.clear();
    }

    /// Whether a frame is not acknowledged.
    pub(super) fn has_unacknowledged(&self) -> bool {
        self.seen > self.acked
    }

    /// A frame with this number came.
    pub(super) fn place(&mut self, raw: u64) -> Place {
        if self.next.is_none() {
            self.begin(raw);
        }
        let next = self.next.unwrap_or_default();
        let ahead = raw.wrapping_sub(next) & (self.modulus - 1);
        if ahead > self.modulus / 2 {
            self.again += 1;
            let number = next.saturating_add(ahead).saturating_sub(self.modulus);
            let mut frames = self.frames.iter();
            return Place::Again(frames.find(|frame| frame.number == number).copied());
        }
        let number = next + ahead;
        let was_seen = number < self.seen;
        self.seen = self.seen.max(number + 1);
        let unacknowledged = self.seen.saturating_sub(self.acked);
        self.most_unacknowledged = self.most_unacknowledged.max(unacknowledged);
        if ahead > 0 {
            self.again += u64::from(was_seen);
            return Place::Early;
        }
        let fills = was_seen || self.seen > number + 1;
        self.again += u64::from(fills);
        Place::Next { number, fills }
    }

    /// The frame that was next is read.
    pub(super) fn take(&mut self, frame: Numbered) {
        if self.frames.len() >= MOST {
            self.frames.pop_front();
        }
        self.next = Some(frame.number + 1);
        self.frames.push_back(frame);
    }

    /// The other station expects this number next.
    pub(super) fn acknowledge(&mut self, raw: u64) -> Acked {
        let Some(next) = self.next else {
            return Acked::default();
        };
        let ahead = raw.wrapping_sub(self.acked) & (self.modulus - 1);
        let until = self.acked + ahead;
        // an old acknowledgment that was overtaken, or nonsense
        if ahead > self.modulus / 2 && until > self.seen {
            return Acked {
                until: self.acked,
                ..Acked::default()
            };
        }
        self.acked = until;
        self.seen = self.seen.max(until);
        let missing = until.saturating_sub(next);
        if missing > 0 {
            self.next = Some(until);
        }
        Acked {
            until,
            is_new: ahead > 0,
            missing,
        }
    }

    /// Up to where data of a session is acknowledged: where its first frame from number `until` on begins.
    pub(super) fn acked_offset(&self, session: u32, until: u64) -> Option<u64> {
        let own = |frame: &&Numbered| frame.session == session;
        let mut latest = self.frames.iter().rev().filter(own);
        let last = latest.find(|frame| frame.number < until)?;
        Some(last.start + u64::from(last.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u64, start: u64) -> Numbered {
        Numbered {
            number,
            session: 1,
            start,
            len: 10,
        }
    }

    fn take(numbers: &mut Numbers, raw: u64, start: u64) -> Place {
        let place = numbers.place(raw);
        if let Place::Next { number, .. } = place {
            numbers.take(frame(number, start));
        }
        place
    }

    #[test]
    fn numbers_wrap_and_repeats_are_found() {
        let mut numbers = Numbers::new(128);
        for raw in 0..300_u64 {
            let place = take(&mut numbers, raw % 128, raw * 10);
            assert!(matches!(place, Place::Next { fills: false, .. }));
            let acked = numbers.acknowledge((raw + 1) % 128);
            assert!(acked.is_new && acked.missing == 0);
            assert_eq!(numbers.acked_offset(1, acked.until), Some(raw * 10 + 10));
        }
        let again = numbers.place(298 % 128);
        assert!(matches!(again, Place::Again(Some(old)) if old.start == 2980));
        assert_eq!((numbers.again, numbers.most_unacknowledged), (1, 1));
    }

    #[test]
    fn after_a_gap_receivers_discard_until_the_missing_one_comes() {
        let mut numbers = Numbers::new(128);
        numbers.begin(0);
        take(&mut numbers, 0, 0);
        assert_eq!(take(&mut numbers, 2, 20), Place::Early);
        assert!(matches!(
            take(&mut numbers, 1, 10),
            Place::Next { fills: true, .. }
        ));
        assert!(matches!(
            take(&mut numbers, 2, 20),
            Place::Next { fills: true, .. }
        ));
        assert!(matches!(
            take(&mut numbers, 3, 30),
            Place::Next { fills: false, .. }
        ));
        assert_eq!(numbers.again, 2);
    }

    #[test]
    fn an_acknowledgment_of_what_was_never_seen_tells_what_the_capture_lacks() {
        let mut numbers = Numbers::new(65_536);
        numbers.begin(65_535);
        take(&mut numbers, 65_535, 0);
        let acked = numbers.acknowledge(3);
        assert_eq!((acked.is_new, acked.missing), (true, 3));
        assert!(matches!(numbers.place(3), Place::Next { fills: false, .. }));
        assert!(!numbers.acknowledge(0).is_new);
    }
}
