//! Asking the old owner of a name whether it still has it, before another station gets the name. An owner with several
//! addresses is asked at each, all at the same time: the claimant waits no longer than for one.

use core::net::{Ipv4Addr, SocketAddrV4};

use alloc::{collections::BTreeMap, vec::Vec};

use coax_wire::nbt::name::ScopedName;
use coax_wire::nbt::ns::{
    ClaimOp, Flags, PORT, Query, QueryKind, QueryReply, RCODE_ACTIVE, RCODE_SERVER, Repr, Wack,
};
use coax_wire::time::{Span, Time};

use super::super::pending::Challenge;
use super::super::request::Request;
use super::{WinsChange, WinsEvent, WinsServer};

/// Wait for the old owner, as Windows' WINS server has it (KB Q120642 gives 3 × 500 ms for challenges).
const PATIENCE: Span = Span::from_millis(500);
/// Queries to each address of the old owner.
const QUERIES: u8 = 3;
/// How long the claimant is told to wait, in seconds: longer than a challenge takes.
const WACK_S: u32 = 5;
/// Challenges under way; further claimants are told that the server failed and try again.
pub(crate) const MAX_CHALLENGES: usize = 256;
/// Challenges under way of one claimant's address: two machines' worth of names (about 16 each), or what a router with NAT
/// passes on within the 1.5 s of a challenge.
pub(crate) const MAX_PER_CLAIMANT: usize = 32;
/// Bits after the prefix of the networks that share the challenges: /8, /16, /24, and single addresses.
const SHARE_LEVELS: [u32; 4] = [24, 16, 8, 0];

impl WinsServer {
    /// Tells the claimant to wait and asks the old owner.
    pub(super) fn challenge(&mut self, now: Time, claimant: SocketAddrV4, claim: Request) {
        let same = |c: &Challenge| c.claim.name == claim.name;
        if let Some(known) = self.challenges.iter_mut().find(|c| same(c)) {
            // The claimant repeats its claim, or somebody else wants the name as well and is later.
            // A second WACK of one transaction is invalid to Samba's resolver, which repeats its request after the first.
            if known.claimant == claimant && known.claim.id != claim.id {
                known.claim.id = claim.id;
                self.send_wack(now, claimant, &claim);
            }
            return;
        }
        // A record has at most MAX_MEMBERS addresses, which bounds the queries.
        let record = self.records.get(&claim.name);
        let owners: Vec<Ipv4Addr> = record.map_or_else(Vec::new, |r| r.unexpired(now).collect());
        if owners.is_empty() {
            return self.grant(now, claimant, claim, true);
        }
        if !self.has_challenge_for(now, *claimant.ip()) {
            return self.refuse_challenge(now, claimant, &claim);
        }
        self.send_wack(now, claimant, &claim);
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        self.challenges.push(Challenge {
            claimant,
            claim,
            owners,
            id,
            sent: 0,
            due: now,
        });
        self.step_challenges(now);
    }

    /// Whether one more challenge may begin for `station`. If all are taken, the latest challenge of the network and station
    /// with the most ends, unless the newcomer's would have as many: each network gets its share, and in it each station.
    fn has_challenge_for(&mut self, now: Time, station: Ipv4Addr) -> bool {
        let claimants = self.challenges.iter().map(|c| *c.claimant.ip());
        let own = claimants.filter(|claimant| *claimant == station).count();
        if own >= MAX_PER_CLAIMANT || self.challenges.len() < MAX_CHALLENGES {
            return own < MAX_PER_CLAIMANT;
        }
        let Some(greediest) = self.greediest(station) else {
            return false;
        };
        let mut challenges = self.challenges.iter();
        let Some(at) = challenges.rposition(|c| *c.claimant.ip() == greediest) else {
            return false;
        };
        let ended = self.challenges.remove(at);
        self.refuse_challenge(now, ended.claimant, &ended.claim);
        true
    }

