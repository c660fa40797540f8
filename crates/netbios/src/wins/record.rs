//! One record of a WINS server.

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::ns::NameFlags;
use coax_wire::time::{Span, Time};

use super::request::MAX_MEMBERS;

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// One owner with one address, or with several.
    Unique,
    /// A group whose members are found by broadcast: the server tells 255.255.255.255 (KB Q120642).
    Group,
    /// A group whose members the server tells: `<1C>`, domain controllers.
    InternetGroup,
}

/// The age of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordState {
    /// The name is told to those who ask.
    Active,
    /// The owner released the name or did not refresh it; anybody may register it.
    Released,
    /// About to be removed.
    Tombstone,
}

/// A name's owners, and how long they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinsRecord {
    kind: RecordKind,
    /// Node type.
    node: u16,
    /// Owners, each with the end of its time to live; `None`: static.
    owners: Vec<(Ipv4Addr, Option<Time>)>,
    state: RecordState,
    /// When `state` began.
    since: Time,
    /// The station that registered the record; `None` for a record that was read from a file.
    registrar: Option<Ipv4Addr>,
    /// Whether an LMHOSTS file has the record, so that the database does not keep it.
    in_lmhosts: bool,
}

impl WinsRecord {
    /// An active record without owners.
    pub fn new(kind: RecordKind, flags: NameFlags, now: Time) -> Self {
        Self {
            kind,
            node: flags.0 & (NameFlags::POINT_TO_POINT | NameFlags::MIXED),
            owners: Vec::new(),
            state: RecordState::Active,
            since: now,
            registrar: None,
            in_lmhosts: false,
        }
    }

    /// Marks it as an entry of an LMHOSTS file. It lives as long as the entry: the database does not keep it.
    pub fn marked_lmhosts(self) -> Self {
        Self {
            in_lmhosts: true,
            ..self
        }
    }

    /// Whether it is an entry of an LMHOSTS file.
    pub fn is_in_lmhosts(&self) -> bool {
        self.in_lmhosts
    }

    /// What the name is.
    pub fn kind(&self) -> RecordKind {
        self.kind
    }

    /// The record's age.
    pub fn state(&self) -> RecordState {
        self.state
    }

    /// When its state began.
    pub fn since(&self) -> Time {
        self.since
    }

    /// The owners' addresses, expired or not.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.owners.iter().map(|(address, _)| *address)
    }

    /// The owners' addresses that have not expired.
    pub(super) fn unexpired(&self, now: Time) -> impl Iterator<Item = Ipv4Addr> {
        let owners = self.owners.iter();
        let alive = owners.filter(move |(_, expires)| expires.is_none_or(|end| end > now));
        alive.map(|(address, _)| *address)
    }

    /// When the last owner expires; `None`: never, the record is static.
    pub fn expires(&self) -> Option<Time> {
        let mut last = Some(Time(0));
        for (_, expires) in &self.owners {
            last = match (last, *expires) {
                (Some(last), Some(expires)) => Some(last.max(expires)),
                _ => None,
            };
        }
        last
    }

    /// Whether the record was made by the administrator.
    pub fn is_static(&self) -> bool {
        !self.owners.is_empty() && self.expires().is_none()
    }

    /// The station whose limit of live records this one counts for; `None` for a static record.
    pub(super) fn charged_to(&self) -> Option<Ipv4Addr> {
        let first = self.owners.first().map(|(owner, _)| *owner);
        self.registrar.or(first).filter(|_| !self.is_static())
    }

    /// NB_FLAGS of the name.
    pub fn flags(&self) -> NameFlags {
        let group = match self.kind {
            RecordKind::Unique => 0,
            RecordKind::Group | RecordKind::InternetGroup => NameFlags::GROUP,
        };
        NameFlags(self.node | group)
    }

    /// Whether the name has an owner at `now`.
    pub fn is_active(&self, now: Time) -> bool {
        let mut owners = self.owners.iter();
        self.state == RecordState::Active
            && owners.any(|(_, expires)| expires.is_none_or(|expires| expires > now))
    }

    /// Whether a station is an owner.
    pub fn is_owner(&self, address: Ipv4Addr) -> bool {
        self.owners.iter().any(|(owner, _)| *owner == address)
    }

    /// Seconds that the record lives on; `None`: for ever.
    pub fn ttl_s(&self, now: Time) -> Option<u32> {
        let left = self.expires()? - now;
        Some(u32::try_from(left.as_millis() / 1000).unwrap_or(u32::MAX))
    }

    /// The addresses that a query is told.
    pub(super) fn told(&self, now: Time) -> impl Iterator<Item = Ipv4Addr> {
        let group = self.kind == RecordKind::Group;
        let alive = self.unexpired(now).filter(move |_| !group);
        let everybody = group.then_some(Ipv4Addr::BROADCAST);
        alive.chain(everybody)
    }

    /// Adds an owner, or extends its time. A full group forgets the member that expires first.
    pub fn put(&mut self, address: Ipv4Addr, expires: Option<Time>, now: Time) {
        if self.state != RecordState::Active {
            self.state = RecordState::Active;
            self.since = now;
        }
        if let Some(owner) = self.owners.iter_mut().find(|(owner, _)| *owner == address) {
            owner.1 = expires;
            return;
        }
        if self.owners.len() >= MAX_MEMBERS {
            let first = self.owners.iter().enumerate();
            let first = first.min_by_key(|(_, (_, expires))| expires.unwrap_or(Time(u64::MAX)));
            if let Some(at) = first.map(|(at, _)| at) {
                self.owners.remove(at);
            }
        }
        self.owners.push((address, expires));
    }

    /// Removes an owner; the record is released when it was the last.
    pub(super) fn remove(&mut self, address: Ipv4Addr, now: Time) {
        if self.owners.len() > 1 {
            self.owners.retain(|(owner, _)| *owner != address);
        } else {
            self.become_state(RecordState::Released, now);
        }
    }

    /// Makes it the record that a station at `registrar` registered.
    pub(super) fn registered_by(self, registrar: Ipv4Addr) -> Self {
        Self {
            registrar: Some(registrar),
            ..self
        }
    }

    pub(super) fn become_state(&mut self, state: RecordState, now: Time) {
        self.state = state;
        self.since = now;
    }

    /// Grows older; whether the record is kept.
    pub(super) fn age(&mut self, now: Time, extinction: Span, tombstone: Span) -> bool {
        match self.state {
            RecordState::Active => {
                if self.owners.len() > 1 {
                    let alive = |expires: Option<Time>| expires.is_none_or(|e| e > now);
                    if self.owners.iter().any(|(_, expires)| alive(*expires)) {
                        self.owners.retain(|(_, expires)| alive(*expires));
                    }
                }
                if !self.is_active(now) {
                    self.become_state(RecordState::Released, now);
                }
                true
            }
            RecordState::Released => {
                if now - self.since >= extinction {
                    self.become_state(RecordState::Tombstone, now);
                }
                true
            }
            RecordState::Tombstone => now - self.since < tombstone,
        }
    }
}
