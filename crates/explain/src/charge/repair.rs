//! What a step of a repair waited for: word of the loss, or a timer.

use crate::charge::flow::Flow;
use crate::charge::{Ledger, STALL};
use crate::timeline::{
    Heard, Novelty, REACTION, Side, Step, is_ignored, is_next_hole, is_timer, slack, sum,
};
use coax_cause::Cause;
use coax_wire::time::Span;

/// No acknowledgment is delayed for longer by any stack that is known.
const HELD: Span = Span(210_000_000);

impl Ledger {
    /// Which sides were seen to heed word of a loss, or not to.
    pub(crate) fn heeds(&self) -> [Option<bool>; 2] {
        self.flows.each_ref().map(|flow| flow.heeds)
    }

    /// Somebody saw that before.
    pub(crate) fn expect(&mut self, heeds: [Option<bool>; 2]) {
        for (flow, heeds) in self.flows.iter_mut().zip(heeds) {
            flow.heeds = heeds;
        }
    }

    /// What had `side` send again what it sent again last.
    pub(crate) fn sent_again_by(&self, side: Side) -> Cause {
        let after = self.after(side).filter(|_| self.open.is_none());
        after.unwrap_or(Cause::Timeout)
    }

    /// Data sent again by a timer, or a probe that waits for less: whether anybody waited for it shows when it is
    /// acknowledged.
    pub(super) fn may_be_idle(&mut self, step: &Step) -> bool {
        let is_unasked = step.told.loss.is_none() && !is_next_hole(step) && !step.is_queued();
        let waits = !step.missing.unseen
            && step.novelty == Some(Novelty::Again)
            && self.flow(step.side).repair.is_none()
            && (is_unasked || is_timer(step));
        if waits {
            self.open = Some(*step);
        }
        waits
    }

    /// Data of `side` from one place to another had come twice (RFC 2883): if a timer had just sent it again, nobody waited
    /// for that.
    pub(crate) fn came_twice(&mut self, side: Side, (from, to): (u64, u64)) {
        self.open.take_if(|open| {
            let start = open.end.saturating_sub(open.len);
            open.side == side && from < open.end && start < to
        });
    }

    /// Data that was sent again needlessly, because the acknowledgment was already on its way, is forgotten.
    pub(super) fn decide(&mut self, step: &Step) {
        // what is sent again and again is decided as one
        let waits = |open: &Step| !step.is_same_again(open);
        let Some(open) = self.open.take().filter(waits) else {
            return;
        };
        let heard = if step.side == open.side {
            step.heard.map(|heard| (heard.at, heard.acked))
        } else {
            step.told.peer
        };
        // what a lost segment is replaced by is acknowledged as soon as it arrives, neither before that nor later, but that
        // nobody needs to hurry if nothing had come after it (RFC 5681 §4.2)
        let carried = if open.is_behind {
            open.at
        } else {
            open.at.max(open.busy.1) + open.serial
        };
        let least = carried + Span(open.far.0 / 4 * 3);
        let is_answered =
            step.side != open.side && heard.is_some_and(|(at, _)| step.at - at <= REACTION);
        let held = if open.end >= open.highest && !is_answered {
            HELD
        } else {
            Span(5 * REACTION.0)
        };
        let most = carried + sum(Span(open.far.0 / 2 * 3), held) + open.serial;
        let was_lost = step.side != open.side && self.is_repaired_by_timer(step);
        let is_idle = heard
            .is_some_and(|(at, acked)| acked >= open.end && !(least..=most).contains(&at))
            && !was_lost;
        self.flow(open.side).after = Some(Cause::Timeout);
        if !is_idle {
            let gap = open.at - self.at;
            let cause = self.repairing(&open).unwrap_or(Cause::Timeout);
            self.charge(cause, gap);
            self.at = self.at.max(open.at);
        }
    }

