//! Parked requests, which wait for a lock, an oplock break or a change. The server keeps them whole and runs them
//! again.

use super::{
    Context, Retry,
    progress::{Leaving, Parked, Progress},
};
use crate::{
    budget::Resource,
    table::{self, Ticket},
};
use alloc::vec::Vec;
use coax_wire::{command, header::Header, time::Time};

impl Context {
    /// Records who is leaving while their files are being closed ([`crate::ops::close::leave`]).
    pub(crate) fn set_leaving(&mut self, leaving: Option<Leaving>) {
        self.leaving = leaving;
    }

    /// Runs a request again that waited for a file, unless [`crate::ops::close::leave`] cancels it.
    fn retry(&mut self, now: Time, ticket: Ticket) {
        let parked = self.parked.iter().find(|parked| parked.ticket() == ticket);
        let left = parked
            .zip(self.leaving)
            .is_some_and(|(parked, leaving)| leaving.asked(&parked.progress.header));
        let why = if left { Retry::Cancelled } else { Retry::Again };
        self.resume(now, ticket, why);
    }

    /// Parks a request, or returns it if the client has too many waiting: it must then end as if cancelled.
    pub(super) fn park(&mut self, mut parked: Parked) -> Option<Progress> {
        parked.lease = self.account.lease(Resource::Memory, parked.cost()).ok();
        if parked.lease.is_none() || self.parked.len() >= self.server.config.limits.parked {
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

    /// Cancels every parked request that `which` selects.
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

    /// Whether requests are waiting that will get an answer; change notifications may wait for ever.
    pub(crate) fn has_parked(&self) -> bool {
        let waits = |parked: &Parked| parked.progress.command != command::NT_TRANSACT;
        self.parked.iter().any(waits)
    }

    /// Runs a parked request again and passes it the reason.
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

    /// Handles a notification of the tables.
    pub(super) fn handle_table_event(&mut self, now: Time, event: table::Event) {
        match event {
            table::Event::Retry { ticket } => self.retry(now, ticket),
            table::Event::Lock { ticket, result } => self.resume(now, ticket, Retry::Lock(result)),
            table::Event::Notify { ticket, outcome } => {
                self.resume(now, ticket, Retry::Notify(outcome))
            }
            table::Event::Probe => self.probe = true,
            table::Event::Evicted => {
                self.fatal("its client began anew on another connection (reset on zero vc)".into());
            }
            table::Event::OplockBreak { open, to } => self.send_oplock_break(open, to),
        }
    }
}
