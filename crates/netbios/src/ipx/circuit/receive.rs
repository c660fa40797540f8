//! Packets in.

use coax_wire::ipx::nbipx::{SessionHeader, control, stream};
use coax_wire::time::Time;

use super::super::close::SessionClose;
use super::{Circuit, CircuitEvent, Phase, ahead};

impl Circuit {
    /// A packet of this session arrived.
    pub(crate) fn handle(&mut self, now: Time, header: &SessionHeader, data: &[u8]) {
        let is_confirmation =
            header.has(control::SYSTEM | control::CONFIRM) && header.stream == stream::SESSION_DATA;
        if self.phase == Phase::Opening {
            if is_confirmation {
                self.note_heard(now);
                self.confirmed(now, header, data);
            }
            return;
        }
        if self.phase == Phase::Over || !self.acknowledge(now, header) {
            return;
        }
        self.note_heard(now);
        if header.window_end == header.acknowledged && header.window_end != 0 {
            // It is there, and has no room.
            self.tries = 0;
        }
        match header.stream {
            stream::SESSION_END => self.ended_by_peer(header),
            stream::SESSION_END_ACK => self.end_acknowledged(),
            _ if is_confirmation => {}
            _ if header.has(control::SYSTEM) => self.system(header),
            _ => self.data(now, header, data),
        }
        if self.phase != Phase::Over {
            self.pump(now);
        }
    }

    fn note_heard(&mut self, now: Time) {
        self.heard = now;
        self.alive_due = now + self.config.alive;
        // A peer that answers is there, even if it takes no data yet.
        if self.flight.is_empty() {
            self.tries = 0;
        }
    }

    fn system(&mut self, header: &SessionHeader) {
        if header.has(control::RESEND) {
            self.resend();
        }
        if header.has(control::ACK_REQUIRED) {
            self.send_system(control::SYSTEM);
        }
    }

    fn data(&mut self, now: Time, header: &SessionHeader, data: &[u8]) {
        if self.phase == Phase::Ending {
            return;
        }
        if header.sequence != self.expected {
            return self.out_of_order(header.sequence);
        }
        if self.own_edge() == self.expected {
            // There is no room: the peer hears so, and sends it again later.
            self.discarded = true;
            return self.send_system(control::SYSTEM);
        }
        let total = usize::from(header.total);
        let whole = self.inbox.len().saturating_add(data.len());
        let is_last = header.has(control::END_OF_MESSAGE);
        let fits = usize::from(header.offset) == self.inbox.len()
            && whole <= total.min(self.config.max_message)
            && (!is_last || whole == total);
        if !fits {
            self.why = SessionClose::BadMessage;
            return self.abort(now);
        }
        self.expected = self.expected.wrapping_add(1);
        self.asked_again = false;
        self.inbox.extend_from_slice(data);
        if is_last {
            let message = core::mem::take(&mut self.inbox);
            self.delivered.push_back(message.len());
            self.events.push_back(CircuitEvent::Message(message));
        }
        self.owe(now, header, is_last);
    }

    /// Acknowledges at once what fills a window or is part of a long message; the end of a message waits for an answer
    /// to travel with.
    fn owe(&mut self, now: Time, header: &SessionHeader, is_last: bool) {
        self.owed = self.owed.saturating_add(1);
        let is_full = header.has(control::ACK_REQUIRED) && !is_last;
        let at_once = is_full || self.owed >= self.config.acknowledge_every;
        if at_once {
            return self.send_system(control::SYSTEM);
        }
        self.ack_due
            .get_or_insert(now + self.config.acknowledgment_delay);
    }

    /// A packet that comes again is acknowledged again; after a gap the peer is asked once for what is missing.
    pub(super) fn out_of_order(&mut self, sequence: u16) {
        let is_ahead = ahead(sequence, self.expected).is_some();
        if !is_ahead {
            self.send_system(control::SYSTEM);
        } else if !self.asked_again {
            self.asked_again = true;
            self.send_system(control::SYSTEM | control::RESEND);
        }
    }
}
