//! One session: its phase, the message being sent and the message being received.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbf::{SessionCommand, SessionFrame, flags};
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use crate::waits::Blocked;

/// Messages that may wait to be sent.
pub(super) const MAX_OUTBOX: usize = 2;
/// Messages without acknowledgment that may wait for their consumer.
pub(super) const MAX_DELIVERED: usize = 4;

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// NAME QUERY was sent this often, with this correlator.
    Querying {
        sent: u8,
        correlator: u16,
    },
    /// The name was recognized, with this correlator; the link is being opened.
    Linking {
        correlator: u16,
    },
    /// SESSION INITIALIZE was sent.
    Initializing,
    /// NAME RECOGNIZED was sent, with this correlator.
    Offered {
        correlator: u16,
    },
    Open,
    /// What waits is sent, then the session ends.
    Ending,
}

/// What the message in front of the outbox waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Room on the link.
    Ready,
    /// RECEIVE CONTINUE.
    AwaitContinue,
    /// RECEIVE OUTSTANDING.
    Stopped,
    /// The acknowledgment of this correlator.
    AwaitAck(u16),
}

/// A message to send.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    pub(super) no_ack: bool,
}

/// An acknowledgment that the peer waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) correlator: u16,
    /// It may travel with data.
    pub(super) with_data: bool,
    /// When it goes out alone; `None` until the message is consumed.
    pub(super) due: Option<Time>,
}

#[derive(Debug)]
pub(super) struct Session {
    /// The other station, once known.
    pub(super) peer: Mac,
    pub(super) local: u8,
    pub(super) remote: u8,
    pub(super) called: NbName,
    pub(super) calling: NbName,
    pub(super) incoming: bool,
    pub(super) phase: Phase,
    /// When the phase has lasted too long.
    pub(super) due: Option<Time>,
    /// The longest piece of a message that both sides take.
    pub(super) max_piece: usize,
    pub(super) handles_no_ack: bool,
    pub(super) outbox: VecDeque<Outgoing>,
    /// Bytes of the first message that went to the link.
    sent: usize,
    pub(super) sending: Sending,
    /// The next message of several pieces asks for RECEIVE CONTINUE.
    ask_continue: bool,
    resynchronise: bool,
    correlator: u16,
    pub(super) inbox: Vec<u8>,
    /// Lengths of the messages that wait for their consumer.
    pub(super) delivered: VecDeque<usize>,
    pub(super) ack: Option<Ack>,
    /// Messages of the peer that no message of this side has followed yet: requests without replies.
    pub(super) unanswered: u32,
    /// The peer was told to stop; what comes before it starts again is dropped.
    pub(super) stopped: bool,
}

impl Session {
    pub(super) fn new(peer: Mac, local: u8, called: NbName, calling: NbName, phase: Phase) -> Self {
        Self {
            peer,
            local,
            remote: 0,
            called,
            calling,
            incoming: false,
            phase,
            due: None,
            max_piece: 0,
            handles_no_ack: false,
            outbox: VecDeque::new(),
            sent: 0,
            sending: Sending::Ready,
            ask_continue: true,
            resynchronise: false,
            correlator: 0,
            inbox: Vec::new(),
            delivered: VecDeque::new(),
            ack: None,
            unanswered: 0,
            stopped: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Ending)
    }

    /// When the acknowledgment goes out alone.
    pub(super) fn ack_due(&self) -> Option<Time> {
        self.ack.and_then(|ack| ack.due)
    }

    /// Whether a piece could go to the link.
    pub(super) fn has_piece(&self) -> bool {
        self.is_open() && self.sending == Sending::Ready && !self.outbox.is_empty()
    }

    /// What keeps a message that waits from the link.
    pub(super) fn blocked(&self) -> Option<Blocked> {
        let rest = self.outbox.len() > usize::from(matches!(self.sending, Sending::AwaitAck(_)));
        match self.sending {
            _ if !rest => None,
            Sending::Ready => None,
            Sending::Stopped => Some(Blocked::PeerBusy),
            Sending::AwaitContinue | Sending::AwaitAck(_) => Some(Blocked::Answer),
        }
    }

