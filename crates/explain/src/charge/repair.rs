//! Loss recovery: what a packet waited for, a loss signal or a timer.

use crate::charge::Charger;
use crate::charge::flow::{Flow, Repeated};
use crate::constants::{MAX_ACK_PAUSE, MAX_DELAYED_ACK, MAX_REACTION, MIN_STALL_RTO};
use crate::timeline::{
    AckSample, Advance, Novelty, Side, is_ignored, is_next_hole, is_timer, slack, sum,
    was_overtaken,
};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

impl Charger {
    /// Which sides were seen to heed word of a loss, or not to.
    pub(crate) fn responds_to_dup_acks(&self) -> [Option<bool>; 2] {
        self.flows.each_ref().map(|flow| flow.responds_to_dup_acks)
    }

    /// Which sides were seen to pace.
    pub(crate) fn is_paced(&self) -> [bool; 2] {
        self.flows.each_ref().map(|flow| flow.pacing.is_paced())
    }

    /// Somebody saw that before.
    pub(crate) fn calibrate(
        &mut self,
        responds_to_dup_acks: [Option<bool>; 2],
        is_paced: [bool; 2],
    ) {
        let seen = responds_to_dup_acks.into_iter().zip(is_paced);
        for (flow, (responds_to_dup_acks, is_paced)) in self.flows.iter_mut().zip(seen) {
            flow.responds_to_dup_acks = responds_to_dup_acks;
            flow.pacing.calibrate(is_paced);
        }
    }

    /// What had `side` send again what it sent again last.
    pub(crate) fn sent_again_by(&self, side: Side) -> Cause {
        let after = self.after(side).filter(|_| self.open.is_none());
        after.unwrap_or(Cause::Timeout)
    }

    /// Data sent again by a timer, or a probe that waits for less: whether anybody waited for it shows when it is
    /// acknowledged.
    pub(super) fn may_be_needless(&mut self, advance: &Advance) -> bool {
        let is_unasked =
            advance.told.loss.is_none() && !is_next_hole(advance) && !advance.is_queued();
        let waits = !advance.missing.unseen
            && !advance.is_by_timer
            && advance.novelty == Some(Novelty::Again)
            && self.flow(advance.side).repair.is_none()
            && (is_unasked || is_timer(advance));
        if waits {
            self.open = Some(*advance);
        }
        waits
    }

    /// Data of `side` from one place to another had come twice (RFC 2883): if a timer had just sent it again, nobody waited
    /// for that, and what its side sends later is not that of a side with a loss.
    pub(crate) fn came_twice(&mut self, side: Side, (from, to): (u64, u64)) {
        self.open.take_if(|open| {
            let start = open.end.saturating_sub(open.len);
            open.side == side && from < open.end && start < to
        });
        let flow = self.flow(side);
        let is_same = |known: &Repeated| from < known.end && known.start < to;
        if let Some(repeated) = flow.by_timer.take_if(|known| is_same(known)) {
            flow.after = repeated.after;
        }
    }

    /// Data that was sent again needlessly, because the acknowledgment was already on its way, is forgotten.
    pub(super) fn settle_open(&mut self, advance: &Advance) {
        // what is sent again and again is decided as one
        let waits = |open: &Advance| !advance.is_same_again(open);
        let Some(open) = self.open.take().filter(waits) else {
            return;
        };
        let heard = if advance.side == open.side {
            advance.heard.map(|heard| (heard.at, heard.acked))
        } else {
            advance.told.peer
        };
        // what a lost segment is replaced by is acknowledged as soon as it arrives, neither before that nor later, but that
        // nobody needs to hurry if nothing had come after it (RFC 5681 §4.2)
        let carried = if open.is_behind {
            open.at
        } else {
            open.at.max(open.busy.1) + open.serial
        };
        // a server of direct hosting repeats an answer sooner than it can give one
        let way = if open.is_framed { 0 } else { open.far.0 };
        let least = carried + Span(way / 4 * 3);
        let is_answered = advance.side != open.side
            && heard.is_some_and(|(at, _)| advance.at - at <= MAX_REACTION);
        let held = match open.end >= open.highest && !is_answered {
            true => MAX_DELAYED_ACK,
            false if open.is_framed => soon_after(open.at - self.at),
            false => MAX_ACK_PAUSE,
        };
        let most = carried + sum(Span(open.far.0 / 2 * 3), held) + open.serial;
        let was_lost = advance.side != open.side && self.is_repaired_by_timer(advance);
        let start = open.end.saturating_sub(open.len);
        // the path was still carrying what had been sent before it
        let is_early = |at: Time, acked: u64| !open.is_behind && acked <= start && at > open.at;
        let is_idle = heard.is_some_and(|(at, acked)| {
            acked >= open.end && !(least..=most).contains(&at) || is_early(at, acked)
        }) && !was_lost;
        let flow = self.flow(open.side);
        flow.by_timer = Some(Repeated {
            start,
            end: open.end,
            after: flow.after.replace(Cause::Timeout),
        });
        flow.needless = is_idle.then_some(open.highest);
        if !is_idle {
            let gap = open.at - self.at;
            let cause = self.recovery_cause(&open).unwrap_or(Cause::Timeout);
            self.charge(cause, gap);
            self.at = self.at.max(open.at);
        }
    }

