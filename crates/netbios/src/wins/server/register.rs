//! Registration, refresh and release.

use core::net::SocketAddrV4;

use coax_wire::nbt::ns::{Claim, ClaimOp, RCODE_ACTIVE, RCODE_REFUSED, RCODE_SERVER};
use coax_wire::time::{Span, Time};

use super::super::record::{RecordKind, WinsRecord};
use super::super::request::{Request, SUFFIX_CONTROLLERS, SUFFIX_LOCAL_MASTER};
use super::{WinsChange, WinsServer};

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
        let full = self.records.len() >= self.config.max_records;
        if full && !self.records.contains_key(&claim.name) {
            return self.reply_to_claim(now, from, &claim, Err(RCODE_SERVER));
        }
        let kind = kind_of(&claim);
        let record = self.records.entry(claim.name);
        let record = record.or_insert_with(|| WinsRecord::new(kind, claim.flags, now));
        let is_static = record.is_static();
        if afresh {
            record.replace(kind, claim.flags, now);
        }
        let expires = now + Span::from_secs(u64::from(claim.ttl_s));
        if !is_static || afresh {
            record.put(claim.address, Some(expires), now);
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
        let record = self.records.get_mut(&request.name);
        let outcome = match record.filter(|record| record.is_active(now)) {
            // Windows and Samba agree that a name which nobody has is released (smbtorture's nbt.wins).
            None => return self.reply_to_claim(now, from, &request, Ok(0)),
            Some(record)
                if record.is_static()
                    || !record.is_owner(request.address)
                    || !record.is_owner(*from.ip()) =>
            {
                Err(RCODE_ACTIVE)
            }
            Some(record) => {
                record.remove(request.address, now);
                Ok(record.is_active(now))
            }
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
