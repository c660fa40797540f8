//! What a sender waited for between two segments of its data: its peer's window, its own congestion window, Nagle's rule, a
//! loss, or its own program.

use coax_capture::Transport;
use coax_cause::Cause;

use super::direction::{Ack, Direction, Segment};
use super::pacing;
use crate::constants::{MAX_REACTION, MIN_DELAYED_ACK, MIN_PROBE_TIMEOUT, WINDOW_PARTS};

/// A shorter pause between two segments is no wait, nanoseconds.
const MIN_WAIT: i64 = 50_000;
/// A sender that waits longer than this with data in flight, without an acknowledgment, waits for its program.
const MAX_PACING: i64 = 5_000_000;
/// A sender without TCP that asks what arrived after such a silence does so because its timer expired, nanoseconds.
const MIN_REPLY_TIMER: i64 = 100_000_000;
/// What a station sends within this time after the answer to a poll waited for it, nanoseconds.
const MAX_ANSWER: i64 = 20_000_000;
/// Segments in which a growing congestion window shows.
const GROWTH: usize = 32;

/// What a sender waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// TCP.
    Tcp(Cause),
    /// Its program.
    Own,
}

/// A wait of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) wait: Wait,
    /// It ended in the middle of a message.
    pub(super) in_message: bool,
}

/// Losses of a direction, and what repaired them.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) repairs: Vec<Repair>,
    /// Segments that were sent again and had not arrived.
    pub(super) lost: u64,
    /// Segments that were sent again and had arrived.
    pub(super) needless: u64,
}

/// Bytes that were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repair {
    start: u64,
    /// When they were due, and when they had arrived.
    pub(super) from: i64,
    pub(super) to: i64,
    /// What had them sent when they arrived.
    pub(super) cause: Cause,
}

impl Losses {
    /// What was sent again and lost again is repaired by what repairs the last loss.
    fn repaired(&mut self, repair: Repair) {
        const LATEST: usize = 64;
        let mut latest = self.repairs.iter_mut().rev().take(LATEST);
        match latest.find(|known| known.start == repair.start) {
            Some(known) => known.cause = repair.cause,
            None => self.repairs.push(repair),
        }
    }
}

/// A walk along the segments that a sender sent.
struct Walk<'a> {
    direction: &'a Direction,
    /// When its sender had received each message of the other side, in order.
    told: &'a [i64],
    /// To the receiver and back, nanoseconds.
    round: i64,
    /// The next acknowledgment.
    next_ack: usize,
    acked: u64,
    edge: u64,
    highest: u64,
    peak: u64,
    /// Bytes in flight after each segment.
    in_flight: Vec<u64>,
    /// It paces what it sends.
    is_paced: bool,
    /// It has filled the receive window since the last loss, so the congestion window is no narrower.
    has_filled: bool,
    /// The latest loss: what repairs it, up to where, and what was in flight before.
    loss: Option<(Cause, u64, u64)>,
    gaps: Vec<Gap>,
    losses: Losses,
}

/// The waits of a direction, and its losses; `back` is the shortest delay of the other direction.
pub(super) fn waits(direction: &Direction, told: &[i64], back: i64) -> (Vec<Gap>, Losses) {
    let round = direction.base + back;
    let in_flight = in_flight(direction);
    let mut walk = Walk {
        direction,
        told,
        round,
        is_paced: pacing::is_paced(direction, &in_flight, round),
        next_ack: 0,
        acked: 0,
        edge: 0,
        highest: direction.sends.first().map_or(0, |send| send.start),
        peak: 0,
        in_flight,
        has_filled: false,
        loss: None,
        gaps: Vec::new(),
        losses: Losses::default(),
    };
    walk.acked = walk.highest;
    for (place, send) in direction.sends.iter().enumerate() {
        let before = place
            .checked_sub(1)
            .and_then(|before| direction.sends.get(before));
        walk.segment(place, send, before);
    }
    (walk.gaps, walk.losses)
}

/// What the sender knew before and after the acknowledgments that came since its last segment.
struct News {
    acked: u64,
    edge: u64,
    /// The room in the window before the last of them.
    room: u64,
    last: Option<Ack>,
    last_new: Option<Ack>,
    /// The receiver asked for frames again.
    rejects: bool,
}