    /// Whether a packet was sent before and lost, so that its side's own timer sent it again: its numbers say so, or one lacks
    /// (of an acknowledgment, perhaps, that only the capture lost) and there was time for a timer.
    fn is_repaired_by_timer(&self, advance: &Advance) -> bool {
        advance.missing.was_claimed
            || (advance.missing.lacks && advance.at - self.at >= MIN_STALL_RTO)
    }

    /// The cause of the recovery that this packet belongs to.
    pub(super) fn recovery_cause(&mut self, advance: &Advance) -> Option<Cause> {
        if matches!(advance.novelty, Some(Novelty::Again | Novelty::Fill)) {
            if was_overtaken(advance) {
                return None;
            }
            let Flow {
                responds_to_dup_acks,
                after,
                repair,
                ..
            } = *self.flow(advance.side);
            let cause = match repair {
                _ if is_timer(advance) => Cause::Timeout,
                Some((_, cause)) => cause,
                _ if is_ignored(advance, responds_to_dup_acks) => Cause::Timeout,
                _ if advance.told.loss.is_some() => Cause::FastRecovery,
                _ if is_next_hole(advance) => after.unwrap_or(Cause::FastRecovery),
                _ => Cause::Timeout,
            };
            let flow = self.flow(advance.side);
            (flow.after, flow.has_filled) = (Some(cause), false);
            if repair.is_none() && advance.told.enough.is_some() {
                flow.responds_to_dup_acks = Some(cause == Cause::FastRecovery);
            }
            flow.repair = Some((advance.highest, cause));
            return Some(cause);
        }
        // new data that comes after a silence although its sender was told of a loss came by a timer, or by its leave
        let is_late = advance.told.loss.is_some() && is_timer(advance);
        let flow = self.flow(advance.side);
        flow.repair = flow.repair.filter(|(until, _)| advance.acked < *until);
        match flow.repair {
            _ if is_late => Some(Cause::Timeout),
            repair => repair.map(|(_, cause)| cause),
        }
    }

    /// Whether it is sent while a loss waits for its timer, by a side that has heeded nothing else: nothing is over sooner
    /// for it.
    pub(super) fn awaits_timer(&mut self, advance: &Advance) -> bool {
        // the timer was set when the last acknowledgment came that was news
        let is_set = |heard: AckSample| {
            heard.acked >= advance.acked
                && advance.at > advance.soonest(heard.carried) + slack(advance.near)
        };
        let is_beyond = if advance.is_behind {
            advance.missing.is_beyond_hole && advance.heard.is_some_and(is_set)
        } else {
            advance.told.enough.is_some() && advance.busy.1 <= advance.at
        };
        is_beyond
            && advance.novelty == Some(Novelty::New)
            && self.flow(advance.side).responds_to_dup_acks == Some(false)
    }

    /// A packet of a recovery: the path may be busy all the same.
    pub(super) fn charge_recovery(&mut self, advance: &Advance, cause: Cause, gap: Span) {
        let is_new = advance.novelty == Some(Novelty::New);
        let is_carried = if advance.is_behind {
            is_new && advance.follows()
        } else {
            advance.is_clocked(self.at)
        };
        if is_carried {
            self.charge_path(advance, gap);
        } else {
            let carried = if advance.is_behind {
                Span(0)
            } else {
                // what was sent before, but for as much as was lost of it at least
                let busy = advance.busy.1.min(advance.at) - self.at.max(advance.busy.0);
                Span(busy.0.saturating_sub(advance.serial.0))
            };
            let rest = self.part(Cause::Bandwidth, gap, carried);
            self.charge(cause, rest);
        }
    }

    /// The path was busy: with what was sent again, as far as that let this go.
    pub(super) fn charge_path(&mut self, advance: &Advance, gap: Span) {
        let Flow {
            after, repeated, ..
        } = *self.flow(advance.side);
        let filled = advance
            .heard
            .filter(|heard| !advance.is_behind && heard.fills && advance.is_let_go_by(heard));
        let cause = after.unwrap_or(Cause::Timeout);
        let rest = self.part(cause, gap, repeated);
        let (again, by) = advance.again.unwrap_or((Span(0), cause));
        let rest = self.part(by, rest, again);
        let filled = filled.map_or(0, |_| advance.serial.0.saturating_sub(again.0));
        let rest = self.part(cause, rest, Span(filled));
        self.charge(Cause::Bandwidth, rest);
    }
}

/// A frame that was repeated after this long, and is answered before that: the answer is seldom that to the frame before it.
fn soon_after(wait: Span) -> Span {
    Span(wait.0 / 10).max(MAX_ACK_PAUSE)
}