    /// The claimant with more than its share, if the newcomer gets one more challenge; `None` if it is the newcomer. From
    /// large networks to small ones and to stations, the group with the most challenges is followed. Forged addresses of one
    /// network so have its share together.
    fn greediest(&self, newcomer: Ipv4Addr) -> Option<Ipv4Addr> {
        let claimants = self.challenges.iter().map(|c| *c.claimant.ip());
        let mut group: Vec<Ipv4Addr> = claimants.chain([newcomer]).collect();
        for shift in SHARE_LEVELS {
            let network = |address: &Ipv4Addr| address.to_bits() >> shift;
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for address in &group {
                let count = counts.entry(network(address)).or_default();
                *count = count.saturating_add(1);
            }
            let is_own = |of: u32| of == network(&newcomer);
            let (most, _) = counts
                .into_iter()
                .max_by_key(|(of, count)| (*count, is_own(*of)))?;
            group.retain(|address| network(address) == most);
        }
        group.first().copied().filter(|found| *found != newcomer)
    }

    fn refuse_challenge(&mut self, now: Time, claimant: SocketAddrV4, claim: &Request) {
        self.refused_challenges = self.refused_challenges.saturating_add(1);
        self.put_event(WinsEvent {
            change: WinsChange::Busy,
            name: claim.name,
            ttl_s: 0,
            addresses: Vec::from([*claimant.ip()]),
        });
        self.reply_to_claim(now, claimant, claim, Err(RCODE_SERVER));
    }

    pub(super) fn is_challenged(&self, owner: Ipv4Addr, id: u16) -> bool {
        let mut challenges = self.challenges.iter();
        challenges.any(|challenge| challenge.owners.contains(&owner) && challenge.id == id)
    }

    /// A challenged owner answered (RFC 1002 §5.1.4.1).
    pub(super) fn handle_owner(&mut self, now: Time, from: Ipv4Addr, reply: &QueryReply) {
        let found = self.challenges.iter().position(|challenge| {
            challenge.owners.contains(&from)
                && challenge.id == reply.id
                && challenge.claim.name == reply.name.name
        });
        let Some(at) = found else { return };
        let is_denied = reply.outcome.is_err();
        if let Some(challenge) = self.challenges.get_mut(at).filter(|_| is_denied) {
            challenge.owners.retain(|owner| *owner != from);
            if !challenge.owners.is_empty() {
                return;
            }
        }
        let challenge = self.challenges.remove(at);
        let (claim, claimant) = (challenge.claim, challenge.claimant);
        let Ok(owners) = &reply.outcome else {
            return self.grant(now, claimant, claim, true);
        };
        // A host with several addresses registers each; the owner then tells the new one as its own.
        let same_host = claim.op == ClaimOp::RegisterMultihomed
            && owners.entries.iter().any(|e| e.address == claim.address);
        if same_host {
            return self.grant(now, claimant, claim, false);
        }
        self.tell(WinsChange::Refused, now, claim.name);
        self.reply_to_claim(now, claimant, &claim, Err(RCODE_ACTIVE));
    }

    pub(super) fn step_challenges(&mut self, now: Time) {
        let mut silent = Vec::new();
        let mut queries = Vec::new();
        self.challenges.retain_mut(|challenge| {
            if challenge.due > now {
                return true;
            }
            if challenge.sent >= QUERIES {
                silent.push((challenge.claimant, challenge.claim));
                return false;
            }
            challenge.sent = challenge.sent.saturating_add(1);
            challenge.due = now + PATIENCE;
            let (id, name) = (challenge.id, challenge.claim.name);
            queries.extend(challenge.owners.iter().map(|owner| (*owner, id, name)));
            true
        });
        for (owner, id, name) in queries {
            let scope = self.config.scope.clone();
            let query = Query {
                id,
                broadcast: false,
                // Without RD the owner itself is asked, not a name server on its machine.
                recursion_desired: false,
                kind: QueryKind::Addresses,
                name: ScopedName { name, scope },
            };
            self.send(SocketAddrV4::new(owner, PORT), &Repr::Query(query));
        }
        for (claimant, claim) in silent {
            self.grant(now, claimant, claim, true);
        }
    }

    fn send_wack(&mut self, now: Time, claimant: SocketAddrV4, claim: &Request) {
        let wack = Wack {
            id: claim.id,
            name: Some(ScopedName {
                name: claim.name,
                scope: self.config.scope.clone(),
            }),
            ttl_s: WACK_S,
            request: Flags::new(claim.op.opcode(), Flags::RECURSION_DESIRED),
        };
        self.reply(now, claimant, &Repr::Wack(wack));
    }
}