    /// A frame of this session.
    pub(super) fn frame(&self, command: SessionCommand) -> SessionFrame<'static> {
        SessionFrame::new(command, self.remote, self.local)
    }

    /// The next piece of the message in front, as the information of an I frame.
    pub(super) fn next_piece(&mut self) -> Option<Vec<u8>> {
        if !self.is_open() || self.sending != Sending::Ready {
            return None;
        }
        let is_only = self.outbox.len() == 1;
        let message = self.outbox.front()?;
        let (no_ack, rest) = (message.no_ack, message.bytes.get(self.sent..)?);
        let data = rest.get(..self.max_piece.min(rest.len()))?;
        let is_last = data.len() == rest.len();
        let mut frame = self.frame(match is_last {
            true => SessionCommand::DataOnlyLast,
            false => SessionCommand::DataFirstMiddle,
        });
        let (len, continues) = (data.len(), !is_last && !no_ack && self.ask_continue);
        frame.data2 = u16::from(self.resynchronise);
        if no_ack {
            frame.data1 |= flags::NO_ACK;
        }
        if continues {
            frame.data1 |= flags::RECEIVE_CONTINUE;
        }
        // The peer may wait for data of its own only if nothing waits for its acknowledgment: neither a message here nor
        // the reply to another request, which the peer may need before it sends again.
        let is_alone = is_only && self.unanswered <= 1;
        if is_last && !no_ack && is_alone && self.phase == Phase::Open {
            frame.data1 |= flags::ACK_WITH_DATA_ALLOWED;
        }
        if let Some(ack) = self.ack.filter(|ack| ack.due.is_some()) {
            frame.data1 |= flags::ACK_INCLUDED;
            frame.transmit = ack.correlator;
        }
        frame.response = next_correlator(self.correlator);
        let mut info = Vec::with_capacity(len.saturating_add(coax_wire::nbf::SESSION_HEADER_LEN));
        info.extend_from_slice(&frame.header());
        info.extend_from_slice(data);
        self.correlator = frame.response;
        self.resynchronise = false;
        if frame.has(flags::ACK_INCLUDED) {
            self.ack = None;
        }
        self.advance(len, is_last, continues, no_ack);
        Some(info)
    }

    fn advance(&mut self, len: usize, is_last: bool, continues: bool, no_ack: bool) {
        self.sent = self.sent.saturating_add(len);
        if continues {
            self.ask_continue = false;
            self.sending = Sending::AwaitContinue;
        }
        match (is_last, no_ack) {
            (true, true) => self.finish_message(),
            (true, false) => self.sending = Sending::AwaitAck(self.correlator),
            (false, _) => {}
        }
    }

    /// The peer acknowledges a message; whether it was the one that waits.
    pub(super) fn acknowledged(&mut self, correlator: u16) -> bool {
        let awaited = self.sending == Sending::AwaitAck(correlator);
        if awaited {
            self.finish_message();
        }
        awaited
    }

    /// NO RECEIVE: the peer took this many bytes of the message and no more.
    pub(super) fn stop(&mut self, accepted: u16) {
        let Some(message) = self.outbox.front() else {
            return;
        };
        self.sent = usize::from(accepted).min(message.bytes.len());
        self.sending = Sending::Stopped;
        self.ask_continue = true;
    }

    /// RECEIVE OUTSTANDING: the peer takes the message from this byte on.
    pub(super) fn resume(&mut self, accepted: u16) {
        match self.sending {
            Sending::Stopped => {
                let len = self.outbox.front().map_or(0, |message| message.bytes.len());
                self.sent = usize::from(accepted).min(len);
                self.resynchronise = true;
                self.sending = Sending::Ready;
            }
            Sending::AwaitContinue => self.sending = Sending::Ready,
            Sending::Ready | Sending::AwaitAck(_) => {}
        }
    }

    /// RECEIVE CONTINUE.
    pub(super) fn go_on(&mut self) {
        if self.sending == Sending::AwaitContinue {
            self.sending = Sending::Ready;
        }
    }

    fn finish_message(&mut self) {
        self.unanswered = self.unanswered.saturating_sub(1);
        self.outbox.pop_front();
        self.sent = 0;
        self.sending = Sending::Ready;
    }
}

/// The correlator after this one; zero is none.
pub(super) const fn next_correlator(correlator: u16) -> u16 {
    match correlator.wrapping_add(1) {
        0 => 1,
        next => next,
    }
}
