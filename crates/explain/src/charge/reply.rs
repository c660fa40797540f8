//! Waits for an answer without which a sender may not go on (NetBEUI, IPX).

use crate::charge::Charger;
use crate::smb::Purpose;
use crate::timeline::{Advance, Reply, answers, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

impl Charger {
    /// A stretch that ends with what its sender could send only when the answer had come: up to its question it worked, then
    /// the question and the answer travelled, and what is left of the wait has the reply's cause.
    pub(super) fn charge_reply(&mut self, advance: &Advance, reply: Reply, gap: Span) {
        let from = self.at();
        let before = gap.min(reply.since - from);
        let asked = answers(advance).filter(|asked| asked.carried < reply.since);
        if let Some(asked) = asked.filter(|_| before.0 > 0) {
            let until = Time(reply.since.0);
            let question = Advance {
                at: until,
                ..*advance
            };
            self.charge_response(&question, asked, before);
        } else {
            self.charge(advance.side.think(), before);
        }
        let rest = Span(gap.0 - before.0);
        let travel = match advance.place.purpose {
            Purpose::Data if advance.len > 0 => Cause::RoundTrips,
            _ => Cause::Metadata,
        };
        let wait = reply.came - reply.since.max(from);
        let there = wait.min(sum(advance.far, advance.serial_ack));
        let rest = self.part(travel, rest, there);
        let rest = self.part(reply.cause, rest, Span(wait.0 - there.0));
        let own = advance.at - advance.soonest(reply.came);
        let rest = self.part(travel, rest, Span(rest.0 - rest.0.min(own.0)));
        self.charge(advance.side.think(), rest);
    }
}
