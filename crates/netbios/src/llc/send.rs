//! Sending: the window, acknowledgments, T1 and retransmission.

use coax_wire::llc::{Control, Unnumbered};
use coax_wire::time::{Span, Time};

use crate::waits::{Blocked, Deadlines};

use super::config::{LinkEnd, LinkEvent};
use super::{HALF, Link, Poll, State, after, distance};

impl Link {
    /// Sends I frames as far as window, peer and recovery allow.
    pub(super) fn pump(&mut self, now: Time) {
        while self.state == State::Open && !self.remote_busy && !self.checkpoint {
            let in_flight = distance(self.va, self.vs);
            let Some(next) = self.queue.get(usize::from(in_flight)) else {
                return;
            };
            if in_flight >= self.window {
                return;
            }
            // A peer that acknowledges in groups, as Linux does, answers the frame that fills the window at once.
            let fills = self.config.poll_when_full && after(in_flight, 1) >= self.window;
            let pf = self.poll.is_none() && (next.poll || fills);
            let (info, ns, nr) = (next.info.clone(), self.vs, self.vr);
            self.note_acknowledged();
            self.count_sent(ns);
            self.vs = after(self.vs, 1);
            if distance(self.va, self.vs) > distance(self.va, self.high) {
                self.high = self.vs;
            }
            if pf {
                self.poll = Some(Poll { bound: None });
            }
            self.emit(false, Control::Information { ns, nr, pf }, &info);
            self.reply_due.get_or_insert(now + self.reply());
            self.idle_due = now + self.config.inactivity;
        }
    }

    /// The peer expects `nr` next. Whether that can be.
    pub(super) fn acknowledged(&mut self, now: Time, nr: u8) -> bool {
        let count = distance(self.va, nr);
        if count > distance(self.va, self.high) {
            // Bridges with several paths reorder: an old acknowledgment tells nothing new.
            return distance(nr, self.va) < HALF;
        }
        if count == 0 {
            return true;
        }
        if distance(self.va, self.vs) < count {
            self.vs = nr;
        }
        self.queue.drain(..usize::from(count).min(self.queue.len()));
        self.va = nr;
        self.retries = 0;
        self.widen(count);
        self.restart_reply(now);
        true
    }

    /// Sends again from the oldest frame that is not acknowledged.
    pub(super) fn go_back(&mut self) {
        if self.va == self.vs {
            return;
        }
        self.vs = self.va;
        self.window = (self.window / 2).max(1);
        self.credit = 0;
        if let Some(poll) = &mut self.poll {
            poll.bound = None;
        }
    }

    /// The answer to a poll came: frames that were sent before it and are not acknowledged are lost.
    pub(super) fn poll_answered(&mut self, now: Time) {
        let Some(poll) = self.poll.take() else {
            return;
        };
        self.retries = 0;
        self.checkpoint = false;
        if self.state == State::Opening {
            self.state = State::Open;
            self.events.push_back(LinkEvent::Established);
        }
        let lost = poll.bound.map_or(0, |bound| distance(self.va, bound));
        if lost > 0 && lost <= distance(self.va, self.high) {
            self.go_back();
        }
        self.restart_reply(now);
    }

    /// Asks the peer for its state.
    pub(super) fn send_poll(&mut self, now: Time) {
        self.poll = Some(Poll {
            bound: Some(self.vs),
        });
        self.send_supervisory(false, self.readiness(), true);
        self.reply_due = Some(now + self.reply());
        self.idle_due = now + self.config.inactivity;
    }

    /// T1 ran out.
    pub(super) fn reply_expired(&mut self, now: Time) {
        self.counters.timeouts = self.counters.timeouts.saturating_add(1);
        self.reply_due = None;
        if self.retries >= self.config.retries {
            let end = match self.state {
                State::Disconnecting => LinkEnd::Local,
                _ => LinkEnd::NoAnswer,
            };
            return self.end(now, end);
        }
        self.retries = self.retries.saturating_add(1);
        match self.state {
            State::Closed => return,
            State::Connecting => self.send_unnumbered(false, Unnumbered::Sabme, true, &[]),
            State::Disconnecting => self.send_unnumbered(false, Unnumbered::Disc, true, &[]),
            State::Opening | State::Open => {
                self.checkpoint = true;
                return self.send_poll(now);
            }
        }
        self.reply_due = Some(now + self.reply());
    }

    /// T1, longer after each try that was in vain.
    fn reply(&self) -> Span {
        let doubled = u32::from(self.retries.min(self.config.reply_doublings));
        let factor = 1u64.checked_shl(doubled).unwrap_or(u64::MAX);
        Span(self.config.reply.0.saturating_mul(factor))
    }

    /// T1 runs while something waits for the peer.
    pub(super) fn restart_reply(&mut self, now: Time) {
        let waits = self.va != self.vs || self.poll.is_some() || self.remote_busy;
        self.reply_due = waits.then(|| now + self.reply());
    }

    /// Why frames that wait cannot be sent now; `more`: the caller has more for the link.
    pub fn blocked(&self, more: bool) -> Option<Blocked> {
        let in_flight = distance(self.va, self.vs);
        let waits =
            self.state == State::Open && (more || self.queue.len() > usize::from(in_flight));
        if !waits {
            return None;
        }
        Some(match self.counters.retransmitted {
            _ if self.remote_busy => Blocked::PeerBusy,
            _ if self.checkpoint => Blocked::Recovery,
            _ if in_flight < self.window && !more => return None,
            _ if self.window >= self.config.window => Blocked::Window,
            0 => Blocked::GrowingWindow,
            _ => Blocked::NarrowedWindow,
        })
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), by the reason.
    pub fn deadlines(&self) -> Deadlines {
        let tests = self.state == State::Open && self.poll.is_none();
        Deadlines {
            reply: self.reply_due,
            acknowledgment: self.delay_due,
            reject: self.rejecting,
            other: tests.then_some(self.idle_due),
        }
    }

    fn widen(&mut self, acknowledged: u8) {
        self.credit = self.credit.saturating_add(acknowledged);
        if self.credit >= self.window {
            self.credit = 0;
            self.window = self.window.saturating_add(1).min(self.config.window);
        }
    }

    fn count_sent(&mut self, ns: u8) {
        self.counters.sent = self.counters.sent.saturating_add(1);
        if distance(self.va, ns) < distance(self.va, self.high) {
            self.counters.retransmitted = self.counters.retransmitted.saturating_add(1);
        }
    }
}
