//! What one capture cannot tell: processing of the far machine, or a round trip that took longer than the shortest one.

use coax_cause::{Account, Cause};
use coax_wire::time::Span;

use super::{Connection, Copy, Vantage};

/// Least and most time of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// At least this.
    pub low: Span,
    /// At most this.
    pub high: Span,
}

impl Copy {
    /// Between which bounds the time of a cause lies, as far as round trips of `connection` varied. From one end, a wait for
    /// the far machine ends with a packet from there: it may have been processing, or the packet may have been late by as much
    /// as acknowledgments of that machine's TCP were.
    pub fn bounds(&self, connection: &Connection, cause: Cause) -> Bounds {
        let far = match connection.vantage {
            _ if connection.joined.is_some() => [false, false],
            Some(Vantage::Client) => [false, true],
            Some(Vantage::Server) => [true, false],
            Some(Vantage::Between) | None => [true, true],
        };
        let count = |think| self.breakdown.of(think).map_or(1, |row| row.count.max(1));
        let thinks = [Cause::ClientThink, Cause::ServerThink];
        let ways = thinks.into_iter().zip(far).zip(connection.late);
        let far = ways.filter(|((_, is_far), _)| *is_far);
        let late = far.map(|((think, _), late)| {
            let each = late.map_or(0, |late| late.0);
            (think, Span(each.saturating_mul(count(think))))
        });
        within(&self.account, late, cause)
    }
}

/// `late`: processing of a far machine, and by how much its waits may have been late packets, all together.
fn within(account: &Account, late: impl Iterator<Item = (Cause, Span)>, cause: Cause) -> Bounds {
    let spent = account.get(cause);
    let unsure = late.map(|(think, late)| (think, account.get(think).min(late).0));
    let (mut low, mut high) = (spent, spent);
    match cause {
        Cause::ClientThink | Cause::ServerThink => {
            let own = unsure.filter(|(think, _)| *think == cause);
            low = Span(spent.0.saturating_sub(own.map(|(_, less)| less).sum()));
        }
        Cause::RoundTrips | Cause::Metadata | Cause::Queueing => {
            high = Span(spent.0.saturating_add(unsure.map(|(_, more)| more).sum()));
        }
        _ => {}
    }
    Bounds { low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(late: &[(Cause, Span)], cause: Cause) -> (u64, u64) {
        let mut account = Account::default();
        account.add(Cause::ServerThink, Span(900));
        account.add(Cause::ClientThink, Span(50));
        account.add(Cause::RoundTrips, Span(100));
        let found = within(&account, late.iter().copied(), cause);
        (found.low.0, found.high.0)
    }

    #[test]
    fn the_far_machine_may_have_worked_for_less_and_the_round_trip_taken_more() {
        let at_client = [(Cause::ServerThink, Span(300))];
        assert_eq!(bounds(&at_client, Cause::ServerThink), (600, 900));
        assert_eq!(bounds(&at_client, Cause::RoundTrips), (100, 400));
        assert_eq!(bounds(&at_client, Cause::ClientThink), (50, 50));
        let at_server = [(Cause::ClientThink, Span(70))];
        assert_eq!(bounds(&at_server, Cause::ClientThink), (0, 50));
        assert_eq!(bounds(&at_server, Cause::Queueing), (0, 50));
        assert_eq!(bounds(&at_server, Cause::ServerThink), (900, 900));
        assert_eq!(bounds(&[], Cause::RoundTrips), (100, 100));
    }
}
