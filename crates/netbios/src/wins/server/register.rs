//! Registration, refresh and release.

use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::{Claim, ClaimOp, RCODE_ACTIVE, RCODE_REFUSED, RCODE_SERVER};
use coax_wire::time::{Span, Time};

use super::super::record::{RecordKind, RecordState, WinsRecord};
use super::super::request::{Request, SUFFIX_CONTROLLERS, SUFFIX_LOCAL_MASTER};
use super::{WinsChange, WinsServer};

/// Live records that one station can register. The name table of a NetBIOS adapter has 254 entries (NCB_NUM is 1 to 254), but
/// a router that translates addresses stands for some hundred machines of about three names each.
pub(crate) const MAX_PER_STATION: usize = 1024;

impl WinsServer {
    pub(super) fn register(&mut self, now: Time, from: SocketAddrV4, claim: Claim) {
        let Some(entry) = claim.entries.first() else {
            return;
        };
        let ip = entry.address;
        let claim = Request {
            id: claim.id,
            op: claim.op,
            name: claim.name.name,
            flags: entry.flags,
            address: ip,
            ttl_s: self.granted_s(claim.ttl_s),
        };
        if ip.is_unspecified() || ip.is_broadcast() || ip.is_multicast() || claim.name.is_any() {
            return self.reply_to_claim(now, from, &claim, Err(RCODE_REFUSED));
        }
        // Each network has its own local master, so WINS agrees and forgets (KB Q120642).
        if claim.name.suffix() == SUFFIX_LOCAL_MASTER {
            return self.reply_to_claim(now, from, &claim, Ok(claim.ttl_s));
        }
        match self.records.get(&claim.name) {
            Some(record) if record.is_active(now) => {
                let (kind, is_static) = (record.kind(), record.is_static());
                let owner = record.is_owner(ip);
                self.register_again(now, from, claim, (kind, is_static, owner));
            }
            _ => self.grant(now, from, claim, true),
        }
    }

    /// A claim of a name that is active.
    fn register_again(
        &mut self,
        now: Time,
        from: SocketAddrV4,
        claim: Request,
        (kind, is_static, owner): (RecordKind, bool, bool),
    ) {
        match (kind, kind_of(&claim)) {
            (RecordKind::Group, RecordKind::Group)
            | (RecordKind::InternetGroup, RecordKind::InternetGroup) => {
                self.grant(now, from, claim, false);
            }
            (RecordKind::Unique, RecordKind::Unique) if owner => {
                self.grant(now, from, claim, false);
            }
            (RecordKind::Unique, RecordKind::Unique) if !is_static => {
                self.challenge(now, from, claim);
            }
            // A static record stays as the administrator wrote it, and a group and a computer cannot share a name.
            _ => {
                self.tell(WinsChange::Refused, now, claim.name);
                self.reply_to_claim(now, from, &claim, Err(RCODE_ACTIVE));
            }
        }
    }

    /// Writes the record: a new one, or with `afresh` one that forgets its old owners.
    pub(super) fn grant(&mut self, now: Time, from: SocketAddrV4, claim: Request, afresh: bool) {
        let expires = now + Span::from_secs(u64::from(claim.ttl_s));
        let put = |record: &mut WinsRecord| record.put(claim.address, Some(expires), now);
        let known = self.records.get(&claim.name);
        if afresh || known.is_none_or(|record| record.state() != RecordState::Active) {
            if let Err(code) = self.make_room(*from.ip(), &claim.name) {
                return self.reply_to_claim(now, from, &claim, Err(code));
            }
            let record = WinsRecord::new(kind_of(&claim), claim.flags, now);
            let mut record = record.registered_by(*from.ip());
            put(&mut record);
            self.records.insert(claim.name, record);
        } else {
            self.records.update(&claim.name, |record| {
                if !record.is_static() {
                    put(record);
                }
            });
        }
        self.changed = true;
        self.tell(
            if afresh {
                WinsChange::Add
            } else {
                WinsChange::Refresh
            },
            now,
            claim.name,
        );
        self.reply_to_claim(now, from, &claim, Ok(claim.ttl_s));
    }

    /// Makes room for a record that `station` registers, or returns the result code of the refusal (RFC 1002 §4.2.6).
    fn make_room(&mut self, station: Ipv4Addr, name: &NbName) -> Result<(), u8> {
        let is_live = |record: &&WinsRecord| record.state() == RecordState::Active;
        let known = self.records.get(name).filter(is_live);
        let is_its_own = known.is_some_and(|record| record.charged_to() == Some(station));
        if !is_its_own && self.records.live_of(station) >= MAX_PER_STATION {
            return Err(RCODE_REFUSED);
        }
        match self.has_room(name) {
            true => Ok(()),
            false => Err(RCODE_SERVER),
        }
    }

    /// Whether a record of this name has room. A full table forgets names that nobody has, first.
    pub(super) fn has_room(&mut self, name: &NbName) -> bool {
        self.records.get(name).is_some()
            || self.records.len() < self.config.max_records
            || self.records.evict()
    }

    /// RFC 1002 §5.1.4.2. Only an owner can release, and it has to send from the address that it registered: a forged
    /// release needs a forged source address too.
    pub(super) fn release(&mut self, now: Time, from: SocketAddrV4, claim: Claim) {
        let Some(entry) = claim.entries.first() else {
            return;
        };
        let request = Request {
            id: claim.id,
            op: ClaimOp::Release,
            name: claim.name.name,
            flags: entry.flags,
            address: entry.address,
            ttl_s: 0,
        };
        let outcome = self.records.update(&request.name, |record| {
            let may = !record.is_static()
                && record.is_owner(request.address)
                && record.is_owner(*from.ip());
            match (record.is_active(now), may) {
                (false, _) => None,
                (true, false) => Some(Err(RCODE_ACTIVE)),
                (true, true) => {
                    record.remove(request.address, now);
                    Some(Ok(record.is_active(now)))
                }
            }
        });
        let Some(outcome) = outcome.flatten() else {
            // Windows and Samba agree that a name which nobody has is released (smbtorture's nbt.wins).
            return self.reply_to_claim(now, from, &request, Ok(0));
        };
        if let Ok(still_active) = outcome {
            self.changed = true;
            let change = match still_active {
                true => WinsChange::Refresh,
                false => WinsChange::Delete,
            };
            self.tell(change, now, request.name);
        }
        self.reply_to_claim(now, from, &request, outcome.map(|_| 0));
    }

    /// The time to live that is granted for the one asked for, in seconds.
    fn granted_s(&self, asked_s: u32) -> u32 {
        let (min, max) = (self.config.min_ttl_s, self.config.max_ttl_s);
        match asked_s {
            0 => max,
            asked_s => asked_s.max(min).min(max),
        }
    }
}

/// What a claim wants its name to be.
pub(super) fn kind_of(claim: &Request) -> RecordKind {
    match (claim.flags.is_group(), claim.name.suffix()) {
        (true, SUFFIX_CONTROLLERS) => RecordKind::InternetGroup,
        (true, _) => RecordKind::Group,
        (false, _) => RecordKind::Unique,
    }
}
