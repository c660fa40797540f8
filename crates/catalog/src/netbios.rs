//! NetBEUI and IPX on a machine: timers, windows and frame sizes.

use alloc::string::String;

use coax_netbios::{
    ipx::{CircuitConfig, Retransmission},
    llc::LinkConfig,
};
use coax_wire::{ipx::FrameType, nbf::SESSION_HEADER_LEN, time::Span};
use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    component::{Described, broken},
    files::{self, Files},
    units::span,
};

/// What carries the messages of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Carrier {
    /// TCP.
    #[default]
    Tcp,
    /// NetBIOS frames on LLC type 2.
    Netbeui,
    /// NetBIOS over IPX.
    Nbipx,
    /// SMB directly over IPX.
    Ipx,
}

impl Carrier {
    /// All.
    pub const ALL: [Self; 4] = [Self::Tcp, Self::Netbeui, Self::Nbipx, Self::Ipx];

    /// The name in scenarios, as in the server's log and statistics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Netbeui => "netbeui",
            Self::Nbipx => "nbipx",
            Self::Ipx => "ipx",
        }
    }

    /// The carrier of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|carrier| carrier.name() == name)
    }
}

/// The parameters of NetBEUI (`t1` to `data_ack_delay`), NetBIOS over IPX (`nbipx_…`) and direct hosting (`direct_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetbiosParams {
    /// T1: how long to wait for an acknowledgment.
    #[serde(deserialize_with = "span")]
    pub t1: Span,
    /// How often T1 doubles while nothing is acknowledged.
    pub t1_doublings: u8,
    /// T2: how long an acknowledgment may wait for other frames.
    #[serde(deserialize_with = "span")]
    pub t2: Span,
    /// Ti: after this long without traffic the link is tested.
    #[serde(deserialize_with = "span")]
    pub ti: Span,
    /// N2: how often to try again.
    pub retries: u8,
    /// Frames that may be in flight ("maxout").
    pub window: u8,
    /// The frame that fills the window asks for an acknowledgment at once (poll bit).
    pub poll_when_full: bool,
    /// Frames after which an acknowledgment does not wait for T2 ("maxin").
    pub acknowledge_every: u8,
    /// Frames that wait in the card and are taken together, before anything is answered: a program that reads them from the
    /// kernel takes many, a driver that gets an interrupt for each takes one.
    pub frames_at_once: u16,
    /// The longest piece of a message in a frame that is taken, bytes.
    pub max_piece: u16,
    /// How long the acknowledgment of a message waits for a message to travel with ("piggybackacks").
    #[serde(deserialize_with = "span")]
    pub data_ack_delay: Span,
    /// Packets of NetBIOS over IPX that may be in flight, and that the peer may send before an acknowledgment.
    pub nbipx_window: u16,
    /// Packets after which an acknowledgment does not wait.
    pub nbipx_acknowledge_every: u16,
    /// How long an acknowledgment waits for data to travel with.
    #[serde(deserialize_with = "span")]
    pub nbipx_ack_delay: Span,
    /// The retransmission timer before anything was measured.
    #[serde(deserialize_with = "span")]
    pub nbipx_rto_initial: Span,
    /// The shortest retransmission timer.
    #[serde(deserialize_with = "span")]
    pub nbipx_rto_min: Span,
    /// How often to try again.
    pub nbipx_retries: u8,
    /// The time before a request of direct hosting is sent again, before anything was measured.
    #[serde(deserialize_with = "span")]
    pub direct_rto_initial: Span,
    /// The shortest time before a request is sent again.
    #[serde(deserialize_with = "span")]
    pub direct_rto_min: Span,
    /// How often a request is sent again.
    pub direct_retries: u8,
    /// The frame type of IPX.
    #[serde(deserialize_with = "frame_type")]
    pub frame_type: FrameType,
}

impl Default for NetbiosParams {
    /// Those of coax's own stations.
    fn default() -> Self {
        let (link, circuit) = (LinkConfig::default(), CircuitConfig::default());
        let direct = Retransmission::default();
        Self {
            t1: link.reply,
            t1_doublings: link.reply_doublings,
            t2: link.delay,
            ti: link.inactivity,
            retries: link.retries,
            window: link.window,
            poll_when_full: link.poll_when_full,
            acknowledge_every: link.acknowledge_every,
            frames_at_once: 256,
            max_piece: MOST_PIECE,
            data_ack_delay: Span::from_millis(20),
            nbipx_window: circuit.window,
            nbipx_acknowledge_every: circuit.acknowledge_every,
            nbipx_ack_delay: circuit.acknowledgment_delay,
            nbipx_rto_initial: circuit.retransmission.initial,
            nbipx_rto_min: circuit.retransmission.min,
            nbipx_retries: circuit.retries,
            direct_rto_initial: direct.initial,
            direct_rto_min: direct.min,
            direct_retries: 12,
            frame_type: FrameType::Ieee802_2,
        }
    }
}

