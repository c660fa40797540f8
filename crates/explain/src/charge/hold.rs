//! Waits of a sender that could not go on, whoever's packet ends them: a full window, or a busy server.

use crate::charge::Ledger;
use crate::timeline::{Burst, Heard, Held, Step, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

impl Ledger {
    /// Charges what a packet waited for that its own stream does not show.
    pub(super) fn hold(&mut self, step: &Step, held: Held, gap: Span) {
        match held {
            Held::Window => self.charge(Cause::ReceiveWindow, gap),
            Held::Works | Held::Fed => self.charge(Cause::ServerThink, gap),
            Held::Full { since, works } => {
                let is_own = step.full == Some(since);
                let way = if is_own { step.far } else { step.near };
                let way = sum(way, step.serial_ack);
                let told = since.carried + way;
                let worked = if works { told - self.at } else { Span(0) };
                let rest = self.part(Cause::ServerThink, gap, worked);
                if works {
                    self.charge(Cause::ZeroWindow, rest);
                } else {
                    self.wait_for_room(&since, way, step.at, gap);
                }
            }
        }
    }

    /// The same side goes on when there is room again.
    pub(super) fn go_on_in_room(&mut self, step: &Step, heard: &Heard, full: &Burst, gap: Span) {
        let way = sum(step.far, step.serial_ack);
        let left = heard.carried + step.near;
        let own = step.at - self.at.max(left);
        let rest = self.wait_for_room(full, way, heard.carried, gap);
        let rest = self.part(Cause::ReceiveWindow, rest, Span(rest.0 - rest.0.min(own.0)));
        let rest = self.part(Cause::Bandwidth, rest, step.serial);
        self.charge(step.side.think(), rest);
    }

    /// A stretch that somebody waited for who has had no room for more since `full` was sent: up to `until` there was none.
    /// Up to when the other side would have told of more, it is the way there and back.
    pub(super) fn wait_for_room(
        &mut self,
        full: &Burst,
        way: Span,
        until: Time,
        gap: Span,
    ) -> Span {
        let from = self.at;
        let told = full.carried + way;
        let rest = self.part(Cause::Bandwidth, gap, full.carried - from);
        let rest = self.part(Cause::ReceiveWindow, rest, told - from.max(full.carried));
        self.part(Cause::ZeroWindow, rest, until - from.max(told))
    }
}
