//! Byte-range locks: LOCK_BYTE_RANGE, UNLOCK_BYTE_RANGE, LOCK_AND_READ, WRITE_AND_UNLOCK, LOCKING_ANDX. [MS-CIFS]
//! 3.3.5.15, 3.3.5.16, 3.3.5.22, 3.3.5.23, 3.3.5.30.

use super::room::{READ_OVERHEAD, room_for_data};
use crate::{
    context::{Call, Flow, Outcome},
    error::Result,
    ops::{
        locking::{self, Locking, Wish},
        print, transfer,
    },
    table::{LockKind, LockRange, LockSpan, Oplock, Wait},
};
use coax_wire::{
    header::Fid,
    smb::{
        lock_byte_range,
        locking_andx::{FOREVER, Range, Request, kind},
        read, write,
    },
    status::Status,
    time::Span,
};

/// LOCK_BYTE_RANGE.
pub fn lock_byte_range(call: &mut Call<'_>) -> Outcome {
    let request = lock_byte_range::Request::parse(&call.block)?;
    transfer::report_failure(call, request.fid)?;
    lock_at_once(call, request.fid, request.offset, request.count)?;
    call.done_empty()
}

/// UNLOCK_BYTE_RANGE.
pub fn unlock_byte_range(call: &mut Call<'_>) -> Outcome {
    let request = lock_byte_range::Request::parse(&call.block)?;
    transfer::report_failure(call, request.fid)?;
    let span = own_span(call, request.offset, request.count);
    locking::unlock(call, request.fid, &[span])?;
    call.done_empty()
}

/// LOCK_AND_READ: locks the whole requested range, even beyond the end of the file. If the read fails, it removes the
/// lock.
pub fn lock_and_read(call: &mut Call<'_>) -> Outcome {
    let request = read::Request::parse(&call.block)?;
    transfer::report_failure(call, request.fid)?;
    let count = u32::from(request.count);
    lock_at_once(call, request.fid, request.offset, count)?;
    let wanted = usize::from(request.count).min(room_for_data(call, READ_OVERHEAD));
    let data = match transfer::read(call, request.fid, u64::from(request.offset), wanted) {
        Ok(data) => data,
        Err(error) => {
            let span = own_span(call, request.offset, count);
            locking::unlock(call, request.fid, &[span])?;
            return Err(error);
        }
    };
    read::emit_response(data.len() as u16, call.out());
    call.reply.tail = data.tail;
    Ok(Flow::Done)
}

/// WRITE_AND_UNLOCK. It writes the data even if the range is not locked. A write of no bytes neither unlocks nor
/// truncates, as in Windows (raw.write write unlock). A print job has no locks: it takes the data as from WRITE.
pub fn write_and_unlock(call: &mut Call<'_>) -> Outcome {
    let request = write::Request::parse(&call.block)?;
    transfer::report_failure(call, request.fid)?;
    let offset = u64::from(request.offset);
    let written = transfer::write(call, request.fid, offset, request.data, false)?;
    if request.count > 0 && !print::is_job(call, request.fid) {
        let span = own_span(call, request.offset, u32::from(request.count));
        locking::unlock(call, request.fid, &[span])?;
    }
    write::emit_response(written as u16, call.out());
    Ok(Flow::Done)
}

/// LOCKING_ANDX: acknowledges an oplock break, then unlocks ranges, then locks or cancels others. Ranges stay unlocked
/// if a later step fails.
pub fn locking_andx(call: &mut Call<'_>) -> Outcome {
    let request = Request::parse(&call.block)?;
    if call.retry.is_none()
        && let Some(flow) = before_locking(call, &request)?
    {
        return Ok(flow);
    }
    let wish = Wish {
        spans: request.locks.iter().map(span).collect(),
        kind: if request.is(kind::SHARED) {
            LockKind::Shared
        } else {
            LockKind::Exclusive
        },
        wait: wait(request.timeout_ms),
        lock_type: request.kind,
    };
    match locking::lock(call, request.fid, wish)? {
        Locking::Locked => call.done_andx(),
        Locking::Park(park) => Ok(Flow::Park(park)),
    }
}

/// Everything except the locks; returns the flow if the request has no locks.
fn before_locking(call: &mut Call<'_>, request: &Request) -> Result<Option<Flow>> {
    if request.is(kind::OPLOCK_RELEASE) {
        let level = match request.oplock_level {
            1 => Oplock::LevelII,
            _ => Oplock::None,
        };
        locking::acknowledge_break(call, request.fid, level)?;
        let nothing_else = request.unlocks.is_empty() && request.locks.is_empty();
        if nothing_else && call.block.andx().is_none() {
            return Ok(Some(Flow::Silent));
        }
    }
    transfer::report_failure(call, request.fid)?;
    if request.is(kind::CHANGE_TYPE) {
        return Err(Status::ATOMIC_LOCKS_NOT_SUPPORTED.into());
    }
    let unlocks: alloc::vec::Vec<_> = request.unlocks.iter().map(span).collect();
    locking::unlock(call, request.fid, &unlocks)?;
    if request.is(kind::CANCEL) {
        return cancel(call, request).map(Some);
    }
    Ok(None)
}

/// Windows cancels only the first of several ranges (raw.lock async).
fn cancel(call: &mut Call<'_>, request: &Request) -> Outcome {
    if let Some(range) = request.locks.first() {
        let waiting_type = request.kind & !kind::CANCEL;
        locking::cancel(call, request.fid, span(range), waiting_type)?;
    }
    call.done_andx()
}

fn lock_at_once(call: &mut Call<'_>, fid: Fid, offset: u32, count: u32) -> Result<()> {
    let wish = Wish {
        spans: [own_span(call, offset, count)].into(),
        kind: LockKind::Exclusive,
        wait: Wait::No,
        lock_type: 0,
    };
    match locking::lock(call, fid, wish)? {
        Locking::Locked => Ok(()),
        Locking::Park(_) => Err(Status::INTERNAL_ERROR.into()),
    }
}

/// A range owned by the process in the request's header.
fn own_span(call: &Call<'_>, offset: u32, count: u32) -> LockSpan {
    LockSpan {
        pid: (call.header.pid.0 & 0xffff) as u16,
        range: LockRange::new(u64::from(offset), u64::from(count)),
    }
}

fn span(range: &Range) -> LockSpan {
    LockSpan {
        pid: range.pid,
        range: LockRange::new(range.offset, range.length),
    }
}

fn wait(timeout_ms: u32) -> Wait {
    match timeout_ms {
        0 => Wait::No,
        FOREVER => Wait::Forever,
        ms => Wait::For(Span::from_millis(u64::from(ms))),
    }
}

#[cfg(test)]
#[path = "locking_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;

#[cfg(test)]
#[path = "oplock_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod oplock_tests;
