//! A packet that advances a connection, and everything that could have kept it waiting.

use crate::constants::{
    MAX_FAST_RETRANSMIT_DELAY, MAX_REACTION, MAX_REORDERING, MAX_REORDERING_TIMER_DELAY,
    MIN_PROBE_TIMEOUT,
};
use std::cmp::Ordering;

use coax_cause::Cause;
use coax_wire::time::{Span, Time};

use super::{
    delays::Delays,
    samples::{AckSample, Novelty, SendLimit, SentSegment},
    side::Side,
    tolerance::{noise, slack, sum},
};
use crate::smb::Purpose;

/// A packet that brings the connection forward, and what could have kept it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance {
    pub(crate) at: Time,
    pub(crate) side: Side,
    /// Bytes of data; 0 of the handshake.
    pub(crate) len: u64,
    /// The same on the wire.
    pub(crate) wire: u64,
    pub(crate) novelty: Option<Novelty>,
    /// What the capture lacks of it, and what acknowledgments told its sender.
    pub(crate) missing: Missing,
    pub(crate) told: LossSignals,
    /// This side's data is acknowledged up to here, and this packet's goes up to there.
    pub(crate) acked: u64,
    pub(crate) end: u64,
    /// All of this side's data that was seen goes up to here.
    pub(crate) highest: u64,
    /// When this side sent before, what it knew then, and what of its data had been acknowledged.
    pub(crate) before: Option<Time>,
    pub(crate) knew: Option<SendLimit>,
    /// The latest acknowledgment that it knew when it sent this, and the latest data of the other side.
    pub(crate) heard: Option<AckSample>,
    pub(crate) asked: Option<SentSegment>,
    /// From here to this side and back; to the other and back; without what carrying takes.
    pub(crate) near: Span,
    pub(crate) far: Span,
    /// What it takes the path to carry this packet; to carry an acknowledgment.
    pub(crate) serial: Span,
    pub(crate) serial_ack: Span,
    /// The capture was taken behind the path that this packet took; else before it.
    pub(crate) is_behind: bool,
    /// For how long since the last packet the path carried what this side sent again, and by what it had been sent.
    pub(crate) again: Option<(Span, Cause)>,
    /// The path is about to carry it: it had nothing else to carry but what was sent again too.
    pub(crate) is_next: bool,
    /// Since when the path was busy with this side's data, and until when, before this packet.
    pub(crate) busy: (Time, Time),
    /// Since when the path was busy with the other side's, and until when.
    pub(crate) other_busy: (Time, Time),
    /// How late it may come, captured behind the path, though that was busy all the time.
    pub(crate) late: Span,
    /// What it waited in queues, captured at the receiver, if its sender's timestamps show it.
    pub(crate) queued_for: Span,
    /// When it left, compared with what had arrived before it, if its sender's timestamps show it.
    pub(crate) order: Option<Ordering>,
    /// When it left, everything of its side had come: what made it late was not its own side's data.
    pub(crate) is_late_alone: bool,
    /// What makes this side's packets late.
    pub(crate) delays: Delays,
    /// The same of the other side's.
    pub(crate) ack_delays: Delays,
    /// Since when the capture lacks something before it.
    pub(crate) hole_since: Option<Time>,
    /// The shortest retransmission timer of its sender, if the stack is known.
    pub(crate) least_timer: Option<Span>,
    /// Where it stands in what its side says.
    pub(crate) place: MessagePosition,
    /// What it waited for that its own stream does not show.
    pub(crate) held_by: Option<Blocked>,
    /// There was no room for it: what its side sent last when there was.
    pub(crate) full: Option<SentSegment>,
    /// The path has been busy for some round trips, and was until now. The value is the share of this connection's data in
    /// what it carried, in thousandths.
    pub(crate) saturated: Option<u64>,
    /// For what part of the last round trips the path carried this side's data, in thousandths.
    pub(crate) carrying: u64,
    /// The path is saturated, and a good part of it is other traffic.
    pub(crate) is_shared: bool,
    /// What the path took for other connections' data that was sent in front of what this answers, in as long as that was under way.
    pub(crate) rivals: Span,
    /// It is a frame of NetBEUI or IPX: its sender has no congestion window.
    pub(crate) is_framed: bool,
    /// Its side had asked what had arrived, because its timer had expired (a poll of LLC).
    pub(crate) is_by_timer: bool,
}

