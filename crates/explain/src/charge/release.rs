//! Which acknowledgment let a packet go, and what its sender waited for until it came.

use crate::charge::Charger;
use crate::constants::{MAX_REACTION, MIN_SEND_BUFFER};
use crate::timeline::{AckSample, Advance, Novelty, SendLimit, slack, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

/// New data, and the acknowledgment that its side had heard last.
struct Release<'a> {
    advance: &'a Advance,
    heard: &'a AckSample,
    /// When its side sent before.
    before: Time,
    /// What that side knew then: at least, and as its last packet shows.
    surely_knew: SendLimit,
    knew: SendLimit,
    /// A small segment that Nagle's rule would have kept until now.
    is_held_small: bool,
    /// Its side has more on its way than ever since it had nothing.
    grows: bool,
}

impl Charger {
    /// The acknowledgment that let this packet go, if one did, and what the wait for it was.
    pub(super) fn released_by<'a>(
        &mut self,
        advance: &'a Advance,
    ) -> Option<(&'a AckSample, Cause)> {
        let describe_release = self.describe_release(advance)?;
        let in_middle = advance.place.is_middle;
        let cause = if describe_release.is_held_small
            && !in_middle
            && advance.is_let_go_by(describe_release.heard)
        {
            Cause::NagleDelayedAck
        } else if !advance.place.inside && !advance.place.asks_ahead {
            return None;
        } else if advance.end > describe_release.knew.edge {
            self.let_go_by_room(&describe_release)
        } else if !advance.is_news(describe_release.heard.carried) {
            self.let_go_together(&describe_release)?
        } else {
            self.let_go_by_turn(&describe_release)?
        };
        if cause == Cause::NagleDelayedAck {
            self.flow(advance.side).small.note_kept();
        }
        Some((describe_release.heard, cause))
    }

    fn describe_release<'a>(&mut self, advance: &'a Advance) -> Option<Release<'a>> {
        let heard = advance.heard.as_ref()?;
        let (start, flow) = (
            advance.end.saturating_sub(advance.len),
            self.flow(advance.side),
        );
        let drained = start <= heard.acked;
        let grows = flow.grows(advance, advance.end.saturating_sub(heard.acked), drained);
        if advance.novelty != Some(Novelty::New) {
            return None;
        }
        if drained {
            flow.begin = advance.at;
        }
        let small = flow.small;
        // After a loss, a congestion window of one segment also holds back a small segment. A segment that already waited when
        // the timer expired needlessly was held back by Nagle's algorithm.
        let may_be_nagle =
            flow.after.is_none() || flow.needless == Some(start) || small.were_kept();
        flow.small.note(advance);
        let (surely_knew, before) = (advance.knew?, advance.before?);
        // what let its last packet go it knew for certain
        let last = flow.round.map(|(known, _)| known);
        let last = last.filter(|last| last.at > surely_knew.at && last.acked < heard.acked);
        let knew = last.unwrap_or(surely_knew);
        Some(Release {
            advance,
            heard,
            before,
            surely_knew,
            knew,
            is_held_small: may_be_nagle && small.keeps(advance, (knew.acked, heard.acked)),
            grows,
        })
    }

    /// There was no room for it before.
    fn let_go_by_room(&mut self, describe_release: &Release<'_>) -> Cause {
        let (advance, heard) = (describe_release.advance, describe_release.heard);
        let flow = self.flow(advance.side);
        let is_shut = heard.freed.is_some() && advance.is_news(heard.at);
        // what filled a hole was waited for because there was one
        let fills = heard.fills && advance.is_news(heard.at);
        let repaired = flow.after.filter(|_| fills);
        flow.has_filled |= is_shut || repaired.is_none();
        match repaired {
            _ if is_shut => Cause::ZeroWindow,
            Some(cause) => cause,
            None => Cause::ReceiveWindow,
        }
    }

    /// It left together with the one before.
    fn let_go_together(&mut self, describe_release: &Release<'_>) -> Option<Cause> {
        let advance = describe_release.advance;
        let (released_by, cause) = self.flow(advance.side).round?;
        let is_same =
            advance.at - describe_release.before <= sum(advance.serial, slack(advance.serial));
        (released_by == describe_release.heard.known() && is_same).then_some(cause)
    }

    /// There was room for it, but its sender had as much on its way as it allowed itself.
    fn let_go_by_turn(&mut self, describe_release: &Release<'_>) -> Option<Cause> {
        let (advance, heard) = (describe_release.advance, describe_release.heard);
        // without Nagle's rule nothing keeps the end of a message
        let is_kept = describe_release.is_held_small && advance.place.is_middle;
        // in the middle of a message a program has little to do: what it takes is a part of the round, and charged as its time
        let reaction = if advance.place.is_middle {
            MAX_REACTION.max(Span((heard.at - describe_release.before).0 / 4))
        } else {
            MAX_REACTION
        };
        let was_in_flight = advance
            .end
            .saturating_sub(advance.len + describe_release.knew.acked);
        let flow = self.flow(advance.side);
        let was_full = was_in_flight >= flow.widest - flow.widest / 4;
        // a window of frames was full, so the acknowledgment was waited for, however long its sender took after it
        let has_waited = advance.is_framed && advance.place.is_middle && was_full;
        let limit = sum(reaction, slack(advance.near));
        if !has_waited && advance.at - advance.soonest(heard.carried) > limit {
            return None;
        }
        // a new message waited for an acknowledgment only if there was as much on its way as ever
        if !advance.place.is_middle && !was_full {
            return None;
        }
        if !advance.place.inside {
            return frees_send_buffer(advance, heard, was_in_flight).then_some(Cause::SendWindow);
        }
        let nearly_full = || {
            describe_release
                .surely_knew
                .is_nearly_full(advance.end - advance.len)
        };
        Some(match flow.after {
            _ if is_kept => Cause::NagleDelayedAck,
            _ if flow.has_filled && nearly_full() => Cause::ReceiveWindow,
            Some(cause) => cause,
            None if describe_release.grows && !advance.is_framed => Cause::SlowStart,
            None => Cause::SendWindow,
        })
    }
}

/// Whether a program that waited for room in its send buffer goes on at this acknowledgment. Linux wakes it when at most two thirds
/// of the buffer are in use (sk_stream_is_writeable in include/net/sock.h).
fn frees_send_buffer(advance: &Advance, heard: &AckSample, was_in_flight: u64) -> bool {
    let start = advance.end.saturating_sub(advance.len);
    let left = start.saturating_sub(heard.acked);
    was_in_flight >= MIN_SEND_BUFFER && left.saturating_mul(3) <= was_in_flight.saturating_mul(2)
}
