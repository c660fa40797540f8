//! Byte-range locking through opens: several ranges at once, waiting, cancelling, error codes.
//!
//! The waiting locks of a file form a queue. The table grants one as soon as all its ranges are free and no *earlier*
//! waiting lock wants any of them, unless both are shared. A new lock also queues behind waiting locks, even those of
//! its own process. The ranges of a request are granted together or not at all.

use super::lock_request::Waiter;
use super::lock_request::{Cancelled, LockOutcome, LockRequest, LockSpan, Wait};
use super::{
    ConnId, Event, LockError, LockKind, LockRange, OpenId, Refusal, Tables, Ticket, Timer,
    locks::Owner,
};
use crate::vfs::FileId;
use alloc::vec::Vec;
use coax_wire::time::Time;

impl Tables {
    /// Locks ranges. A success breaks level II oplocks on the file. An empty request succeeds without effect.
    pub fn lock(&mut self, now: Time, request: LockRequest) -> LockOutcome {
        let (conn, file) = match self.may_lock(&request) {
            Ok(found) => found,
            Err(refusal) => return LockOutcome::Refused(refusal),
        };
        if request.spans.iter().any(|span| !span.range.is_valid()) {
            return LockOutcome::Failed(LockError::InvalidRange);
        }
        if request.spans.is_empty() {
            return LockOutcome::Granted;
        }
        let entry = self.files.entry(file).or_default();
        match (request.lock(&mut entry.locks, &entry.waiting), request.wait) {
            (Ok(()), _) => {
                self.count_locks(conn, request.spans.len(), 0);
                self.break_level2(file);
                LockOutcome::Granted
            }
            (Err(offset), Wait::No) => {
                self.probe_siblings(now, conn, file);
                LockOutcome::Failed(self.lock_error(request.open, offset))
            }
            (Err(_), Wait::For(span)) => self.enqueue(conn, file, request, Some(now + span)),
            (Err(_), Wait::Forever) => self.enqueue(conn, file, request, None),
        }
    }

    /// Unlocks the spans in order, up to the first one that this process has not locked with exactly this range through
    /// this open. The earlier ones stay unlocked. If a range has an exclusive and a shared lock, the exclusive one is
    /// removed first.
    pub fn unlock(&mut self, id: OpenId, spans: &[LockSpan]) -> Result<(), LockError> {
        let request = self
            .opens
            .get(&id)
            .map(|open| &open.request)
            .ok_or(LockError::RangeNotLocked)?;
        let (conn, file) = (request.conn, request.file);
        let locks = &mut self
            .files
            .get_mut(&file)
            .ok_or(LockError::RangeNotLocked)?
            .locks;
        let unlocked = |span: &&LockSpan| {
            locks.remove(
                Owner {
                    open: id,
                    pid: span.pid,
                },
                span.range,
            )
        };
        let done = spans.iter().take_while(unlocked).count();
        self.count_locks(conn, 0, done);
        if done > 0 {
            self.serve_waiters(file);
        }
        if done < spans.len() {
            Err(LockError::RangeNotLocked)
        } else {
            Ok(())
        }
    }

    /// LOCKING_ANDX with CANCEL_LOCK: fails the oldest waiting lock request of this open and type that contains exactly
    /// this span.
    pub fn cancel_lock(&mut self, id: OpenId, span: LockSpan, lock_type: u8) -> Cancelled {
        let Some(file) = self.opens.get(&id).map(|open| open.request.file) else {
            return Cancelled::NotFound;
        };
        let is_it = |waiter: &&Waiter| {
            let request = &waiter.request;
            request.open == id && request.lock_type == lock_type && request.spans.contains(&span)
        };
        let waiting = self.files.get(&file).map(|file| &file.waiting);
        match waiting
            .and_then(|waiting| waiting.iter().find(is_it))
            .map(|waiter| waiter.ticket)
        {
            Some(ticket) => {
                self.fail_waiter(file, ticket, LockError::Conflict);
                Cancelled::Done
            }
            None => Cancelled::NotFound,
        }
    }

    /// Withdraws a waiting lock request (NT_CANCEL), so that no [`Event::Lock`] comes for it. If the table has already
    /// decided the request, returns the result.
    pub fn withdraw_lock(&mut self, id: OpenId, ticket: Ticket) -> Option<Result<(), LockError>> {
        let request = &self.opens.get(&id)?.request;
        let (conn, file) = (request.conn, request.file);
        let decided = self.take_lock_outcome(conn, ticket);
        if decided.is_none() && self.take_waiter(file, ticket).is_some() {
            self.serve_waiters(file);
        }
        decided
    }

    /// Whether byte-range locks allow process `pid` to read (or `write`) through `id`. If not:
    /// STATUS_FILE_LOCK_CONFLICT (ERRDOS/ERRlock). Reads and writes of zero bytes are always allowed.
    pub fn may_io(&self, id: OpenId, pid: u16, range: LockRange, write: bool) -> bool {
        let file = self
            .opens
            .get(&id)
            .and_then(|open| self.files.get(&open.request.file));
        !file.is_some_and(|file| file.locks.forbids_io(Owner { open: id, pid }, range, write))
    }

    /// The connection whose lock makes [`Self::may_io`] false.
    pub fn io_lock_holder(
        &self,
        id: OpenId,
        pid: u16,
        range: LockRange,
        write: bool,
    ) -> Option<ConnId> {
        let file = self.files.get(&self.opens.get(&id)?.request.file)?;
        let blocker = file
            .locks
            .io_blocker(Owner { open: id, pid }, range, write)?;
        Some(self.opens.get(&blocker)?.request.conn)
    }