impl News {
    /// Whether so little of the window was free that Linux waits for more.
    fn is_nearly_full(&self) -> bool {
        let window = self.edge.saturating_sub(self.acked);
        self.edge < u64::MAX && self.room < window / WINDOW_PARTS
    }
}

impl Walk<'_> {
    fn segment(&mut self, place: usize, send: &Segment, before: Option<&Segment>) {
        let news = self.hear(send.at);
        if send.again {
            self.sent_again(send, before, &news);
        } else {
            if let Some(before) = before {
                self.new_data(place, send, before, &news);
            }
            self.highest = self.highest.max(send.end);
        }
        let in_flight = self.highest.saturating_sub(self.acked);
        self.peak = self.peak.max(in_flight);
        if let Some((_, upto, at_loss)) = self.loss
            && self.acked >= upto
            && in_flight >= at_loss
        {
            self.loss = None;
        }
    }

    /// Takes the acknowledgments that had come by `at`.
    fn hear(&mut self, at: i64) -> News {
        let mut news = News {
            acked: self.acked,
            edge: self.edge,
            room: self.edge.saturating_sub(self.highest),
            last: None,
            last_new: None,
            rejects: false,
        };
        while let Some(ack) = self
            .direction
            .acks
            .get(self.next_ack)
            .filter(|ack| ack.at <= at)
        {
            self.next_ack += 1;
            news.last = Some(*ack);
            news.rejects |= ack.rejects;
            if ack.ack > self.acked || ack.edge > self.edge {
                news.room = self.edge.saturating_sub(self.highest);
                (news.acked, news.edge) = (self.acked, self.edge);
                news.last_new = Some(*ack);
            }
            self.acked = self.acked.max(ack.ack);
            self.edge = self.edge.max(ack.edge);
        }
        news
    }

    fn new_data(&mut self, place: usize, send: &Segment, before: &Segment, news: &News) {
        if send.at - before.at < MIN_WAIT {
            return;
        }
        let in_message =
            !self.direction.begins_message(send.start) && !self.is_answered(before, send, news);
        if self.polled(before.at, send.at) {
            self.gaps.push(Gap {
                from: before.at,
                to: send.at,
                wait: Wait::Tcp(Cause::Timeout),
                in_message,
            });
            return;
        }
        let wait = match self.wait(place, send, before, news, in_message) {
            Wait::Tcp(Cause::SendWindow) if self.has_filled && news.is_nearly_full() => {
                Wait::Tcp(Cause::ReceiveWindow)
            }
            wait => wait,
        };
        self.has_filled |= matches!(wait, Wait::Tcp(Cause::ReceiveWindow | Cause::ZeroWindow));
        self.gaps.push(Gap {
            from: before.at,
            to: send.at,
            wait,
            in_message,
        });
    }

    fn wait(
        &self,
        place: usize,
        send: &Segment,
        before: &Segment,
        news: &News,
        in_message: bool,
    ) -> Wait {
        let len = send.end - send.start;
        let in_flight = self.highest.saturating_sub(news.acked);
        let Some(ack) = news.last_new.filter(|ack| ack.at > before.at) else {
            let is_held = in_message
                && in_flight > 0
                && send.at - before.at <= MAX_PACING.max(self.round / 2);
            return if is_held {
                self.congestion_or_pacing(place)
            } else {
                Wait::Own
            };
        };
        let least = len.min(self.direction.mss / 2).max(1);
        let fills = self.edge.saturating_sub(send.end) < self.direction.mss.saturating_mul(2);
        if news.room < least || (send.end > news.edge && fills) {
            // a receiver that reads at once opens its window after a round trip
            let is_shut =
                send.at - before.at > self.round.saturating_mul(2) + MAX_REACTION.0 as i64;
            return Wait::Tcp(if is_shut {
                Cause::ZeroWindow
            } else {
                Cause::ReceiveWindow
            });
        }
        let reaction = send.at - ack.at;
        let still = self.highest.saturating_sub(self.acked);
        // what begins with a message may follow the message of the other side that came with the acknowledgment
        let is_latest = news
            .last
            .is_some_and(|last| last.at == ack.at && last.is_pure);
        let may_be_free = !in_message && (!is_latest || self.is_told(before, send));
        if reaction > MAX_REACTION.0 as i64 || in_flight == 0 {
            let is_held = in_message && still > 0 && reaction <= MAX_PACING;
            return if is_held {
                self.congestion_or_pacing(place)
            } else {
                Wait::Own
            };
        }
        // Nagle's rule is TCP's
        let is_tcp = self.direction.transport == Transport::Tcp;
        let is_small = is_tcp && len < self.direction.mss.saturating_sub(12);
        if may_be_free {
            return Wait::Own;
        }
        if (is_small && ack.is_pure && self.acked >= send.start)
            || self.was_held(&ack, send, before)
        {
            return Wait::Tcp(Cause::NagleDelayedAck);
        }
        if !in_message && still == 0 {
            return Wait::Own;
        }
        self.congestion(place)
    }

    /// Whether a wait ended with the expiry of a timer: one side asked what had arrived, and the sender went on as soon as that
    /// was answered. A poll of an idle link has no such sequel.
    fn polled(&self, after: i64, upto: i64) -> bool {
        let polls = &self.direction.polls;
        let place = polls.partition_point(|at| *at <= upto);
        let last = place.checked_sub(1).and_then(|place| polls.get(place));
        let answered = self.round.saturating_mul(2) + MAX_ANSWER;
        last.is_some_and(|at| *at >= after + MIN_REPLY_TIMER && upto - at <= answered)
    }

    /// Whether the sender received a message in the time before this segment: before that, its program may have had nothing to send,
    /// unless it had received more messages than it has answered.
    fn is_told(&self, before: &Segment, send: &Segment) -> bool {
        let place = self.told.partition_point(|at| *at <= before.at);
        let is_new = self.told.get(place).is_some_and(|at| *at <= send.at);
        is_new && place <= self.direction.messages_before(send.start)
    }

    /// Whether the last message was answered: all of it was acknowledged with a message of the other side. What follows begins one,
    /// whatever a capture of short packets has of it.
    fn is_answered(&self, before: &Segment, send: &Segment, news: &News) -> bool {
        let is_acked = news.acked < self.highest && self.acked >= self.highest;
        is_acked && news.last.is_some_and(|last| !last.is_pure) && self.is_told(before, send)
    }

    /// Whether the receiver delayed an acknowledgment for most of a wait.
    fn was_held(&self, ack: &Ack, send: &Segment, before: &Segment) -> bool {
        let left = self
            .direction
            .acks_sent
            .partition_point(|(_, upto)| *upto < ack.ack);
        let left = self.direction.acks_sent.get(left).map(|(at, _)| *at);
        let arrived = self.direction.delivered_at(ack.ack);
        left.zip(arrived).is_some_and(|(left, arrived)| {
            let held = left - arrived;
            held >= MIN_DELAYED_ACK.0 as i64 && held * 2 > send.at - before.at
        })
    }

    /// What held a sender that had room in both windows, as far as its acknowledgments show.
    fn congestion_or_pacing(&self, place: usize) -> Wait {
        if self.is_paced {
            return Wait::Tcp(Cause::Pacing);
        }
        self.congestion(place)
    }

    fn congestion(&self, place: usize) -> Wait {
        if let Some((cause, _, _)) = self.loss {
            return Wait::Tcp(cause);
        }
        let after = self.in_flight.iter().skip(place).take(GROWTH);
        let grows = after.max().is_some_and(|most| *most > self.peak);
        Wait::Tcp(if grows {
            Cause::SlowStart
        } else {
            Cause::SendWindow
        })
    }

    fn sent_again(&mut self, send: &Segment, before: Option<&Segment>, news: &News) {
        let (direction, base) = (self.direction, self.direction.base);
        let Some(arrived) = direction.arrived_at(send.start) else {
            return;
        };
        if arrived < send.at + base - base / 10 || !direction.was_lost(send.start) {
            self.losses.needless += 1;
            return;
        }
        self.losses.lost += 1;
        self.has_filled = false;
        let quiet_since = news
            .last
            .map(|ack| ack.at)
            .max(before.map(|before| before.at));
        let silence = quiet_since.map_or(0, |since| send.at - since);
        let is_timer = silence > (MIN_PROBE_TIMEOUT.0 as i64).max(self.round / 4);
        let going_on = self.loss.filter(|(_, upto, _)| self.acked < *upto);
        let is_tcp = direction.transport == Transport::Tcp;
        let cause = match going_on {
            _ if !is_tcp && news.rejects => Cause::FastRecovery,
            _ if is_timer => Cause::Timeout,
            // nothing but the receiver's word or a timer makes a sender without TCP send again
            None if !is_tcp => Cause::Timeout,
            Some((cause, _, _)) => cause,
            None => Cause::FastRecovery,
        };
        let in_flight = self.highest.saturating_sub(self.acked);
        let at_loss = self
            .loss
            .map_or(in_flight, |(_, _, at_loss)| at_loss.max(in_flight));
        self.loss = Some((cause, self.highest, at_loss));
        let due = direction
            .sent_at(send.start)
            .map_or(send.at, |sent| sent + base);
        let due = due.max(direction.delivered_at(send.start).unwrap_or(due));
        let repaired = direction.delivered_at(send.end).unwrap_or(arrived);
        self.losses.repaired(Repair {
            start: send.start,
            from: due,
            to: repaired,
            cause,
        });
    }
}

