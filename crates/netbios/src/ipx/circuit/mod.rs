//! A NetBIOS session over IPX: packets in sequence, windows, acknowledgments and retransmission.
//!
//! docs/ipx.md lists what was observed of Windows, from which these rules are made: a packet with data, the one that
//! opens and the one that ends take a sequence number, system packets take none; what comes out of order is discarded
//! and asked for again.

mod config;
mod open;
mod receive;
mod send;
mod timers;

pub use config::CircuitConfig;
pub(crate) use config::CircuitEvent;
pub(crate) use open::answer_end;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use coax_wire::ipx::nbipx::{SessionHeader, control, stream};
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use super::close::SessionClose;
use super::rto::Rto;

/// Messages that may wait to be sent.
const MAX_OUTBOX: usize = 2;
/// Packets in flight before anything was acknowledged.
const INITIAL_WINDOW: u16 = 4;
/// The window of a peer that tells none, as Windows 98 may: NWLink's `AckWindow`.
const UNTOLD_WINDOW: u16 = 2;
/// The widest window that is believed.
const MAX_WINDOW: u16 = 128;
/// Received bytes that may wait for the consumer before the peer is told to stop.
const MAX_DELIVERED: usize = 0x2_0000;
/// Times in the packet that opens a session, as Windows NT sends them.
const TIMES: [u16; 2] = [0x15, 9];

/// Both ends of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) called: NbName,
    pub(crate) calling: NbName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// We called; the peer has not accepted.
    Opening,
    Open,
    /// What waits is still sent, then the session ends.
    Draining,
    /// We told the peer that it ends.
    Ending,
    Over,
}

/// A packet that the peer has not acknowledged. Its acknowledgment and window are set whenever it is sent.
#[derive(Clone, Debug)]
struct Sent {
    header: SessionHeader,
    data: Vec<u8>,
    /// When it was last sent.
    at: Option<Time>,
    again: bool,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) names: Names,
    pub(crate) incoming: bool,
    config: CircuitConfig,
    phase: Phase,
    local: u16,
    remote: u16,
    /// The most data that the peer takes in a packet.
    max_data: u16,
    /// Two times that the peer told when it called.
    times: [u16; 2],

    outbox: VecDeque<Vec<u8>>,
    /// How much of the first message was packed.
    packed: usize,
    flight: VecDeque<Sent>,
    /// Packets of the flight that need not be sent again.
    cursor: usize,
    /// The number of the next new packet.
    next: u16,
    /// The first number that the peer does not take.
    edge: u16,
    /// Packets in flight that the network is trusted with, and acknowledgments since it grew.
    trusted: u16,
    grown: u16,
    rto: Rto,
    /// When the peer must have answered.
    due: Option<Time>,
    tries: u8,

    /// The number of the next packet from the peer.
    expected: u16,
    inbox: Vec<u8>,
    /// Lengths of messages that the consumer has not given back.
    delivered: VecDeque<usize>,
    /// Packets that were not acknowledged yet, and when they must be.
    owed: u16,
    ack_due: Option<Time>,
    asked_again: bool,
    /// A packet was discarded because there was no room.
    discarded: bool,
    /// The station has no room for data of any session.
    crowded: bool,
    told_edge: u16,
    heard: Time,
    alive_due: Time,
    farewell: Option<Time>,
    /// Why the session ends.
    why: SessionClose,

    out: VecDeque<Vec<u8>>,
    events: VecDeque<CircuitEvent>,
    retransmitted: u64,
}

