//! Describes each packet that advances the connection: what its sender knew, and what the path adds.

use crate::netbios::marks;
use crate::path::{LEAST, LastData, PathUse, wire_bytes};
use crate::tcp::connection::backlog::Situation;
use crate::tcp::connection::{Arrival, Connection};
use crate::timeline::{
    AckSample, Advance, MessagePosition, Novelty, SendLimit, SentSegment, Side, answers, of,
    of_mut, slack, sum,
};
use coax_capture::Segment;
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

/// If this side's data is a larger part of what a saturated path carries, thousandths, it does not wait for others.
const MOST_SHARED: u64 = 800;

impl Connection {
    /// Charges the time up to a packet that advances the connection.
    pub(super) fn step(&mut self, segment: &Segment<'_>, arrival: Arrival) {
        let (at, side, novelty) = (arrival.at, arrival.side, arrival.novelty);
        let len = u64::from(segment.len);
        let same = self.last_data.filter(|last| last.side == side);
        if self.takes_turn(side, arrival.start) {
            of_mut(&mut self.streams, side.other()).sent.is_whole();
        }
        let mut step = self.describe(segment, arrival);
        self.describe_use(&mut step);
        if let Some(way) = of_mut(&mut self.releases, side)
            .sent(&step)
            .filter(|_| step.is_framed)
        {
            self.path.note_way(side, way);
        }
        if novelty == Some(Novelty::New) {
            self.path.note_data_pace(&step, same);
            self.path.note_exchange(&step, self.last_data);
        }
        let sack = self.streams.iter().all(|stream| stream.figures.sack);
        of_mut(&mut self.streams, side)
            .retransmissions
            .sent(&step, sack);
        self.charger.advance(&step);
        self.note_sent(&step, arrival.start);
        if side == Side::Server {
            let situation = Situation {
                path: &self.path,
                conversation: &self.conversation,
                streams: &self.streams,
            };
            self.backlog.note_answer(at, &situation);
        }
        self.last_data = Some(LastData {
            side,
            at,
            len,
            wire: step.wire,
            in_a_row: same.map_or(1, |last| last.in_a_row.saturating_add(1)),
        });
        let stream = of_mut(&mut self.streams, side);
        stream.last_sent = Some((at, step.wire));
        if novelty == Some(Novelty::New) {
            let is_first = stream.acked >= arrival.start;
            self.path.begin_burst(side, at, arrival.start, is_first);
        }
    }

    /// When what a side sent is carried.
    fn note_sent(&mut self, step: &Advance, start: u64) {
        if matches!(step.novelty, Some(Novelty::New) | None) {
            let round = self.path.way(step.side.other()).0.saturating_mul(2);
            let then = Time(step.at.0.saturating_sub(round));
            let stream = of_mut(&mut self.streams, step.side);
            let is_ahead = !step.is_behind;
            stream.sent.add(step.at, step.end, step.serial, is_ahead);
            stream.sent.forget(stream.acked, then);
        } else {
            self.note_again(step, start);
        }
    }

    fn describe(&self, segment: &Segment<'_>, arrival: Arrival) -> Advance {
        let (at, side, start) = (arrival.at, arrival.side, arrival.start);
        let (stream, other) = (of(&self.streams, side), of(&self.streams, side.other()));
        let (len, wire) = (u64::from(segment.len), wire_bytes(segment));
        let end = start.saturating_add(len);
        let near = self.path.bare_way(side);
        let is_unknown = self.is_framed() && self.path.measured_way(side).is_none();
        let is_behind = self.path.is_behind(side) && !is_unknown;
        let place = self.place(segment, arrival);
        let (knew, heard) = self.heard_by(side, wire, at);
        Advance {
            at,
            side,
            len,
            novelty: arrival.novelty,
            missing: stream.missing(start, arrival.unseen),
            told: stream.told_of(end, other),
            acked: stream.acked,
            end,
            highest: stream.highest,
            before: stream.last_sent.map(|(at, _)| at),
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
            is_next: !is_behind && arrival.novelty != Some(Novelty::New) && stream.sent.is_next(at),
            busy: (stream.sent.busy_since, stream.sent.busy),
            other_busy: (other.sent.busy_since, other.sent.busy),
            late: stream.sent.jitter.allowance(),
            queued_for: stream.by_clock.late,
            order: stream.by_clock.order,
            is_late_alone: stream.by_clock.is_alone,
            delays: stream.delays.delays(),
            ack_delays: other.delays.delays(),
            hole_since: stream.hole_since,
            least_timer: of(&self.stats, side).least_timer(),
            place,
            held_by: self
                .reply(side)
                .or_else(|| self.backlog.held_by(side, &self.situation())),
            full: stream.send_limits.full(),
            saturated: None,
            carrying: 0,
            is_shared: false,
            rivals: Span(0),
            is_framed: self.is_framed(),
            is_by_timer: self.is_by_timer(segment, side),
        }
    }

