//! What a session does when time has passed.

use coax_wire::ipx::nbipx::control;
use coax_wire::time::Time;

use crate::waits::Deadlines;

use super::super::close::SessionClose;
use super::{Circuit, Phase};

/// How often a call is repeated: for 8 s in all.
const OPENING_RETRIES: u8 = 3;

impl Circuit {
    /// It is `now`: does what is due.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.ack_due.is_some_and(|due| due <= now) {
            self.send_system(control::SYSTEM);
        }
        if self.farewell.is_some_and(|due| due <= now) {
            return match self.phase {
                Phase::Draining => self.abort(now),
                _ => self.close(self.why),
            };
        }
        if self.due.is_some_and(|due| due <= now) {
            self.unanswered(now);
        }
        if self.is_open() && self.due.is_none() && self.alive_due <= now {
            self.tries = self.tries.saturating_add(1);
            self.send_system(control::SYSTEM | control::ACK_REQUIRED);
            self.due = Some(now + self.config.probe);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.deadlines().next()
    }

    /// The same by the reason.
    pub(crate) fn deadlines(&self) -> Deadlines {
        let alive = Some(self.alive_due).filter(|_| self.is_open() && self.due.is_none());
        Deadlines {
            reply: self.due,
            acknowledgment: self.ack_due,
            reject: None,
            other: self.farewell.into_iter().chain(alive).min(),
        }
    }

    /// Waits for an answer to packets in flight, or asks a peer that takes none for a window.
    pub(super) fn set_due(&mut self, now: Time) {
        let waits = !self.outbox.is_empty() && self.is_open();
        self.due = match (self.flight.is_empty(), waits) {
            (false, _) => Some(self.due.unwrap_or(now + self.rto.span())),
            (true, true) => Some(self.due.unwrap_or(now + self.config.probe)),
            (true, false) => None,
        };
    }

    fn unanswered(&mut self, now: Time) {
        self.due = None;
        self.tries = self.tries.saturating_add(1);
        let limit = match self.phase {
            Phase::Opening => OPENING_RETRIES,
            _ => self.config.retries,
        };
        if self.tries > limit {
            return self.close(match self.phase {
                Phase::Ending => self.why,
                _ => SessionClose::NoAnswer,
            });
        }
        if self.flight.is_empty() {
            self.send_system(control::SYSTEM | control::ACK_REQUIRED);
            self.due = Some(now + self.config.probe);
        } else {
            self.lost();
            self.pump(now);
        }
    }
}