/// Where a packet stands in what its side says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessagePosition {
    /// Whether it continues a message, or one that was asked for already follows another.
    pub(crate) inside: bool,
    /// It continues a message.
    pub(crate) is_middle: bool,
    /// It begins a request of a client that does not wait for the answer before it asks for more.
    pub(crate) asks_ahead: bool,
    /// Its message goes on after it.
    pub(crate) is_cut: bool,
    /// A full segment.
    pub(crate) is_full: bool,
    /// Its sender owed no answer: it reports an event, such as a change in a folder that the client watches.
    pub(crate) is_event: bool,
    pub(crate) purpose: Purpose,
}

/// What acknowledgments tell of a loss of its side's data, and of a packet that was sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossSignals {
    /// They told of a loss, the last of them at this time.
    pub(crate) loss: Option<Time>,
    /// So many did at this time that a sender that responds to duplicate ACKs needed no more.
    pub(crate) enough: Option<Time>,
    /// Since when they have come as the path carries data, and the last of them.
    pub(crate) clock: (Time, Time),
    /// When what acknowledged all of this packet first had been carried, if anything did; and when the next one came.
    pub(crate) first: Option<Time>,
    pub(crate) second: Option<Time>,
    /// The latest of the other side's data, and up to where.
    pub(crate) peer: Option<(Time, u64)>,
}

/// What the capture lacks that belongs to a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    /// It acknowledges bytes that were never captured.
    pub(crate) unseen: bool,
    /// Something before it is missing; and was missing already when the one before it came.
    pub(crate) leaves_hole: bool,
    pub(crate) is_beyond_hole: bool,
    /// Packets of its side that were sent just before it were never captured.
    pub(crate) lacks: bool,
    /// Its side numbers its packets, and none is missing before it: it was sent because of no loss.
    pub(crate) has_all: bool,
    /// Its side said that it had sent it before.
    pub(crate) was_claimed: bool,
}

/// What a packet waits for that its own stream does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// The sender of this data: since it was sent there is no room for more. Until that shows, the server may have worked.
    Full { since: SentSegment, works: bool },
    /// Its sender, until it had waited long enough to fill what is left of the window.
    Window,
    /// The server works.
    Works,
    /// The same, and it has had more to do whenever it had answered, for long.
    Fed,
    /// A reply that permitted the sender to continue.
    Reply(Reply),
}

/// An answer without which a sender may not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// When what it answers was captured, and when it was.
    pub(crate) since: Time,
    pub(crate) came: Time,
    /// What the wait for it was, beyond the way there and back.
    pub(crate) cause: Cause,
}

impl Advance {
    /// What of its serialisation lies before the capture.
    pub(crate) fn ahead(&self) -> Span {
        if self.is_behind { self.serial } else { Span(0) }
    }

    /// The way there and back.
    pub(crate) fn round(&self) -> Span {
        sum(self.near, self.far)
    }

    /// Two round trips at present, with what this packet waited in queues: a probe waits as long (RFC 8985 §7.2).
    pub(crate) fn two_rounds(&self) -> Span {
        let round = sum(self.round(), self.queued_for);
        sum(round, round)
    }

    /// When it can have been captured at the earliest if it was let go by what was captured at `at`.
    pub(crate) fn soonest(&self, at: Time) -> Time {
        at + self.near + self.ahead()
    }

    /// Whether what was captured at `at` reached its sender after that had sent before.
    pub(crate) fn is_news(&self, at: Time) -> bool {
        let noise = if self.is_behind {
            slack(self.near)
        } else {
            Span(0)
        };
        self.before
            .is_none_or(|before| self.soonest(at) + noise > before)
    }

    /// Whether it left as soon as an acknowledgment came that was news, and not because of data that came with or after
    /// that.
    pub(crate) fn is_let_go_by(&self, heard: &AckSample) -> bool {
        self.is_news(heard.carried)
            && self.asked.is_none_or(|asked| asked.carried < heard.at)
            && self.at - self.soonest(heard.carried) <= slack(self.near)
    }

    /// Whether it follows what its side sent before on a path that was busy for a whole round trip, and since `from` or
    /// before; or has done since `begin`, when its side had nothing on its way, so that no acknowledgment can have let it
    /// go.
    pub(crate) fn is_carried(&self, from: Time, begin: Time) -> bool {
        let (since, until) = self.busy;
        self.follows()
            && since <= from
            && (self.at.max(until) - since >= sum(self.round(), self.serial)
                || (self.place.is_middle && begin < self.at && self.at - begin < self.round()))
    }

    /// Whether all that its side had sent was acknowledged when it left: the path had been idle for a round trip.
    pub(crate) fn is_alone(&self) -> bool {
        let heard = self.heard.filter(|_| self.near.0 > 0 || !self.is_behind);
        heard.is_some_and(|heard| {
            heard.acked >= self.end.saturating_sub(self.len)
                && self.at >= self.soonest(heard.carried)
        })
    }

