//! The records, and the way of packets and time through them.

mod challenge;
mod register;
mod save;
mod table;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::{NbName, Scope, ScopedName};
use coax_wire::nbt::ns::{
    AddrEntry, ClaimOp, ClaimReply, Flags, Owners, Packet, Query, QueryKind, QueryReply,
    RCODE_NAME, Repr,
};
use coax_wire::time::{Span, Time};

use super::pending::Challenge;
use super::record::WinsRecord;
use super::request::{MAX_MEMBERS, Request, SUFFIX_DOMAIN_MASTER, SUFFIX_LOCAL_MASTER};
use crate::limit::{Rate, RateLimiter};
use crate::names::{Destination, Transmit};
#[cfg(test)]
pub(super) use challenge::{MAX_CHALLENGES, MAX_PER_CLAIMANT};
#[cfg(test)]
pub(super) use register::MAX_PER_STATION;
use table::Table;

/// Packets and events that may wait.
const MAX_WAITING: usize = 256;

/// How often expired records are looked for.
const SWEEP: Span = Span::from_secs(60);

/// What a [`WinsServer`] is told at its start.
#[derive(Clone, Debug)]
pub struct WinsConfig {
    /// The scope; packets of other scopes are ignored.
    pub scope: Scope,
    /// The shortest time to live that is granted, in seconds (`min wins ttl`).
    pub min_ttl_s: u32,
    /// The longest (`max wins ttl`).
    pub max_ttl_s: u32,
    /// From release or expiry to the tombstone: Windows' extinction interval.
    pub extinction: Span,
    /// How long a tombstone is kept: Windows' extinction timeout.
    pub tombstone: Span,
    /// The most records.
    pub max_records: usize,
    /// The first transaction identifier, best at random.
    pub first_id: u16,
    /// The most replies to one address.
    pub replies_per_station: Rate,
}

impl Default for WinsConfig {
    fn default() -> Self {
        Self {
            scope: Scope::EMPTY,
            min_ttl_s: 21_600,
            max_ttl_s: 518_400,
            extinction: Span::from_secs(4 * 86_400),
            tombstone: Span::from_secs(6 * 86_400),
            max_records: 20_000,
            first_id: 0x4000,
            replies_per_station: Rate {
                per_s: 500,
                burst: 1000,
            },
        }
    }
}

/// What happened to a record, for the log and `wins hook`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinsEvent {
    /// The change.
    pub change: WinsChange,
    /// The name.
    pub name: NbName,
    /// Seconds that the record lives; 0 for a static or deleted one.
    pub ttl_s: u32,
    /// Its addresses; for [`WinsChange::Busy`] the station that was refused.
    pub addresses: Vec<Ipv4Addr>,
}

/// A change of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WinsChange {
    /// The name was registered.
    Add,
    /// The name was refreshed, or got another address.
    Refresh,
    /// The name was released or expired.
    Delete,
    /// A registration was refused because the old owner is alive.
    Refused,
    /// A registration was refused because the server asks the owners of too many other names at the moment.
    Busy,
}

/// The engine of a WINS server. Drive it like [`NameService`](crate::NameService); [`wants`](Self::wants) tells which
/// datagrams of port 137 are for it.
#[derive(Debug)]
pub struct WinsServer {
    pub(super) config: WinsConfig,
    records: Table,
    pub(super) challenges: Vec<Challenge>,
    pub(super) next_id: u16,
    pub(super) sweep: Time,
    pub(super) changed: bool,
    pub(super) transmits: VecDeque<Transmit>,
    pub(super) events: VecDeque<WinsEvent>,
    pub(super) stations: RateLimiter<Ipv4Addr>,
    /// Replies and events that were dropped.
    pub(super) dropped: u64,
    /// Registrations that were refused because too many challenges were under way.
    pub(super) refused_challenges: u64,
}

