//! Parameters and events of a session.

use alloc::vec::Vec;

use coax_wire::time::Span;

use super::super::close::SessionClose;
use super::super::rto::Retransmission;

/// NWLink delays acknowledgments by 250 ms (`AckDelayTime`, KB Q99745), and a timer of its time is late by up to 50 ms.
const MIN_RETRANSMISSION: Span = Span::from_millis(300);

/// Timers and windows of NetBIOS sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitConfig {
    /// The longest message taken from a peer, in bytes; at most 65,535.
    pub max_message: usize,
    /// Packets that may be in flight, and that a peer may send before an acknowledgment. Windows NT takes 5.
    pub window: u16,
    /// Packets after which an acknowledgment does not wait. NWLink's `AckWindow` is 2.
    pub acknowledge_every: u16,
    /// How long an acknowledgment waits for data to travel with. Shorter than any peer's retransmission; NWLink's
    /// `AckDelayTime` is 250 ms.
    pub acknowledgment_delay: Span,
    /// How long to wait between questions to a peer that takes no data. Windows NT asks every 600 ms.
    pub probe: Span,
    /// When packets that are not acknowledged are sent again.
    pub retransmission: Retransmission,
    /// How often to try again before the peer is given up.
    pub retries: u8,
    /// After this long without traffic a session is tested. NWLink's `KeepAliveTimeout` is 30 s.
    pub alive: Span,
    /// How long a session that ends may take to send what waits.
    pub farewell: Span,
}

impl Default for CircuitConfig {
    fn default() -> Self {
        Self {
            max_message: 0xffff,
            window: 32,
            acknowledge_every: 4,
            acknowledgment_delay: Span::from_millis(20),
            probe: Span::from_millis(600),
            // a peer that waits for data to acknowledge with is not to get its data twice
            retransmission: Retransmission {
                min: MIN_RETRANSMISSION,
                ..Retransmission::default()
            },
            retries: 8,
            alive: Span::from_secs(30),
            farewell: Span::from_secs(20),
        }
    }
}

/// What happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CircuitEvent {
    /// The peer accepted it.
    Opened,
    /// A message.
    Message(Vec<u8>),
    /// It is over; if it was never open, the peer did not accept it.
    Closed(SessionClose),
}
