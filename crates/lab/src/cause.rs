//! What a transfer waited for, exactly: the account that every event carries.
//!
//! # How the account is kept
//!
//! Whatever happens in a run happens because of something before it: a frame leaves the wire because the frame before
//! it had left, a segment is sent because an acknowledgment came, an acknowledgment because a timer ran out. Each event
//! therefore carries a [`Provenance`]: the account of its own past, the sum of all causes from the start of the account
//! to the event. The event that ends the transfer holds the account of the whole: its critical path. The causes add up
//! to the wall clock to the nanosecond because every link of the chain begins where the one before it ended.
//!
//! # What each link is charged to
//!
//! | link of the chain | cause |
//! |---|---|
//! | work of the client's or server's CPU, disk or application, and the wait behind such work | `client-think`, `server-think` |
//! | a frame with new data being put on the wire, and the wait behind such frames | `bandwidth` |
//! | the wait behind frames that carry no new data, but for what these waited for themselves | `queueing` |
//! | a frame sent again being put on the wire | `timeout` or `fast-recovery`, by what sent it |
//! | from arming the retransmission timer to its end | `timeout` |
//! | from the arrival of data to the delayed acknowledgment's timer | `nagle-delayed-ack` |
//! | the persist timer | `zero-window` |
//! | the override of a sender that avoids silly windows | `receive-window` |
//! | propagation, and the wire time of acknowledgments | *transit*: charged when it is known what it was for |
//!
//! Transit is charged at the first event that uses it. If an acknowledgment lets a sender go on that was held, it was
//! spent on what held it: `receive-window`, `slow-start` (held by the congestion window of a connection that has lost
//! nothing), `timeout` or `fast-recovery` (by one that has, still recovering or not: the last loss is why it is what it
//! is), `send-window` (held by the send buffer), `nagle-delayed-ack`. If an application goes on because of data that came, it was spent on
//! `round-trips`, or on what the application says its message was for (`metadata`).
//!
//! # Precedence
//!
//! Where two things overlap, the chain follows the one that ended last, because the next step waited for it. A window
//! that is full while the wire is busy all the time costs nothing and is charged nothing; the wire is. A receive buffer
//! that is full because its program does not read is charged to that program (`client-think`, `server-think`), and only
//! the way of the window update to `zero-window` or `receive-window`. There is no exception for what a capture shows:
//! the test of the analyser decides which causes a capture cannot tell apart.

use alloc::{rc::Rc, vec::Vec};

pub use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

/// A stretch of the truth: from when to when, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where it begins.
    pub from: Time,
    /// Where it ends.
    pub to: Time,
    /// What it was spent on.
    pub cause: Cause,
}

/// `None` is transit, charged by the first later node that says what it was for.
#[derive(Debug)]
struct Node {
    from: Time,
    to: Time,
    cause: Option<Cause>,
    /// This node says what the transit before it was for, and takes no time.
    resolves: Option<Cause>,
    before: Trail,
}

type Trail = Option<Rc<Node>>;

impl Drop for Node {
    /// One by one: a chain of millions must not be dropped by recursion.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node)
                .ok()
                .and_then(|mut alone| alone.before.take());
        }
    }
}

/// The account of everything that led to an event. Cheap to pass on: it is copied only where it parts from another.
#[derive(Clone, Debug)]
pub struct Provenance(Rc<Past>);

#[derive(Clone, Debug)]
struct Past {
    account: Account,
    transit: u64,
    at: Time,
    epoch: Epoch,
    /// What the last link was charged to, and since when; `None`: transit.
    last: Option<Cause>,
    since: Time,
    trail: Trail,
}

/// When an account was begun, and which one it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch {
    /// Its beginning.
    pub start: Time,
    /// Accounts begun before it in this run.
    pub number: u32,
    /// Whether the stretches are kept, not only their sums.
    pub trail: bool,
}

impl Provenance {
    /// The beginning of an account.
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

    /// The moment up to which the account goes.
    pub fn at(&self) -> Time {
        self.0.at
    }

    /// The account that this one belongs to.
    pub fn epoch(&self) -> Epoch {
        self.0.epoch
    }

    /// Goes on to `until` and charges it to `cause`.
    #[must_use]
    pub fn charge(mut self, cause: Cause, until: Time) -> Self {
        let past = Rc::make_mut(&mut self.0);
        let from = past.at;
        past.account.add(cause, until - from);
        past.step(from, until, Some(cause));
        self
    }

    /// Goes on to `until`; what it was spent on will be known later.
    #[must_use]
    pub fn transit(mut self, until: Time) -> Self {
        let past = Rc::make_mut(&mut self.0);
        let from = past.at;
        past.transit = past.transit.saturating_add((until - from).0);
        past.step(from, until, None);
        self
    }

    /// The transit so far was spent on `cause`.
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

    /// The same moment in another account: what was before that account began is forgotten, and what was after it is
    /// charged to what the last link was.
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

    /// The account up to now; transit that nothing has claimed is `cause`.
    pub fn finish(&self, cause: Cause) -> Account {
        let mut account = self.0.account;
        account.add(cause, Span(self.0.transit));
        account
    }

    /// The stretches of the account in order, where they were kept; open transit is `cause`. Neighbours of one cause are
    /// one stretch.
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
