//! Parameters, events and ends of a link.

use alloc::vec::Vec;

use coax_wire::time::Span;

/// Timers and windows of a link, with the names of ISO 8802-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// T1: how long to wait for an acknowledgment or an answer. Windows NT starts with 600 ms.
    pub reply: Span,
    /// How often T1 doubles while the peer does not answer. LAN Manager doubles it four times (KB Q98849), Windows NT and
    /// coax not at all.
    pub reply_doublings: u8,
    /// T2: how long an acknowledgment may wait for others.
    pub delay: Span,
    /// Ti: after this long without traffic the link is tested.
    pub inactivity: Span,
    /// N2: how often to try again before the link is given up.
    pub retries: u8,
    /// k: the most frames in flight, 1 to 127. The window starts at 2 and grows while nothing is lost.
    pub window: u8,
    /// The frame that fills the window asks for an acknowledgment at once (P). A peer that acknowledges in groups, as Linux
    /// does, needs it; MS-DOS and Windows 98 do not set it (tests/captures/dos-win98-netbeui.pcap).
    pub poll_when_full: bool,
    /// N3: acknowledge after this many frames without waiting for T2. 1 suits peers with a window of 1.
    pub acknowledge_every: u8,
    /// The longest information of an I frame, in bytes.
    pub max_info: usize,
}

impl LinkConfig {
    /// Information of an I frame on Ethernet: 1500 bytes without the LLC header.
    pub const ETHERNET_INFO: usize = 1496;
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            reply: Span::from_millis(600),
            reply_doublings: 0,
            delay: Span::from_millis(50),
            inactivity: Span::from_secs(30),
            retries: 8,
            window: 7,
            poll_when_full: true,
            acknowledge_every: 1,
            max_info: Self::ETHERNET_INFO,
        }
    }
}

/// What happened to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Frames can be sent.
    Established,
    /// The peer opened the link anew: what either side sent before may be lost.
    Reset,
    /// The information of the next I frame, in order, each once.
    Data(Vec<u8>),
    /// The link is closed.
    Ended(LinkEnd),
}

/// Why a link is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkEnd {
    /// This side closed it.
    #[error("closed")]
    Local,
    /// The peer closed it.
    #[error("the peer closed the link")]
    Peer,
    /// The peer does not open a link.
    #[error("the peer refuses the link")]
    Refused,
    /// The peer does not answer any more.
    #[error("the peer does not answer")]
    NoAnswer,
    /// One side sent a frame that the other must reject.
    #[error("a frame broke the link's protocol")]
    Protocol,
}

/// What a link did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// I frames sent, retransmissions included.
    pub sent: u64,
    /// I frames sent again.
    pub retransmitted: u64,
    /// I frames received in order.
    pub received: u64,
    /// I frames received and discarded: duplicates, and those after a gap.
    pub discarded: u64,
    /// Times that T1 ran out.
    pub timeouts: u64,
}
