//! What the ledger is told of a packet: what its sender knew, and what the path makes of it.

use crate::path::{LEAST, LastData, wire_bytes};
use crate::tcp::connection::backlog::Situation;
use crate::tcp::connection::{Arrival, Connection};
use crate::timeline::{Burst, Heard, Known, Novelty, Place, Side, Step, of, of_mut, slack, sum};
use coax_capture::Segment;
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

impl Connection {
    /// Tells the ledger of a packet that brings the connection forward.
    pub(super) fn step(&mut self, segment: &Segment<'_>, arrival: Arrival) {
        let (at, side, novelty) = (arrival.at, arrival.side, arrival.novelty);
        let len = u64::from(segment.len);
        let same = self.last_data.filter(|last| last.side == side);
        let step = self.describe(segment, arrival);
        if novelty == Some(Novelty::New) {
            self.path.note_data_pace(&step, same);
            self.path.note_exchange(&step, self.last_data);
        }
        let sack = self.halves.iter().all(|half| half.figures.sack);
        of_mut(&mut self.halves, side).repeats.sent(&step, sack);
        self.ledger.advance(&step);
        self.note_sent(&step, arrival.start);
        if side == Side::Server {
            let situation = Situation {
                path: &self.path,
                conversation: &self.conversation,
                halves: &self.halves,
            };
            self.served.note_answer(at, &situation);
        }
        self.last_data = Some(LastData {
            side,
            at,
            len,
            wire: step.wire,
            in_a_row: same.map_or(1, |last| last.in_a_row.saturating_add(1)),
        });
        let half = of_mut(&mut self.halves, side);
        half.last_sent = Some((at, step.wire));
        if half.acked >= arrival.start && novelty == Some(Novelty::New) {
            self.path.begin_burst(side, at, arrival.start);
        }
    }

    /// When what a side sent is carried.
    fn note_sent(&mut self, step: &Step, start: u64) {
        if matches!(step.novelty, Some(Novelty::New) | None) {
            let round = self.path.way(step.side.other()).0.saturating_mul(2);
            let then = Time(step.at.0.saturating_sub(round));
            let half = of_mut(&mut self.halves, step.side);
            half.sent
                .add(step.at, step.end, step.serial, !step.is_behind);
            half.sent.forget(half.acked, then);
        } else {
            self.note_again(step, start);
        }
    }

    fn describe(&self, segment: &Segment<'_>, arrival: Arrival) -> Step {
        let (at, side, start) = (arrival.at, arrival.side, arrival.start);
        let (half, other) = (of(&self.halves, side), of(&self.halves, side.other()));
        let (len, wire) = (u64::from(segment.len), wire_bytes(segment));
        let end = start.saturating_add(len);
        let (near, is_behind) = (self.path.bare_way(side), self.path.is_behind(side));
        let place = self.place(segment, side);
        let (knew, heard) = self.heard_by(side, wire, at);
        Step {
            at,
            side,
            len,
            novelty: arrival.novelty,
            missing: half.missing(start, arrival.unseen),
            told: half.told_of(end, other),
            acked: half.acked,
            end,
            highest: half.highest,
            before: half.last_sent.map(|(at, _)| at),
            knew,
            heard,
            asked: self.asked(side, &place, wire, at),
            near,
            far: self.path.bare_way(side.other()),
            wire,
            serial: self.path.carrying(side, wire),
            serial_ack: self.path.carrying(side.other(), LEAST),
            is_behind,
            again: self.carried_again(side, at),
            is_next: !is_behind && arrival.novelty != Some(Novelty::New) && half.sent.is_next(at),
            busy: (half.sent.busy_since, half.sent.busy),
            late: half.sent.jitter.allowance(),
            place,
            held_by: self.served.held_by(side, &self.situation()),
            full: half.edges.full(),
        }
    }

    /// A side sent something again.
    fn note_again(&mut self, step: &Step, start: u64) {
        let half = of_mut(&mut self.halves, step.side);
        let is_needed = half.acked < step.end;
        let by = if is_needed {
            self.ledger.sent_again_by(step.side)
        } else {
            step.taken_for()
        };
        half.sent.note_busy(step.at, step.serial, !step.is_behind);
        if is_needed || step.is_next {
            let serial = if step.is_next { step.serial } else { Span(0) };
            let kind = (!step.is_behind, is_needed);
            let place = (start, step.end);
            half.sent.add_again(step.at, place, (by, serial), kind);
        }
    }

    /// For how long since the last step the path carried what `side` sent again, as its acknowledgments came by `at`, and
    /// by what it had been sent.
    fn carried_again(&self, side: Side, at: Time) -> Option<(Span, Cause)> {
        if self.path.is_behind(side) {
            return None;
        }
        let back = sum(
            self.path.bare_way(side.other()),
            self.path.carrying(side.other(), LEAST),
        );
        let then = |at: Time| Time(at.0.saturating_sub(back.0));
        let sent = &of(&self.halves, side).sent;
        sent.again_between(then(self.ledger.at()), then(at))
    }

    /// What `side` surely knew when it sent before, and the latest that it knew when it sent what was captured at `at`.
    fn heard_by(&self, side: Side, wire: u64, at: Time) -> (Option<Known>, Option<Heard>) {
        let half = of(&self.halves, side);
        let slack = slack(self.path.bare_way(side));
        let noise = if self.path.is_behind(side) {
            slack
        } else {
            Span(0)
        };
        let known_before = |(before, wire)| {
            let ahead = sum(self.path.ahead(side, wire), noise);
            half.edges.known(before, ahead).map(Heard::known)
        };
        let heard = half.edges.known(at + slack, self.path.ahead(side, wire));
        let heard = heard.filter(|heard| heard.at <= at).copied();
        (half.last_sent.and_then(known_before), heard)
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            path: &self.path,
            conversation: &self.conversation,
            halves: &self.halves,
        }
    }

    fn place(&self, segment: &Segment<'_>, side: Side) -> Place {
        let conversation = &self.conversation;
        let is_middle = conversation.continues(side, segment.data);
        Place {
            inside: is_middle || conversation.owes(side),
            is_middle,
            is_cut: conversation.is_inside_after(side, u64::from(segment.len)),
            is_full: self.is_full(side, segment.len),
            purpose: conversation.purpose(),
        }
    }

    /// Whether `side` sends no longer segments than this one; options may take twelve bytes of it.
    fn is_full(&self, side: Side, len: u32) -> bool {
        let longest = of(&self.halves, side).figures.largest_segment;
        let mss = of(&self.halves, side.other()).figures.mss;
        len.saturating_add(12) >= mss.map_or(longest, u32::from)
    }

    /// What `side` answers with what was captured at `at`: the server the oldest request of which it knew when that left,
    /// the client the latest answer.
    fn asked(&self, side: Side, place: &Place, wire: u64, at: Time) -> Option<Burst> {
        if place.is_middle {
            return None;
        }
        let lately = at + slack(self.path.bare_way(side));
        let then = at.min(Time(lately.0.saturating_sub(self.path.ahead(side, wire).0)));
        let sent = &of(&self.halves, side.other()).sent;
        // an answer whose end shows only now is not told of yet
        let untold = usize::from(self.conversation.is_inside(side));
        let oldest = self.conversation.oldest_request(untold);
        let asked = match oldest.filter(|_| side == Side::Server) {
            Some(asked) => sent.captured_by(asked),
            None => sent.whole_by(then),
        };
        asked.map(|asked| sent.mended(asked, then))
    }
}
