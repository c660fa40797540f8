//! Packets out: messages are cut, numbered, sent within the window, and sent again.

use alloc::vec::Vec;

use coax_wire::ipx::nbipx::{SessionHeader, control, stream};
use coax_wire::time::Time;

use crate::waits::Blocked;

use super::{Circuit, MAX_OUTBOX, MAX_WINDOW, Phase, Sent, UNTOLD_WINDOW, ahead};

impl Circuit {
    /// Takes a message of at most 65,535 bytes; whether it did.
    pub(crate) fn send(&mut self, now: Time, bytes: Vec<u8>) -> bool {
        let fits = u16::try_from(bytes.len()).is_ok();
        if self.phase != Phase::Open || self.outbox.len() >= MAX_OUTBOX || !fits {
            return false;
        }
        self.outbox.push_back(bytes);
        self.pump(now);
        true
    }

    /// Sends what the window allows: first what must be sent again, then new packets.
    pub(super) fn pump(&mut self, now: Time) {
        while self.cursor < self.flight.len() && self.cursor < usize::from(self.trusted) {
            self.send_again(now);
        }
        while self.cursor == self.flight.len() && self.has_room() {
            if !self.pack_next() {
                break;
            }
            self.send_again(now);
        }
        let is_quiet = self.flight.is_empty() && self.outbox.is_empty();
        if self.phase == Phase::Draining && is_quiet {
            return self.end(now);
        }
        self.set_due(now);
    }

    fn has_room(&self) -> bool {
        let flying = u16::try_from(self.flight.len()).unwrap_or(u16::MAX);
        flying < self.trusted.min(self.config.window)
            && ahead(self.edge, self.next).is_some_and(|room| room > 0)
    }

    /// Why packets or messages that wait are not on their way.
    pub(crate) fn blocked(&self) -> Option<Blocked> {
        let waits = self.cursor < self.flight.len() || !self.outbox.is_empty();
        let flying = u16::try_from(self.flight.len()).unwrap_or(u16::MAX);
        let room = ahead(self.edge, self.next).unwrap_or_default();
        Some(match self.retransmitted {
            _ if !waits || !self.is_open() => return None,
            _ if self.tries > 0 => Blocked::Recovery,
            _ if room == 0 && flying == 0 => Blocked::PeerBusy,
            _ if room == 0 => Blocked::PeerWindow,
            _ if self.trusted >= self.config.window => Blocked::Window,
            0 => Blocked::GrowingWindow,
            _ => Blocked::NarrowedWindow,
        })
    }

    /// Numbers a packet; it is sent by [`send_again`](Self::send_again).
    pub(super) fn append(&mut self, control: u8, stream: u8, data: Vec<u8>) {
        let mut header = self.header(control, stream);
        header.len = u16::try_from(data.len()).unwrap_or_default();
        header.total = header.len;
        self.next = self.next.wrapping_add(1);
        self.flight.push_back(Sent {
            header,
            data,
            at: None,
            again: false,
        });
    }

    /// Cuts the next packet from the message in front; whether there was one.
    fn pack_next(&mut self) -> bool {
        if !self.is_open() {
            return false;
        }
        let Some(message) = self.outbox.front() else {
            return false;
        };
        let rest = message.get(self.packed..).unwrap_or_default();
        let len = rest.len().min(usize::from(self.max_data));
        let (total, offset) = (message.len(), self.packed);
        let is_last = len == rest.len();
        let data = rest.get(..len).unwrap_or_default().to_vec();
        let control = match is_last {
            true => control::END_OF_MESSAGE | control::ACK_REQUIRED,
            false => 0,
        };
        self.append(control, stream::SESSION_DATA, data);
        if let Some(sent) = self.flight.back_mut() {
            sent.header.total = u16::try_from(total).unwrap_or_default();
            sent.header.offset = u16::try_from(offset).unwrap_or_default();
        }
        self.packed = self.packed.saturating_add(len);
        if is_last {
            self.outbox.pop_front();
            self.packed = 0;
        }
        true
    }

    /// Sends the packet at the cursor.
    fn send_again(&mut self, now: Time) {
        let fills = !self.has_room();
        let Some(sent) = self.flight.get_mut(self.cursor) else {
            return;
        };
        let is_new = sent.at.replace(now).is_none();
        sent.again = !is_new;
        let (mut header, data) = (sent.header, sent.data.clone());
        // A window that is full waits for an acknowledgment, and so does a packet that was lost.
        if fills || !is_new {
            header.control |= control::ACK_REQUIRED;
        }
        if !is_new {
            self.retransmitted = self.retransmitted.saturating_add(1);
        }
        header.destination = match self.phase {
            Phase::Opening => SessionHeader::UNASSIGNED,
            _ => self.remote,
        };
        self.cursor = self.cursor.saturating_add(1);
        self.emit(&mut header, &data);
    }

    /// Takes the acknowledgment and the window of a packet. `false`: it acknowledges what was never sent.
    pub(super) fn acknowledge(&mut self, now: Time, header: &SessionHeader) -> bool {
        let flying = u16::try_from(self.flight.len()).unwrap_or(u16::MAX);
        let oldest = self.next.wrapping_sub(flying);
        let Some(count) = ahead(header.acknowledged, oldest) else {
            // It was overtaken by a later one.
            return true;
        };
        if count > flying {
            return false;
        }
        for _ in 0..count {
            let Some(sent) = self.flight.pop_front() else {
                break;
            };
            if let Some(at) = sent.at.filter(|_| !sent.again) {
                self.rto.sample(now - at);
            }
        }
        self.cursor = self.cursor.saturating_sub(usize::from(count));
        self.note_edge(header);
        if count > 0 {
            (self.tries, self.due) = (0, None);
            self.rto.reset();
            self.grow(count);
        }
        true
    }

    pub(super) fn note_edge(&mut self, header: &SessionHeader) {
        let told = header.window_end.wrapping_sub(header.acknowledged);
        let is_told = header.window_end != 0 && told <= MAX_WINDOW;
        let edge = match is_told {
            true => header.window_end,
            false => header.acknowledged.wrapping_add(UNTOLD_WINDOW),
        };
        // An older packet may come later: what was allowed stays allowed.
        if ahead(edge, self.edge).is_some() {
            self.edge = edge;
        }
    }

    /// The peer asks for packets again, from the one that it expects.
    pub(super) fn resend(&mut self) {
        if self.cursor == self.flight.len() && !self.flight.is_empty() {
            self.cursor = 0;
            self.trusted = (self.trusted / 2).max(2);
            self.grown = 0;
        }
    }

    /// Nothing was acknowledged in time.
    pub(super) fn lost(&mut self) {
        self.cursor = 0;
        (self.trusted, self.grown) = (1, 0);
        self.rto.back_off();
    }

    /// A packet more may be in flight for each one that arrived, until half of the window is used; then for each window.
    fn grow(&mut self, count: u16) {
        self.grown = self.grown.saturating_add(count);
        let step = match self.trusted < self.config.window / 2 {
            true => 1,
            false => self.trusted,
        };
        let more = self.grown.checked_div(step).unwrap_or_default();
        self.grown = self.grown.saturating_sub(more.saturating_mul(step));
        self.trusted = self.trusted.saturating_add(more).min(self.config.window);
    }
}
