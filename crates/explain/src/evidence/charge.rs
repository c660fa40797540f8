//! What the ledger charges, stretch by stretch.

use coax_cause::Cause;
use coax_wire::time::{Span, Time};

use crate::{latest::Latest, report::Direction};

/// A charge, the packet that ended it, and the direction of that packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedCharge {
    pub(crate) cause: Cause,
    pub(crate) from: Time,
    pub(crate) span: Span,
    pub(crate) frame: u64,
    pub(crate) to: Direction,
}

/// Stretches remembered for files that turn out to have been opened before them.
const MOST: usize = 128;

/// The latest stretches of a connection.
#[derive(Debug, Default)]
pub(super) struct Recent(Latest<RecordedCharge, MOST>);

impl Recent {
    #[inline]
    pub(super) fn add(&mut self, charge: RecordedCharge) {
        self.0.push(charge);
    }

    /// Those from `begin` on.
    pub(super) fn since(&self, begin: Time) -> impl Iterator<Item = RecordedCharge> + '_ {
        let first = self.0.partition_point(|charge| charge.from < begin);
        self.0.iter().skip(first).copied()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_are_remembered() {
        let mut recent = Recent::default();
        for at in 0..1000 {
            recent.add(RecordedCharge {
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
