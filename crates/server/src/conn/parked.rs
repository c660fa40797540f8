//! Requests that wait: for a lock, an oplock's break, a change. They are kept whole and run again.

use super::{
    Connection,
    call::{Park, Retry},
    chain::Progress,
};
use crate::table::{self, Ticket};
use alloc::vec::Vec;
use coax_wire::{command, header::Header, time::Time};

/// A waiting request.
#[derive(Debug)]
pub(super) struct Parked {
    park: Park,
    progress: Progress,
    message: Vec<u8>,
}

impl Parked {
    pub(super) fn new(park: Park, progress: Progress, message: Vec<u8>) -> Self {
        Self {
            park,
            progress,
            message,
        }
    }

    pub(super) fn ticket(&self) -> Ticket {
        self.park.ticket
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.park.deadline
    }
}

impl Connection {
    /// Parks a request, or gives it back if the client has too many waiting: it must then end as if cancelled.
    pub(super) fn park(&mut self, parked: Parked) -> Option<Progress> {
        if self.parked.len() >= self.server.config.limits.parked {
            return Some(parked.progress);
        }
        self.parked.push(parked);
        None
    }

    /// Serves NT_CANCEL ([MS-CIFS] 2.2.4.65): the pending request of the same PID, TID, UID and MID ends.
    pub(super) fn cancel(&mut self, now: Time, header: &Header) {
        let same = |other: &Header| {
            (other.mid, other.pid, other.tid, other.uid)
                == (header.mid, header.pid, header.tid, header.uid)
        };
        let ticket = self
            .parked
            .iter()
            .find(|parked| same(&parked.progress.header))
            .map(Parked::ticket);
        if let Some(ticket) = ticket {
            self.resume(now, ticket, Retry::Cancelled);
        }
    }

    /// Ends every parked request that `which` picks, as if cancelled.
    pub(crate) fn cancel_where(&mut self, now: Time, which: impl Fn(&Header) -> bool) {
        let tickets: Vec<_> = self
            .parked
            .iter()
            .filter(|parked| which(&parked.progress.header))
            .map(Parked::ticket)
            .collect();
        for ticket in tickets {
            self.resume(now, ticket, Retry::Cancelled);
        }
    }

    /// Whether requests wait that are answered sooner or later; change notifications may wait for ever.
    pub(crate) fn has_parked(&self) -> bool {
        let waits = |parked: &Parked| parked.progress.command != command::NT_TRANSACT;
        self.parked.iter().any(waits)
    }

    /// Runs a parked request again, and says why.
    pub(super) fn resume(&mut self, now: Time, ticket: Ticket, why: Retry) {
        let Some(index) = self
            .parked
            .iter()
            .position(|parked| parked.park.ticket == ticket)
        else {
            return;
        };
        let Parked {
            progress, message, ..
        } = self.parked.remove(index);
        self.run(now, progress, &message, Some((ticket, why)));
    }

    /// Does what the tables ask of this connection.
    pub(super) fn handle_table_event(&mut self, now: Time, event: table::Event) {
        match event {
            table::Event::Retry { ticket } => self.resume(now, ticket, Retry::Again),
            table::Event::Lock { ticket, result } => self.resume(now, ticket, Retry::Lock(result)),
            table::Event::Notify { ticket, outcome } => {
                self.resume(now, ticket, Retry::Notify(outcome))
            }
            table::Event::OplockBreak { open, to } => self.send_oplock_break(open, to),
        }
    }
}
