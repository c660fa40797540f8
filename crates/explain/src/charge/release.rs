//! Which acknowledgment let a packet go, and what its sender waited for until it came.

use crate::charge::Ledger;
use crate::timeline::{Heard, Known, Novelty, REACTION, Step, slack, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

/// New data, and the acknowledgment that its side had heard last.
struct Release<'a> {
    step: &'a Step,
    heard: &'a Heard,
    /// When its side sent before.
    before: Time,
    /// What that side knew then: at least, and as its last packet shows.
    surely_knew: Known,
    knew: Known,
    /// A small segment that Nagle's rule would have kept until now.
    is_held_small: bool,
    /// Its side has more on its way than ever since it had nothing.
    grows: bool,
}

impl Ledger {
    /// The acknowledgment that let this packet go, if one did, and what the wait for it was.
    pub(super) fn let_go<'a>(&mut self, step: &'a Step) -> Option<(&'a Heard, Cause)> {
        let release = self.release(step)?;
        let in_middle = step.place.is_middle;
        let cause = if release.is_held_small && !in_middle && step.is_let_go_by(release.heard) {
            Cause::NagleDelayedAck
        } else if !step.place.inside {
            return None;
        } else if step.end > release.knew.edge {
            self.let_go_by_room(&release)
        } else if !step.is_news(release.heard.carried) {
            self.let_go_together(&release)?
        } else {
            self.let_go_by_turn(&release)?
        };
        Some((release.heard, cause))
    }

    fn release<'a>(&mut self, step: &'a Step) -> Option<Release<'a>> {
        let heard = step.heard.as_ref()?;
        let (start, flow) = (step.end.saturating_sub(step.len), self.flow(step.side));
        let drained = start <= heard.acked;
        let grows = flow.grows(step, step.end.saturating_sub(heard.acked), drained);
        if step.novelty != Some(Novelty::New) {
            return None;
        }
        if drained {
            flow.begin = step.at;
        }
        let (surely_knew, before) = (step.knew?, step.before?);
        // what let its last packet go it knew for certain
        let last = flow.round.map(|(known, _)| known);
        let last = last.filter(|last| last.at > surely_knew.at && last.acked < heard.acked);
        let knew = last.unwrap_or(surely_knew);
        Some(Release {
            step,
            heard,
            before,
            surely_knew,
            knew,
            is_held_small: !step.place.is_full && drained && knew.acked < start,
            grows,
        })
    }

    /// There was no room for it before.
    fn let_go_by_room(&mut self, release: &Release<'_>) -> Cause {
        let (step, heard) = (release.step, release.heard);
        let flow = self.flow(step.side);
        let is_shut = heard.freed.is_some() && step.is_news(heard.at);
        // what filled a hole was waited for because there was one
        let fills = heard.fills && step.is_news(heard.at);
        let repaired = flow.after.filter(|_| fills);
        flow.has_filled |= is_shut || repaired.is_none();
        match repaired {
            _ if is_shut => Cause::ZeroWindow,
            Some(cause) => cause,
            None => Cause::ReceiveWindow,
        }
    }

    /// It left together with the one before.
    fn let_go_together(&mut self, release: &Release<'_>) -> Option<Cause> {
        let step = release.step;
        let (let_go, cause) = self.flow(step.side).round?;
        let is_same = step.at - release.before <= sum(step.serial, slack(step.serial));
        (let_go == release.heard.known() && is_same).then_some(cause)
    }

    /// There was room for it, but its sender had as much on its way as it allowed itself.
    fn let_go_by_turn(&mut self, release: &Release<'_>) -> Option<Cause> {
        let (step, heard) = (release.step, release.heard);
        // without Nagle's rule nothing keeps the end of a message
        let is_kept = release.is_held_small && step.place.is_middle;
        let reaction = if is_kept {
            REACTION.max(Span((heard.at - release.before).0 / 4))
        } else {
            REACTION
        };
        if step.at - step.soonest(heard.carried) > sum(reaction, slack(step.near)) {
            return None;
        }
        // a new message waited for an acknowledgment only if there was as much on its way as ever
        let was_in_flight = step.end.saturating_sub(step.len + release.knew.acked);
        let flow = self.flow(step.side);
        if !step.place.is_middle && was_in_flight < flow.widest - flow.widest / 4 {
            return None;
        }
        let nearly_full = || release.surely_knew.is_nearly_full(step.end - step.len);
        Some(match flow.after {
            _ if is_kept => Cause::NagleDelayedAck,
            _ if flow.has_filled && nearly_full() => Cause::ReceiveWindow,
            Some(cause) => cause,
            None if release.grows => Cause::SlowStart,
            None => Cause::SendWindow,
        })
    }
}
