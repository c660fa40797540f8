//! The ground truth of a transfer: every event carries the account of the causes that led to it.
//!
//! # How the account is kept
//!
//! Every event of a run has a predecessor that caused it: a frame starts when the previous frame has left the wire, a
//! segment is sent when an ACK arrives, a delayed ACK when its timer expires. Each event carries a [`Provenance`]: the
//! sum of all causes from the start of the account to the event. The provenance of the event that ends the transfer is
//! the account of the critical path. The causes add up to the elapsed time to the nanosecond, because every link of the
//! chain starts where the previous one ended.
//!
//! # What each link is charged to
//!
//! | link of the chain | cause |
//! |---|---|
//! | CPU, disk or application work of client or server, and the wait for such work | `client-think`, `server-think` |
//! | transmission of a frame with new data, and the wait for such frames | `bandwidth` |
//! | the wait for frames without new data, except for what these waited for themselves | `queueing` |
//! | transmission of a retransmitted frame | `timeout` or `fast-recovery`, by its trigger |
//! | from the start of the retransmission timer to its end | `timeout` |
//! | from the arrival of data to the end of the delayed-ACK timer | `nagle-delayed-ack` |
//! | the persist timer | `zero-window` |
//! | the override timer of silly window avoidance in the sender | `receive-window` |
//! | propagation, and the transmission of ACKs | *transit*: charged when its purpose is known |
//!
//! Transit is charged at the first event that uses it. If an ACK allows a blocked sender to continue, the transit is
//! charged to what blocked it: `receive-window`, `slow-start` (congestion window, no loss so far), `timeout` or
//! `fast-recovery` (congestion window after a loss, because the last loss determines its size), `send-window` (send
//! buffer), `nagle-delayed-ack`. If data allows an application to continue, the transit is charged to `round-trips`, or to
//! the cause that the application set for its message (`metadata`).
//!
//! # Precedence
//!
//! If two waits overlap, the chain follows the one that ended last, because the next step depends on it. A full window
//! costs nothing while the wire is always busy; the time is charged to the wire. If a receive buffer is full because
//! the program does not read, the time is charged to that program (`client-think`, `server-think`), and only the
//! transit of the window update to `zero-window` or `receive-window`. The rules make no exception for what a capture
//! shows: the analyser's test decides which causes a capture cannot distinguish.

use alloc::{rc::Rc, vec::Vec};

pub use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

/// An interval of the ground truth and its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Start.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Cause.
    pub cause: Cause,
}

/// `None` is transit; the first later node that knows its purpose charges it.
#[derive(Debug)]
struct Node {
    from: Time,
    to: Time,
    cause: Option<Cause>,
    /// The cause of the preceding transit; such a node takes no time.
    resolves: Option<Cause>,
    before: Trail,
}

type Trail = Option<Rc<Node>>;

impl Drop for Node {
    /// Iterative, because recursion would overflow the stack on a chain of millions.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node)
                .ok()
                .and_then(|mut alone| alone.before.take());
        }
    }
}

/// The account of everything that led to an event. Clones are cheap because they share their common past.
#[derive(Clone, Debug)]
pub struct Provenance(Rc<Past>);

#[derive(Clone, Debug)]
struct Past {
    account: Account,
    transit: u64,
    at: Time,
    epoch: Epoch,
    /// The cause of the last link, and its start; `None`: transit.
    last: Option<Cause>,
    since: Time,
    trail: Trail,
}

/// The start of an account, and its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch {
    /// Its start time.
    pub start: Time,
    /// Number of earlier accounts in this run.
    pub number: u32,
    /// Whether the intervals are kept, not only their sums.
    pub trail: bool,
}

impl Provenance {
    /// Starts an account.
    pub fn begin(epoch: Epoch) -> Self {
        Self(Rc::new(Past {
            account: Account::default(),
            transit: 0,
            at: epoch.start,
            epoch,
            last: None,
            since: epoch.start,
            trail: None,
        }))
    }

    /// The time up to which the account extends.
    pub fn at(&self) -> Time {
        self.0.at
    }

    /// The epoch of this account.
    pub fn epoch(&self) -> Epoch {
        self.0.epoch
    }

    /// Extends the account to `until` and charges `cause`.
    #[must_use]
    pub fn charge(mut self, cause: Cause, until: Time) -> Self {
        let past = Rc::make_mut(&mut self.0);
        let from = past.at;
        past.account.add(cause, until - from);
        past.step(from, until, Some(cause));
        self
    }

    /// Extends the account to `until` as transit, to be charged later.
    #[must_use]
    pub fn transit(mut self, until: Time) -> Self {
        let past = Rc::make_mut(&mut self.0);
        let from = past.at;
        past.transit = past.transit.saturating_add((until - from).0);
        past.step(from, until, None);
        self
    }