    /// The connection whose lock conflicts with this one.
    pub fn lock_holder(&self, id: OpenId, span: LockSpan, kind: LockKind) -> Option<ConnId> {
        let file = self.files.get(&self.opens.get(&id)?.request.file)?;
        let owner = Owner {
            open: id,
            pid: span.pid,
        };
        let blocker = file.locks.blocker(owner, span.range, kind)?;
        Some(self.opens.get(&blocker)?.request.conn)
    }

    /// Whether the file of the open has any locks. If not, [`may_io`](Self::may_io) is always true.
    pub fn has_locks(&self, id: OpenId) -> bool {
        let file = self
            .opens
            .get(&id)
            .and_then(|open| self.files.get(&open.request.file));
        file.is_some_and(|file| !file.locks.is_empty())
    }

    /// Closes the lock state of an open: removes its locks and fails its waiting locks.
    pub(super) fn drop_locks(&mut self, id: OpenId) {
        let Some(request) = self.opens.get(&id).map(|open| &open.request) else {
            return;
        };
        let (conn, file) = (request.conn, request.file);
        let Some(entry) = self.files.get_mut(&file) else {
            return;
        };
        let gone = entry.locks.remove_open(id);
        let waiting = entry
            .waiting
            .iter()
            .filter(|waiter| waiter.request.open == id);
        let failed: Vec<Ticket> = waiting.map(|waiter| waiter.ticket).collect();
        self.count_locks(conn, 0, gone);
        for ticket in &failed {
            if let Some(waiter) = self.take_waiter(file, *ticket) {
                self.post(
                    waiter.conn,
                    Event::Lock {
                        ticket: *ticket,
                        result: Err(LockError::RangeNotLocked),
                    },
                );
            }
        }
        if gone > 0 || !failed.is_empty() {
            self.serve_waiters(file);
        }
    }

    pub(super) fn fail_waiter(&mut self, file: FileId, ticket: Ticket, error: LockError) {
        let Some(waiter) = self.take_waiter(file, ticket) else {
            return;
        };
        let locks = self.files.get(&file).map(|file| &file.locks);
        let taken = |(owner, range): &(Owner, LockRange)| {
            locks.is_some_and(|locks| locks.conflicts(*owner, *range, waiter.request.kind))
        };
        let culprit = waiter.request.owned().find(taken);
        let offset = culprit.map(|(_, range)| range.offset).or(waiter
            .request
            .spans
            .first()
            .map(|span| span.range.offset));
        if let Some(open) = self.opens.get_mut(&waiter.request.open) {
            open.failed_lock = offset;
        }
        self.post(
            waiter.conn,
            Event::Lock {
                ticket,
                result: Err(error),
            },
        );
        self.serve_waiters(file);
    }

    fn may_lock(&self, request: &LockRequest) -> Result<(ConnId, FileId), Refusal> {
        let open = &self
            .opens
            .get(&request.open)
            .ok_or(Refusal::UnknownOpen)?
            .request;
        self.may_have_locks(open.conn, request.spans.len())?;
        Ok((open.conn, open.file))
    }

    /// Selects the error as NT does: LOCK_NOT_GRANTED for the first failure at an offset through an open,
    /// FILE_LOCK_CONFLICT for repeated failures at the same offset, and always from 0xEF000000 up to 2^63.
    fn lock_error(&mut self, id: OpenId, offset: u64) -> LockError {
        const ALWAYS_CONFLICT: core::ops::Range<u64> = 0xEF00_0000..1 << 63;
        let before = match self.opens.get_mut(&id) {
            Some(open) => open.failed_lock.replace(offset),
            None => None,
        };
        match before == Some(offset) || ALWAYS_CONFLICT.contains(&offset) {
            true => LockError::Conflict,
            false => LockError::NotGranted,
        }
    }

    fn enqueue(
        &mut self,
        conn: ConnId,
        file: FileId,
        request: LockRequest,
        deadline: Option<Time>,
    ) -> LockOutcome {
        if let Err(refusal) = self.may_wait(conn, request.spans.len()) {
            return LockOutcome::Refused(refusal);
        }
        let ticket = self.next_ticket();
        self.count_waits(conn, request.spans.len(), 0);
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, Timer::Lock(file, ticket)));
        }
        self.files.entry(file).or_default().waiting.push(Waiter {
            ticket,
            conn,
            request,
            deadline,
        });
        LockOutcome::Waiting(ticket)
    }

    fn take_waiter(&mut self, file: FileId, ticket: Ticket) -> Option<Waiter> {
        let waiting = &mut self.files.get_mut(&file)?.waiting;
        let at = waiting.iter().position(|waiter| waiter.ticket == ticket)?;
        let waiter = waiting.remove(at);
        self.count_waits(waiter.conn, 0, waiter.request.spans.len());
        if let Some(deadline) = waiter.deadline {
            self.deadlines
                .remove(&(deadline, Timer::Lock(file, ticket)));
        }
        Some(waiter)
    }

    /// Grants waiting locks that no longer conflict, in order of arrival.
    pub(super) fn serve_waiters(&mut self, file: FileId) {
        let mut granted = false;
        let mut next = 0;
        while let Some(entry) = self.files.get_mut(&file) {
            let Some((earlier, [waiter, ..])) = entry.waiting.split_at_checked(next) else {
                break;
            };
            if waiter.request.lock(&mut entry.locks, earlier).is_err() {
                next += 1;
                continue;
            }
            let ticket = waiter.ticket;
            let Some(waiter) = self.take_waiter(file, ticket) else {
                break;
            };
            self.count_locks(waiter.conn, waiter.request.spans.len(), 0);
            self.post(
                waiter.conn,
                Event::Lock {
                    ticket,
                    result: Ok(()),
                },
            );
            granted = true;
        }
        if granted {
            self.break_level2(file);
        }
    }
}
