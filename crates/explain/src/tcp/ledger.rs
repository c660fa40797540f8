//! What each stretch of a connection's time was spent on.
//!
//! Every packet that brings a connection forward (data in either direction, the handshake) ends the stretch that the
//! one before it began, and the stretch is charged to what let that packet go. So nothing is charged twice and nothing
//! left out: what was spent between any two such packets adds up to the time between them, to the nanosecond.
//!
//! # What a stretch is charged to, in this order
//!
//! | what ends the stretch | cause |
//! |---|---|
//! | a packet that acknowledges what the capture does not hold | `capture` |
//! | bytes sent again, or a hole filled late, and all until that loss is repaired | `fast-recovery` if acknowledgments told of the loss, else `timeout` |
//! | data of the side that did not send the last packet | the way there and back to `round-trips` or `metadata`, by what the request is for; what serialisation takes to `bandwidth`; the rest to that side's think time |
//! | data of the same side beyond the window that it knew | serialisation to `bandwidth`, the rest to `receive-window` or `zero-window` |
//! | data of the same side, right after an acknowledgment that kept it waiting | the acknowledgment's delay to `nagle-delayed-ack`; otherwise a small segment's wait to the same, a full one's to `slow-start` or `send-window` |
//! | data of the same side otherwise | serialisation to `bandwidth`; the rest to `queueing` if it is short, else to that side's think time |
//!
//! The way to a side and back, seen from where the capture was taken, is the shortest that was ever measured. At the
//! client's end all of it lies between request and answer, at the server's all between answer and next request: the sum
//! is the same.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use super::half::Novelty;
use crate::{evidence::Journal, smb::Purpose};

/// Acknowledgments later than this were delayed on purpose: timers of 40 ms and more are known, and the shortest that a
/// busy machine takes is less.
const DELAYED: Span = Span(25_000_000);
/// What lies between an acknowledgment and the data that it let go, beyond the way there and back.
const REACTION: Span = Span(2_000_000);
/// A wait between two packets of one side that is no think time.
const JITTER: Span = Span(1_000_000);

/// Which side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    const fn think(self) -> Cause {
        match self {
            Self::Client => Cause::ClientThink,
            Self::Server => Cause::ServerThink,
        }
    }
}

/// A packet that brings the connection forward, and what could have kept it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) at: Time,
    pub(super) side: Side,
    /// Bytes of data; 0 of the handshake.
    pub(super) len: u64,
    pub(super) novelty: Option<Novelty>,
    /// It acknowledges bytes that were never captured.
    pub(super) unseen: bool,
    /// Acknowledgments told of a loss of this side's data.
    pub(super) loss_told: bool,
    /// This side's data is acknowledged up to here, and goes up to there.
    pub(super) acked: u64,
    pub(super) end: u64,
    /// All of this side's data that was seen goes up to here.
    pub(super) highest: u64,
    /// The edge of the window that this side knew when it sent the packet before, and how wide the window was.
    pub(super) edge: Option<u64>,
    pub(super) window: u32,
    /// When the acknowledgment was captured that this side knew last when it sent this.
    pub(super) ack: Option<Time>,
    /// From here to this side and back; to the other and back.
    pub(super) near: Span,
    pub(super) far: Span,
    /// What it takes the path to carry this packet's data.
    pub(super) serial: Span,
    /// Whether it continues a message, or one that was asked for already follows another.
    pub(super) inside: bool,
    /// A full segment.
    pub(super) is_full: bool,
    pub(super) purpose: Purpose,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    account: Account,
    /// The stretches one by one, for who wants to see them.
    pub(super) journal: Journal,
    at: Time,
    last: Option<(Side, Time)>,
    /// A loss is being repaired: whose data, until where, and what told of it.
    repair: Option<(Side, u64, Cause)>,
    /// Until when the path carries what each side sent, of sides next to the capture.
    busy: [Time; 2],
    /// The most that each side had on its way, and whether it lost something.
    widest: [u64; 2],
    lost: [bool; 2],
}

impl Ledger {
    pub(super) fn account(&self) -> &Account {
        &self.account
    }

    /// Up to when everything is charged.
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// The connection's first packet.
    pub(super) fn begin(&mut self, at: Time) {
        self.at = at;
        self.journal.begin(at);
    }

    /// Ends a stretch with `step`.
    pub(super) fn step(&mut self, step: &Step) {
        let gap = step.at - self.at;
        let turned = self.last.is_none_or(|(side, _)| side != step.side);
        let since = self.last.map_or(self.at, |(_, at)| at);
        if step.unseen {
            self.charge(Cause::Capture, gap);
        } else if let Some(cause) = self.repairing(step) {
            self.charge(cause, gap);
        } else if turned {
            self.turn(step, gap);
        } else {
            self.go_on(step, gap, since);
        }
        self.at = self.at.max(step.at);
        self.last = Some((step.side, step.at));
        if let Some(busy) = self.busy.get_mut(step.side as usize)
            && step.near < step.far
        {
            *busy = (*busy).max(step.at) + step.serial;
        }
    }

    /// How long from the stretch's beginning the path still carries what `side` sent before.
    fn still_busy(&self, side: Side) -> Span {
        self.busy
            .get(side as usize)
            .map_or(Span(0), |busy| *busy - self.at)
    }