    /// Adds how busy the path was until then. It is a step of its own because what follows from it depends on all the rest.
    fn describe_use(&self, step: &mut Advance) {
        let asked = answers(step).filter(|_| step.is_behind);
        step.rivals = asked.map_or(Span(0), |asked| self.rivals(step, &asked));
        let asks_ahead = |side| side == step.side && step.place.asks_ahead;
        let uses = Side::BOTH.map(|of| self.path_use(of, step.at, asks_ahead(of)));
        if uses.iter().any(Option::is_some) {
            self.apply_use(step, &uses);
        }
    }

    /// For how long the path carried other connections' data while what answers a request of `asked` was under way.
    fn rivals(&self, step: &Advance, asked: &SentSegment) -> Span {
        let (to, back) = (step.side.other(), step.side);
        // what was acknowledged waited no longer
        let acked = self.path.acked_at(to, asked.end).unwrap_or(step.at);
        let most = acked - step.soonest(asked.carried);
        let asked = asked.at;
        // behind the capture, the request stands in line with what was sent before it
        let before = Time(asked.0.saturating_sub((step.at - asked).0));
        let ahead = match self.path.is_behind(to) {
            true => Span(0),
            false => self.path.rivals(to, before, asked).min(most),
        };
        sum(ahead, self.path.rivals(back, asked, step.at))
    }

    fn apply_use(&self, step: &mut Advance, uses: &[Option<PathUse>; 2]) {
        let side = step.side;
        let own = uses.iter().flatten().filter_map(|found| found.own_share);
        step.is_shared = own.min().is_some_and(|share| share < MOST_SHARED);
        let is_alone = step.is_behind && step.is_alone();
        let uses =
            Side::BOTH.map(|of_side| of(uses, of_side).filter(|_| !(of_side == side && is_alone)));
        let shares = uses.iter().flatten().filter_map(|found| found.own_share);
        // a client next to the capture: when it could have asked is seen
        let is_near = side == Side::Client && self.path.is_behind(Side::Server);
        step.saturated = shares
            .max()
            .filter(|_| !(is_near && answers(step).is_some()));
        step.carrying = of(&uses, side).map_or(0, |found| found.carrying);
    }

    /// How busy the path has been for some round trips while `side` had data to send, if it still has, or `asks_ahead`. Without a
    /// handshake the delay of an empty path is unknown.
    fn path_use(&self, side: Side, at: Time, asks_ahead: bool) -> Option<PathUse> {
        if !self.has_start {
            return None;
        }
        let stream = of(&self.streams, side);
        let goes_on = if self.path.is_behind(side) {
            asks_ahead || self.has_more(side)
        } else {
            stream.highest > stream.acked
        };
        goes_on.then(|| self.path.path_use(side, at)).flatten()
    }

    /// Whether `side` has more to send, as far as its messages show: what the capture kept of them must not matter.
    pub(super) fn has_more(&self, side: Side) -> bool {
        let conversation = &self.conversation;
        conversation.is_plain()
            || match side {
                Side::Client => conversation.is_inside(side),
                Side::Server => conversation.owes(side),
            }
    }

