//! A station on an IPX network: NetBIOS over IPX (NBIPX), SMB directly over IPX, their names and datagrams, and enough
//! of RIP and SAP for a network without a router.
//!
//! Whole Ethernet frames of four types go in and come out. Names are claimed and defended, calls are made and accepted,
//! and each session carries messages in both directions, whichever of the two carries it.

mod browsing;
mod circuit;
mod claim;
mod close;
mod config;
mod datagrams;
mod direct;
mod locate;
mod names;
mod open;
mod route;
mod rto;
mod services;
mod session;
#[cfg(test)]
mod tests;

pub use circuit::CircuitConfig;
pub use close::SessionClose;
pub use config::{CallError, Carriage, IpxConfig, IpxCounters, IpxEvent};
pub use datagrams::MAX_DATAGRAM;
pub use route::{Place, Route};
pub use rto::Retransmission;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use coax_wire::ether::{Frame, Mac};
use coax_wire::ipx::nbipx::{self, NamePacket, SessionHeader, stream};
use coax_wire::ipx::{Address, FrameType, Network, Packet, kind, nmpi, rip, sap, socket};
use coax_wire::time::{Span, Time};

use crate::limit::{Rate, RateLimiter};
use crate::nbf::SessionId;
use crate::waits::{Blocked, Deadlines};

use claim::Claim;
use session::{Change, Engine, Session};

/// Frames that may wait for the driver; others are dropped, as a network may.
const MAX_TRANSMITS: usize = 1024;
/// Events other than those of sessions that may wait for the driver; others are dropped.
const MAX_EVENTS: usize = 4096;
/// Replies to queries within a second. An IPX network has tens of stations.
const MAX_REPLIES: u32 = 500;
/// Replies to one station.
const PER_STATION: Rate = Rate {
    per_s: 50,
    burst: 100,
};

/// A station.
///
/// Hand in each Ethernet frame by [`handle_frame`](Self::handle_frame) and the time by
/// [`handle_timeout`](Self::handle_timeout); then take frames and events until there are none.
#[derive(Debug)]
pub struct Ipx {
    config: IpxConfig,
    network: Network,
    claims: Vec<Claim>,
    sessions: BTreeMap<SessionId, Session>,
    /// By our number of a NetBIOS session, and by that of a direct client.
    circuits: BTreeMap<u16, SessionId>,
    served: BTreeMap<u16, SessionId>,
    next_id: u32,
    next_number: u16,
    /// Whether peers were told to stop.
    crowded: bool,
    transmits: VecDeque<Vec<u8>>,
    /// Sessions that may have packets.
    active: BTreeSet<SessionId>,
    events: VecDeque<IpxEvent>,
    /// When the current second began, and the replies since.
    window: (Time, u32),
    stations: RateLimiter<Mac>,
    counters: IpxCounters,
}

impl Ipx {
    /// A station that begins to claim its names at `now`, and asks for the number of its network.
    pub fn new(now: Time, config: IpxConfig) -> Self {
        let names = config.names.iter();
        let mut station = Self {
            claims: names.map(|own| Claim::new(*own, now)).collect(),
            network: config.network.unwrap_or_default(),
            next_number: config.first_number,
            config,
            sessions: BTreeMap::new(),
            circuits: BTreeMap::new(),
            served: BTreeMap::new(),
            next_id: 0,
            crowded: false,
            transmits: VecDeque::new(),
            active: BTreeSet::new(),
            events: VecDeque::new(),
            window: (now, 0),
            stations: RateLimiter::new(PER_STATION),
            counters: IpxCounters::default(),
        };
        if station.network == Network(0) {
            station.ask_for_network();
        }
        station.claim_names(now);
        station
    }

    /// The station's address.
    pub fn mac(&self) -> Mac {
        self.config.mac
    }

    /// What the station did.
    pub fn counters(&self) -> IpxCounters {
        let mut counters = self.counters;
        for session in self.sessions.values() {
            let (sent, came) = session.repetitions();
            counters.retransmitted = counters.retransmitted.saturating_add(sent);
            counters.repeated_requests = counters.repeated_requests.saturating_add(came);
        }
        counters
    }

    /// Sessions, and those that are being opened.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Received bytes that no consumer has taken.
    pub fn buffered(&self) -> usize {
        self.sessions.values().map(Session::buffered).sum()
    }

