//! Claims of others, refusals of ours, and conflicts (RFC 1002 §5.1.1).

use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::ScopedName;
use coax_wire::nbt::ns::{
    AddrEntry, Claim, ClaimOp, ClaimReply, Query, QueryKind, QueryReply, RCODE_ACTIVE,
    RCODE_CONFLICT, Repr,
};
use coax_wire::time::Time;

use super::super::entry::{Check, Entry, State};
use super::super::{Destination, Event, NameKind, Transmit, service::NameService};

impl NameService {
    /// Somebody wants a name (RFC 1002 §5.1.1.5). Releases and broadcast refreshes concern caches only; Windows refuses
    /// a refresh of its name that is sent to it (smbtorture's nbt.register.refresh_own).
    pub(super) fn handle_claim(&mut self, now: Time, from: SocketAddrV4, claim: Claim) {
        let concerns_us = match claim.op {
            ClaimOp::Register | ClaimOp::RegisterMultihomed => true,
            ClaimOp::Refresh | ClaimOp::RefreshAlternate => !claim.broadcast,
            ClaimOp::Release => false,
        };
        if !concerns_us {
            return;
        }
        if claim.broadcast && !self.config.node.uses_broadcast() {
            return;
        }
        let first = claim.entries.first();
        let claimant = first.map_or(*from.ip(), |entry| entry.address);
        let group = first.is_some_and(|entry| entry.flags.is_group());
        let Some(entry) = self.find(&claim.name.name) else {
            return;
        };
        // Our own broadcasts come back to us.
        let compatible = group && entry.kind == NameKind::Group;
        if compatible || self.config.addresses.contains(&claimant) {
            return;
        }
        match entry.state {
            State::Owned => self.defend(now, from, claim, claimant),
            State::Idle if entry.is_owned() => self.defend(now, from, claim, claimant),
            // RFC 1002 allows two simultaneous claims to both succeed. Here the lower address wins, and both nodes
            // decide alike. An overwrite demand means that the other node already owns the name.
            State::Claiming { .. } if claim.recursion_desired && self.address() < claimant => {
                self.defend(now, from, claim, claimant);
            }
            State::Claiming { .. } => self.lose(now, &claim.name.name, false, claimant),
            State::Idle | State::Lost { .. } | State::Releasing { .. } | State::Released => {}
        }
    }

    /// Sends the NEGATIVE NAME REGISTRATION RESPONSE (RFC 1002 §4.2.6).
    fn defend(&mut self, now: Time, from: SocketAddrV4, claim: Claim, claimant: Ipv4Addr) {
        let name = claim.name.name;
        let flags = self.find(&name).map(Entry::nb_flags).unwrap_or_default();
        let reply = ClaimReply {
            id: claim.id,
            op: match claim.op {
                ClaimOp::RegisterMultihomed => ClaimOp::Register,
                op => op,
            },
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
    ///
    /// A refusal counts only with the identifier of our claim. A demand is checked first: we ask the network for the
    /// name, and give it up only if another owner answers. So a forged demand costs three queries and no name.
    pub(super) fn handle_claim_reply(&mut self, now: Time, from: SocketAddrV4, reply: &ClaimReply) {
        self.handle_wins_reply(now, *from.ip(), reply);
        let by = *from.ip();
        let own = self.config.addresses.contains(&by);
        let uses_broadcast = self.config.node.uses_broadcast();
        let found = self.entries.iter_mut();
        let mut found = found.filter(|entry| entry.name == reply.name.name);
        let Some(entry) = found.next() else { return };
        let registration = matches!(reply.op, ClaimOp::Register | ClaimOp::RegisterMultihomed);
        if !registration || reply.rcode == 0 || own {
            return;
        }
        if matches!(entry.state, State::Claiming { .. }) && reply.id == entry.id {
            return self.lose(now, &reply.name.name, false, by);
        }
        let demand = reply.rcode == RCODE_CONFLICT && uses_broadcast;
        if demand && entry.is_owned() && entry.begin_check(now, by) {
            self.handle_timeout(now);
        }
    }

    /// An answer to one of our questions: the check of a conflict, the challenge of an owner, or a proxied query.
    pub(super) fn handle_query_reply(&mut self, now: Time, from: Ipv4Addr, reply: &QueryReply) {
        self.handle_proxied_reply(now, from, reply);
        let owns = reply.outcome.is_ok();
        self.handle_challenge_reply(now, from, reply.id, owns);
        let Ok(owners) = &reply.outcome else { return };
        let asked = |entry: &&Entry| {
            entry.name == reply.name.name
                && entry.id == reply.id
                && matches!(entry.check, Check::Asking { sent: 1.., .. })
        };
        let Some(entry) = self.entries.iter().find(asked) else {
            return;
        };
        let first = owners.entries.first();
        let owner = first.map_or(from, |owner| owner.address);
        let both_groups =
            first.is_some_and(|owner| owner.flags.is_group()) && entry.kind == NameKind::Group;
        let ours = |address| self.config.addresses.contains(&address);
        if ours(owner) || ours(from) || both_groups {
            return;
        }
        let name = entry.name;
        self.lose(now, &name, true, owner);
    }

    /// Asks the network who else answers for our name.
    pub(super) fn send_check(&mut self, index: usize) {
        let scope = self.config.scope.clone();
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        if matches!(entry.check, Check::Asking { sent: 1, .. }) {
            entry.id = super::next_id(&mut self.next_id);
        }
        let query = Query {
            id: entry.id,
            broadcast: true,
            recursion_desired: true,
            kind: QueryKind::Addresses,
            name: ScopedName {
                name: entry.name,
                scope,
            },
        };
        self.transmits.push_back(Transmit {
            to: Destination::Broadcast,
            bytes: query.emit(),
        });
    }

    /// Broadcasts a claim, an overwrite demand or a release.
    pub(super) fn send_claim(&mut self, index: usize, op: ClaimOp, recursion_desired: bool) {
        let address = self.address();
        let Some(entry) = self.entries.get(index) else {
            return;
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
    }
}
