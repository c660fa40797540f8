//! Byte-range locks and oplock acknowledgements through open files.

use crate::{
    context::{Call, Park, Retry},
    error::{Because, Result},
    files::OpenKind,
    reason::{Limit, Reason},
    table::{
        Cancelled, LockError, LockKind, LockOutcome, LockRequest, LockSpan, OpenId, Oplock, Wait,
    },
};
use alloc::vec::Vec;
use coax_wire::{header::Fid, status::Status};

/// The locks of a command: all or none.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The ranges.
    pub spans: Vec<LockSpan>,
    /// The lock type.
    pub kind: LockKind,
    /// The timeout.
    pub wait: Wait,
    /// LOCKING_ANDX's lock type; a cancel must name the same.
    pub lock_type: u8,
}

/// The result of a lock request that did not fail.
#[derive(Clone, Copy, Debug)]
pub enum Locking {
    /// Everything is locked.
    Locked,
    /// It waits.
    Park(Park),
}

/// Locks; in a request that was parked, returns the result of the wait.
///
/// # Errors
/// `LOCK_NOT_GRANTED`, `FILE_LOCK_CONFLICT`, `INVALID_LOCK_RANGE`, `INVALID_HANDLE`; `FILE_LOCK_CONFLICT` also after
/// NT_CANCEL (raw.mux), `RANGE_NOT_LOCKED` if the file was closed meanwhile; `INSUFF_SERVER_RESOURCES`.
pub fn lock(call: &mut Call<'_>, fid: Fid, wish: Wish) -> Result<Locking> {
    if let Some(retry) = call.retry.take() {
        return waited(call, fid, &retry).map(|()| Locking::Locked);
    }
    let open = lockable(call, fid)?;
    let options = &call.file(fid)?.share.options;
    if !options.locking {
        return Ok(Locking::Locked);
    }
    let (now, wait) = (
        call.now,
        if options.blocking_locks {
            wish.wait
        } else {
            Wait::No
        },
    );
    let (kind, first) = (wish.kind, wish.spans.first().copied());
    let request = LockRequest {
        open,
        spans: wish.spans,
        kind: wish.kind,
        wait,
        lock_type: wish.lock_type,
    };
    match call.conn.server.locked(|tables| tables.lock(now, request)) {
        LockOutcome::Granted => Ok(Locking::Locked),
        LockOutcome::Failed(error @ (LockError::NotGranted | LockError::Conflict)) => {
            let holder = first.and_then(|span| {
                let server = &call.conn.server;
                server.locked(|tables| tables.lock_holder(open, span, kind))
            });
            Err(lock_status(error).because(Reason::Locked(holder)))
        }
        LockOutcome::Failed(error) => Err(lock_status(error).into()),
        LockOutcome::Refused(_) => {
            Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Locks)))
        }
        LockOutcome::Waiting(ticket) => Ok(Locking::Park(Park {
            ticket,
            deadline: match wait {
                Wait::For(span) => Some(now + span),
                Wait::No | Wait::Forever => None,
            },
        })),
    }
}

/// The result of a parked request's wait. The file may already be closed.
fn waited(call: &Call<'_>, fid: Fid, retry: &Retry) -> Result<()> {
    let result = match (retry, call.ticket) {
        (Retry::Lock(result), _) => *result,
        (Retry::Cancelled, Some(ticket)) => {
            let open = lockable(call, fid)?;
            let withdrawn = |tables: &mut crate::table::Tables| tables.withdraw_lock(open, ticket);
            let decided_before = call.conn.server.locked(withdrawn);
            decided_before.unwrap_or(Err(LockError::Conflict))
        }
        _ => return Err(Status::INTERNAL_ERROR.into()),
    };
    result.map_err(|error| lock_status(error).into())
}

/// Unlocks in order and stops at the first range without exactly this lock.
///
/// # Errors
/// `RANGE_NOT_LOCKED`, `INVALID_HANDLE`.
pub fn unlock(call: &Call<'_>, fid: Fid, spans: &[LockSpan]) -> Result<()> {
    let open = lockable(call, fid)?;
    if !call.file(fid)?.share.options.locking {
        return Ok(());
    }
    let unlocked = call.conn.server.locked(|tables| tables.unlock(open, spans));
    unlocked.map_err(|error| lock_status(error).into())
}

/// Ends a waiting lock request of this type that includes this range: the request fails with `FILE_LOCK_CONFLICT`.
///
/// # Errors
/// ERRDOS/ERRcancelviolation if there is no such request.
pub fn cancel(call: &Call<'_>, fid: Fid, span: LockSpan, lock_type: u8) -> Result<()> {
    let open = lockable(call, fid)?;
    let cancel = |tables: &mut crate::table::Tables| tables.cancel_lock(open, span, lock_type);
    match call.conn.server.locked(cancel) {
        Cancelled::Done => Ok(()),
        Cancelled::NotFound => Err(Status::CANCEL_VIOLATION.into()),
    }
}

/// Handles the client's oplock break acknowledgement down to `level`. It has no reply; waiting requests may continue.
///
/// # Errors
/// `INVALID_HANDLE`.
pub fn acknowledge_break(call: &Call<'_>, fid: Fid, level: Oplock) -> Result<()> {
    if let Some(open) = call.file(fid)?.open {
        let _ = call
            .conn
            .server
            .locked(|tables| tables.acknowledge(open, level));
    }
    Ok(())
}

fn lockable(call: &Call<'_>, fid: Fid) -> Result<OpenId> {
    let file = call.file(fid)?;
    match (&file.kind, file.open) {
        (OpenKind::File, Some(open)) => Ok(open),
        _ => Err(Status::INVALID_DEVICE_REQUEST.into()),
    }
}

fn lock_status(error: LockError) -> Status {
    match error {
        LockError::NotGranted => Status::LOCK_NOT_GRANTED,
        LockError::Conflict => Status::FILE_LOCK_CONFLICT,
        LockError::RangeNotLocked => Status::RANGE_NOT_LOCKED,
        LockError::InvalidRange => Status::INVALID_LOCK_RANGE,
    }
}