impl Circuit {
    fn new(now: Time, config: CircuitConfig, local: u16, names: Names, phase: Phase) -> Self {
        Self {
            names,
            incoming: false,
            config,
            phase,
            local,
            remote: SessionHeader::UNASSIGNED,
            max_data: 0,
            times: TIMES,
            outbox: VecDeque::new(),
            packed: 0,
            flight: VecDeque::new(),
            cursor: 0,
            next: 0,
            edge: 1,
            trusted: INITIAL_WINDOW,
            grown: 0,
            rto: Rto::new(config.retransmission),
            due: None,
            tries: 0,
            expected: 0,
            inbox: Vec::new(),
            delivered: VecDeque::new(),
            owed: 0,
            ack_due: None,
            asked_again: false,
            discarded: false,
            crowded: false,
            told_edge: 0,
            heard: now,
            alive_due: now + config.alive,
            farewell: None,
            why: SessionClose::Local,
            out: VecDeque::new(),
            events: VecDeque::new(),
            retransmitted: 0,
        }
    }

    /// The peer's number of the session.
    pub(crate) fn remote(&self) -> u16 {
        self.remote
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Draining)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether a message would be taken.
    pub(crate) fn can_send(&self) -> bool {
        self.phase == Phase::Open && self.outbox.len() < MAX_OUTBOX
    }

    /// Received bytes that the consumer has not given back.
    pub(crate) fn buffered(&self) -> usize {
        let whole: usize = self.delivered.iter().sum();
        whole.saturating_add(self.inbox.len())
    }

    /// Packets that were sent again.
    pub(crate) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// When the peer was last heard.
    pub(crate) fn heard(&self) -> Time {
        self.heard
    }

    /// A packet to send, header and data, until there is none.
    pub(crate) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    /// What happened, until there is nothing.
    pub(crate) fn poll_event(&mut self) -> Option<CircuitEvent> {
        self.events.pop_front()
    }

    /// The program took a message.
    pub(crate) fn consumed(&mut self) {
        self.delivered.pop_front();
        self.tell_window();
    }

    /// The station has no room for data, or has it again.
    pub(crate) fn set_crowded(&mut self, crowded: bool) {
        self.crowded = crowded;
        self.tell_window();
    }

    fn close(&mut self, why: SessionClose) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.flight.clear();
            self.outbox.clear();
            (self.due, self.ack_due, self.farewell) = (None, None, None);
            self.events.push_back(CircuitEvent::Closed(why));
        }
    }

    /// A packet of this session.
    fn header(&self, control: u8, stream: u8) -> SessionHeader {
        SessionHeader {
            control,
            stream,
            source: self.local,
            destination: self.remote,
            sequence: self.next,
            ..SessionHeader::default()
        }
    }

    /// Sends a packet without data that takes no number.
    fn send_system(&mut self, control: u8) {
        let mut header = self.header(control, stream::SESSION_DATA);
        self.emit(&mut header, &[]);
    }

    /// Sends a packet with the newest acknowledgment and window, which pays what is owed.
    fn emit(&mut self, header: &mut SessionHeader, data: &[u8]) {
        header.acknowledged = self.expected;
        header.window_end = self.own_edge();
        self.told_edge = header.window_end;
        (self.owed, self.ack_due) = (0, None);
        let mut packet = Vec::with_capacity(data.len().saturating_add(18));
        packet.extend_from_slice(&header.emit());
        packet.extend_from_slice(data);
        self.out.push_back(packet);
    }

    /// The first number that we do not take.
    fn own_edge(&self) -> u16 {
        let waiting: usize = self.delivered.iter().sum();
        let full = !self.delivered.is_empty() && (self.crowded || waiting >= MAX_DELIVERED);
        match full {
            true => self.expected,
            false => self.expected.wrapping_add(self.config.window),
        }
    }

    /// Tells a peer that was told to stop that it may go on.
    fn tell_window(&mut self) {
        let was_closed = self.told_edge == self.expected;
        if self.is_open() && was_closed && self.own_edge() != self.expected {
            let again = match core::mem::take(&mut self.discarded) {
                true => control::RESEND,
                false => 0,
            };
            self.send_system(control::SYSTEM | again);
        }
    }
}

/// How far `number` is ahead of `base`, in a space where half is ahead and half is behind.
fn ahead(number: u16, base: u16) -> Option<u16> {
    let distance = number.wrapping_sub(base);
    (distance < 0x8000).then_some(distance)
}