/// What fits into an I frame on Ethernet.
const MOST_PIECE: u16 = (LinkConfig::ETHERNET_INFO - SESSION_HEADER_LEN) as u16;
/// The longest retransmission timer, and the most that a person may set for a shorter one.
const LONGEST: Span = Span::from_secs(60);

impl NetbiosParams {
    /// A link's parameters.
    pub fn link(&self) -> LinkConfig {
        LinkConfig {
            reply: self.t1,
            reply_doublings: self.t1_doublings,
            delay: self.t2,
            inactivity: self.ti,
            retries: self.retries,
            window: self.window,
            poll_when_full: self.poll_when_full,
            acknowledge_every: self.acknowledge_every,
            max_info: usize::from(self.max_piece).saturating_add(SESSION_HEADER_LEN),
        }
    }

    /// Those of a NetBIOS session over IPX.
    pub fn circuit(&self) -> CircuitConfig {
        CircuitConfig {
            window: self.nbipx_window,
            acknowledge_every: self.nbipx_acknowledge_every,
            acknowledgment_delay: self.nbipx_ack_delay,
            retransmission: retransmission(self.nbipx_rto_initial, self.nbipx_rto_min),
            retries: self.nbipx_retries,
            ..CircuitConfig::default()
        }
    }

    /// When requests of direct hosting are sent again.
    pub fn direct(&self) -> Retransmission {
        retransmission(self.direct_rto_initial, self.direct_rto_min)
    }
}

fn retransmission(initial: Span, min: Span) -> Retransmission {
    let default = Retransmission::default();
    Retransmission {
        initial,
        min,
        max: default.max.max(initial).max(min),
    }
}

fn frame_type<'de, D: Deserializer<'de>>(from: D) -> Result<FrameType, D::Error> {
    let name = String::deserialize(from)?;
    let known = FrameType::ALL.into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| {
        D::Error::custom("allowed are \"802.2\", \"802.3\", \"ethernet-ii\" and \"snap\"")
    })
}

impl Described for NetbiosParams {
    const KIND: &'static str = "NetBIOS transport";
    const BUILT_IN: Files = files::NETBIOS;

    fn check(&self) -> Result<(), (&'static str, String)> {
        let timer = |span: Span| span >= Span::from_millis(1) && span <= LONGEST;
        let window = |frames: u8| (1..=127).contains(&frames);
        let packets = |count: u16| (1..=128).contains(&count);
        const TIMES: &str = "1 ms to 60 s";
        const FRAMES: &str = "1 to 127 frames";
        broken(&[
            ("t1", timer(self.t1), TIMES),
            ("t1_doublings", self.t1_doublings <= 8, "0 to 8"),
            ("t2", self.t2 < self.t1, "less than t1"),
            ("ti", self.ti >= self.t1, "at least t1"),
            ("retries", self.retries >= 1, "1 to 255"),
            ("window", window(self.window), FRAMES),
            ("acknowledge_every", window(self.acknowledge_every), FRAMES),
            (
                "frames_at_once",
                self.frames_at_once >= 1,
                "1 to 65535 frames",
            ),
            (
                "max_piece",
                (64..=MOST_PIECE).contains(&self.max_piece),
                "64 to 1482 bytes",
            ),
            (
                "data_ack_delay",
                self.data_ack_delay <= LONGEST,
                "0 s to 60 s",
            ),
            (
                "nbipx_window",
                packets(self.nbipx_window),
                "1 to 128 packets",
            ),
            (
                "nbipx_acknowledge_every",
                packets(self.nbipx_acknowledge_every),
                "1 to 128 packets",
            ),
            (
                "nbipx_ack_delay",
                self.nbipx_ack_delay <= LONGEST,
                "0 s to 60 s",
            ),
            ("nbipx_rto_initial", timer(self.nbipx_rto_initial), TIMES),
            ("nbipx_rto_min", timer(self.nbipx_rto_min), TIMES),
            ("nbipx_retries", self.nbipx_retries >= 1, "1 to 255"),
            ("direct_rto_initial", timer(self.direct_rto_initial), TIMES),
            ("direct_rto_min", timer(self.direct_rto_min), TIMES),
            ("direct_retries", self.direct_retries >= 1, "1 to 255"),
        ])
    }
}
