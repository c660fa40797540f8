//! Parameters, events and errors of a station.

use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbf::AdapterStatus;
use coax_wire::nbt::name::NbName;
use coax_wire::time::Span;

use crate::llc::{LinkConfig, LinkEnd};

/// A name of this station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationName {
    /// The name.
    pub name: NbName,
    /// Whether other stations may have it, too.
    pub group: bool,
    /// Whether sessions to it are accepted.
    pub listens: bool,
}

/// What a station is and may use.
#[derive(Clone, Debug)]
pub struct NbfConfig {
    /// Its address.
    pub mac: Mac,
    /// Its names, which it claims at the start.
    pub names: Vec<StationName>,
    /// Names that other stations have and whose datagrams are heard, too, as browsers need it.
    pub hears: Vec<NbName>,
    /// Timers and windows of each link.
    pub link: LinkConfig,
    /// The longest message taken from a peer, in bytes.
    pub max_message: usize,
    /// The most sessions of all links together. A link has at most 254.
    pub max_sessions: usize,
    /// The most links.
    pub max_links: usize,
    /// Received bytes that may wait for their consumers before peers are told to stop. Messages that began may still
    /// become whole.
    pub max_buffered: usize,
    /// Number of the first session, 1 to 254.
    pub first_session: u8,
    /// First response correlator.
    pub first_correlator: u16,
    /// How often a query is sent. Windows NT and 98 send three.
    pub query_count: u8,
    /// Time between queries (SC30-3587 §4.5: 500 ms).
    pub query_interval: Span,
    /// How long the next step of opening a session may take.
    pub open_timeout: Span,
    /// How long the acknowledgment of a message waits for data to travel with. A DOS client waits 110 ms
    /// (tests/captures/dos-win98-netbeui.pcap); a peer with several requests at once sends none of them meanwhile, so this
    /// station does not wait that long.
    pub acknowledgment_delay: Span,
    /// A link with sessions and without traffic for this long carries SESSION ALIVE.
    pub alive: Span,
    /// After this long a name that another station has is claimed again.
    pub claim_again: Span,
}

impl NbfConfig {
    /// A station with these names and the usual limits.
    pub fn new(mac: Mac, names: Vec<StationName>) -> Self {
        Self {
            mac,
            names,
            hears: Vec::new(),
            link: LinkConfig::default(),
            max_message: 0x1_ffff,
            max_sessions: 1024,
            max_links: 512,
            max_buffered: 16 << 20,
            first_session: 1,
            first_correlator: 1,
            query_count: 3,
            query_interval: Span::from_millis(500),
            open_timeout: Span::from_secs(3),
            acknowledgment_delay: Span::from_millis(20),
            alive: Span::from_secs(30),
            claim_again: Span::from_secs(60),
        }
    }
}

/// A session of a station; never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

/// What happened at a station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbfEvent {
    /// The name is ours.
    NameRegistered(NbName),
    /// Another station has the name.
    NameRefused {
        /// The name.
        name: NbName,
        /// That station.
        by: Mac,
    },
    /// A station says that two have our name. It is given up, and claimed again later.
    NameConflict {
        /// The name.
        name: NbName,
        /// Who says so.
        by: Mac,
    },
    /// Another station claimed our name and was refused.
    NameDefended {
        /// The name.
        name: NbName,
        /// That station.
        claimant: Mac,
    },
    /// Messages can be sent and received.
    SessionOpened {
        /// The session.
        session: SessionId,
        /// The other station.
        peer: Mac,
        /// The name that was called.
        called: NbName,
        /// The name of the caller: its claim and nothing more.
        calling: NbName,
        /// Whether the peer called.
        incoming: bool,
    },
    /// A call did not lead to a session.
    CallFailed {
        /// The session that was wanted.
        session: SessionId,
        /// Why.
        why: CallError,
    },
    /// A message; it must be given back by [`Nbf::consumed`](super::Nbf::consumed).
    Message {
        /// The session.
        session: SessionId,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// The session is over.
    SessionClosed {
        /// The session.
        session: SessionId,
        /// Why.
        why: SessionClose,
    },
    /// A datagram.
    Datagram {
        /// The station that sent it.
        from: Mac,
        /// The name that sent it.
        source: NbName,
        /// The name of ours that it is for; `None`: every station.
        destination: Option<NbName>,
        /// Its data.
        data: Vec<u8>,
    },
    /// A station's status, asked for by [`Nbf::query_status`](super::Nbf::query_status).
    Status {
        /// The name that was asked.
        name: NbName,
        /// What the station tells.
        status: AdapterStatus,
    },
}

/// Why a call did not lead to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No station answers to the name.
    #[error("no station on this network has the name")]
    NoAnswer,
    /// The station has the name, and nobody there takes sessions.
    #[error("the station with this name accepts no sessions on it")]
    NotListening,
    /// The station has no resources for another session.
    #[error("the station has no resources for another session")]
    NoResources,
    /// The link failed.
    #[error("the link to the station failed: {0}")]
    Link(LinkEnd),
    /// The station did not confirm the session.
    #[error("the station did not confirm the session")]
    NotConfirmed,
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionClose {
    /// This side closed it.
    #[error("closed")]
    Local,
    /// The peer closed it.
    #[error("the peer closed the session")]
    Peer,
    /// The peer gave it up.
    #[error("the peer aborted the session")]
    PeerAborted,
    /// The link failed.
    #[error("the link failed: {0}")]
    Link(LinkEnd),
    /// The peer sent a message longer than allowed.
    #[error("the peer sent a message that is too long")]
    TooLong,
}

/// Why a message or call is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such session, or it is not open.
    #[error("there is no such session")]
    NoSession,
    /// Another message waits; try again when [`Nbf::can_send`](super::Nbf::can_send) says so.
    #[error("another message waits to be sent")]
    Busy,
    /// The peer does not understand messages without acknowledgment.
    #[error("the peer does not understand messages without acknowledgment")]
    NoAckUnknown,
    /// All sessions are in use.
    #[error("all sessions are in use")]
    Full,
}

/// What a station did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NbfCounters {
    /// Frames received.
    pub received: u64,
    /// Frames that were no frame for this station or did not decode.
    pub ignored: u64,
    /// Replies to queries that were not sent because there were too many within a second.
    pub suppressed: u64,
    /// I frames that links sent again.
    pub retransmitted: u64,
}
