//! The name service of a broadcast (B) node: claims names, defends them and answers queries (RFC 1001 §15, RFC 1002
//! §5.1.1).

mod config;
mod entry;
#[cfg(test)]
mod tests;

pub use config::{ConfigError, MAX_ADDRESSES, MAX_NAMES, NameKind, NameServiceConfig, OwnName};

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::{ENCODED_LEN, NbName, ScopedName};
use coax_wire::nbt::ns::{
    AddrEntry, Claim, ClaimOp, ClaimReply, MAX_DATAGRAM_LEN, NodeName, NodeStatus, Owners, Query,
    QueryKind, QueryReply, RCODE_ACTIVE, RCODE_CONFLICT, RCODE_NAME, Repr, Statistics,
};
use coax_wire::time::{Span, Time};

use entry::{Action, Entry, State};

/// Maximum number of queued replies and events; further ones are dropped and counted.
const MAX_WAITING: usize = 64;

/// The interval of the reply limit.
const SECOND: Span = Span::from_secs(1);

/// Size of a node status without names and scope: header, name, record, count, statistics.
const STATUS_OVERHEAD: usize = 12 + ENCODED_LEN + 10 + 1 + Statistics::LEN;

/// A datagram to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The destination.
    pub to: Destination,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// The destination of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// To the network's broadcast address, port 137.
    Broadcast,
    /// To one node.
    Addr(SocketAddrV4),
}

/// An event of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The name is registered.
    Registered(NbName),
    /// Another node owns the name; it may be claimed again later.
    Refused {
        /// The name.
        name: NbName,
        /// The node that refused it or won the simultaneous claim.
        by: Ipv4Addr,
    },
    /// The name was lost in a conflict with another node. The service no longer answers for it.
    Conflict {
        /// The name.
        name: NbName,
        /// The node that reported the conflict.
        by: Ipv4Addr,
    },
    /// Another node claimed our name, and we refused.
    Defended {
        /// The name.
        name: NbName,
        /// The node that claimed it.
        claimant: Ipv4Addr,
    },
    /// The name was released after [`NameService::shutdown`].
    Released(NbName),
}

/// Counters of received and sent packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams received.
    pub received: u64,
    /// Undecodable datagrams, and packets of unknown kinds.
    pub malformed: u64,
    /// Packets of another scope.
    pub foreign_scope: u64,
    /// Replies sent.
    pub replied: u64,
    /// Replies and events dropped by the reply limit or the queue limit.
    pub dropped: u64,
}

/// The name service of one network.
///
/// It claims its names from the start. A driver passes in every datagram from UDP port 137, and calls
/// [`handle_timeout`](Self::handle_timeout) at the time that [`poll_timeout`](Self::poll_timeout) returns. After each
/// call, it sends the datagrams of [`poll_transmit`](Self::poll_transmit) and reads [`poll_event`](Self::poll_event).
#[derive(Debug)]
pub struct NameService {
    config: NameServiceConfig,
    entries: Vec<Entry>,
    next_id: u16,
    transmits: VecDeque<Transmit>,
    events: VecDeque<Event>,
    counters: Counters,
    /// Start of the current second, and the replies sent since then.
    window: (Time, u32),
}

