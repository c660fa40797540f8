//! Late packets of the machine behind the path. Its clock shows how late each came (RFC 7323); that time is not its processing.
//!
//! The way there shows no clock. It is the same path, so it is taken to make packets as late as the way back does, all
//! together: what answers a request may be late by no more than answers were, and no more often.

use crate::charge::Charger;
use crate::charge::credit::late_cause;
use crate::smb::Purpose;
use crate::timeline::{AckSample, Advance, Delays, Side, sum};
use coax_cause::Cause;
use coax_wire::time::Span;

impl Charger {
    /// For how much of `wait`, which ended with a packet of `side` that came late by `late`, packets were late there and back.
    /// What waited for its own side's data (not `is_alone`) does not show what the way there does.
    pub(super) fn late_of(
        &mut self,
        side: Side,
        (late, is_alone): (Span, bool),
        wait: Span,
    ) -> Span {
        let credit = &mut self.flow(side).credit;
        if is_alone {
            credit.add(late);
        }
        let back = wait.min(late);
        sum(back, credit.take(Span(wait.0 - back.0)))
    }

    /// What is left of a delay of an acknowledgment and of its sender's own time after it without the time in which packets
    /// were late; that time, and what makes them late.
    pub(super) fn late_round(
        &mut self,
        advance: &Advance,
        heard: &AckSample,
        (waited, own): (Span, Span),
    ) -> (Span, Span, (Delays, Span)) {
        if advance.is_behind {
            let late = (advance.queued_for, advance.is_late_alone);
            let late = self.late_of(advance.side, late, own);
            return (waited, Span(own.0 - late.0), (advance.delays, late));
        }
        let late = (heard.late, heard.is_late_alone);
        let late = self.late_of(advance.side.other(), late, waited);
        let left = Span(waited.0 - late.0);
        (left, own, (advance.ack_delays, late))
    }

    /// The same side goes on behind the path, later than it left: charges by how much, and returns the rest.
    pub(super) fn charge_late(&mut self, advance: &Advance, gap: Span) -> Span {
        if !advance.is_behind {
            return gap;
        }
        let before = self.flow(advance.side).late;
        let late = gap.min(Span(advance.queued_for.0.saturating_sub(before.0)));
        let travel = match advance.place.purpose {
            Purpose::Data => Cause::RoundTrips,
            _ => Cause::Metadata,
        };
        let cause = late_cause(advance, advance.delays, late, travel);
        self.part(cause, gap, late)
    }
}
