//! Finding the addresses of a name, or the names of a node: RFC 1002 §5.1.1.2, §5.1.2.2, §5.1.3.2.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::ScopedName;
use coax_wire::nbt::ns::{
    AddrEntry, NodeStatus, PORT, Query, QueryKind, QueryReply, RCODE_NAME, Repr,
};
use coax_wire::time::{Span, Time};

use crate::names::{Destination, Transmit};

/// Queries of one step, BCAST_REQ_RETRY_COUNT and UCAST_REQ_RETRY_COUNT of RFC 1002 §6.
const QUERIES: u8 = 3;
/// BCAST_REQ_RETRY_TIMEOUT of RFC 1002 §6.
const BROADCAST_TIMEOUT: Span = Span::from_millis(250);
/// Wait for a WINS server or a node, as Windows has it (NameSrvQueryTimeout, KB Q120642).
const UNICAST_TIMEOUT: Span = Span::from_millis(1500);
/// The most answers that are kept.
const MAX_ANSWERS: usize = 256;
/// The most steps.
const MAX_STEPS: usize = 32;

/// Whom to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LookupStep {
    /// A WINS server. Its negative answer is final for all WINS servers.
    Wins(Ipv4Addr),
    /// All stations of the networks.
    Broadcast,
    /// One station.
    Station(Ipv4Addr),
}

/// The configuration of a [`Lookup`].
#[derive(Clone, Debug)]
pub struct LookupConfig {
    /// The name.
    pub name: ScopedName,
    /// Addresses of a name, or names of a node.
    pub kind: QueryKind,
    /// Whom to ask, in this order; at most 32.
    pub steps: Vec<LookupStep>,
    /// Wait for further answers to a broadcast after the first: members of a group, and owners that should not be.
    pub gather: Span,
    /// The first transaction identifier, best at random.
    pub first_id: u16,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupAnswer {
    /// Who answered.
    pub from: Ipv4Addr,
    /// The step whose query was answered.
    pub step: LookupStep,
    /// The owners of the name; empty in the answer to a node status request.
    pub owners: Vec<AddrEntry>,
    /// The node's names.
    pub status: Option<NodeStatus>,
}

/// The engine of one lookup. Drive it like [`NameService`](crate::NameService), until [`is_done`](Self::is_done).
#[derive(Debug)]
pub struct Lookup {
    config: LookupConfig,
    at: usize,
    sent: u8,
    id: u16,
    due: Time,
    answers: Vec<LookupAnswer>,
    /// Since the first answer to a broadcast.
    gathering: bool,
    /// A WINS server said no.
    denied_by: Option<Ipv4Addr>,
    done: bool,
    transmits: VecDeque<Transmit>,
}

impl Lookup {
    /// Begins to ask at `now`.
    pub fn new(now: Time, mut config: LookupConfig) -> Self {
        config.steps.truncate(MAX_STEPS);
        let mut lookup = Self {
            at: 0,
            sent: 0,
            id: config.first_id,
            due: now,
            answers: Vec::new(),
            gathering: false,
            denied_by: None,
            done: false,
            transmits: VecDeque::new(),
            config,
        };
        lookup.handle_timeout(now);
        lookup
    }

    /// Whether all is known that will be.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The answers so far.
    pub fn answers(&self) -> &[LookupAnswer] {
        &self.answers
    }

    /// The WINS server that said that the name does not exist.
    pub fn denied_by(&self) -> Option<Ipv4Addr> {
        self.denied_by
    }

    /// All addresses, in the order they were told, each once.
    pub fn addresses(&self) -> Vec<Ipv4Addr> {
        let mut found: Vec<Ipv4Addr> = Vec::new();
        for owner in self.answers.iter().flat_map(|answer| &answer.owners) {
            if !found.contains(&owner.address) {
                found.push(owner.address);
            }
        }
        found
    }