/// Bytes in flight after each segment.
fn in_flight(direction: &Direction) -> Vec<u64> {
    let mut acks = direction.acks.iter().peekable();
    let (mut acked, mut highest) = (0, 0);
    let after = |send: &Segment| {
        while let Some(ack) = acks.next_if(|ack| ack.at <= send.at) {
            acked = ack.ack.max(acked);
        }
        highest = send.end.max(highest);
        if acked == 0 {
            0
        } else {
            highest.saturating_sub(acked)
        }
    };
    direction.sends.iter().map(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const ROUND: i64 = 20 * MS;

    /// Segments of 1,000 bytes, each `every` after the one before, in messages of 10,000. Each is acknowledged a round trip
    /// later with a window of `window` bytes. What the waits were from the second round trip on.
    fn waited(every: i64, window: u64, told: &[i64], starts: &[u64]) -> Vec<Wait> {
        let sends: Vec<(i64, u64)> = (0..40)
            .map(|at| (i64::from(at) * every, u64::from(at as u32) * 1000))
            .collect();
        let acks = sends.iter().map(|(at, start)| Ack {
            at: at + ROUND,
            ack: start + 1000,
            edge: start + 1000 + window,
            is_pure: true,
            rejects: false,
        });
        let direction = Direction::sent(&sends, 1000, acks.collect(), starts);
        let (gaps, _) = waits(&direction, told, ROUND / 2);
        gaps.iter().skip(20).map(|gap| gap.wait).collect()
    }

    #[test]
    fn a_message_that_follows_one_of_the_other_side_waited_for_it() {
        let starts: Vec<u64> = (0..41).map(|at| at * 1000).collect();
        let told: Vec<i64> = (0..60).map(|at| at * 2 * MS - 1000).collect();
        let is_free = |wait: &Wait| *wait == Wait::Own;
        assert!(
            waited(2 * MS, u64::MAX / 4, &told, &starts)
                .iter()
                .all(is_free)
        );
        let untold = waited(2 * MS, u64::MAX / 4, &[], &starts);
        assert!(!untold.iter().any(is_free), "{untold:?}");
    }

    #[test]
    fn less_than_a_third_of_a_window_that_was_full_is_waited_for() {
        let starts = [0, 40_000];
        let causes = |window| waited(2 * MS, window, &[], &starts);
        let by_window = |wait: &Wait| *wait == Wait::Tcp(Cause::ReceiveWindow);
        assert!(causes(10_000).iter().all(by_window));
        assert!(!causes(100_000).iter().any(by_window));
    }

    #[test]
    fn what_is_lost_twice_is_repaired_by_what_repairs_it_last() {
        let repair = |start, cause| Repair {
            start,
            from: 0,
            to: 300 * MS,
            cause,
        };
        let mut losses = Losses::default();
        for (start, cause) in [
            (1000, Cause::FastRecovery),
            (2000, Cause::FastRecovery),
            (1000, Cause::Timeout),
        ] {
            losses.repaired(repair(start, cause));
        }
        let expected = [
            repair(1000, Cause::Timeout),
            repair(2000, Cause::FastRecovery),
        ];
        assert_eq!(losses.repairs, expected);
    }
}
