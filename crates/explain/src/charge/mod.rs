//! What each stretch of a connection's time was spent on.
//!
//! Every packet that brings a connection forward (data in either direction, the handshake) ends the stretch that the
//! one before it began, and the stretch is charged to what that packet had waited for. So nothing is charged twice and
//! nothing left out: what was spent between any two such packets adds up to the time between them, to the nanosecond.
//!
//! # What a packet waited for, in this order
//!
//! | a packet that | waited for | and its stretch is charged to |
//! |---|---|---|
//! | acknowledges data that the capture lacks | | `capture` |
//! | sends again, or fills a hole late, or follows until that loss is repaired | the repair | `timeout` if its sender had been silent and heard nothing new for long, or had been told of the loss in vain, else `fast-recovery`; `bandwidth` while the path carried other data |
//! | comes after a loss, from a side that ignores duplicate ACKs | its timer | `timeout` |
//! | follows without a pause on a path that has been busy for a round trip or longer, or since its side had nothing on its way | the path | `bandwidth`; of what was sent again, the repair |
//! | answers what its sender had heard last | its sender | from the end: think time, `bandwidth` of its own serialisation, the way there and back to `round-trips` or `metadata`, `bandwidth` of what it answers |
//! | an acknowledgment let go | the round trip of that acknowledgment | what held it (below), in proportion to what that round was spent on |
//! | comes otherwise | its sender | serialisation to `bandwidth`, the rest to think time, or to `pacing` if its side paces (`pacing.rs`) |
//!
//! A *round* goes from the data that was acknowledged last to the data that this acknowledgment let go. It has the time
//! in which that data was carried and the new data was, or, if that is more, the part of the last round trips in which the path
//! carried data of its side (`bandwidth`), a delay of the acknowledgment
//! (`nagle-delayed-ack`, unless it acknowledges two full segments), the sender's own time after it (think time), and the way there and back, which is charged to
//! what held the sender: `receive-window` or `zero-window` if the data lies beyond the window that was known before (or would
//! have filled the last third of one that was full before: who sends in large pieces waits for more), `send-window` if it begins a
//! request of a client that often asks before it has the answers, and that acknowledgment freed a third of what was on its way,
//! `nagle-delayed-ack` if it is a small segment that left when all before it was acknowledged, the repair of the last
//! loss if there was one and the window has not been filled since (or if that acknowledgment filled the hole, whatever the
//! window), `slow-start` if its side has more on its way than before, else `send-window`. Many rounds are under way at a
//! time, so a stretch is a part of its round and has its proportions: that is what a round after the other adds up to.
//!
//! # Windows that are shut
//!
//! A sender may have no room for another segment though all it sent is acknowledged: its peer's program has not read. (What
//! is left of the window may be more than nothing, and less than it sends: RFC 1122 §4.2.3.4.) From when its last segment
//! was carried to when it hears of more, it waits for the way there and back, `receive-window`, and for the rest of the time
//! for that program: `client-think` or `server-think`, whoever's packet ends a stretch of it. A byte that probes the
//! window (RFC 9293 §3.8.6.1) ends none, and what is sent into the rest of a window changes nothing. A server that has
//! long had a whole request to go on with whenever it had answered (`backlog.rs`) is what all waits for meanwhile, so that
//! what its client sends until the window is full is `server-think` too.
//!
//! # Answers that a frame waits for
//!
//! A sender of NetBEUI may go on only when its message was acknowledged (DATA ACK), when it was told to (RECEIVE CONTINUE), when
//! its poll was answered, or when its receiver has room again (RNR, NO RECEIVE). If it goes on as soon as that comes, the way
//! there and back is charged to `round-trips` or `metadata`, and the rest of the wait to `nagle-delayed-ack`,
//! `receive-window`, `metadata`, or the receiver's think time. A sender that polls because its timer expired repairs by
//! `timeout`. There is no slow start: what would be one is `send-window`.
//!
//! # A path that is saturated
//!
//! While the path has been busy for some round trips (`path/utilisation.rs`), a stretch is `bandwidth` whichever packet ended
//! it, as long as data of the busy direction is on its way: an answer, an acknowledgment or a repair that comes meanwhile
//! did not keep the path from carrying. If a queue stands all the time, but the path carries this connection's data in less
//! than 70 % of it, other traffic fills the rest: this part is `queueing`. Where nothing is in flight (a request, its answer, the next request) the rules above
//! decide.
//!
//! The way to a side and back, seen from where the capture was taken, is the shortest that was ever measured, without
//! what its packets took to be carried. At the client's end all of it lies between request and response, at the server's all
//! between response and next request: the sum is the same.