impl NameService {
    /// Starts a service, which claims its names at `now`.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(now: Time, config: NameServiceConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut service = Self {
            entries: config
                .names
                .iter()
                .map(|own| Entry::new(own, now))
                .collect(),
            next_id: config.first_id,
            config,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
            window: (now, 0),
        };
        for entry in &mut service.entries {
            entry.id = next_id(&mut service.next_id);
        }
        service.handle_timeout(now);
        Ok(service)
    }

    /// Whether a name is registered.
    pub fn owns(&self, name: &NbName) -> bool {
        self.find(name).is_some_and(Entry::is_owned)
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Starts to release all names. [`is_released`](Self::is_released) is true 750 ms later.
    pub fn shutdown(&mut self, now: Time) {
        for entry in &mut self.entries {
            entry.release(now);
        }
        self.handle_timeout(now);
    }

    /// Whether no name is claimed, owned or waiting for a new claim.
    pub fn is_released(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.all(|entry| entry.state == State::Released)
    }

    /// Handles a datagram from port 137, broadcast or not. Poll transmits and events next.
    pub fn handle_datagram(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) {
        self.counters.received = self.counters.received.saturating_add(1);
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
            Repr::ClaimReply(reply) => self.handle_claim_reply(now, *from.ip(), &reply),
            // This node sends no queries and uses no name server, so these are not answers to it.
            Repr::QueryReply(_) | Repr::NodeStatus(_) | Repr::Wack(_) => {}
        }
    }

    /// Runs the due timers. Poll transmits and events next.
    pub fn handle_timeout(&mut self, now: Time) {
        for index in 0..self.entries.len() {
            // An entry has at most two steps at one time: restart, then claim.
            for _ in 0..2 {
                let action = self
                    .entries
                    .get_mut(index)
                    .and_then(|entry| entry.step(now));
                if let Some(action) = action {
                    self.perform(index, action);
                }
            }
        }
    }

    /// The next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.entries.iter().filter_map(Entry::due).min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn find(&self, name: &NbName) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == *name)
    }

    fn is_of_our_scope(&self, packet: &Repr) -> bool {
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

    fn handle_query(&mut self, now: Time, from: SocketAddrV4, query: Query) {
        let wildcard = query.name.name.is_any();
        let known = if wildcard {
            self.entries.iter().any(Entry::is_owned)
        } else {
            self.owns(&query.name.name)
        };
        match query.kind {
            QueryKind::Addresses if known => {
                let outcome = Ok(self.owners_of(&query.name.name));
                self.reply_to_query(now, from, query, outcome);
            }
            // Another node answers a broadcast query; a unicast query gets a negative reply.
            QueryKind::Addresses if !query.broadcast && !wildcard => {
                self.reply_to_query(now, from, query, Err(RCODE_NAME));
            }
            QueryKind::NodeStatus if known => {
                let status = self.node_status(query);
                self.reply(now, from, &Repr::NodeStatus(status));
            }
            QueryKind::Addresses | QueryKind::NodeStatus => {}
        }
    }

    fn reply_to_query(
        &mut self,
        now: Time,
        from: SocketAddrV4,
        query: Query,
        outcome: Result<Owners, u8>,
    ) {
        let reply = QueryReply {
            id: query.id,
            // The flags that real nodes send: 8500 (Windows) and 8583 (nmbd), whatever RD the query had.
            recursion_desired: true,
            recursion_available: outcome.is_err(),
            name: query.name,
            outcome,
        };
        self.reply(now, from, &Repr::QueryReply(reply));
    }

    fn owners_of(&self, name: &NbName) -> Owners {
        let flags = self.find(name).map(Entry::nb_flags).unwrap_or_default();
        let addresses = self.config.addresses.iter();
        Owners {
            truncated: false,
            ttl_s: self.config.ttl_s,
            entries: addresses
                .map(|&address| AddrEntry { flags, address })
                .collect(),
        }
    }

    fn node_status(&self, query: Query) -> NodeStatus {
        let mut scope = Vec::new();
        query.name.encode(&mut scope);
        let used = STATUS_OVERHEAD.saturating_add(scope.len().saturating_sub(ENCODED_LEN));
        let room = MAX_DATAGRAM_LEN.saturating_sub(used) / NodeName::LEN;
        let listed = self.entries.iter().filter_map(|entry| {
            let (name, flags) = (entry.name, entry.status_flags()?);
            Some(NodeName { name, flags })
        });
        NodeStatus {
            id: query.id,
            name: query.name,
            names: listed.take(room).collect(),
            statistics: Statistics::of_unit(self.config.unit_id),
        }
    }

    /// Handles a registration request of another node (RFC 1002 §5.1.1.5). Releases and refreshes concern caches only.
    fn handle_claim(&mut self, now: Time, from: SocketAddrV4, claim: Claim) {
        if !matches!(claim.op, ClaimOp::Register | ClaimOp::RegisterMultihomed) {
            return;
        }
        let first = claim.entries.first();
        let claimant = first.map_or(*from.ip(), |entry| entry.address);
        let group = first.is_some_and(|entry| entry.flags.is_group());
        let Some(entry) = self.find(&claim.name.name) else {
            return;
        };
        // This node also receives its own broadcasts.
        let compatible = group && entry.kind == NameKind::Group;
        if compatible || self.config.addresses.contains(&claimant) {
            return;
        }
        match entry.state {
            State::Owned => self.defend(now, from, claim, claimant),
            // RFC 1002 allows two simultaneous claims to both succeed. Here the lower address wins, and both nodes
            // decide alike. An overwrite demand means that the other node already owns the name.
            State::Claiming { .. } if claim.recursion_desired && self.address() < claimant => {
                self.defend(now, from, claim, claimant);
            }
            State::Claiming { .. } => self.lose(now, &claim.name.name, false, claimant),
            State::Lost { .. } | State::Releasing { .. } | State::Released => {}
        }
    }

    /// Sends the NEGATIVE NAME REGISTRATION RESPONSE (RFC 1002 §4.2.6).
    fn defend(&mut self, now: Time, from: SocketAddrV4, claim: Claim, claimant: Ipv4Addr) {
        let name = claim.name.name;
        let flags = self.find(&name).map(Entry::nb_flags).unwrap_or_default();
        let reply = ClaimReply {
            id: claim.id,
            op: ClaimOp::Register,
            recursion_desired: true,
            recursion_available: true,
            rcode: RCODE_ACTIVE,
            name: claim.name,
            ttl_s: 0,
            entries: Vec::from([AddrEntry {
                flags,
                address: self.address(),
            }]),
        };
        if self.reply(now, from, &Repr::ClaimReply(reply)) {
            self.queue_event(Event::Defended { name, claimant });
        }
    }

    /// Handles a refusal of our claim, or a demand to give a name up (RFC 1002 §4.2.6, §4.2.8).
    fn handle_claim_reply(&mut self, now: Time, by: Ipv4Addr, reply: &ClaimReply) {
        let Some(entry) = self.find(&reply.name.name) else {
            return;
        };
        if !matches!(reply.op, ClaimOp::Register | ClaimOp::RegisterMultihomed) || reply.rcode == 0
        {
            return;
        }
        let demand = reply.rcode == RCODE_CONFLICT;
        match entry.state {
            State::Claiming { .. } if reply.id == entry.id || demand => {
                self.lose(now, &reply.name.name, false, by);
            }
            State::Owned if demand => self.lose(now, &reply.name.name, true, by),
            _ => {}
        }
    }

    fn lose(&mut self, now: Time, name: &NbName, conflict: bool, by: Ipv4Addr) {
        let retry = self.config.retry.map(|span| now + span);
        let lost = self.entries.iter_mut().find(|entry| entry.name == *name);
        if let Some(entry) = lost {
            entry.state = State::Lost { conflict, retry };
        }
        let name = *name;
        self.queue_event(match conflict {
            true => Event::Conflict { name, by },
            false => Event::Refused { name, by },
        });
    }

    fn perform(&mut self, index: usize, action: Action) {
        let address = self.address();
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        let (op, recursion_desired) = match action {
            Action::Claim => (ClaimOp::Register, true),
            Action::Announce => (ClaimOp::Register, false),
            Action::Release => (ClaimOp::Release, false),
            Action::Restart => {
                entry.id = next_id(&mut self.next_id);
                return;
            }
            Action::Released => {
                let name = entry.name;
                return self.queue_event(Event::Released(name));
            }
        };
        let (name, scope, flags) = (entry.name, self.config.scope.clone(), entry.nb_flags());
        let claim = Claim {
            id: entry.id,
            op,
            broadcast: true,
            recursion_desired,
            name: ScopedName { name, scope },
            ttl_s: if op == ClaimOp::Release {
                0
            } else {
                self.config.ttl_s
            },
            entries: Vec::from([AddrEntry { flags, address }]),
        };
        self.transmits.push_back(Transmit {
            to: Destination::Broadcast,
            bytes: claim.emit(),
        });
        if action == Action::Announce {
            self.queue_event(Event::Registered(name));
        }
    }

    /// The claimed address.
    fn address(&self) -> Ipv4Addr {
        let first = self.config.addresses.first();
        first.copied().unwrap_or(Ipv4Addr::UNSPECIFIED)
    }

    /// Queues a reply, unless the reply limit is reached or the address is not a host address.
    fn reply(&mut self, now: Time, to: SocketAddrV4, packet: &Repr) -> bool {
        let ip = to.ip();
        if to.port() == 0 || ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast() {
            return false;
        }
        if now - self.window.0 >= SECOND {
            self.window = (now, 0);
        }
        if self.window.1 >= self.config.replies_per_s || self.transmits.len() >= MAX_WAITING {
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
    fn queue_event(&mut self, event: Event) {
        if self.events.len() >= MAX_WAITING {
            self.events.pop_front();
            self.counters.dropped = self.counters.dropped.saturating_add(1);
        }
        self.events.push_back(event);
    }
}

fn next_id(next: &mut u16) -> u16 {
    let id = *next;
    *next = next.wrapping_add(1);
    id
}
