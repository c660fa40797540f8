//! An account over time: equal slices, which grow as the copy does.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use super::{budget::Hold, charge::RecordedCharge};
use crate::report::Waterfall;

/// Slices at most, and with little memory.
const MOST: usize = 200;
const FEW: usize = 25;
/// How long a slice is at first.
const FIRST: u64 = 100_000;

/// See the module.
#[derive(Debug)]
pub(super) struct Slices {
    begin: Time,
    width: u64,
    most: usize,
    accounts: Vec<Account>,
}

impl Slices {
    pub(super) fn new(begin: Time) -> Self {
        Self {
            begin,
            width: FIRST,
            most: FEW,
            accounts: Vec::new(),
        }
    }

    /// What the full number of slices takes, bytes.
    const GROWN: usize = (MOST - FEW) * size_of::<Account>();

    pub(super) fn add(&mut self, charge: &RecordedCharge, hold: &mut Hold) {
        let mut from = charge.from - self.begin;
        let mut left = charge.span.0;
        self.make_room(from.0.saturating_add(left), hold);
        while left > 0 {
            let index = from.0 / self.width;
            let end = (index + 1).saturating_mul(self.width);
            let part = left.min(end - from.0);
            self.spend(index, charge.cause, part);
            from = Span(end);
            left -= part;
        }
    }

    fn spend(&mut self, index: u64, cause: Cause, part: u64) {
        let index = index as usize;
        if index >= self.accounts.len() && index < MOST {
            self.accounts.resize(index + 1, Account::default());
        }
        if let Some(account) = self.accounts.get_mut(index) {
            account.add(cause, Span(part));
        }
    }

    /// Makes slices wide enough for what ends at `end`.
    fn make_room(&mut self, end: u64, hold: &mut Hold) {
        while end > self.width.saturating_mul(self.most as u64) {
            if self.most == FEW && hold.grow(Self::GROWN) {
                self.most = MOST;
                continue;
            }
            self.double();
        }
    }

    fn double(&mut self) {
        let mut doubled = Vec::with_capacity(self.most);
        for pair in self.accounts.chunks(2) {
            let mut sum = Account::default();
            let parts = pair.iter().flat_map(Account::iter);
            parts.for_each(|(cause, span)| sum.add(cause, span));
            doubled.push(sum);
        }
        self.accounts = doubled;
        self.width = self.width.saturating_mul(2);
    }

    /// Takes over what another has; it began at the same time.
    pub(super) fn merge(&mut self, other: &Self, hold: &mut Hold) {
        while self.width < other.width {
            self.double();
        }
        for (index, account) in other.accounts.iter().enumerate() {
            let from = self.begin + Span(other.width.saturating_mul(index as u64));
            self.make_room((from - self.begin).0.saturating_add(1), hold);
            for (cause, span) in account.iter().filter(|(_, span)| span.0 > 0) {
                self.spend((from - self.begin).0 / self.width, cause, span.0);
            }
        }
    }

    /// The slices, as they are reported.
    pub(super) fn told(&self) -> Waterfall {
        Waterfall {
            width: Span(self.width),
            accounts: self.accounts.clone(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::evidence::budget::MemoryBudget;

    fn charge(cause: Cause, from: u64, span: u64) -> RecordedCharge {
        RecordedCharge {
            cause,
            from: Time(from),
            span: Span(span),
            frame: 0,
            to: crate::report::Direction::ToClient,
        }
    }

    #[test]
    fn slices_keep_every_nanosecond_however_long_it_takes() {
        let (room, mut total) = (MemoryBudget::default(), 0);
        let mut hold = room.hold(0).unwrap_or_default();
        let mut slices = Slices::new(Time(7));
        let mut at = 7;
        for round in 0..1000_u64 {
            let span = 1 + round * round * 977;
            slices.add(
                &charge(*Cause::ALL.get(round as usize % 15).unwrap(), at, span),
                &mut hold,
            );
            at += span;
            total += span;
        }
        let told = slices.told();
        assert!(told.accounts.len() <= MOST && told.accounts.len() >= MOST / 2);
        let sum: u64 = told.accounts.iter().map(|account| account.total().0).sum();
        assert_eq!(sum, total);
    }

    #[test]
    fn merging_adds_up() {
        let room = MemoryBudget::default();
        let mut hold = room.hold(0).unwrap_or_default();
        let (mut early, mut late) = (Slices::new(Time(0)), Slices::new(Time(0)));
        early.add(&charge(Cause::Bandwidth, 0, 123_456), &mut hold);
        late.add(&charge(Cause::Timeout, 123_456, 987_654_321), &mut hold);
        early.merge(&late, &mut hold);
        let sum: u64 = early.told().accounts.iter().map(|a| a.total().0).sum();
        assert_eq!(sum, 123_456 + 987_654_321);
    }
}
