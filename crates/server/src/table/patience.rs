//! Opens that wait after a sharing violation until the file is closed.
//!
//! NT servers retry an open with a sharing violation for about a second before they refuse it
//! (`SharingViolationRetries` 5, `SharingViolationDelay` 200 ms; KB150384). Programs depend on it when they close a
//! file and open it again at once from another process.

use super::open_waiter::OpenWaiter;
use super::open_waiter::{Forgotten, Patience};
use super::{ConnId, Event, OpenOutcome, OpenRequest, Tables, Ticket, Timer};
use crate::vfs::FileId;
use coax_wire::time::Time;

impl Tables {
    /// Opens like [`Self::open`], but waits after a sharing violation as `patience` allows. [`OpenOutcome::BreakFirst`]
    /// then stands for the awaited close. [`Event::Retry`] comes with that close or at the end of the patience.
    pub fn open_patiently(
        &mut self,
        now: Time,
        request: &OpenRequest,
        patience: Patience,
    ) -> OpenOutcome {
        let outcome = self.open(now, request);
        if outcome != OpenOutcome::SharingViolation {
            return outcome;
        }
        match self.wait_for_close(now, request, patience) {
            Some((ticket, deadline)) => OpenOutcome::BreakFirst { ticket, deadline },
            None => outcome,
        }
    }

    /// Waits for a close of the opens that conflict with `request`, as `patience` allows. [`Event::Retry`] comes with
    /// the close or at the deadline. `None` if waiting is pointless.
    pub fn wait_for_close(
        &mut self,
        now: Time,
        request: &OpenRequest,
        patience: Patience,
    ) -> Option<(Ticket, Time)> {
        let waits = now < patience.until && (patience.own || self.others_forbid(request));
        if !waits {
            return None;
        }
        let deadline = patience.until;
        let ticket = self.add_open_waiter(request.conn, request.file, deadline);
        Some((ticket, deadline))
    }

    /// A new ticket for a request that waits until `deadline` for a close of `file`.
    pub(super) fn add_open_waiter(&mut self, conn: ConnId, file: FileId, deadline: Time) -> Ticket {
        let ticket = self.next_ticket();
        let waiter = OpenWaiter {
            conn,
            ticket,
            deadline,
        };
        self.files
            .entry(file)
            .or_default()
            .open_waiters
            .push(waiter);
        self.tickets.insert(ticket, file);
        self.deadlines
            .insert((deadline, Timer::Patience(file, ticket)));
        ticket
    }

    /// Removes a parked open, so that no retry follows. Returns what it was waiting for.
    pub fn forget_parked(&mut self, ticket: Ticket) -> Forgotten {
        let Some(id) = self.tickets.remove(&ticket) else {
            return Forgotten::Other;
        };
        if let Some(file) = self.files.get_mut(&id) {
            file.parked.retain(|(_, parked)| *parked != ticket);
        }
        match self.take_open_waiter(id, ticket) {
            Some(_) => Forgotten::OpenWaiter,
            None => Forgotten::Other,
        }
    }

    /// After a close of the file, lets all its waiters retry.
    pub(super) fn wake_open_waiters(&mut self, id: FileId) {
        let open_waiters = match self.files.get_mut(&id) {
            Some(file) => core::mem::take(&mut file.open_waiters),
            None => return,
        };
        for waiter in open_waiters {
            self.deadlines
                .remove(&(waiter.deadline, Timer::Patience(id, waiter.ticket)));
            self.retry(waiter.conn, waiter.ticket);
        }
    }

    /// Ends the patience of a waiter, which retries for the last time.
    pub(super) fn end_patience(&mut self, id: FileId, ticket: Ticket) {
        if let Some(waiter) = self.take_open_waiter(id, ticket) {
            self.retry(waiter.conn, ticket);
        }
    }

    pub(super) fn retry(&mut self, conn: ConnId, ticket: Ticket) {
        self.tickets.remove(&ticket);
        self.post(conn, Event::Retry { ticket });
    }

    fn take_open_waiter(&mut self, id: FileId, ticket: Ticket) -> Option<OpenWaiter> {
        let open_waiters = &mut self.files.get_mut(&id)?.open_waiters;
        let at = open_waiters
            .iter()
            .position(|waiter| waiter.ticket == ticket)?;
        let waiter = open_waiters.remove(at);
        self.deadlines
            .remove(&(waiter.deadline, Timer::Patience(id, ticket)));
        Some(waiter)
    }
}
