//! The last minute, in slots.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use crate::constants::{SLOT, SLOTS};

/// Time by cause, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares(pub(crate) [u32; Cause::COUNT]);

impl Shares {
    /// Each cause with its time, µs.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u32)> + '_ {
        Cause::ALL.into_iter().zip(self.0)
    }

    /// All of it, µs.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|part| u64::from(*part)).sum()
    }

    /// The cause with the most time, if there is any.
    pub fn dominant(&self) -> Option<Cause> {
        let most = self.iter().max_by_key(|(_, us)| *us)?;
        (most.1 > 0).then_some(most.0)
    }

    fn add(&mut self, other: &Self) {
        for (part, more) in self.0.iter_mut().zip(other.0) {
            *part = part.saturating_add(more);
        }
    }
}

/// The slots, as a ring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    slots: [Shares; SLOTS],
    /// The number of the newest slot since the clock's zero.
    newest: u64,
}

impl Recent {
    /// Adds what ended at `now`.
    pub(crate) fn add(&mut self, now: Time, account: &Account) {
        self.turn(now);
        let place = place(self.newest);
        if let Some(slot) = self.slots.get_mut(place) {
            for (part, (_, span)) in slot.0.iter_mut().zip(account.iter()) {
                *part = part.saturating_add(u32::try_from(span.0 / 1000).unwrap_or(u32::MAX));
            }
        }
    }

    /// What was spent in the last `seconds`, or a little more.
    pub(crate) fn last(&self, now: Time, seconds: u64) -> Shares {
        let mut all = Shares::default();
        let current = number(now);
        let wanted = (seconds.saturating_mul(1_000_000_000) / SLOT.0.max(1)).min(SLOTS as u64);
        for back in 0..wanted {
            let Some(number) = current.checked_sub(back) else {
                break;
            };
            let is_kept = number <= self.newest && self.newest - number < SLOTS as u64;
            if let Some(slot) = self.slots.get(place(number)).filter(|_| is_kept) {
                all.add(slot);
            }
        }
        all
    }

    /// Whether nothing was spent in the last minute.
    pub(crate) fn is_old(&self, now: Time) -> bool {
        number(now).saturating_sub(self.newest) >= SLOTS as u64
    }

    /// Empties the slots between the newest one and now.
    fn turn(&mut self, now: Time) {
        let current = number(now);
        let passed = current.saturating_sub(self.newest).min(SLOTS as u64);
        for step in 0..passed {
            if let Some(slot) = self.slots.get_mut(place(current.saturating_sub(step))) {
                *slot = Shares::default();
            }
        }
        self.newest = self.newest.max(current);
    }
}

fn number(now: Time) -> u64 {
    (now - Time(0)).0 / SLOT.0.max(1)
}

fn place(number: u64) -> usize {
    usize::try_from(number % SLOTS as u64).unwrap_or_default()
}

/// The sum of two spans.
pub(crate) fn sum(a: Span, b: Span) -> Span {
    Span(a.0.saturating_add(b.0))
}

/// What is left of `a` without `b`.
pub(crate) fn less(a: Span, b: Span) -> Span {
    Span(a.0.saturating_sub(b.0))
}