    /// Whether a step was sent before and lost, so that its side's own timer sent it again: its numbers say so, or one lacks
    /// (of an acknowledgment, perhaps, that only the capture lost) and there was time for a timer.
    fn is_repaired_by_timer(&self, step: &Step) -> bool {
        step.missing.was_claimed || (step.missing.lacks && step.at - self.at >= STALL)
    }

    /// What repairs a loss, if this step does.
    pub(super) fn repairing(&mut self, step: &Step) -> Option<Cause> {
        if matches!(step.novelty, Some(Novelty::Again | Novelty::Fill)) {
            // what comes late by less than a way there and back was overtaken, not lost
            let overtaken = step.novelty == Some(Novelty::Fill)
                && step.told.loss.is_none()
                && step.at - self.at < Span(step.round().0 / 2 + REACTION.0);
            if overtaken {
                return None;
            }
            let Flow {
                heeds,
                after,
                repair,
                ..
            } = *self.flow(step.side);
            let cause = match repair {
                _ if is_timer(step) => Cause::Timeout,
                Some((_, cause)) => cause,
                _ if is_ignored(step, heeds) => Cause::Timeout,
                _ if step.told.loss.is_some() => Cause::FastRecovery,
                _ if is_next_hole(step) => after.unwrap_or(Cause::FastRecovery),
                _ => Cause::Timeout,
            };
            let flow = self.flow(step.side);
            (flow.after, flow.has_filled) = (Some(cause), false);
            if repair.is_none() && step.told.enough.is_some() {
                flow.heeds = Some(cause == Cause::FastRecovery);
            }
            flow.repair = Some((step.highest, cause));
            return Some(cause);
        }
        // new data that comes after a silence although its sender was told of a loss came by a timer, or by its leave
        let is_late = step.told.loss.is_some() && is_timer(step);
        let flow = self.flow(step.side);
        flow.repair = flow.repair.filter(|(until, _)| step.acked < *until);
        match flow.repair {
            _ if is_late => Some(Cause::Timeout),
            repair => repair.map(|(_, cause)| cause),
        }
    }

    /// Whether it is sent while a loss waits for its timer, by a side that has heeded nothing else: nothing is over sooner
    /// for it.
    pub(super) fn awaits_timer(&mut self, step: &Step) -> bool {
        // the timer was set when the last acknowledgment came that was news
        let is_set = |heard: Heard| {
            heard.acked >= step.acked && step.at > step.soonest(heard.carried) + slack(step.near)
        };
        let is_beyond = if step.is_behind {
            step.missing.is_beyond_hole && step.heard.is_some_and(is_set)
        } else {
            step.told.enough.is_some() && step.busy.1 <= step.at
        };
        is_beyond && step.novelty == Some(Novelty::New) && self.flow(step.side).heeds == Some(false)
    }

    /// A step of a repair: the path may be busy all the same.
    pub(super) fn mend(&mut self, step: &Step, cause: Cause, gap: Span) {
        let is_new = step.novelty == Some(Novelty::New);
        let is_carried = if step.is_behind {
            is_new && step.follows()
        } else {
            step.is_clocked(self.at)
        };
        if is_carried {
            self.carry(step, gap);
        } else {
            self.charge(cause, gap);
        }
    }

    /// The path was busy: with what was sent again, as far as that let this go.
    pub(super) fn carry(&mut self, step: &Step, gap: Span) {
        let Flow {
            after, repeated, ..
        } = *self.flow(step.side);
        let filled = step
            .heard
            .filter(|heard| !step.is_behind && heard.fills && step.is_let_go_by(heard));
        let cause = after.unwrap_or(Cause::Timeout);
        let rest = self.part(cause, gap, repeated);
        let (again, by) = step.again.unwrap_or((Span(0), cause));
        let rest = self.part(by, rest, again);
        let filled = filled.map_or(0, |_| step.serial.0.saturating_sub(again.0));
        let rest = self.part(cause, rest, Span(filled));
        self.charge(Cause::Bandwidth, rest);
    }
}