    /// A datagram arrived; whether it was an answer to this lookup.
    pub fn handle_datagram(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) -> bool {
        let Some(step) = self.config.steps.get(self.at).copied() else {
            return false;
        };
        if self.done || !is_expected(step, *from.ip()) {
            return false;
        }
        match Repr::parse(bytes) {
            Ok(Repr::QueryReply(reply)) if self.is_ours(reply.id, &reply.name) => {
                self.handle_reply(now, step, *from.ip(), reply);
                true
            }
            Ok(Repr::NodeStatus(status)) if self.is_ours(status.id, &status.name) => {
                self.answered(now, step, *from.ip(), Vec::new(), Some(status));
                true
            }
            Ok(Repr::Wack(wack)) if wack.id == self.id => {
                self.due = now + Span::from_secs(u64::from(wack.ttl_s.clamp(1, 60)));
                true
            }
            _ => false,
        }
    }

    /// It is `now`: asks again, asks the next, or gives up.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.done || self.due > now {
            return;
        }
        if self.gathering {
            self.done = true;
            return;
        }
        if self.sent >= QUERIES {
            self.next_step();
        }
        let Some(step) = self.config.steps.get(self.at).copied() else {
            self.done = true;
            return;
        };
        let (to, wait) = match step {
            LookupStep::Broadcast => (Destination::Broadcast, BROADCAST_TIMEOUT),
            LookupStep::Wins(address) | LookupStep::Station(address) => {
                let to = SocketAddrV4::new(address, PORT);
                (Destination::Addr(to), UNICAST_TIMEOUT)
            }
        };
        let query = Query {
            id: self.id,
            broadcast: step == LookupStep::Broadcast,
            recursion_desired: self.config.kind == QueryKind::Addresses,
            kind: self.config.kind,
            name: self.config.name.clone(),
        };
        self.sent = self.sent.saturating_add(1);
        self.due = now + wait;
        self.transmits.push_back(Transmit {
            to,
            bytes: query.emit(),
        });
    }

    /// A datagram to send, until there is none.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; `None` when done.
    pub fn poll_timeout(&self) -> Option<Time> {
        (!self.done).then_some(self.due)
    }

    fn is_ours(&self, id: u16, name: &ScopedName) -> bool {
        // Nodes answer a query for "*" with their own name or with "*".
        id == self.id && (*name == self.config.name || self.config.name.name.is_any())
    }

    fn handle_reply(&mut self, now: Time, step: LookupStep, from: Ipv4Addr, reply: QueryReply) {
        match (reply.outcome, step) {
            (Ok(owners), _) => self.answered(now, step, from, owners.entries, None),
            // A no to a broadcast is a mistake of its sender (RFC 1002 §4.2.14 is for name servers).
            (Err(_), LookupStep::Broadcast) => {}
            (Err(rcode), LookupStep::Wins(_)) => {
                if rcode == RCODE_NAME {
                    self.denied_by = Some(from);
                }
                self.skip_wins(now, rcode == RCODE_NAME);
            }
            (Err(_), LookupStep::Station(_)) => {
                self.next_step();
                self.due = now;
                self.handle_timeout(now);
            }
        }
    }

    fn answered(
        &mut self,
        now: Time,
        step: LookupStep,
        from: Ipv4Addr,
        owners: Vec<AddrEntry>,
        status: Option<NodeStatus>,
    ) {
        let known = |answer: &LookupAnswer| answer.from == from && answer.step == step;
        if self.answers.len() < MAX_ANSWERS && !self.answers.iter().any(known) {
            self.answers.push(LookupAnswer {
                from,
                step,
                owners,
                status,
            });
        }
        if step != LookupStep::Broadcast || self.config.gather == Span(0) {
            self.done = true;
        } else if !self.gathering {
            self.gathering = true;
            self.due = now + self.config.gather;
        }
    }

    /// Goes on behind this WINS server, or behind all of them.
    fn skip_wins(&mut self, now: Time, all: bool) {
        self.next_step();
        while all && matches!(self.config.steps.get(self.at), Some(LookupStep::Wins(_))) {
            self.next_step();
        }
        self.due = now;
        self.handle_timeout(now);
    }

    fn next_step(&mut self) {
        self.at = self.at.saturating_add(1);
        self.sent = 0;
        self.id = self.id.wrapping_add(1);
    }
}

