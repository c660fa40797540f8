//! What the ledger charges, stretch by stretch.

use coax_cause::Cause;
use coax_wire::time::{Span, Time};

use crate::{latest::Latest, report::Direction};

/// A stretch of time and what it was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) cause: Cause,
    pub(crate) from: Time,
    pub(crate) span: Span,
    /// The packet that ended it, and which way it went; known once the witness has it.
    pub(crate) frame: u64,
    pub(crate) to: Direction,
}

/// What was charged since it was last looked at. Stretches follow each other without a gap.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    charges: Vec<Charge>,
    until: Time,
}

impl Journal {
    /// The first stretch begins here.
    pub(crate) fn begin(&mut self, at: Time) {
        self.until = at;
    }

    /// The next stretch. One that goes on with the same cause is the same.
    pub(crate) fn add(&mut self, cause: Cause, span: Span) {
        if span.0 == 0 {
            return;
        }
        let from = self.until;
        self.until = from + span;
        match self.charges.last_mut() {
            Some(last) if last.cause == cause => last.span = Span(last.span.0 + span.0),
            _ => self.charges.push(Charge {
                cause,
                from,
                span,
                frame: 0,
                to: Direction::ToClient,
            }),
        }
    }

    /// Whether there is nothing to take.
    pub(crate) fn is_empty(&self) -> bool {
        self.charges.is_empty()
    }

    /// Takes what there is.
    pub(crate) fn drain(&mut self) -> std::vec::Drain<'_, Charge> {
        self.charges.drain(..)
    }
}

/// Stretches remembered for files that turn out to have been opened before them.
const MOST: usize = 128;

/// The latest stretches of a connection.
#[derive(Debug, Default)]
pub(super) struct Recent(Latest<Charge, MOST>);

impl Recent {
    #[inline]
    pub(super) fn add(&mut self, charge: Charge) {
        self.0.push(charge);
    }

    /// Those from `begin` on.
    pub(super) fn since(&self, begin: Time) -> impl Iterator<Item = Charge> + '_ {
        let first = self.0.partition_point(|charge| charge.from < begin);
        self.0.iter().skip(first).copied()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn stretches_follow_each_other_and_those_of_one_cause_are_one() {
        let mut journal = Journal::default();
        journal.begin(Time(100));
        journal.add(Cause::Bandwidth, Span(5));
        journal.add(Cause::RoundTrips, Span(0));
        journal.add(Cause::Bandwidth, Span(5));
        journal.add(Cause::RoundTrips, Span(7));
        let told: Vec<_> = journal
            .drain()
            .map(|charge| (charge.cause, charge.from.0, charge.span.0))
            .collect();
        assert_eq!(
            told,
            [(Cause::Bandwidth, 100, 10), (Cause::RoundTrips, 110, 7)]
        );
        journal.add(Cause::Timeout, Span(1));
        assert_eq!(journal.drain().next().unwrap().from, Time(117));
    }

    #[test]
    fn only_the_latest_are_remembered() {
        let mut recent = Recent::default();
        for at in 0..1000 {
            recent.add(Charge {
                cause: Cause::Bandwidth,
                from: Time(at),
                span: Span(1),
                frame: at,
                to: Direction::ToClient,
            });
        }
        assert_eq!(recent.since(Time(0)).count(), MOST);
        assert_eq!(recent.since(Time(990)).count(), 10);
    }
}
