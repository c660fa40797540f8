//! Messages of sessions (SC30-3587 §5.3.4 and §5.3.5).

use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbf::{SessionCommand, SessionFrame, flags};
use coax_wire::time::Time;

use super::Nbf;
use super::config::{NbfEvent, Refused, SessionClose, SessionId};
use super::session::{Ack, MAX_DELIVERED, MAX_OUTBOX, Outgoing, Phase};

impl Nbf {
    /// Whether [`send`](Self::send) takes a message.
    pub fn can_send(&self, id: SessionId) -> bool {
        let session = self.sessions.get(&id);
        session.is_some_and(|s| s.phase == Phase::Open && s.outbox.len() < MAX_OUTBOX)
    }

    /// Sends a message. It is done when the peer has acknowledged it.
    ///
    /// # Errors
    /// When the session is not open, or when messages wait already.
    pub fn send(&mut self, now: Time, id: SessionId, bytes: Vec<u8>) -> Result<(), Refused> {
        self.enqueue(now, id, bytes, false)
    }

    /// Sends a message without acknowledgment (SEND.NO.ACK): it is done when the link has it.
    ///
    /// # Errors
    /// As [`send`](Self::send), and when the peer does not understand such messages.
    pub fn send_no_ack(&mut self, now: Time, id: SessionId, bytes: Vec<u8>) -> Result<(), Refused> {
        let known = self.sessions.get(&id).map(|session| session.handles_no_ack);
        match known {
            Some(false) => Err(Refused::NoAckUnknown),
            _ => self.enqueue(now, id, bytes, true),
        }
    }

    /// The consumer took the oldest message of a session: the peer may send the next.
    pub fn consumed(&mut self, now: Time, id: SessionId) {
        let delay = self.config.acknowledgment_delay;
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let len = session.delivered.pop_front().unwrap_or_default();
        if let Some(ack) = &mut session.ack
            && ack.due.is_none()
        {
            // A message that waits to be sent takes the acknowledgment along; so may the reply to this one.
            ack.due = Some(if ack.with_data { now + delay } else { now });
        }
        self.buffered = self.buffered.saturating_sub(len);
        self.send_due_ack(now, id);
        self.resume_stopped(now);
    }