    /// Whether it follows what its side sent before without a pause of the path.
    pub(crate) fn follows(&self) -> bool {
        let until = self.busy.1 + noise(self.serial);
        let latest = if self.is_behind {
            until + sum(self.serial, self.late)
        } else {
            until
        };
        self.serial.0 > 0 && self.at <= latest
    }

    /// What kept it that is not to be seen in its own stream; `is_windowed`: it had to wait for the window, and a way there
    /// and back.
    pub(crate) fn is_held_by(&self, is_windowed: bool) -> Option<Blocked> {
        let fills_window = self.novelty == Some(Novelty::New)
            && self.place.is_cut
            && !self.place.is_full
            && (self.full.is_some() || self.knew.is_some_and(|knew| knew.edge == self.end))
            && !self.is_unheeded();
        match self.held_by {
            // less than a segment is sent into what is left of a window when its sender has waited long enough for more
            // (RFC 1122 §4.2.3.4)
            _ if fills_window => Some(self.full.map_or(Blocked::Window, |since| Blocked::Full {
                since,
                works: false,
            })),
            Some(Blocked::Works) if !self.place.is_middle || is_windowed => None,
            Some(Blocked::Reply(reply)) if !self.follows_at_once(reply.came) => None,
            held_by => held_by,
        }
    }

    /// Whether it left as soon as what was captured at `at` had come.
    fn follows_at_once(&self, at: Time) -> bool {
        let soonest = self.soonest(at);
        self.at - soonest <= sum(MAX_REACTION, slack(self.near))
    }

    /// Whether its sender had heard long before of more room than it used: it had not looked at what had come.
    pub(crate) fn is_unheeded(&self) -> bool {
        self.place.is_cut
            && !self.place.is_full
            && self.heard.is_some_and(|heard| {
                heard.edge > self.end
                    && self.at - self.soonest(heard.carried) > sum(MAX_REACTION, slack(self.near))
            })
    }

    /// Whether it comes behind what its side sent before as close as the path lets it: it had waited for its turn.
    pub(crate) fn is_queued(&self) -> bool {
        let is_between = !self.is_behind && self.near.0.saturating_mul(3) > self.far.0;
        let close = sum(self.serial, noise(self.serial));
        (self.is_behind && self.follows())
            || (is_between && self.before.is_some_and(|before| self.at - before <= close))
    }

    /// What its side takes for the reason of sending it again, needlessly.
    pub(crate) fn taken_for(&self) -> Cause {
        match self.told.enough {
            Some(_) => Cause::FastRecovery,
            None => Cause::Timeout,
        }
    }

    /// What a silence of its own machine was: a timer's, if what was sent before it was lost and no acknowledgment of it
    /// came. With new data too, a probe of a loss comes after two round trips (RFC 8985 §7.2). A hole is seen in the middle
    /// of a message, where a machine has no reason to pause; the end of one that was lost leaves its number out.
    pub(crate) fn own(&self, silence: Span) -> Cause {
        let follows_loss = self.is_behind
            && self.place.is_middle
            && (self.missing.leaves_hole || self.missing.lacks);
        match () {
            () if follows_loss && silence >= self.two_rounds() => Cause::Timeout,
            // it knows of the loss, and sends what its congestion control allows until that is repaired
            () if follows_loss && self.told.loss.is_some() => Cause::FastRecovery,
            // the server had nothing to do, because the client had asked for nothing
            () if self.place.is_event => Side::Client.think(),
            // what comes from the far end waited for its turn on the path
            () if self.is_shared && self.is_behind => Cause::Queueing,
            () => self.side.think(),
        }
    }

    /// Whether a timer sent what `open` was once more, and nothing had come for it.
    pub(crate) fn is_same_again(&self, open: &Self) -> bool {
        let is_same = self.side == open.side && (self.len, self.end) == (open.len, open.end);
        is_same
            && self.novelty == Some(Novelty::Again)
            && self.acked < self.end
            && !self.missing.unseen
            && is_timer(self)
    }

    /// For how much of a round of this length the path carried its side's data, by how long it did in the last ones.
    pub(crate) fn carried_of(&self, round: Span) -> Span {
        let part = u128::from(round.0) * u128::from(self.carrying) / 1000;
        Span(u64::try_from(part).unwrap_or(round.0))
    }

    /// Whether its side's acknowledgments have come since `from` as a path that is never idle lets them, up to when this
    /// left.
    pub(crate) fn is_clocked(&self, from: Time) -> bool {
        let (since, last) = self.told.clock;
        // between the two ends they are captured before they are carried
        let lag = self.heard.map_or(Span(0), |heard| heard.carried - heard.at);
        let near = sum(self.near, lag);
        self.serial.0 > 0 && since + near <= from && self.at <= last + near + slack(self.near)
    }
}