impl WinsServer {
    /// A server with the given records, such as those of [`parse_database`](super::parse_database). A later record
    /// of a name replaces an earlier one. Records beyond the limit are dropped.
    pub fn new(
        now: Time,
        config: WinsConfig,
        records: impl IntoIterator<Item = (NbName, WinsRecord)>,
    ) -> Self {
        let mut server = Self {
            records: Table::default(),
            challenges: Vec::new(),
            next_id: config.first_id,
            sweep: now,
            changed: false,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            stations: RateLimiter::new(config.replies_per_station),
            dropped: 0,
            refused_challenges: 0,
            config,
        };
        let mut is_outdated = false;
        for (name, record) in records {
            if !server.has_room(&name) {
                server.dropped = server.dropped.saturating_add(1);
                continue;
            }
            let in_lmhosts = record.is_in_lmhosts();
            let old = server.records.insert(name, record);
            // Earlier versions wrote the entries of LMHOSTS to the database too.
            is_outdated |= in_lmhosts && old.is_some_and(|old| !old.is_in_lmhosts());
        }
        server.handle_timeout(now);
        server.changed = is_outdated;
        server
    }

    /// Whether a datagram of port 137 is for a WINS server: a unicast claim, a unicast query with RD, or the answer
    /// to a challenge of this server.
    pub fn wants(&self, from: Ipv4Addr, datagram: &[u8]) -> bool {
        let Ok(packet) = Packet::new(datagram) else {
            return false;
        };
        let flags = packet.flags();
        if flags.has(Flags::RESPONSE) {
            return flags.opcode() == 0 && self.is_challenged(from, packet.id());
        }
        let question = packet.questions().next();
        let address = question.is_some_and(|question| {
            question.is_ok_and(|q| q.question_type == coax_wire::nbt::ns::TYPE_NB)
        });
        !flags.has(Flags::BROADCAST)
            && address
            && (flags.opcode() != 0 || flags.has(Flags::RECURSION_DESIRED))
    }

    /// A datagram that [`wants`](Self::wants) was true for.
    pub fn handle_datagram(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) {
        let Ok(packet) = Repr::parse(bytes) else {
            return;
        };
        match packet {
            Repr::Claim(claim) if claim.name.scope == self.config.scope => match claim.op {
                ClaimOp::Release => self.release(now, from, claim),
                _ => self.register(now, from, claim),
            },
            Repr::Query(query) if query.kind == QueryKind::Addresses => {
                self.answer(now, from, query);
            }
            Repr::QueryReply(reply) => self.handle_owner(now, *from.ip(), &reply),
            _ => {}
        }
    }