mod credit;
mod flow;
mod hold;
mod journal;
mod lateness;
mod pacing;
mod release;
mod repair;
mod reply;
mod round;
mod script;

pub(crate) use journal::Charge;
pub(crate) use script::Script;

use crate::charge::credit::late_cause;
use crate::charge::flow::Flow;
use crate::charge::journal::Journal;
use crate::charge::pacing::may_be_paced;
use crate::charge::round::{Round, delay_of_ack};
use crate::constants::{MAX_QUEUEING_PAUSE, MIN_STALL_RTO};
use crate::path::WHOLE;
use crate::smb::Purpose;
use crate::timeline::{
    AckSample, Advance, SentSegment, Side, answers, is_idle_repeat, of, sum, was_busy,
};
use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

/// Turns the timeline of a connection into charges. See the module for the rules.
#[derive(Debug, Default)]
pub(crate) struct Charger {
    account: Account,
    /// The stretches one by one, for who wants to see them.
    journal: Journal,
    at: Time,
    /// Data that was sent again, and perhaps needlessly.
    open: Option<Advance>,
    flows: [Flow; 2],
    /// The path was busy all the time until the current packet: see [`Advance::saturated`].
    saturated: Option<u64>,
    /// How much of that the path carried the current packet, captured behind it.
    carried: Option<Span>,
    /// The charges are known.
    script: Option<Script>,
}

impl Charger {
    /// A connection whose first packet was captured at `at`.
    pub(crate) fn starting(at: Time) -> Self {
        let mut ledger = Self {
            at,
            ..Self::default()
        };
        ledger.journal.begin(at);
        ledger
    }

    /// The sum of all charges.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Whether a side was seen to do without Nagle's algorithm.
    pub(crate) fn has_no_delay(&self, side: Side) -> bool {
        of(&self.flows, side).small.are_unkept()
    }

    /// Up to when everything is charged.
    pub(crate) fn at(&self) -> Time {
        self.at
    }

