//! Requests for byte-range locks, and waiting requests.

use super::{
    ConnId, LockError, LockKind, LockRange, OpenId, Refusal, Ticket,
    locks::{Owner, RangeLocks},
};
use alloc::vec::Vec;
use coax_wire::time::{Span, Time};

/// A range and the process that locks it: each entry of LOCKING_ANDX names a process ([MS-CIFS] 2.2.4.32.1).
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
    /// At most this long (LOCKING_ANDX's Timeout in ms).
    For(Span),
    /// Until the lock is granted or cancelled (Timeout 0xFFFFFFFF).
    Forever,
}

/// A lock request: the tables grant all spans or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// The open that locks.
    pub open: OpenId,
    /// The ranges to lock.
    pub spans: Vec<LockSpan>,
    /// Exclusive or shared.
    pub kind: LockKind,
    /// How long to wait.
    pub wait: Wait,
    /// LOCKING_ANDX's TypeOfLock without CANCEL_LOCK: a cancel must have the same. Other commands may pass any value.
    pub lock_type: u8,
}

/// The result of a lock request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOutcome {
    /// All spans are locked.
    Granted,
    /// No span is locked.
    Failed(LockError),
    /// The request waits: park it until `Event::Lock`. `Tables::next_deadline` includes its timeout.
    Waiting(Ticket),
    /// Refused, independent of other locks.
    Refused(Refusal),
}

/// The result of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The waiting request with this span has failed (`Event::Lock` with [`LockError::Conflict`]).
    Done,
    /// No waiting request has this span: ERRDOS/ERRcancelviolation.
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

    /// Locks all spans, or locks none and returns the offset of the first conflict.
    pub(super) fn lock(&self, locks: &mut RangeLocks, earlier: &[Waiter]) -> Result<(), u64> {
        for (done, (owner, range)) in self.owned().enumerate() {
            // The held locks come first because they are cheap to check: of many waiting requests, most conflict with a
            // held lock.
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
