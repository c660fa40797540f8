//! The byte-range locks of one file ([MS-CIFS] 3.3.5.30; [MS-FSA] 2.1.5.8, 2.1.5.9, 2.1.4.10).
//!
//! A lock belongs to an open and a process on it. Ranges are 64 bits wide and mandatory for the reads and writes of all
//! others. Shared locks are compatible with shared locks. An exclusive lock is compatible with none, except that its
//! owner may add shared locks over it. A lock of length 0 lies *between* two bytes and conflicts with ranges that have
//! that point strictly inside.
//!
//! The table groups locks by the magnitude of their length and sorts each group by offset. In each group only locks
//! that begin less than one length before a range can overlap it. So a query costs O(log n), not O(n).

use super::OpenId;
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

/// A range of bytes. The offset of its last byte is at most `u64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockRange {
    /// First byte.
    pub offset: u64,
    /// The number of bytes; 0 is the point before `offset`.
    pub length: u64,
}

/// Who else may lock the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKind {
    /// No other owner.
    Exclusive,
    /// Other readers.
    Shared,
}

/// Why a lock or unlock failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// STATUS_LOCK_NOT_GRANTED (ERRDOS/ERRlock): another lock covers the range.
    #[error("lock not granted")]
    NotGranted,
    /// STATUS_FILE_LOCK_CONFLICT (ERRDOS/ERRlock): another lock still covers the range, after a retry or a timed-out
    /// wait.
    #[error("file lock conflict")]
    Conflict,
    /// STATUS_RANGE_NOT_LOCKED (ERRDOS/ERRnotlocked): no such lock. A waiting lock also gets it when its open is
    /// closed.
    #[error("range not locked")]
    RangeNotLocked,
    /// STATUS_INVALID_LOCK_RANGE: the range ends past the last possible byte.
    #[error("invalid lock range")]
    InvalidRange,
}

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) open: OpenId,
    pub(super) pid: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    owner: Owner,
    length: u64,
    kind: LockKind,
}

/// Offset and serial number.
type Key = (u64, u64);

/// The locks granted on one file.
#[derive(Debug, Default)]
pub(super) struct RangeLocks {
    /// By magnitude of length: the number of its significant bits, 0 for length 0.
    magnitudes: BTreeMap<u32, BTreeMap<Key, Held>>,
    /// By owner, then range, exclusive first.
    owned: BTreeSet<(OpenId, u16, LockRange, LockKind, u64)>,
    serial: u64,
}

impl LockRange {
    /// `length` bytes from `offset`.
    pub const fn new(offset: u64, length: u64) -> Self {
        Self { offset, length }
    }

    /// Whether the offsets of all bytes fit in 64 bits.
    pub const fn is_valid(self) -> bool {
        self.length == 0 || self.offset.checked_add(self.length - 1).is_some()
    }

    /// Whether two ranges have a byte in common, or one is a point strictly inside the other.
    pub const fn overlaps(self, other: Self) -> bool {
        self.begins_before_end_of(other) && other.begins_before_end_of(self)
    }

    const fn begins_before_end_of(self, other: Self) -> bool {
        (self.offset as u128) < other.offset as u128 + other.length as u128
    }

    const fn magnitude(self) -> u32 {
        u64::BITS - self.length.leading_zeros()
    }
}

impl LockKind {
    /// Whether locks of these kinds by different owners conflict where they overlap.
    pub(super) fn excludes(self, other: Self) -> bool {
        self == Self::Exclusive || other == Self::Exclusive
    }
}

impl RangeLocks {
    pub(super) fn is_empty(&self) -> bool {
        self.owned.is_empty()
    }

    /// Whether a held lock prevents `owner` from locking.
    pub(super) fn conflicts(&self, owner: Owner, range: LockRange, kind: LockKind) -> bool {
        self.blocker(owner, range, kind).is_some()
    }

    /// The open whose lock prevents `owner` from locking.
    pub(super) fn blocker(&self, owner: Owner, range: LockRange, kind: LockKind) -> Option<OpenId> {
        let mut overlapping = self.overlapping(range);
        let found = overlapping.find(|held| {
            let overlay =
                held.kind == LockKind::Exclusive && kind == LockKind::Shared && held.owner == owner;
            held.kind.excludes(kind) && !overlay
        });
        found.map(|held| held.owner.open)
    }

