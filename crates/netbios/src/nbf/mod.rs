//! A NetBIOS station on Ethernet without TCP/IP: NetBIOS frames over logical link control, called NetBEUI by users
//! (IBM SC30-3587 ch. 5).
//!
//! Whole Ethernet frames go in and come out. Names are claimed and defended, calls are made and accepted, and each
//! session carries messages in both directions. One station has up to 254 sessions with each of many others.

mod browsing;
mod claim;
mod config;
mod data;
mod names;
mod open;
mod peer;
mod session;
#[cfg(test)]
mod tests;

pub use config::{
    CallError, NbfConfig, NbfCounters, NbfEvent, Refused, SessionClose, SessionId, StationName,
};

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use coax_wire::ether::{Frame as Ethernet, Mac, Payload, emit_802_3};
use coax_wire::llc::{Control, Pdu, SAP_NETBIOS, SAP_NULL, Unnumbered};
use coax_wire::nbf::{Frame, NAME_HEADER_LEN, NameFrame, SESSION_HEADER_LEN};
use coax_wire::time::{Span, Time};

use crate::limit::{Rate, RateLimiter};
use crate::llc::{LinkEnd, LinkEvent, answer_without_link};
use crate::waits::{Blocked, Deadlines};

use claim::Claim;
use peer::Peer;
use session::{Session, next_correlator};

/// Frames that may wait for the driver; others are dropped, as a network may.
const MAX_TRANSMITS: usize = 1024;
/// Events other than messages that may wait for the driver; others are dropped.
const MAX_EVENTS: usize = 4096;
/// Replies to queries within a second. A NetBIOS network has tens of stations.
const MAX_REPLIES: u32 = 500;
/// Replies to one station, which may open all 254 sessions of its link at once.
const PER_STATION: Rate = Rate {
    per_s: 100,
    burst: 300,
};

/// The longest datagram on Ethernet: 1500 bytes without the headers of UI and NBF.
pub const MAX_DATAGRAM: usize = 1500 - 3 - NAME_HEADER_LEN;

/// A station.
///
/// Hand in each Ethernet frame by [`handle_frame`](Self::handle_frame) and the time by
/// [`handle_timeout`](Self::handle_timeout); then take frames and events until there are none.
#[derive(Debug)]
pub struct Nbf {
    config: NbfConfig,
    claims: Vec<Claim>,
    peers: BTreeMap<Mac, Peer>,
    sessions: BTreeMap<SessionId, Session>,
    /// By the other station and the number that it uses for us.
    by_number: BTreeMap<(Mac, u8), SessionId>,
    next_id: u32,
    next_call_number: u8,
    correlator: u16,
    /// Bytes received that no consumer has taken.
    buffered: usize,
    /// Sessions whose peers were told to stop.
    stopped: BTreeSet<SessionId>,
    /// Names whose status was asked for, with the correlator.
    status_queries: Vec<(coax_wire::nbt::name::NbName, u16)>,
    transmits: VecDeque<Vec<u8>>,
    /// Peers whose links may have frames.
    active: BTreeSet<Mac>,
    events: VecDeque<NbfEvent>,
    /// When the current second began, and the replies since.
    window: (Time, u32),
    stations: RateLimiter<Mac>,
    counters: NbfCounters,
}

impl Nbf {
    /// A station that begins to claim its names at `now`.
    pub fn new(now: Time, config: NbfConfig) -> Self {
        let correlator = config.first_correlator;
        let mut station = Self {
            claims: config
                .names
                .iter()
                .map(|own| Claim::new(*own, now))
                .collect(),
            config,
            peers: BTreeMap::new(),
            sessions: BTreeMap::new(),
            by_number: BTreeMap::new(),
            next_id: 0,
            next_call_number: 1,
            correlator,
            buffered: 0,
            stopped: BTreeSet::new(),
            status_queries: Vec::new(),
            transmits: VecDeque::new(),
            active: BTreeSet::new(),
            events: VecDeque::new(),
            window: (now, 0),
            stations: RateLimiter::new(PER_STATION),
            counters: NbfCounters::default(),
        };
        station.claim_names(now);
        station
    }

