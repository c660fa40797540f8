//! The name table, and the way of packets and time through it.

mod answers;
mod claims;
mod proxy;
mod wins;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::{ClaimOp, QueryKind, Repr};
use coax_wire::time::{Span, Time};

use super::config::{ConfigError, MAX_NAMES, NameServiceConfig, OwnName};
use super::entry::{Action, Check, Entry, State};
use super::proxied::ProxyQuery;
use super::types::{Counters, Destination, Event, Transmit};
use super::wins_state::WinsState;
use crate::limit::RateLimiter;

/// Maximum number of queued replies and events; further ones are dropped and counted.
const MAX_WAITING: usize = 64;

/// The interval of the reply limit.
const SECOND: Span = Span::from_secs(1);

/// The name service of one network.
///
/// It claims its names from the start. A driver passes in every datagram from UDP port 137, and calls
/// [`handle_timeout`](Self::handle_timeout) at the time that [`poll_timeout`](Self::poll_timeout) returns. After each
/// call, it sends the datagrams of [`poll_transmit`](Self::poll_transmit) and reads [`poll_event`](Self::poll_event).
#[derive(Debug)]
pub struct NameService {
    pub(super) config: NameServiceConfig,
    pub(super) entries: Vec<Entry>,
    pub(super) proxied: Vec<ProxyQuery>,
    pub(super) next_id: u16,
    /// Index of the WINS server in use.
    pub(super) wins_at: usize,
    /// No WINS server has answered since the last that did not.
    pub(super) wins_silent: bool,
    pub(super) transmits: VecDeque<Transmit>,
    pub(super) events: VecDeque<Event>,
    pub(super) counters: Counters,
    /// Start of the current second, and the replies sent since then.
    pub(super) window: (Time, u32),
    pub(super) stations: RateLimiter<Ipv4Addr>,
}