    /// What of a stretch that ends with `step` the path took to carry data of the same side.
    fn carrying(&self, step: &Step) -> Span {
        if step.near < step.far {
            self.still_busy(step.side)
        } else {
            step.serial
        }
    }

    /// Charges up to `at` what no packet explains.
    pub(super) fn catch_up(&mut self, at: Time, cause: Cause) {
        self.charge(cause, at - self.at);
        self.at = self.at.max(at);
    }

    /// The one place that time is charged in: in the order in which it passed.
    fn charge(&mut self, cause: Cause, span: Span) {
        self.account.add(cause, span);
        self.journal.add(cause, span);
    }

    /// Charges up to `most` of what is left of a gap, and returns the rest.
    fn part(&mut self, cause: Cause, gap: Span, most: Span) -> Span {
        let part = gap.min(most);
        self.charge(cause, part);
        Span(gap.0 - part.0)
    }

    /// What repairs a loss, if this step does.
    fn repairing(&mut self, step: &Step) -> Option<Cause> {
        if matches!(step.novelty, Some(Novelty::Again | Novelty::Fill)) {
            let gap = step.at - self.at;
            // what comes late by less than a way there and back was overtaken, not lost
            let overtaken = step.novelty == Some(Novelty::Fill)
                && !step.loss_told
                && gap < Span(step.near.0.saturating_add(step.far.0) / 2 + REACTION.0);
            let cause = match self.repair {
                Some((side, _, cause)) if side == step.side && gap < DELAYED => cause,
                _ if overtaken => return None,
                _ if step.loss_told => Cause::FastRecovery,
                _ => Cause::Timeout,
            };
            if let Some(lost) = self.lost.get_mut(step.side as usize) {
                *lost = true;
            }
            let until = self.repair.map_or(0, |(_, until, _)| until);
            self.repair = Some((step.side, until.max(step.highest), cause));
            return Some(cause);
        }
        let (side, until, cause) = self.repair?;
        if side != step.side || step.acked >= until {
            self.repair = None;
            return None;
        }
        Some(cause)
    }

    /// The other side goes on because of what reached it.
    fn turn(&mut self, step: &Step, gap: Span) {
        let travel = match step.purpose {
            Purpose::Data if step.len > 0 => Cause::RoundTrips,
            _ => Cause::Metadata,
        };
        let gap = self.part(Cause::Bandwidth, gap, self.still_busy(step.side.other()));
        let gap = self.part(travel, gap, step.near);
        let serial = if step.near > step.far {
            step.serial
        } else {
            Span(0)
        };
        let rest = self.part(Cause::Bandwidth, gap, serial);
        self.charge(step.side.think(), rest);
    }

    /// The same side goes on.
    fn go_on(&mut self, step: &Step, gap: Span, since: Time) {
        let blocked = step.inside && step.edge.is_some_and(|edge| step.end > edge);
        if blocked {
            let rest = self.part(Cause::Bandwidth, gap, self.carrying(step));
            let is_shut = u64::from(step.window) < step.len;
            let cause = if is_shut {
                Cause::ZeroWindow
            } else {
                Cause::ReceiveWindow
            };
            return self.charge(cause, rest);
        }
        // when the latest acknowledgment can have let it go
        let freed = step.ack.filter(|_| step.inside).map(|ack| ack + step.near);
        if let (Some(ack), Some(freed)) = (step.ack, freed.filter(|freed| *freed > since)) {
            let own = step.at - freed;
            let waited = if own > REACTION {
                Span(gap.0.saturating_sub(own.0))
            } else {
                gap
            };
            self.charge(step.side.think(), Span(gap.0 - waited.0));
            return self.released(step, waited, ack, since);
        }
        let rest = self.part(Cause::Bandwidth, gap, self.carrying(step));
        let is_short = rest <= JITTER && step.inside;
        self.charge(
            if is_short {
                Cause::Queueing
            } else {
                step.side.think()
            },
            rest,
        );
    }

    /// An acknowledgment let the data go.
    fn released(&mut self, step: &Step, gap: Span, ack: Time, since: Time) {
        let late = Span((ack - since).0.saturating_sub(step.far.0));
        let gap = if late >= DELAYED {
            self.part(Cause::NagleDelayedAck, gap, late)
        } else {
            gap
        };
        let rest = self.part(Cause::Bandwidth, gap, self.carrying(step));
        let widest = self.widest.get_mut(step.side as usize);
        let in_flight = step.end.saturating_sub(step.acked);
        let grows = widest.is_some_and(|widest| {
            let grows = in_flight > *widest;
            *widest = in_flight.max(*widest);
            grows
        });
        let lost = self.lost.get(step.side as usize).copied().unwrap_or(false);
        // a small segment that left when nothing was on its way any more was held back for that (RFC 896)
        let is_held_small = !step.is_full && step.acked.saturating_add(step.len) >= step.end;
        let cause = match () {
            () if is_held_small => Cause::NagleDelayedAck,
            () if grows && !lost => Cause::SlowStart,
            () => Cause::SendWindow,
        };
        self.charge(cause, rest);
    }
}
