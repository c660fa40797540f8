//! Waits of a sender that could not go on, whoever's packet ends them: a full window, or a busy server.

use crate::charge::Charger;
use crate::timeline::{AckSample, Advance, Blocked, SentSegment, Side, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

impl Charger {
    /// What kept a sender that paces. If it has as much on its way as ever, and that does not grow, it is its send buffer.
    pub(super) fn paced_by(&mut self, advance: &Advance) -> Cause {
        let flow = self.flow(advance.side);
        let acked = advance.heard.map_or(0, |heard| heard.acked);
        let in_flight = advance.end.saturating_sub(acked);
        if flow.is_constant && in_flight >= flow.widest - flow.widest / 4 {
            Cause::SendWindow
        } else {
            Cause::Pacing
        }
    }

    /// Charges what a packet waited for that its own stream does not show.
    pub(super) fn charge_blocked(&mut self, advance: &Advance, held: Blocked, gap: Span) {
        match held {
            Blocked::Window => self.charge(Cause::ReceiveWindow, gap),
            Blocked::Reply(reply) => self.charge_reply(advance, reply, gap),
            // what it answered before may still be on its way
            Blocked::Works | Blocked::Fed => {
                let rest = self.part(Cause::Bandwidth, gap, advance.other_busy.1 - self.at);
                self.charge(Cause::ServerThink, rest);
            }
            Blocked::Full { since, works } => {
                let is_own = advance.full == Some(since);
                let (reader, way) = if is_own {
                    (advance.side.other(), advance.far)
                } else {
                    (advance.side, advance.near)
                };
                let way = sum(way, advance.serial_ack);
                let told = since.carried + way;
                let worked = if works { told - self.at } else { Span(0) };
                let rest = self.part(Cause::ServerThink, gap, worked);
                if works {
                    self.charge(reader.think(), rest);
                } else {
                    let until = (reader, advance.at);
                    self.charge_full_window(&since, way, until, gap);
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
        let until = (advance.side.other(), heard.carried);
        let rest = self.charge_full_window(full, way, until, gap);
        let rest = self.part(Cause::ReceiveWindow, rest, Span(rest.0 - rest.0.min(own.0)));
        let rest = self.part(Cause::Bandwidth, rest, advance.serial);
        self.charge(advance.side.think(), rest);
    }

    /// A stretch that somebody waited for who has had no room for more since `full` was sent: up to `until` there was none,
    /// because the program of that side did not read. Up to when it would have told of more, it is the way there and back.
    pub(super) fn charge_full_window(
        &mut self,
        full: &SentSegment,
        way: Span,
        (reader, until): (Side, Time),
        gap: Span,
    ) -> Span {
        let from = self.at;
        let told = full.carried + way;
        let rest = self.part(Cause::Bandwidth, gap, full.carried - from);
        let rest = self.part(Cause::ReceiveWindow, rest, told - from.max(full.carried));
        self.part(reader.think(), rest, until - from.max(told))
    }
}