impl NameService {
    /// Starts a service, which claims its names at `now`.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(now: Time, config: NameServiceConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut service = Self {
            entries: Vec::new(),
            proxied: Vec::new(),
            next_id: config.first_id,
            wins_at: 0,
            wins_silent: false,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
            window: (now, 0),
            stations: RateLimiter::new(config.replies_per_station),
            config,
        };
        for own in service.config.names.clone() {
            service.claim(now, &own);
        }
        service.handle_timeout(now);
        Ok(service)
    }

    /// Whether a name is registered.
    pub fn owns(&self, name: &NbName) -> bool {
        self.find(name).is_some_and(Entry::is_owned)
    }

    /// The names that it has or claims, each with whether it is registered.
    pub fn names(&self) -> impl Iterator<Item = (&NbName, bool)> {
        self.entries
            .iter()
            .map(|entry| (&entry.name, entry.is_owned()))
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Claims one more name, such as the `<1D>` of a master browser. A name that is claimed or owned stays so.
    ///
    /// # Errors
    /// [`ConfigError::Names`] if the table is full.
    pub fn add(&mut self, now: Time, own: &OwnName) -> Result<(), ConfigError> {
        if let Some(entry) = self.entries.iter_mut().find(|e| e.name == own.name) {
            let gone = entry.leaving || entry.is_released();
            if gone {
                let fresh = Entry::new(own, self.config.node, !self.config.wins.is_empty(), now);
                *entry = fresh;
                entry.id = next_id(&mut self.next_id);
            }
        } else if self.entries.len() >= MAX_NAMES {
            return Err(ConfigError::Names(self.entries.len().saturating_add(1)));
        } else {
            self.claim(now, own);
        }
        self.handle_timeout(now);
        Ok(())
    }

    /// Releases a name.
    pub fn remove(&mut self, now: Time, name: &NbName) {
        if let Some(entry) = self.entries.iter_mut().find(|e| e.name == *name) {
            entry.release(now);
            entry.leaving = true;
        }
        self.handle_timeout(now);
        self.entries.retain(|e| !(e.leaving && e.is_released()));
    }

    /// Begins to release all names. Over when [`is_released`](Self::is_released) says so, 750 ms later, or after the
    /// WINS server answered or did not.
    pub fn shutdown(&mut self, now: Time) {
        for entry in &mut self.entries {
            entry.release(now);
        }
        self.handle_timeout(now);
    }

    /// Whether no name is claimed, owned or waiting for a new claim.
    pub fn is_released(&self) -> bool {
        self.entries.iter().all(Entry::is_released)
    }

    /// Handles a datagram from port 137, broadcast or not. Poll transmits and events next.
    pub fn handle_datagram(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) {
        self.counters.received = self.counters.received.saturating_add(1);
        if !self.is_heard(*from.ip()) {
            self.counters.foreign_network = self.counters.foreign_network.saturating_add(1);
            return;
        }
        let Ok(packet) = Repr::parse(bytes) else {
            self.counters.malformed = self.counters.malformed.saturating_add(1);
            return;
        };
        if !self.is_of_our_scope(&packet) {
            self.counters.foreign_scope = self.counters.foreign_scope.saturating_add(1);
            return;
        }
        match packet {
            Repr::Query(query) => self.handle_query(now, from, query),
            Repr::Claim(claim) => self.handle_claim(now, from, claim),
            Repr::ClaimReply(reply) => self.handle_claim_reply(now, from, &reply),
            Repr::QueryReply(reply) => self.handle_query_reply(now, *from.ip(), &reply),
            Repr::Wack(wack) => self.handle_wack(now, *from.ip(), &wack),
            // We ask no node for its status.
            Repr::NodeStatus(_) => {}
        }
    }

    /// A datagram from a station of another network that the driver admits. Only a node status request is answered: with it a
    /// local master browser asks the domain master for its computer name.
    pub fn handle_remote_datagram(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) {
        self.counters.received = self.counters.received.saturating_add(1);
        if let Ok(packet) = Repr::parse(bytes)
            && self.is_of_our_scope(&packet)
            && let Repr::Query(query) = packet
            && query.kind == QueryKind::NodeStatus
            && !query.broadcast
        {
            self.handle_query(now, from, query);
        }
    }

    /// Runs the due timers. Poll transmits and events next.
    pub fn handle_timeout(&mut self, now: Time) {
        for index in 0..self.entries.len() {
            // An entry has at most three steps at one moment: restart, claim, and a check.
            for _ in 0..3 {
                let action = self
                    .entries
                    .get_mut(index)
                    .and_then(|entry| entry.step(now));
                if let Some(action) = action {
                    self.perform(now, index, action);
                }
            }
            self.step_wins(now, index);
            // An H node that gave up on WINS claims by broadcast at once.
            let action = self
                .entries
                .get_mut(index)
                .and_then(|entry| entry.step(now));
            if let Some(action) = action {
                self.perform(now, index, action);
            }
        }
        self.entries.retain(|e| !(e.leaving && e.is_released()));
        self.step_proxy(now);
    }

    /// The next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let local = self.entries.iter().filter_map(Entry::due);
        let wins = self.entries.iter().filter_map(|entry| entry.wins.due());
        let proxied = self.proxied.iter().map(ProxyQuery::due);
        local.chain(wins).chain(proxied).min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(super) fn claim(&mut self, now: Time, own: &OwnName) {
        let mut entry = Entry::new(own, self.config.node, !self.config.wins.is_empty(), now);
        entry.id = next_id(&mut self.next_id);
        self.entries.push(entry);
    }

    pub(super) fn find(&self, name: &NbName) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == *name)
    }

    /// Stations of the network and the WINS servers are heard.
    pub(super) fn is_heard(&self, from: Ipv4Addr) -> bool {
        let here = self.config.network;
        here.is_none_or(|network| network.contains(from))
            || self.config.wins.contains(&from)
            || self.config.addresses.contains(&from)
    }

    pub(super) fn is_of_our_scope(&self, packet: &Repr) -> bool {
        let name = match packet {
            Repr::Query(query) => &query.name,
            Repr::QueryReply(reply) => &reply.name,
            Repr::NodeStatus(status) => &status.name,
            Repr::Claim(claim) => &claim.name,
            Repr::ClaimReply(reply) => &reply.name,
            Repr::Wack(_) => return true,
        };
        name.scope == self.config.scope
    }

    pub(super) fn perform(&mut self, now: Time, index: usize, action: Action) {
        match action {
            Action::Claim => self.send_claim(index, ClaimOp::Register, true),
            Action::Release => self.send_claim(index, ClaimOp::Release, false),
            Action::Announce => self.announce(now, index),
            Action::Check => self.send_check(index),
            Action::Restart => {
                let has_wins = !self.config.wins.is_empty();
                if let Some(entry) = self.entries.get_mut(index) {
                    entry.start(has_wins, now);
                    entry.id = next_id(&mut self.next_id);
                }
            }
            Action::Released => self.released(index),
            Action::CheckPassed(by) => {
                if let Some(name) = self.entries.get(index).map(|entry| entry.name) {
                    self.queue_event(Event::FalseConflict { name, by });
                }
            }
        }
    }

    /// The network did not object: the name is ours, and an M node goes on to the WINS server.
    pub(super) fn announce(&mut self, now: Time, index: usize) {
        self.send_claim(index, ClaimOp::Register, false);
        let has_wins = !self.config.wins.is_empty();
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        if entry.uses_wins() && has_wins && entry.wins == WinsState::Idle {
            entry.wins = WinsState::start(now);
        }
        let name = entry.name;
        self.queue_event(Event::Registered(name));
    }

    /// A release is over, on the network or at the WINS server.
    pub(super) fn released(&mut self, index: usize) {
        let entry = self.entries.get(index);
        if let Some(name) = entry.filter(|e| e.is_released()).map(|e| e.name) {
            self.queue_event(Event::Released(name));
        }
    }

    pub(super) fn lose(&mut self, now: Time, name: &NbName, conflict: bool, by: Ipv4Addr) {
        let retry = self.config.retry.map(|span| now + span);
        let lost = self.entries.iter_mut().find(|entry| entry.name == *name);
        if let Some(entry) = lost {
            entry.state = State::Lost { conflict, retry };
            entry.wins = WinsState::Idle;
            entry.check = Check::Idle;
        }
        let name = *name;
        self.queue_event(match conflict {
            true => Event::Conflict { name, by },
            false => Event::Refused { name, by },
        });
    }

    /// The claimed address.
    pub(super) fn address(&self) -> Ipv4Addr {
        let first = self.config.addresses.first();
        first.copied().unwrap_or(Ipv4Addr::UNSPECIFIED)
    }

    /// Queues a reply, unless the reply limit is reached or the address is not a host address.
    pub(super) fn reply(&mut self, now: Time, to: SocketAddrV4, packet: &Repr) -> bool {
        let ip = to.ip();
        let nowhere = ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast();
        let here = self.config.network.map(|network| network.broadcast());
        // Only the name of a network of one station equals its broadcast address.
        if to.port() == 0 || nowhere || (here == Some(*ip) && !self.config.addresses.contains(ip)) {
            return false;
        }
        if now - self.window.0 >= SECOND {
            self.window = (now, 0);
        }
        let full =
            self.window.1 >= self.config.replies_per_s || self.transmits.len() >= MAX_WAITING;
        if full || !self.stations.admit(now, *ip) {
            self.counters.dropped = self.counters.dropped.saturating_add(1);
            return false;
        }
        self.window.1 = self.window.1.saturating_add(1);
        self.counters.replied = self.counters.replied.saturating_add(1);
        self.transmits.push_back(Transmit {
            to: Destination::Addr(to),
            bytes: packet.emit(),
        });
        true
    }

    /// Queues an event and drops the oldest one if the queue is full.
    pub(super) fn queue_event(&mut self, event: Event) {
        if self.events.len() >= MAX_WAITING {
            self.events.pop_front();
            self.counters.dropped = self.counters.dropped.saturating_add(1);
        }
        self.events.push_back(event);
    }
}

pub(super) fn next_id(next: &mut u16) -> u16 {
    let id = *next;
    *next = next.wrapping_add(1);
    id
}
