//! Parameters, events and errors of a station.

use alloc::vec::Vec;
use core::fmt;

use coax_wire::ether::Mac;
use coax_wire::ipx::{FrameType, Host, Network};
use coax_wire::nbt::name::NbName;
use coax_wire::time::Span;

use crate::nbf::{SessionId, StationName};

use super::circuit::CircuitConfig;
use super::close::SessionClose;
use super::route::Place;
use super::rto::Retransmission;

/// What carries a session over IPX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carriage {
    /// NetBIOS (NBIPX): packets in sequence, messages of any length.
    NetBios,
    /// SMB without NetBIOS (direct hosting): a message a packet, requests that clients repeat.
    Direct,
}

impl fmt::Display for Carriage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NetBios => "NetBIOS over IPX",
            Self::Direct => "direct hosting over IPX",
        })
    }
}

/// What a station is and may use.
#[derive(Clone, Debug)]
pub struct IpxConfig {
    /// Its address.
    pub mac: Mac,
    /// The frame type that it uses alone. `None`: it broadcasts in all, and answers in each station's.
    pub frame: Option<FrameType>,
    /// The number of its network. `None`: it learns it.
    pub network: Option<Network>,
    /// Its names, which it claims at the start.
    pub names: Vec<StationName>,
    /// Names that other stations have and whose datagrams are heard, too, as browsers need it.
    pub hears: Vec<NbName>,
    /// The carriages of sessions that it accepts.
    pub accepts: Vec<Carriage>,
    /// Its name in answers to queries for Windows NT servers (SAP); `None`: it answers none.
    pub advertised: Option<Vec<u8>>,
    /// Parameters of NetBIOS sessions.
    pub circuit: CircuitConfig,
    /// The most sessions.
    pub max_sessions: usize,
    /// The most sessions with one station.
    pub max_per_station: usize,
    /// Received bytes that may wait for their consumers before peers are told to stop. Messages that began may still
    /// become whole.
    pub max_buffered: usize,
    /// How often a query is sent. Windows sends three (tests/captures/tcpdump-ipx.pcap).
    pub query_count: u8,
    /// Time between queries.
    pub query_interval: Span,
    /// After this long a name that another station has is claimed again.
    pub claim_again: Span,
    /// When requests of direct clients are sent again.
    pub direct_retransmission: Retransmission,
    /// How often a request of a direct client is sent again before the server is given up.
    pub direct_retries: u8,
    /// A direct client that is silent for this long is forgotten. [MS-CIFS] 2.1.2.1 demands at least five minutes.
    pub direct_idle: Span,
    /// The same for a client that has no share connected.
    pub direct_idle_without_share: Span,
    /// The first number of a session.
    pub first_number: u16,
}

impl IpxConfig {
    /// A station with these names and the usual limits, which accepts both carriages.
    pub fn new(mac: Mac, names: Vec<StationName>) -> Self {
        Self {
            mac,
            frame: None,
            network: None,
            names,
            hears: Vec::new(),
            accepts: alloc::vec![Carriage::NetBios, Carriage::Direct],
            advertised: None,
            circuit: CircuitConfig::default(),
            max_sessions: 1024,
            max_per_station: 64,
            max_buffered: 16 << 20,
            query_count: 3,
            query_interval: Span::from_millis(500),
            claim_again: Span::from_secs(60),
            direct_retransmission: Retransmission::default(),
            direct_retries: 12,
            direct_idle: Span::from_secs(3600),
            direct_idle_without_share: Span::from_secs(300),
            first_number: 1,
        }
    }

    /// The longest message of a carriage, in bytes: what fits into a packet of the narrowest frame type in use, or what
    /// the 16 bits of NBIPX's length can say.
    pub fn max_message(&self, carriage: Carriage) -> usize {
        match carriage {
            Carriage::NetBios => self.circuit.max_message.min(usize::from(u16::MAX)),
            Carriage::Direct => self.frame.unwrap_or(FrameType::Snap).max_data(),
        }
    }
}

/// What happened at a station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IpxEvent {
    /// The name is ours.
    NameRegistered(NbName),
    /// Another station has the name.
    NameRefused {
        /// The name.
        name: NbName,
        /// That station.
        by: Host,
    },
    /// Another station claimed our name and was refused.
    NameDefended {
        /// The name.
        name: NbName,
        /// That station.
        claimant: Host,
    },
    /// The number of the network is known now.
    NetworkLearned {
        /// The number.
        network: Network,
        /// The station whose packet told it.
        from: Mac,
    },
    /// Messages can be sent and received.
    SessionOpened {
        /// The session.
        session: SessionId,
        /// What carries it.
        carriage: Carriage,
        /// The other station.
        peer: Host,
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
    /// A message; it must be given back by [`Ipx::consumed`](super::Ipx::consumed).
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
    /// A datagram for one of our names.
    Datagram {
        /// The station that sent it.
        from: Place,
        /// The name that sent it.
        source: NbName,
        /// The name that it is for.
        destination: NbName,
        /// Its data.
        data: Vec<u8>,
    },
}

/// Why a call did not lead to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No station answers to the name.
    #[error("no station on this network has the name")]
    NoAnswer,
    /// The station has the name and does not accept the session.
    #[error("the station with this name accepts no session")]
    NotAccepted,
    /// All numbers of sessions are in use.
    #[error("there are too many sessions")]
    NoResources,
}

/// What a station did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpxCounters {
    /// Frames received.
    pub received: u64,
    /// Frames that were no packet for this station or did not decode.
    pub ignored: u64,
    /// Replies to queries that were not sent because there were too many within a second.
    pub suppressed: u64,
    /// Packets of sessions that were sent again.
    pub retransmitted: u64,
    /// Requests of direct clients that were answered with the last reply again, or ignored because they had been served.
    pub repeated_requests: u64,
}