/// Whether its sender had been silent for so long, and had heard nothing, that a timer must have sent this.
pub(crate) fn is_timer(advance: &Advance) -> bool {
    if advance.is_by_timer {
        return true;
    }
    let latest = [
        advance.heard.map(|heard| heard.carried + advance.near),
        advance.told.loss.map(|at| at + advance.near),
        advance.before,
    ];
    let latest = latest.into_iter().flatten().max();
    if advance.is_queued() || is_before_timer(advance) {
        return false;
    }
    let since = |latest: Time| advance.at - (latest + advance.ahead() + advance.queued_for);
    let silent = latest.map_or(Span(0), since);
    silent > longest_reordering(advance)
}

/// Whether it came before a timer of its sender could fill the hole that there is: something else sent it, and it waited in a queue.
fn is_before_timer(advance: &Advance) -> bool {
    let since = advance.hole_since.filter(|_| advance.is_behind);
    let open = since.zip(advance.least_timer);
    open.is_some_and(|(since, timer)| advance.at - since < timer)
}

/// How long a sender waits for what may only have been overtaken: a quarter of the way there and back (RFC 8985 §6.2), or less than any
/// other timer.
fn longest_reordering(advance: &Advance) -> Span {
    MIN_PROBE_TIMEOUT.max(sum(Span(advance.round().0 / 4), MAX_REORDERING_TIMER_DELAY))
}

/// Whether an acknowledgment that filled a hole let it go: it tells of the next one, and the repair goes on (RFC 6582
/// §3.2).
pub(crate) fn is_next_hole(advance: &Advance) -> bool {
    let heard = advance.heard.filter(|heard| heard.fills);
    heard.is_some_and(|heard| advance.is_let_go_by(&heard))
}

/// Whether its sender was told of the loss often enough, and did not send it again then.
pub(crate) fn is_ignored(advance: &Advance, responds_to_dup_acks: Option<bool>) -> bool {
    let is_oldest = advance.end.saturating_sub(advance.len) <= advance.acked;
    let told = advance
        .told
        .enough
        .filter(|_| is_oldest && !advance.is_queued() && !is_before_timer(advance));
    let patience = if responds_to_dup_acks == Some(false) {
        MAX_FAST_RETRANSMIT_DELAY
    } else {
        longest_reordering(advance)
    };
    told.is_some_and(|at| advance.at - advance.soonest(at) > patience)
}

/// Whether it was sent again although the acknowledgment of the first was on its way, or had even arrived: a machine that
/// is busy looks at its timers before it looks at what came.
pub(crate) fn is_idle_repeat(advance: &Advance, was_busy_before: bool) -> bool {
    if advance.novelty != Some(Novelty::Again) || advance.is_by_timer {
        return false;
    }
    let is_early = advance
        .told
        .first
        .is_some_and(|at| !advance.is_behind || advance.at < advance.soonest(at));
    let is_more = was_busy_before && advance.told.first.is_some();
    is_early || is_more || was_busy(advance)
}

/// Whether two acknowledgments should have told its sender not to send it again: one may be lost on its way, hardly two.
pub(crate) fn was_busy(advance: &Advance) -> bool {
    advance
        .told
        .second
        .is_some_and(|at| advance.at >= advance.soonest(at))
}

/// Whether it fills a hole and was only overtaken. Its sender's clock shows it (Eifel, RFC 3522): a packet that was sent again
/// left after those that arrived before it. Without that clock, what a duplicate ACK has sent again comes a round trip after
/// the hole at the earliest.
pub(crate) fn was_overtaken(advance: &Advance) -> bool {
    if advance.novelty != Some(Novelty::Fill) {
        return false;
    }
    let round = advance.round();
    match advance.order {
        Some(Ordering::Less) => return true,
        Some(Ordering::Greater) => return false,
        // a coarse clock counts as far in a short round trip
        Some(Ordering::Equal) | None => {}
    }
    let lately = Span(round.0 / 2 + MAX_REORDERING.0);
    let is_soon = |since: Option<Time>, most: Span| since.is_some_and(|at| advance.at - at < most);
    (advance.told.loss.is_none() && is_soon(advance.before, lately))
        || is_soon(advance.hole_since, Span(round.0 / 4 * 3))
}

/// What this packet answers, if it begins a message and its sender had just heard of it.
pub(crate) fn answers(advance: &Advance) -> Option<SentSegment> {
    let asked = advance.asked?;
    (!advance.place.is_middle && advance.is_news(asked.carried)).then_some(asked)
}