    /// Takes the charges since the last call. They follow each other without a gap.
    pub(crate) fn take_charges(&mut self) -> std::vec::Drain<'_, Charge> {
        self.journal.drain()
    }

    /// Charges the time up to `advance`.
    pub(crate) fn advance(&mut self, advance: &Advance) {
        if self.script.is_some() {
            return self.follow_script(advance.at);
        }
        self.saturated = advance.saturated.filter(|_| !advance.missing.unseen);
        self.settle_open(advance);
        if is_idle_repeat(advance, self.flow(advance.side).was_busy) {
            let flow = self.flow(advance.side);
            if !advance.is_next {
                flow.repeated = sum(flow.repeated, advance.serial);
            }
            flow.was_busy |= was_busy(advance);
            return;
        }
        let gap = advance.at - self.at;
        let is_seen = advance.is_behind && self.saturated.is_some_and(|own| own < WHOLE);
        self.carried = is_seen.then_some(advance.serial);
        let round = self.released_by(advance);
        let begin = self.flow(advance.side).begin;
        if self.may_be_needless(advance) {
            return;
        }
        if advance.missing.unseen {
            self.charge(Cause::Capture, gap);
        } else if self.awaits_timer(advance) {
            self.charge(Cause::Timeout, gap);
        } else if let Some(cause) = self.recovery_cause(advance) {
            self.charge_recovery(advance, cause, gap);
        } else if let Some(held) = advance.is_held_by(is_windowed(round)) {
            self.charge_blocked(advance, held, gap);
        } else if advance.is_carried(self.at, begin)
            && !is_shut(round)
            && !self.is_idle_before(advance)
        {
            self.charge_path(advance, gap);
        } else if let Some(asked) =
            answers(advance).filter(|_| !is_held(round) && !awaited_buffer(advance, round))
        {
            self.charge_response(advance, asked, gap);
        } else if let Some((heard, cause)) = round {
            self.charge_ack_clocked(advance, heard, cause, gap);
        } else {
            self.charge_sender(advance, gap);
        }
        let flow = self.flow(advance.side);
        flow.round = round.map(|(heard, cause)| (heard.known(), cause));
        (flow.repeated, flow.was_busy) = (Span(0), false);
        flow.late = advance.queued_for;
        flow.pacing.note(advance);
        self.at = self.at.max(advance.at);
    }

    /// Charges up to `at` what no packet explains.
    pub(crate) fn catch_up(&mut self, at: Time, cause: Cause) {
        if self.script.is_some() {
            return self.follow_script(at);
        }
        (self.saturated, self.carried) = (None, None);
        self.charge(cause, at - self.at);
        self.at = self.at.max(at);
    }

    /// From now on the charges are known.
    pub(crate) fn set_script(&mut self, script: Script) {
        self.script = Some(script);
    }

    fn follow_script(&mut self, at: Time) {
        while self.at < at
            && let Some((until, cause)) = self.script.as_mut().map(|script| script.next(at))
        {
            self.charge(cause, until - self.at);
            self.at = self.at.max(until);
        }
    }

    /// The one place that time is charged in: in the order in which it passed.
    fn charge(&mut self, cause: Cause, span: Span) {
        match self.saturated {
            None => self.note(cause, span),
            Some(WHOLE..) => self.note(Cause::Bandwidth, span),
            Some(own) => {
                let carried = match &mut self.carried {
                    Some(left) => {
                        let carried = span.min(*left);
                        *left = Span(left.0 - carried.0);
                        carried
                    }
                    None => share(span, Span(own), Span(WHOLE)),
                };
                self.note(Cause::Bandwidth, carried);
                self.note(Cause::Queueing, Span(span.0 - carried.0));
            }
        }
    }

    fn note(&mut self, cause: Cause, span: Span) {
        self.account.add(cause, span);
        self.journal.add(cause, span);
    }

    /// Charges up to `most` of what is left of a gap, and returns the rest.
    fn part(&mut self, cause: Cause, gap: Span, most: Span) -> Span {
        let part = gap.min(most);
        self.charge(cause, part);
        Span(gap.0 - part.0)
    }

    /// What repaired the last loss of `side`.
    fn after(&self, side: Side) -> Option<Cause> {
        let [client, server] = &self.flows;
        match side {
            Side::Client => client.after,
            Side::Server => server.after,
        }
    }

    fn flow(&mut self, side: Side) -> &mut Flow {
        let [client, server] = &mut self.flows;
        match side {
            Side::Client => client,
            Side::Server => server,
        }
    }

    /// Whether the path had nothing of this packet's side to carry before it.
    fn is_idle_before(&mut self, advance: &Advance) -> bool {
        advance.is_alone() && self.flow(advance.side).repeated.0 == 0 && advance.again.is_none()
    }

    /// The other side's data let it go, and what is left of the gap is its sender's.
    fn charge_response(&mut self, advance: &Advance, asked: SentSegment, gap: Span) {
        let travel = match advance.place.purpose {
            Purpose::Data if advance.len > 0 => Cause::RoundTrips,
            _ => Cause::Metadata,
        };
        let own = advance.at - advance.soonest(asked.carried);
        // data after what it answers may keep the path busy
        let gap = if advance.is_behind {
            self.part(
                Cause::Bandwidth,
                gap,
                advance.other_busy.1 - self.at.max(advance.other_busy.0),
            )
        } else {
            gap
        };
        let late = if advance.is_behind {
            let late = (advance.queued_for, advance.is_late_alone);
            self.late_of(advance.side, late, own)
        } else {
            Span(0)
        };
        let own = Span(own.0 - late.0);
        // a late packet and its round trip are one wait
        let cause = late_cause(advance, advance.delays, late, travel);
        let (late, way) = match cause == travel {
            true => (Span(0), sum(advance.near, late)),
            false => (late, advance.near),
        };
        let gap = self.part(cause, gap, late);
        let queued = own.min(advance.rivals);
        let gap = self.part(Cause::Queueing, gap, queued);
        let own = Span(own.0 - queued.0);
        let gap = self.part(advance.own(own), gap, own);
        let gap = self.part(Cause::Bandwidth, gap, advance.ahead());
        let gap = self.part(travel, gap, way);
        self.charge(Cause::Bandwidth, gap);
    }

    /// An acknowledgment let it go: the gap is charged as its round was spent.
    fn charge_ack_clocked(
        &mut self,
        advance: &Advance,
        heard: &AckSample,
        cause: Cause,
        gap: Span,
    ) {
        if let Some(full) = heard.freed.filter(|_| cause == Cause::ZeroWindow) {
            return self.charge_reopened_window(advance, heard, &full, gap);
        }
        // behind the path, each packet shows when it was carried; before it, what is in flight does
        let gap = if advance.is_behind {
            let known = self.carried;
            let due = known.unwrap_or_else(|| self.flow(advance.side).due(advance.serial, gap));
            self.part(Cause::Bandwidth, gap, due)
        } else {
            gap
        };
        let round = Round::ended_by(advance, heard, cause, gap);
        let after = self.flow(advance.side).after;
        let own = (round.waited, round.think);
        let (waited, think, late) = self.late_round(advance, heard, own);
        let held = delay_of_ack(advance, heard, waited, after.is_some());
        let mut rest = gap;
        for (cause, part) in [
            (Cause::Bandwidth, round.carried),
            (late_cause(advance, late.0, late.1, cause), late.1),
            (Cause::NagleDelayedAck, held),
        ] {
            rest = self.part(cause, rest, share(gap, part, round.whole));
        }
        let think = share(gap, think, round.whole).min(rest);
        self.charge(cause, Span(rest.0 - think.0));
        self.charge(advance.side.think(), think);
    }

    /// The same side goes on.
    fn charge_sender(&mut self, advance: &Advance, gap: Span) {
        let carrying = if advance.is_behind {
            advance.serial
        } else {
            advance.busy.1.min(advance.at) - self.at.max(advance.busy.0)
        };
        let rest = self.part(Cause::Bandwidth, gap, carrying);
        let Flow {
            was_busy,
            repeated,
            pacing,
            ..
        } = *self.flow(advance.side);
        let rest = self.part(Cause::Timeout, rest, repeated);
        let rest = self.charge_late(advance, rest);
        let cause = match () {
            () if advance.is_unheeded() => advance.side.think(),
            () if rest >= MIN_STALL_RTO.max(advance.two_rounds())
                && advance.is_behind
                && advance.place.is_middle
                && !advance.missing.has_all
                && !was_busy =>
            {
                Cause::Timeout
            }
            () if rest <= MAX_QUEUEING_PAUSE && advance.is_behind && advance.place.inside => {
                Cause::Queueing
            }
            () if pacing.is_paced() && may_be_paced(advance, rest) => self.paced_by(advance),
            () => advance.own(rest),
        };
        self.charge(cause, rest);
    }
}

