//! Requests for byte-range locks, and those that wait.

use super::{
    ConnId, LockError, LockKind, LockRange, OpenId, Refusal, Ticket,
    locks::{Owner, RangeLocks},
};
use alloc::vec::Vec;
use coax_wire::time::{Span, Time};

/// A range and the process that locks it: the entries of LOCKING_ANDX name a process each ([MS-CIFS] 2.2.4.32.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockSpan {
    /// The process (16 bits).
    pub pid: u16,
    /// The range.
    pub range: LockRange,
}

/// How long a lock may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// So long (LOCKING_ANDX's Timeout in ms).
    For(Span),
    /// Until it is granted or cancelled (Timeout 0xFFFFFFFF).
    Forever,
}

/// A lock request: all spans or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// Through which open.
    pub open: OpenId,
    /// What to lock.
    pub spans: Vec<LockSpan>,
    /// How.
    pub kind: LockKind,
    /// How long to wait for it.
    pub wait: Wait,
    /// LOCKING_ANDX's TypeOfLock without CANCEL_LOCK: a cancel must name the same. Anything for other commands.
    pub lock_type: u8,
}

/// How a lock request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOutcome {
    /// All spans are locked.
    Granted,
    /// None is.
    Failed(LockError),
    /// It waits: park it until [`Event::Lock`]. [`Tables::next_deadline`] knows when its time is up.
    Waiting(Ticket),
    /// Refused whatever else is locked.
    Refused(Refusal),
}

/// Whether a cancel found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The waiting request that has this span has failed ([`Event::Lock`] with [`LockError::Conflict`]).
    Done,
    /// None has: ERRDOS/ERRcancelviolation.
    NotFound,
}

#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) ticket: Ticket,
    pub(super) conn: ConnId,
    pub(super) request: LockRequest,
    pub(super) deadline: Option<Time>,
}

impl LockRequest {
    pub(super) fn owned(&self) -> impl Iterator<Item = (Owner, LockRange)> {
        self.spans.iter().map(|span| {
            (
                Owner {
                    open: self.open,
                    pid: span.pid,
                },
                span.range,
            )
        })
    }

    pub(super) fn wants(&self, range: LockRange, kind: LockKind) -> bool {
        self.kind.excludes(kind) && self.spans.iter().any(|span| span.range.overlaps(range))
    }

    /// Locks all spans, or none and returns the offset of the one that cannot be had.
    pub(super) fn lock(&self, locks: &mut RangeLocks, earlier: &[Waiter]) -> Result<(), u64> {
        for (done, (owner, range)) in self.owned().enumerate() {
            // Cheapest first: many may wait, but then few of them are not kept by a lock that is held.
            if locks.conflicts(owner, range, self.kind)
                || earlier
                    .iter()
                    .any(|waiter| waiter.request.wants(range, self.kind))
            {
                self.owned()
                    .take(done)
                    .for_each(|(owner, range)| locks.remove_newest(owner, range, self.kind));
                return Err(range.offset);
            }
            locks.insert(owner, range, self.kind);
        }
        Ok(())
    }
}