    /// The station's address.
    pub fn mac(&self) -> Mac {
        self.config.mac
    }

    /// What the station did.
    pub fn counters(&self) -> NbfCounters {
        let links = self
            .peers
            .values()
            .map(|peer| peer.link.counters().retransmitted);
        NbfCounters {
            retransmitted: links.fold(self.counters.retransmitted, u64::saturating_add),
            ..self.counters
        }
    }

    /// Open sessions, and those that are being opened.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Links, open and being opened or closed.
    pub fn link_count(&self) -> usize {
        self.peers.len()
    }

    /// Bytes received that no consumer has taken.
    pub fn buffered(&self) -> usize {
        self.buffered
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
            .filter(|(_, session)| session_due(session).is_some_and(|due| due <= now))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.session_expired(now, id);
        }
        let peers: Vec<Mac> = self
            .peers
            .iter()
            .filter(|(_, peer)| peer_due(peer).is_some_and(|due| due <= now))
            .map(|(mac, _)| *mac)
            .collect();
        for mac in peers {
            if let Some(peer) = self.peers.get_mut(&mac) {
                peer.link.handle_timeout(now);
            }
            self.keep_alive(now, mac);
            self.link_turn(now, mac);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Time> {
        let claims = self.claims.iter().filter_map(|claim| claim.due);
        let sessions = self.sessions.values().filter_map(session_due);
        let peers = self.peers.values().filter_map(peer_due);
        claims.chain(sessions).chain(peers).min()
    }

    /// The same by the reason.
    pub fn deadlines(&self) -> Deadlines {
        let claims = self.claims.iter().filter_map(|claim| claim.due);
        let sessions = self.sessions.values();
        let acknowledgment = sessions.clone().filter_map(session::Session::ack_due).min();
        let steps = sessions.filter_map(|session| session.due);
        let ends = self.peers.values().filter_map(peer_end);
        let own = Deadlines {
            acknowledgment,
            other: claims.chain(steps).chain(ends).min(),
            ..Deadlines::default()
        };
        let links = self.peers.values().map(|peer| peer.link.deadlines());
        links.fold(own, Deadlines::or_earlier)
    }

    /// Why messages that wait are not on their way; of several sessions, that of the first.
    pub fn blocked(&self) -> Option<Blocked> {
        self.sessions.values().find_map(|session| {
            let link = &self.peers.get(&session.peer)?.link;
            let more = session.has_piece();
            link.blocked(more).or_else(|| session.blocked())
        })
    }

    /// An Ethernet frame to send, until there is none.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        if let Some(frame) = self.transmits.pop_front() {
            return Some(frame);
        }
        while let Some(mac) = self.active.first().copied() {
            let frame = self
                .peers
                .get_mut(&mac)
                .and_then(|peer| peer.link.poll_transmit());
            if frame.is_some() {
                return frame;
            }
            self.active.remove(&mac);
            let ended = self
                .peers
                .get(&mac)
                .is_some_and(|peer| peer.link.is_closed());
            if ended {
                self.peers.remove(&mac);
            }
        }
        None
    }

    /// What happened, until there is nothing.
    pub fn poll_event(&mut self) -> Option<NbfEvent> {
        self.events.pop_front()
    }

    fn try_frame(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let frame = Ethernet::parse(bytes).ok()?;
        let Payload::Length(payload) = frame.payload else {
            return None;
        };
        let (source, destination) = (frame.source, frame.destination);
        let directed = destination == self.config.mac;
        if source == self.config.mac || source.is_group() || !(directed || destination.is_group()) {
            return None;
        }
        let pdu = Pdu::parse(payload).ok()?;
        match pdu.dsap {
            SAP_NETBIOS if is_datagram(&pdu) => {
                let Ok(Frame::Name(name)) = Frame::parse(pdu.info) else {
                    return None;
                };
                self.handle_name(now, source, &name);
                Some(())
            }
            SAP_NETBIOS if directed && pdu.ssap == SAP_NETBIOS => {
                self.handle_link(now, source, &pdu);
                Some(())
            }
            SAP_NULL if directed && matches!(pdu.control, Control::Unnumbered { .. }) => {
                let window = self.config.link.window;
                let answer = answer_without_link(self.config.mac, source, &pdu, window)?;
                self.reply(now, source, answer);
                Some(())
            }
            _ => None,
        }
    }

    fn handle_link(&mut self, now: Time, source: Mac, pdu: &Pdu<'_>) {
        let is = |wanted| matches!(pdu.control, Control::Unnumbered { kind, .. } if kind == wanted);
        let stateless = is(Unnumbered::Test) || is(Unnumbered::Xid);
        // A station without a listening name takes no links: another program on this machine may be the one that does.
        let listens = self.config.names.iter().any(|own| own.listens);
        let may_open = is(Unnumbered::Sabme) && !pdu.response && listens;
        if may_open && self.peers.len() < self.config.max_links {
            let peer = Peer::new(now, &self.config, source);
            self.peers.entry(source).or_insert(peer);
        }
        match self.peers.get_mut(&source) {
            Some(peer) if !stateless => {
                peer.alive_due = now + self.config.alive;
                peer.link.handle_pdu(now, pdu);
                self.link_turn(now, source);
            }
            // No DM to a poll without a link, for the same reason: it would end another program's link.
            _ if !matches!(pdu.control, Control::Unnumbered { .. }) => {}
            _ => {
                let window = self.config.link.window;
                if let Some(answer) = answer_without_link(self.config.mac, source, pdu, window) {
                    self.reply(now, source, answer);
                }
            }
        }
    }

    /// Takes the events of a link and lets it send.
    fn link_turn(&mut self, now: Time, mac: Mac) {
        while let Some(event) = self
            .peers
            .get_mut(&mac)
            .and_then(|peer| peer.link.poll_event())
        {
            match event {
                LinkEvent::Established => self.link_established(now, mac),
                LinkEvent::Reset => self.end_all(now, mac, LinkEnd::Peer),
                LinkEvent::Data(info) => {
                    if let Ok(Frame::Session(frame)) = Frame::parse(&info) {
                        self.handle_session(now, mac, &frame);
                    }
                }
                LinkEvent::Ended(end) => self.link_ended(now, mac, end),
            }
        }
        self.serve(now, mac);
    }

    /// Hands frames to a link while it takes them, one session after the other.
    fn serve(&mut self, now: Time, mac: Mac) {
        let Some(peer) = self.peers.get_mut(&mac) else {
            return;
        };
        peer.flush_control(now);
        while peer.link.room() > 0 {
            let Some(id) = peer.ready.pop_front() else {
                break;
            };
            let piece = self.sessions.get_mut(&id).and_then(Session::next_piece);
            if let Some(info) = piece {
                peer.link.send(now, info, false);
                peer.ready.push_back(id);
            }
        }
        self.close_if_over(now, mac);
        self.active.insert(mac);
    }

    /// Closes a link that no session needs any more.
    fn close_if_over(&mut self, now: Time, mac: Mac) {
        let Some(peer) = self.peers.get_mut(&mac) else {
            return;
        };
        let is_over = peer.sessions == 0 && peer.close_due.is_some_and(|due| due <= now);
        if is_over && peer.is_quiet() {
            peer.link.disconnect(now);
        }
    }

    /// An idle link with sessions carries SESSION ALIVE, so that the link is tested.
    fn keep_alive(&mut self, now: Time, mac: Mac) {
        let Some(peer) = self.peers.get_mut(&mac) else {
            return;
        };
        if peer.alive_due <= now {
            peer.alive_due = now + self.config.alive;
            if peer.sessions > 0 && peer.is_quiet() {
                use coax_wire::nbf::{SessionCommand, SessionFrame};
                let frame = SessionFrame::new(SessionCommand::SessionAlive, 0, 0);
                peer.push(&frame.header(), false);
            }
        }
    }

    fn link_ended(&mut self, now: Time, mac: Mac, end: LinkEnd) {
        let is_wanted = self.sessions.values().any(|session| {
            session.peer == mac && matches!(session.phase, session::Phase::Linking { .. })
        });
        // A call began while the link was being closed.
        if is_wanted && matches!(end, LinkEnd::Local | LinkEnd::Peer) {
            if let Some(peer) = self.peers.get_mut(&mac) {
                peer.link.connect(now);
            }
            return;
        }
        self.end_all(now, mac, end);
        if let Some(peer) = self.peers.get(&mac) {
            let lost = peer.link.counters().retransmitted;
            self.counters.retransmitted = self.counters.retransmitted.saturating_add(lost);
        }
        // Its last frames are still to be sent; then it is removed.
        self.active.insert(mac);
    }

    fn send_name(&mut self, to: Mac, frame: &NameFrame<'_>) {
        let ui = Control::Unnumbered {
            kind: Unnumbered::Ui,
            pf: false,
        };
        let pdu = Pdu {
            dsap: SAP_NETBIOS,
            ssap: SAP_NETBIOS,
            response: false,
            control: ui,
            info: &[],
        };
        if let Ok(bytes) = emit_802_3(to, self.config.mac, &[&pdu.emit(), &frame.emit()]) {
            self.transmit(bytes);
        }
    }

    /// Whether another reply may be sent within this second, and to that station.
    fn may_reply(&mut self, now: Time, to: Mac) -> bool {
        if now - self.window.0 >= Span::from_secs(1) {
            self.window = (now, 0);
        }
        let may = self.window.1 < MAX_REPLIES && self.stations.admit(now, to);
        match may {
            true => self.window.1 = self.window.1.saturating_add(1),
            false => self.counters.suppressed = self.counters.suppressed.saturating_add(1),
        }
        may
    }

    fn reply(&mut self, now: Time, to: Mac, frame: Vec<u8>) {
        if self.may_reply(now, to) {
            self.transmit(frame);
        }
    }

    fn transmit(&mut self, frame: Vec<u8>) {
        if self.transmits.len() < MAX_TRANSMITS {
            self.transmits.push_back(frame);
        }
    }

    fn tell(&mut self, event: NbfEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }

    fn next_correlator(&mut self) -> u16 {
        self.correlator = next_correlator(self.correlator);
        self.correlator
    }

    /// The longest piece of a message that this station takes.
    fn own_max_piece(&self) -> u16 {
        let piece = self.config.link.max_info.saturating_sub(SESSION_HEADER_LEN);
        u16::try_from(piece).unwrap_or(u16::MAX)
    }
}

fn is_datagram(pdu: &Pdu<'_>) -> bool {
    matches!(
        pdu.control,
        Control::Unnumbered {
            kind: Unnumbered::Ui,
            ..
        }
    )
}

fn session_due(session: &Session) -> Option<Time> {
    session.due.into_iter().chain(session.ack_due()).min()
}

fn peer_due(peer: &Peer) -> Option<Time> {
    let link = peer.link.poll_timeout();
    link.into_iter().chain(peer_end(peer)).min()
}

/// When a link is closed, or carries SESSION ALIVE.
fn peer_end(peer: &Peer) -> Option<Time> {
    let close = peer
        .close_due
        .filter(|_| peer.sessions == 0 && peer.is_quiet() && peer.link.is_open());
    let alive = (peer.sessions > 0).then_some(peer.alive_due);
    close.into_iter().chain(alive).min()
}