fn is_held(round: Option<(&AckSample, Cause)>) -> bool {
    round.is_some_and(|(_, cause)| cause == Cause::NagleDelayedAck)
}

/// Its client could have asked for more when it had the answer, but waited for room in its send buffer.
fn awaited_buffer(advance: &Advance, round: Option<(&AckSample, Cause)>) -> bool {
    advance.place.asks_ahead && round.is_some_and(|(_, cause)| cause == Cause::SendWindow)
}

fn is_windowed(round: Option<(&AckSample, Cause)>) -> bool {
    round.is_some_and(|(_, cause)| cause == Cause::ReceiveWindow)
}

fn is_shut(round: Option<(&AckSample, Cause)>) -> bool {
    round.is_some_and(|(_, cause)| cause == Cause::ZeroWindow)
}

/// The part of `gap` that `part` is of `whole`.
fn share(gap: Span, part: Span, whole: Span) -> Span {
    let whole = whole.0.max(1);
    // parts of some seconds: a division of 64 bits takes a fraction of one of 128
    if let Some(product) = gap.0.checked_mul(part.0) {
        return Span(product / whole);
    }
    let of = u128::from(gap.0) * u128::from(part.0) / u128::from(whole);
    Span(u64::try_from(of).unwrap_or(gap.0))
}

#[cfg(test)]
mod tests;