    /// A side sent something again.
    fn note_again(&mut self, step: &Advance, start: u64) {
        let stream = of_mut(&mut self.streams, step.side);
        let is_needed = stream.acked < step.end;
        let by = if is_needed {
            self.charger.sent_again_by(step.side)
        } else {
            step.taken_for()
        };
        stream.sent.note_busy(step.at, step.serial, !step.is_behind);
        if is_needed || step.is_next {
            let serial = if step.is_next { step.serial } else { Span(0) };
            let kind = (!step.is_behind, is_needed);
            let place = (start, step.end);
            stream.sent.add_again(step.at, place, (by, serial), kind);
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
        let sent = &of(&self.streams, side).sent;
        sent.again_between(then(self.charger.at()), then(at))
    }

    /// What `side` surely knew when it sent before, and the latest that it knew when it sent what was captured at `at`.
    fn heard_by(&self, side: Side, wire: u64, at: Time) -> (Option<SendLimit>, Option<AckSample>) {
        let stream = of(&self.streams, side);
        let slack = slack(self.path.bare_way(side));
        let noise = if self.path.is_behind(side) {
            slack
        } else {
            Span(0)
        };
        let known_before = |(before, wire)| {
            let ahead = sum(self.path.ahead(side, wire), noise);
            stream
                .send_limits
                .known(before, ahead)
                .map(AckSample::known)
        };
        let heard = stream
            .send_limits
            .known(at + slack, self.path.ahead(side, wire));
        let heard = heard.filter(|heard| heard.at <= at).or_else(|| {
            // acknowledgments of frames come in bursts, and the latest of one may be too late
            let ahead = Span(self.path.ahead(side, wire).0.saturating_sub(slack.0));
            let earlier = self
                .is_framed()
                .then(|| stream.send_limits.known(at, ahead));
            earlier.flatten().filter(|heard| heard.at <= at)
        });
        let heard = heard.copied();
        (stream.last_sent.and_then(known_before), heard)
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            path: &self.path,
            conversation: &self.conversation,
            streams: &self.streams,
        }
    }

    fn place(&self, segment: &Segment<'_>, arrival: Arrival) -> MessagePosition {
        let (conversation, side, at) = (&self.conversation, arrival.side, arrival.at);
        let is_middle =
            !self.takes_turn(side, arrival.start) && conversation.continues(side, segment.data);
        let asks_ahead = conversation.asks_ahead(side)
            || self.path.is_behind(side)
                && conversation.left_before_answer(side, at, self.path.bare_way(side));
        MessagePosition {
            inside: is_middle || conversation.owes(side),
            is_middle,
            asks_ahead: !is_middle && asks_ahead,
            is_cut: self.is_cut(segment, side),
            // frames of NetBEUI and IPX wait for nothing because they are small
            is_full: self.is_framed() || self.is_full(side, segment.len),
            is_event: side == Side::Server && !is_middle && conversation.awaits_event(),
            purpose: conversation.purpose(),
        }
    }

    /// Whether `side` answers with the bytes from `start` on, as far as that shows where no messages are known: the other side spoke
    /// last, and has all that was said before.
    fn takes_turn(&self, side: Side, start: u64) -> bool {
        let has_heard = self.last_data.is_some_and(|last| last.side != side);
        has_heard && self.conversation.is_plain() && of(&self.streams, side).acked >= start
    }

    /// Whether its message goes on after it.
    fn is_cut(&self, segment: &Segment<'_>, side: Side) -> bool {
        if self.is_framed() {
            return !segment.flags.has(marks::END);
        }
        self.conversation
            .is_inside_after(side, u64::from(segment.len))
    }

    /// Whether `side` sends no longer segments than this one; options may take twelve bytes of it.
    fn is_full(&self, side: Side, len: u32) -> bool {
        let longest = of(&self.streams, side).figures.largest_segment;
        let mss = of(&self.streams, side.other()).figures.mss;
        len.saturating_add(12) >= mss.map_or(longest, u32::from)
    }

    /// What `side` answers with what was captured at `at`: the server the oldest request of which it knew when that left,
    /// the client the latest answer.
    fn asked(
        &self,
        side: Side,
        place: &MessagePosition,
        wire: u64,
        at: Time,
    ) -> Option<SentSegment> {
        if place.is_middle {
            return None;
        }
        let lately = at + slack(self.path.bare_way(side));
        let then = at.min(Time(lately.0.saturating_sub(self.path.ahead(side, wire).0)));
        let sent = &of(&self.streams, side.other()).sent;
        // an answer whose end shows only now is not told of yet
        let untold = usize::from(self.conversation.is_inside(side));
        let has_requests = side == Side::Server && !self.conversation.is_plain();
        let oldest = self.conversation.oldest_request(untold);
        let asked = match oldest.filter(|_| has_requests) {
            Some(asked) => sent.captured_by(asked),
            None => None,
        };
        // a request that is no longer in the log has waited for long, or its answer is missing
        if asked.is_none() && has_requests && self.conversation.answers_in_order(untold) {
            return None;
        }
        let asked = asked.or_else(|| sent.whole_by(then, of(&self.streams, side.other()).acked));
        asked.map(|asked| sent.mended(asked, then))
    }
}