    pub(super) fn handle_session(&mut self, now: Time, mac: Mac, frame: &SessionFrame<'_>) {
        let Some(id) = self.by_number.get(&(mac, frame.destination)).copied() else {
            return;
        };
        let known = self.sessions.get(&id);
        if known.is_none_or(|session| session.remote != frame.source) {
            return;
        }
        match frame.command {
            SessionCommand::SessionInitialize => self.initialized(now, id, frame),
            SessionCommand::SessionConfirm => self.confirmed(id, frame),
            SessionCommand::SessionEnd => self.ended_by_peer(now, id, frame),
            SessionCommand::SessionAlive => {}
            _ if known.is_some_and(|session| !session.is_open()) => {}
            SessionCommand::DataFirstMiddle | SessionCommand::DataOnlyLast => {
                self.piece(now, id, frame);
            }
            SessionCommand::DataAck => self.acknowledged(now, id, frame.transmit),
            SessionCommand::NoReceive => self.stopped_by_peer(id, frame),
            SessionCommand::ReceiveOutstanding => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.resume(frame.data2);
                }
                self.wake(mac, id);
            }
            SessionCommand::ReceiveContinue => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.go_on();
                }
                self.wake(mac, id);
            }
        }
    }

    /// The acknowledgment that is due, as a frame of its own.
    pub(super) fn send_due_ack(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let due = session.ack.and_then(|ack| ack.due);
        if due.is_none_or(|due| due > now) {
            return;
        }
        let Some(ack) = session.ack.take() else {
            return;
        };
        let mut frame = session.frame(SessionCommand::DataAck);
        frame.transmit = ack.correlator;
        let mac = session.peer;
        self.control(now, mac, &frame);
    }

    fn enqueue(
        &mut self,
        now: Time,
        id: SessionId,
        bytes: Vec<u8>,
        no_ack: bool,
    ) -> Result<(), Refused> {
        let session = self.sessions.get_mut(&id);
        let session = session
            .filter(|session| session.phase == Phase::Open)
            .ok_or(Refused::NoSession)?;
        if session.outbox.len() >= MAX_OUTBOX {
            return Err(Refused::Busy);
        }
        session.outbox.push_back(Outgoing { bytes, no_ack });
        let mac = session.peer;
        self.wake(mac, id);
        self.serve(now, mac);
        Ok(())
    }

    /// A piece of a message.
    fn piece(&mut self, now: Time, id: SessionId, frame: &SessionFrame<'_>) {
        if frame.has(flags::ACK_INCLUDED) {
            self.acknowledged(now, id, frame.transmit);
        }
        let crowded = self.buffered > self.config.max_buffered;
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if session.stopped && frame.data2 != 1 {
            return;
        }
        session.stopped = false;
        let full = session.delivered.len() >= MAX_DELIVERED;
        if session.inbox.is_empty() && (crowded || full) {
            return self.no_receive(now, id, frame);
        }
        let len = session.inbox.len().saturating_add(frame.data.len());
        if len > self.config.max_message {
            return self.end_session(now, id, 1, SessionClose::TooLong);
        }
        session.inbox.extend_from_slice(frame.data);
        self.buffered = self.buffered.saturating_add(frame.data.len());
        match frame.command {
            SessionCommand::DataOnlyLast => self.message(now, id, frame),
            _ if frame.has(flags::RECEIVE_CONTINUE) => {
                let mut answer = session.frame(SessionCommand::ReceiveContinue);
                answer.transmit = frame.response;
                let mac = session.peer;
                self.control(now, mac, &answer);
            }
            _ => {}
        }
    }

    /// The last piece of a message came.
    fn message(&mut self, now: Time, id: SessionId, frame: &SessionFrame<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let bytes = core::mem::take(&mut session.inbox);
        session.delivered.push_back(bytes.len());
        session.unanswered = session.unanswered.saturating_add(1);
        let mut overtaken = None;
        if !frame.has(flags::NO_ACK) {
            let ack = Ack {
                correlator: frame.response,
                with_data: frame.has(flags::ACK_WITH_DATA_ALLOWED),
                due: None,
            };
            // A peer that does not wait for acknowledgments gets each all the same.
            overtaken = session.ack.replace(ack);
        }
        let (mac, mut answer) = (session.peer, session.frame(SessionCommand::DataAck));
        self.events
            .push_back(NbfEvent::Message { session: id, bytes });
        if let Some(ack) = overtaken {
            answer.transmit = ack.correlator;
            self.control(now, mac, &answer);
        }
    }

    /// There is no room for the message that begins.
    fn no_receive(&mut self, now: Time, id: SessionId, frame: &SessionFrame<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let mut answer = session.frame(SessionCommand::NoReceive);
        answer.data1 = frame.data1 & flags::NO_ACK;
        session.stopped = true;
        let mac = session.peer;
        self.stopped.insert(id);
        self.control(now, mac, &answer);
    }

    /// Lets peers go on that were told to stop, if there is room now.
    fn resume_stopped(&mut self, now: Time) {
        while self.buffered <= self.config.max_buffered {
            let free = |id: &&SessionId| {
                let session = self.sessions.get(id);
                session.is_none_or(|session| session.delivered.len() < MAX_DELIVERED)
            };
            let Some(id) = self.stopped.iter().find(free).copied() else {
                return;
            };
            self.stopped.remove(&id);
            if let Some(session) = self.sessions.get(&id) {
                let frame = session.frame(SessionCommand::ReceiveOutstanding);
                let mac = session.peer;
                self.control(now, mac, &frame);
            }
        }
    }

    fn stopped_by_peer(&mut self, id: SessionId, frame: &SessionFrame<'_>) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stop(frame.data2);
        }
    }

    fn acknowledged(&mut self, now: Time, id: SessionId, correlator: u16) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let mac = session.peer;
        if session.acknowledged(correlator) {
            self.wake(mac, id);
            self.finish_if_ending(now, id);
        }
    }

    fn wake(&mut self, mac: Mac, id: SessionId) {
        if let Some(peer) = self.peers.get_mut(&mac) {
            peer.wake(id);
            self.active.insert(mac);
        }
    }

    fn control(&mut self, now: Time, mac: Mac, frame: &SessionFrame<'_>) {
        if let Some(peer) = self.peers.get_mut(&mac) {
            peer.push(&frame.header(), false);
            peer.flush_control(now);
            self.active.insert(mac);
        }
    }
}
