//! Opens that share modes forbid, and that wait a while for the file to be closed.
//!
//! NT servers try an open that meets a sharing violation again for about a second before they refuse it
//! (`SharingViolationRetries` 5, `SharingViolationDelay` 200 ms; KB150384): programs that close a file and open it again
//! from another process at once depend on it.

use super::{ConnId, Event, OpenOutcome, OpenRequest, Tables, Ticket, Timer};
use crate::vfs::FileId;
use coax_wire::time::Time;

/// An open that waits for somebody to close the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suitor {
    conn: ConnId,
    ticket: Ticket,
    deadline: Time,
}

/// How long an open may wait for others to close the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until then.
    pub until: Time,
    /// Also for opens of its own connection: not of use to a client that has one request outstanding at a time.
    pub own: bool,
}

/// What a parked open that is forgotten waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// A close: share modes forbid it, and that is what its client is told (raw.mux).
    Suitor,
    /// An oplock's break, or nothing any more.
    Other,
}

impl Tables {
    /// Opens as [`Self::open`] does, but an open that share modes forbid waits as long as `patience` says:
    /// [`OpenOutcome::BreakFirst`] then stands for the close that it waits for, and [`Event::Retry`] comes with that
    /// close or at the end of its patience.
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

    /// Waits for the close of what forbids `request`, as long as `patience` says: [`Event::Retry`] comes with it, or at
    /// the deadline. `None` if it is not worth waiting.
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
        let ticket = self.add_suitor(request.conn, request.file, deadline);
        Some((ticket, deadline))
    }

    /// A new ticket of somebody who waits for a close of `file` until `deadline`.
    pub(super) fn add_suitor(&mut self, conn: ConnId, file: FileId, deadline: Time) -> Ticket {
        let ticket = self.next_ticket();
        let suitor = Suitor {
            conn,
            ticket,
            deadline,
        };
        self.files.entry(file).or_default().suitors.push(suitor);
        self.tickets.insert(ticket, file);
        self.deadlines
            .insert((deadline, Timer::Patience(file, ticket)));
        ticket
    }

    /// Forgets a parked open: it will not be retried. Says what it waited for.
    pub fn forget_parked(&mut self, ticket: Ticket) -> Forgotten {
        let Some(id) = self.tickets.remove(&ticket) else {
            return Forgotten::Other;
        };
        if let Some(file) = self.files.get_mut(&id) {
            file.parked.retain(|(_, parked)| *parked != ticket);
        }
        match self.take_suitor(id, ticket) {
            Some(_) => Forgotten::Suitor,
            None => Forgotten::Other,
        }
    }

    /// Somebody has closed the file: all that wait for it may try again.
    pub(super) fn wake_suitors(&mut self, id: FileId) {
        let suitors = match self.files.get_mut(&id) {
            Some(file) => core::mem::take(&mut file.suitors),
            None => return,
        };
        for suitor in suitors {
            self.deadlines
                .remove(&(suitor.deadline, Timer::Patience(id, suitor.ticket)));
            self.retry(suitor.conn, suitor.ticket);
        }
    }

    /// A suitor's patience is at its end: it tries for the last time.
    pub(super) fn end_patience(&mut self, id: FileId, ticket: Ticket) {
        if let Some(suitor) = self.take_suitor(id, ticket) {
            self.retry(suitor.conn, ticket);
        }
    }

    pub(super) fn retry(&mut self, conn: ConnId, ticket: Ticket) {
        self.tickets.remove(&ticket);
        self.post(conn, Event::Retry { ticket });
    }

    fn take_suitor(&mut self, id: FileId, ticket: Ticket) -> Option<Suitor> {
        let suitors = &mut self.files.get_mut(&id)?.suitors;
        let at = suitors.iter().position(|suitor| suitor.ticket == ticket)?;
        let suitor = suitors.remove(at);
        self.deadlines
            .remove(&(suitor.deadline, Timer::Patience(id, ticket)));
        Some(suitor)
    }
}