    /// A frame arrived. Take frames and events next.
    pub fn handle_frame(&mut self, now: Time, bytes: &[u8]) {
        self.counters.received = self.counters.received.saturating_add(1);
        if self.try_frame(now, bytes).is_none() {
            self.counters.ignored = self.counters.ignored.saturating_add(1);
        }
    }

    /// It is `now`: does what is due. Take frames and events next.
    pub fn handle_timeout(&mut self, now: Time) {
        self.claim_names(now);
        let due = self.sessions.iter();
        let due: Vec<SessionId> = due
            .filter(|(_, session)| session.poll_timeout().is_some_and(|due| due <= now))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.search(now, id);
            if let Some(session) = self.sessions.get_mut(&id) {
                session.handle_timeout(now);
            }
            self.turn(now, id);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Time> {
        let claims = self.claims.iter().filter_map(|claim| claim.due);
        let sessions = self.sessions.values().filter_map(Session::poll_timeout);
        claims.chain(sessions).min()
    }

    /// The same by the reason.
    pub fn deadlines(&self) -> Deadlines {
        let own = Deadlines {
            other: self.claims.iter().filter_map(|claim| claim.due).min(),
            ..Deadlines::default()
        };
        let sessions = self.sessions.values().map(Session::deadlines);
        sessions.fold(own, Deadlines::or_earlier)
    }

    /// Why messages that wait are not on their way; of several sessions, that of the first.
    pub fn blocked(&self) -> Option<Blocked> {
        self.sessions.values().find_map(Session::blocked)
    }

    /// An Ethernet frame to send, until there is none.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        if let Some(frame) = self.transmits.pop_front() {
            return Some(frame);
        }
        while let Some(id) = self.active.first().copied() {
            if let Some(frame) = self.next_packet(id) {
                return Some(frame);
            }
            self.active.remove(&id);
            if self.sessions.get(&id).is_some_and(Session::is_over) {
                self.forget(id);
            }
        }
        None
    }

    /// What happened, until there is nothing.
    pub fn poll_event(&mut self) -> Option<IpxEvent> {
        self.events.pop_front()
    }

    fn next_packet(&mut self, id: SessionId) -> Option<Vec<u8>> {
        let session = self.sessions.get_mut(&id)?;
        let data = session.poll_packet()?;
        let (place, (own, _)) = (session.place, session.sockets());
        self.frame(kind::PACKET_EXCHANGE, own, place, &[&data])
    }

    fn try_frame(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let frame = Frame::parse(bytes).ok()?;
        let directed = frame.destination == self.config.mac;
        let is_ours = directed || frame.destination.is_group();
        if self.is_own(frame.source) || frame.source.is_group() || !is_ours {
            return None;
        }
        let (frame_type, packet) = FrameType::parse(&frame).ok()?;
        let node = packet.destination.host.node;
        let is_wanted = self.config.frame.is_none_or(|only| only == frame_type);
        let is_for_us = node == self.config.mac || node == Mac::BROADCAST;
        if !is_wanted || !is_for_us || packet.source.host.node.is_group() {
            return None;
        }
        self.learn_network(frame.source, packet.source, packet.hops);
        let from = Place {
            route: Route {
                frame: frame_type,
                hop: frame.source,
                host: packet.source.host,
            },
            socket: packet.source.socket,
        };
        self.handle_packet(now, from, &packet, directed)
    }

    fn handle_packet(
        &mut self,
        now: Time,
        from: Place,
        packet: &Packet<'_>,
        directed: bool,
    ) -> Option<()> {
        let data = packet.data;
        match packet.destination.socket {
            socket::NETBIOS => self.handle_netbios(now, from, data, directed),
            socket::SMB_SERVER if directed => self.handle_request(now, from, data),
            socket::SMB_CLIENT if directed => self.handle_reply(now, from, data),
            socket::NMPI_NAMES => {
                self.handle_nmpi_name(now, from, &nmpi::Packet::parse(data).ok()?);
                Some(())
            }
            socket::NMPI_MAILSLOTS => {
                self.handle_mailslot(from, &nmpi::Packet::parse(data).ok()?);
                Some(())
            }
            socket::RIP => {
                self.handle_rip(now, from, &rip::Packet::parse(data).ok()?);
                Some(())
            }
            socket::SAP => {
                self.handle_sap(now, from, &sap::Packet::parse(data).ok()?);
                Some(())
            }
            _ => None,
        }
    }

    /// The second byte tells sessions and datagrams from names, unless networks stand there; only broadcasts and answers
    /// of 50 bytes have those (KB Q128335).
    fn handle_netbios(
        &mut self,
        now: Time,
        from: Place,
        data: &[u8],
        directed: bool,
    ) -> Option<()> {
        if data.len() == nbipx::NAME_LEN
            && let Ok(packet) = NamePacket::parse(data)
        {
            self.handle_name(now, from, &packet);
            return Some(());
        }
        if data.get(1) == Some(&stream::DATAGRAM) {
            self.handle_datagram(from, &nbipx::Datagram::parse(data).ok()?);
            return Some(());
        }
        let (header, data) = SessionHeader::parse(data).ok()?;
        if !directed {
            return None;
        }
        self.handle_session(now, from, &header, data)
    }

    /// Takes the events of a session.
    fn turn(&mut self, now: Time, id: SessionId) {
        while let Some(session) = self.sessions.get_mut(&id) {
            let (carriage, incoming) = (session.carriage(), session.is_incoming());
            let ((called, calling), peer) = (session.names(), session.place.route.host);
            let Some(change) = session.poll_change() else {
                break;
            };
            self.events.push_back(match change {
                Change::Opened => IpxEvent::SessionOpened {
                    session: id,
                    carriage,
                    peer,
                    called,
                    calling,
                    incoming,
                },
                Change::Message(bytes) => IpxEvent::Message { session: id, bytes },
                Change::Closed(why) => self.closed(id, why),
            });
        }
        self.active.insert(id);
        let _ = now;
        self.watch_buffers();
    }

    /// Tells peers to stop when too much waits for the consumers.
    fn watch_buffers(&mut self) {
        if self.sessions.is_empty() && !self.crowded {
            return;
        }
        let buffered = self.buffered();
        let crowded = match self.crowded {
            true => buffered > self.config.max_buffered / 2,
            false => buffered > self.config.max_buffered,
        };
        if crowded != self.crowded {
            self.crowded = crowded;
            for (id, session) in &mut self.sessions {
                if let Engine::Circuit(circuit) = &mut session.engine {
                    circuit.set_crowded(crowded);
                    self.active.insert(*id);
                }
            }
        }
    }

    fn accepts(&self, carriage: Carriage) -> bool {
        self.config.accepts.contains(&carriage)
    }

    /// Sends from a socket of ours to the same socket of all stations.
    fn broadcast(&mut self, kind: u8, socket: u16, parts: &[&[u8]]) {
        self.broadcast_from(socket, kind, socket, parts);
    }

    /// Sends to a socket of all stations, in our frame type or in every one.
    fn broadcast_from(&mut self, own: u16, kind: u8, socket: u16, parts: &[&[u8]]) {
        let only = self.config.frame;
        for frame in FrameType::ALL {
            if only.is_some_and(|only| only != frame) {
                continue;
            }
            let host = coax_wire::ipx::Host {
                network: Network(0),
                node: Mac::BROADCAST,
            };
            let hop = Mac::BROADCAST;
            let route = Route { frame, hop, host };
            self.reply(kind, own, Place { route, socket }, parts);
        }
    }

    /// Sends to a socket of a station.
    fn reply(&mut self, kind: u8, own: u16, to: Place, parts: &[&[u8]]) {
        if let Some(frame) = self.frame(kind, own, to, parts)
            && self.transmits.len() < MAX_TRANSMITS
        {
            self.transmits.push_back(frame);
        }
    }

    fn frame(&self, kind: u8, own: u16, to: Place, parts: &[&[u8]]) -> Option<Vec<u8>> {
        let packet = Packet {
            hops: 0,
            kind,
            destination: Address {
                host: to.route.host,
                socket: to.socket,
            },
            source: Address::new(self.network, self.config.mac, own),
            data: &[],
        };
        let frame = to.route.frame;
        frame
            .emit(to.route.hop, self.config.mac, &packet, parts)
            .ok()
    }

    /// Whether one more reply may be sent: at most [`MAX_REPLIES`] within a second, and fewer to one station.
    fn may_reply(&mut self, now: Time, to: Route) -> bool {
        if now >= self.window.0 + Span::from_secs(1) {
            self.window = (now, 0);
        }
        let may = self.window.1 < MAX_REPLIES && self.stations.admit(now, to.hop);
        match may {
            true => self.window.1 = self.window.1.saturating_add(1),
            false => self.counters.suppressed = self.counters.suppressed.saturating_add(1),
        }
        may
    }

    fn tell(&mut self, event: IpxEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}
