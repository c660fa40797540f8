//! Waits of a sender that could not go on, whoever's packet ends them: a full window, or a busy server.

use crate::charge::Charger;
use crate::timeline::{AckSample, Advance, Blocked, SentSegment, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

impl Charger {
    /// Charges what a packet waited for that its own stream does not show.
    pub(super) fn charge_blocked(&mut self, advance: &Advance, held: Blocked, gap: Span) {
        match held {
            Blocked::Window => self.charge(Cause::ReceiveWindow, gap),
            Blocked::Works | Blocked::Fed => self.charge(Cause::ServerThink, gap),
            Blocked::Full { since, works } => {
                let is_own = advance.full == Some(since);
                let way = if is_own { advance.far } else { advance.near };
                let way = sum(way, advance.serial_ack);
                let told = since.carried + way;
                let worked = if works { told - self.at } else { Span(0) };
                let rest = self.part(Cause::ServerThink, gap, worked);
                if works {
                    self.charge(Cause::ZeroWindow, rest);
                } else {
                    self.charge_full_window(&since, way, advance.at, gap);
                }
            }
        }
    }

    /// The same side goes on when there is room again.
    pub(super) fn charge_reopened_window(
        &mut self,
        advance: &Advance,
        heard: &AckSample,
        full: &SentSegment,
        gap: Span,
    ) {
        let way = sum(advance.far, advance.serial_ack);
        let left = heard.carried + advance.near;
        let own = advance.at - self.at.max(left);
        let rest = self.charge_full_window(full, way, heard.carried, gap);
        let rest = self.part(Cause::ReceiveWindow, rest, Span(rest.0 - rest.0.min(own.0)));
        let rest = self.part(Cause::Bandwidth, rest, advance.serial);
        self.charge(advance.side.think(), rest);
    }

    /// A stretch that somebody waited for who has had no room for more since `full` was sent: up to `until` there was none.
    /// Up to when the other side would have told of more, it is the way there and back.
    pub(super) fn charge_full_window(
        &mut self,
        full: &SentSegment,
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