    /// It is `now`: repeats challenges and expires records.
    pub fn handle_timeout(&mut self, now: Time) {
        self.step_challenges(now);
        if self.sweep <= now {
            self.sweep = now + SWEEP;
            self.expire(now);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let challenges = self.challenges.iter().map(Challenge::due);
        challenges.chain([self.sweep]).min()
    }

    /// A datagram to send, until there is none.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// A change, until there is nothing to tell.
    pub fn poll_event(&mut self) -> Option<WinsEvent> {
        self.events.pop_front()
    }

    /// All records, in the order of their names.
    pub fn records(&self) -> impl Iterator<Item = (&NbName, &WinsRecord)> {
        self.records.iter()
    }

    /// Whether records changed since the last call, so that the database has to be written.
    pub fn take_changed(&mut self) -> bool {
        core::mem::take(&mut self.changed)
    }

    /// Packets and events that were dropped because of a limit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Names whose old owners are asked at the moment.
    pub fn challenges(&self) -> usize {
        self.challenges.len()
    }

    /// Registrations that were refused because the sender, or the server, had too many challenges under way.
    pub fn refused_challenges(&self) -> u64 {
        self.refused_challenges
    }

    /// The addresses of a name, as a query would be told.
    pub fn addresses(&self, now: Time, name: &NbName) -> Vec<Ipv4Addr> {
        let record = self
            .records
            .get(name)
            .filter(|record| record.is_active(now));
        record.map(|r| r.told(now).collect()).unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn set_max_ttl(&mut self, seconds: u32) {
        self.config.min_ttl_s = 0;
        self.config.max_ttl_s = seconds;
    }

    pub(super) fn answer(&mut self, now: Time, from: SocketAddrV4, query: Query) {
        if query.name.scope != self.config.scope {
            return;
        }
        let name = query.name.name;
        let entries = if name.characters() == b"*" && name.suffix() == SUFFIX_DOMAIN_MASTER {
            self.domain_masters(now)
        } else {
            self.entries(now, &name)
        };
        let outcome = match entries {
            entries if entries.is_empty() || name.suffix() == SUFFIX_LOCAL_MASTER => {
                Err(RCODE_NAME)
            }
            entries => Ok(Owners {
                truncated: false,
                ttl_s: self.remaining_s(now, &name),
                entries,
            }),
        };
        let reply = QueryReply {
            id: query.id,
            recursion_desired: true,
            recursion_available: true,
            name: query.name,
            outcome,
        };
        self.reply(now, from, &Repr::QueryReply(reply));
    }

    pub(super) fn entries(&self, now: Time, name: &NbName) -> Vec<AddrEntry> {
        let Some(record) = self.records.get(name).filter(|r| r.is_active(now)) else {
            return Vec::new();
        };
        let flags = record.flags();
        let told = record.told(now).take(MAX_MEMBERS);
        told.map(|address| AddrEntry { flags, address }).collect()
    }

    /// All domain master browsers, which a domain master asks for as `*<1B>` to learn of other workgroups.
    pub(super) fn domain_masters(&self, now: Time) -> Vec<AddrEntry> {
        let masters = self.records.iter().filter(|(name, record)| {
            name.suffix() == SUFFIX_DOMAIN_MASTER && record.is_active(now)
        });
        let entries = masters.flat_map(|(_, record)| {
            let flags = record.flags();
            let told = record.told(now);
            told.map(move |address| AddrEntry { flags, address })
        });
        entries.take(MAX_MEMBERS).collect()
    }

    pub(super) fn remaining_s(&self, now: Time, name: &NbName) -> u32 {
        let record = self.records.get(name);
        record.map_or(self.config.max_ttl_s, |record| {
            record.ttl_s(now).unwrap_or(self.config.max_ttl_s)
        })
    }

    /// Active records become released ones, those tombstones, and those go.
    pub(super) fn expire(&mut self, now: Time) {
        let (extinction, tombstone) = (self.config.extinction, self.config.tombstone);
        let aged = self.records.age(now, extinction, tombstone);
        self.changed |= aged.changed;
        for name in aged.gone {
            self.tell(WinsChange::Delete, now, name);
        }
    }

    pub(super) fn reply(&mut self, now: Time, to: SocketAddrV4, packet: &Repr) {
        let ip = *to.ip();
        let nowhere = ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast();
        if to.port() == 0
            || nowhere
            || self.transmits.len() >= MAX_WAITING
            || !self.stations.admit(now, ip)
        {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.send(to, packet);
    }

    pub(super) fn send(&mut self, to: SocketAddrV4, packet: &Repr) {
        self.transmits.push_back(Transmit {
            to: Destination::Addr(to),
            bytes: packet.emit(),
        });
    }

    /// Answers a claim: granted with `Ok(ttl)`, refused with a result code.
    pub(super) fn reply_to_claim(
        &mut self,
        now: Time,
        to: SocketAddrV4,
        claim: &Request,
        outcome: Result<u32, u8>,
    ) {
        let reply = ClaimReply {
            id: claim.id,
            op: match claim.op {
                ClaimOp::RefreshAlternate | ClaimOp::Refresh | ClaimOp::RegisterMultihomed => {
                    // Windows and nmbd answer refreshes and multi-homed registrations as registrations.
                    ClaimOp::Register
                }
                op => op,
            },
            recursion_desired: claim.op != ClaimOp::Release,
            recursion_available: claim.op != ClaimOp::Release,
            rcode: outcome.err().unwrap_or(0),
            name: ScopedName {
                name: claim.name,
                scope: self.config.scope.clone(),
            },
            ttl_s: outcome.unwrap_or(0),
            entries: Vec::from([AddrEntry {
                flags: claim.flags,
                address: claim.address,
            }]),
        };
        self.reply(now, to, &Repr::ClaimReply(reply));
    }

    pub(super) fn tell(&mut self, change: WinsChange, now: Time, name: NbName) {
        let record = self.records.get(&name);
        let alive = change != WinsChange::Delete;
        let event = WinsEvent {
            change,
            name,
            ttl_s: record
                .filter(|_| alive)
                .and_then(|record| record.ttl_s(now))
                .unwrap_or(0),
            addresses: record
                .map(|record| record.addresses().collect())
                .unwrap_or_default(),
        };
        self.put_event(event);
    }

    pub(super) fn put_event(&mut self, event: WinsEvent) {
        if self.events.len() >= MAX_WAITING {
            self.events.pop_front();
            self.dropped = self.dropped.saturating_add(1);
        }
        self.events.push_back(event);
    }
}