/// Only the station that was asked may answer.
fn is_expected(step: LookupStep, from: Ipv4Addr) -> bool {
    match step {
        LookupStep::Broadcast => true,
        LookupStep::Wins(address) | LookupStep::Station(address) => address == from,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use coax_wire::nbt::name::NbName;
    use coax_wire::nbt::ns::{NameFlags, Owners};

    const WINS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
    const OTHER_WINS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

    fn lookup(steps: &[LookupStep]) -> Lookup {
        let name: NbName = "TOWER<20>".parse().unwrap();
        Lookup::new(
            Time(0),
            LookupConfig {
                name: name.into(),
                kind: QueryKind::Addresses,
                steps: steps.to_vec(),
                gather: Span::from_millis(500),
                first_id: 7,
            },
        )
    }

    fn reply(id: u16, outcome: Result<Ipv4Addr, u8>) -> Vec<u8> {
        let name: NbName = "TOWER<20>".parse().unwrap();
        Repr::QueryReply(QueryReply {
            id,
            recursion_desired: true,
            recursion_available: true,
            name: name.into(),
            outcome: outcome.map(|address| Owners {
                truncated: false,
                ttl_s: 60,
                entries: Vec::from([AddrEntry {
                    flags: NameFlags(0),
                    address,
                }]),
            }),
        })
        .emit()
    }

    fn from(address: Ipv4Addr) -> SocketAddrV4 {
        SocketAddrV4::new(address, PORT)
    }

    /// Runs to the end without an answer; the moments and targets of the queries.
    fn queries(lookup: &mut Lookup) -> Vec<(u64, Destination)> {
        let (mut now, mut sent) = (Time(0), Vec::new());
        loop {
            while let Some(transmit) = lookup.poll_transmit() {
                sent.push((now.0 / 1_000_000, transmit.to));
            }
            match lookup.poll_timeout() {
                Some(due) => now = due,
                None => return sent,
            }
            lookup.handle_timeout(now);
        }
    }

    #[test]
    fn every_step_is_asked_three_times() {
        let mut lookup = lookup(&[LookupStep::Wins(WINS), LookupStep::Broadcast]);
        let wins = Destination::Addr(from(WINS));
        let all = Destination::Broadcast;
        let expected = [
            (0, wins),
            (1500, wins),
            (3000, wins),
            (4500, all),
            (4750, all),
            (5000, all),
        ];
        assert_eq!(queries(&mut lookup), expected);
        assert!(lookup.is_done() && lookup.answers().is_empty());
    }

    #[test]
    fn a_wins_servers_no_is_final_for_all_of_them() {
        let steps = [
            LookupStep::Wins(WINS),
            LookupStep::Wins(OTHER_WINS),
            LookupStep::Broadcast,
        ];
        let mut lookup = lookup(&steps);
        assert!(!lookup.handle_datagram(Time(0), from(OTHER_WINS), &reply(7, Err(RCODE_NAME))));
        assert!(lookup.handle_datagram(Time(0), from(WINS), &reply(7, Err(RCODE_NAME))));
        assert_eq!(lookup.denied_by(), Some(WINS));
        let sent: Vec<_> = core::iter::from_fn(|| lookup.poll_transmit()).collect();
        assert_eq!(
            sent.last().map(|sent| sent.to),
            Some(Destination::Broadcast)
        );
    }

    #[test]
    fn all_answers_to_a_broadcast_are_gathered_and_each_station_counts_once() {
        let mut lookup = lookup(&[LookupStep::Broadcast]);
        for host in [5, 6, 5] {
            let address = Ipv4Addr::new(10, 0, 0, host);
            lookup.handle_datagram(Time(0), from(address), &reply(7, Ok(address)));
        }
        assert!(!lookup.is_done());
        lookup.handle_timeout(Time(0) + Span::from_millis(500));
        assert!(lookup.is_done());
        assert_eq!(lookup.addresses().len(), 2);
        assert_eq!(lookup.answers().len(), 2);
    }

    #[test]
    fn an_answer_with_another_identifier_is_none() {
        let mut lookup = lookup(&[LookupStep::Station(WINS)]);
        assert!(!lookup.handle_datagram(Time(0), from(WINS), &reply(8, Ok(WINS))));
        assert!(lookup.handle_datagram(Time(0), from(WINS), &reply(7, Ok(WINS))));
        assert!(lookup.is_done());
    }
}