    /// Whether a held lock prevents `owner` from reading or writing. Exclusive locks of others prevent both; shared
    /// locks, even the owner's, prevent writing.
    pub(super) fn forbids_io(&self, owner: Owner, range: LockRange, write: bool) -> bool {
        self.io_blocker(owner, range, write).is_some()
    }

    /// The open whose lock prevents `owner` from reading or writing.
    pub(super) fn io_blocker(&self, owner: Owner, range: LockRange, write: bool) -> Option<OpenId> {
        if range.length == 0 {
            return None;
        }
        let mut overlapping = self.overlapping(range);
        let found = overlapping.find(|held| match held.kind {
            LockKind::Exclusive => held.owner != owner,
            LockKind::Shared => write,
        });
        found.map(|held| held.owner.open)
    }

    pub(super) fn insert(&mut self, owner: Owner, range: LockRange, kind: LockKind) {
        self.serial = self.serial.wrapping_add(1);
        let held = Held {
            owner,
            length: range.length,
            kind,
        };
        self.magnitudes
            .entry(range.magnitude())
            .or_default()
            .insert((range.offset, self.serial), held);
        self.owned
            .insert((owner.open, owner.pid, range, kind, self.serial));
    }

    /// Removes one lock of exactly this owner and range: an exclusive one if there is one, else the oldest.
    pub(super) fn remove(&mut self, owner: Owner, range: LockRange) -> bool {
        let Owner { open, pid } = owner;
        let from = (open, pid, range, LockKind::Exclusive, 0);
        let to = (open, pid, range, LockKind::Shared, u64::MAX);
        let Some(found) = self.owned.range(from..=to).next().copied() else {
            return false;
        };
        self.take_out(found);
        true
    }

    /// Removes the newest lock of exactly this owner, range and kind.
    pub(super) fn remove_newest(&mut self, owner: Owner, range: LockRange, kind: LockKind) {
        let Owner { open, pid } = owner;
        let all = (open, pid, range, kind, 0)..=(open, pid, range, kind, u64::MAX);
        if let Some(found) = self.owned.range(all).next_back().copied() {
            self.take_out(found);
        }
    }

    /// Removes all locks of an open and returns their number.
    pub(super) fn remove_open(&mut self, open: OpenId) -> usize {
        let first = LockRange::new(0, 0);
        let last = LockRange::new(u64::MAX, u64::MAX);
        let all = (open, 0, first, LockKind::Exclusive, 0)
            ..=(open, u16::MAX, last, LockKind::Shared, u64::MAX);
        let found: Vec<_> = self.owned.range(all).copied().collect();
        found.iter().for_each(|lock| self.take_out(*lock));
        found.len()
    }

    fn take_out(&mut self, lock: (OpenId, u16, LockRange, LockKind, u64)) {
        self.owned.remove(&lock);
        let (_, _, range, _, serial) = lock;
        if let Some(magnitude) = self.magnitudes.get_mut(&range.magnitude()) {
            magnitude.remove(&(range.offset, serial));
            if magnitude.is_empty() {
                self.magnitudes.remove(&range.magnitude());
            }
        }
    }

    fn overlapping(&self, range: LockRange) -> impl Iterator<Item = &Held> {
        self.magnitudes.iter().flat_map(move |(bits, locks)| {
            let longest = u64::MAX
                .checked_shr(u64::BITS.saturating_sub(*bits))
                .unwrap_or(0);
            let from = (range.offset.saturating_sub(longest), 0);
            // Ranges that begin after the last byte cannot overlap.
            let to = (range.offset.saturating_add(range.length), u64::MAX);
            locks
                .range(from..=to)
                .filter(move |((offset, _), held)| {
                    LockRange::new(*offset, held.length).overlaps(range)
                })
                .map(|(_, held)| held)
        })
    }
}

#[cfg(test)]
#[path = "locks_tests.rs"]
mod tests;