    /// Charges the open transit to `cause`.
    #[must_use]
    pub fn resolve(mut self, cause: Cause) -> Self {
        if self.0.transit == 0 {
            return self;
        }
        let past = Rc::make_mut(&mut self.0);
        past.account.add(cause, Span(past.transit));
        past.transit = 0;
        if past.epoch.trail {
            past.trail = Some(Rc::new(Node {
                from: past.at,
                to: past.at,
                cause: None,
                resolves: Some(cause),
                before: past.trail.take(),
            }));
        }
        self
    }

    /// Moves the account to another epoch: discards the time before its start, and charges the time after it to the
    /// cause of the last link.
    #[must_use]
    pub fn in_epoch(self, epoch: Epoch) -> Self {
        if self.0.epoch.number == epoch.number {
            return self;
        }
        let fresh = Self::begin(epoch);
        match self.0.last {
            _ if self.0.at <= epoch.start => fresh,
            Some(cause) => fresh.charge(cause, self.0.at),
            None => fresh.transit(self.0.at),
        }
    }

    /// The account up to now; open transit is charged to `cause`.
    pub fn finish(&self, cause: Cause) -> Account {
        let mut account = self.0.account;
        account.add(cause, Span(self.0.transit));
        account
    }

    /// The intervals of the account in order, if they were kept; open transit is charged to `cause`. Adjacent intervals
    /// of one cause are joined.
    pub fn stretches(&self, cause: Cause) -> Vec<Stretch> {
        let mut out: Vec<Stretch> = Vec::new();
        let mut transit_is = cause;
        let mut next = self.0.trail.as_ref();
        while let Some(node) = next {
            transit_is = node.resolves.unwrap_or(transit_is);
            let cause = node.cause.unwrap_or(transit_is);
            match out.last_mut() {
                _ if node.from == node.to => {}
                Some(last) if last.cause == cause => last.from = node.from,
                _ => out.push(Stretch {
                    from: node.from,
                    to: node.to,
                    cause,
                }),
            }
            next = node.before.as_ref();
        }
        out.reverse();
        out
    }
}

impl Past {
    fn step(&mut self, from: Time, until: Time, cause: Option<Cause>) {
        self.at = self.at.max(until);
        if self.last != cause {
            self.since = from;
        }
        self.last = cause;
        if !self.epoch.trail || until <= from {
            return;
        }
        if let Some(last) = self.trail.as_mut().and_then(Rc::get_mut)
            && last.cause == cause
            && last.resolves.is_none()
        {
            last.to = until;
            return;
        }
        self.trail = Some(Rc::new(Node {
            from,
            to: until,
            cause,
            resolves: None,
            before: self.trail.take(),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch() -> Epoch {
        Epoch {
            start: Time(100),
            number: 1,
            trail: true,
        }
    }

    #[test]
    fn transit_is_charged_to_what_it_turns_out_to_have_been_for() {
        let round = Provenance::begin(epoch())
            .charge(Cause::Bandwidth, Time(110))
            .transit(Time(140))
            .charge(Cause::ServerThink, Time(150))
            .transit(Time(180));
        let held = round.clone().resolve(Cause::ReceiveWindow);
        assert_eq!(
            held.finish(Cause::Metadata).get(Cause::ReceiveWindow),
            Span(60)
        );
        let ended = round.finish(Cause::RoundTrips);
        assert_eq!(ended.get(Cause::RoundTrips), Span(60));
        assert_eq!(ended.total(), Span(80));
    }

    #[test]
    fn the_stretches_are_the_account_in_order() {
        let end = Provenance::begin(epoch())
            .charge(Cause::Bandwidth, Time(110))
            .transit(Time(140))
            .resolve(Cause::SlowStart)
            .transit(Time(150));
        let stretches = end.stretches(Cause::RoundTrips);
        let causes: Vec<_> = stretches
            .iter()
            .map(|s| (s.from.0, s.to.0, s.cause))
            .collect();
        assert_eq!(
            causes,
            [
                (100, 110, Cause::Bandwidth),
                (110, 140, Cause::SlowStart),
                (140, 150, Cause::RoundTrips)
            ]
        );
    }

    #[test]
    fn a_chain_of_millions_is_dropped_without_recursion() {
        let mut chain = Provenance::begin(epoch());
        for at in 0..2_000_000_u64 {
            let cause = if at % 2 == 0 {
                Cause::Bandwidth
            } else {
                Cause::Queueing
            };
            chain = chain.charge(cause, Time(101 + at));
        }
        assert_eq!(chain.finish(Cause::RoundTrips).total(), Span(2_000_000));
    }

    #[test]
    fn a_new_account_forgets_what_was_before_it() {
        let old = Provenance::begin(epoch())
            .charge(Cause::Queueing, Time(120))
            .charge(Cause::Timeout, Time(200));
        let new = old.in_epoch(Epoch {
            start: Time(150),
            number: 2,
            trail: false,
        });
        assert_eq!(new.finish(Cause::RoundTrips).total(), Span(50));
        assert_eq!(new.finish(Cause::RoundTrips).get(Cause::Timeout), Span(50));
    }
}
