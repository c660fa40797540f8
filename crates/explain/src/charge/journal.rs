//! The charges in order, until somebody takes them.

use coax_cause::Cause;
use coax_wire::time::{Span, Time};

/// A stretch of time and its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    pub(crate) cause: Cause,
    pub(crate) from: Time,
    pub(crate) span: Span,
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
            _ => self.charges.push(Charge { cause, from, span }),
        }
    }

    /// Takes what there is.
    pub(crate) fn drain(&mut self) -> std::vec::Drain<'_, Charge> {
        self.charges.drain(..)
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
}
