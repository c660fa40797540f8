//! Mailboxes: the pending events of each connection.

use super::event::{Event, Wake};
use super::{ConnId, LockError, NotifyOutcome, Tables, Ticket};
use alloc::{sync::Arc, vec::Vec};

impl Tables {
    /// Empties the mailbox of `conn`, oldest event first.
    pub fn take_events(&mut self, conn: ConnId) -> Vec<Event> {
        match self.connections.get_mut(&conn) {
            Some(connection) => core::mem::take(&mut connection.events),
            None => Vec::new(),
        }
    }

    /// Takes the result of a waiting lock out of the mailbox, if the table has decided it.
    pub(super) fn take_lock_outcome(
        &mut self,
        conn: ConnId,
        ticket: Ticket,
    ) -> Option<Result<(), LockError>> {
        let is_it =
            |event: &Event| matches!(event, Event::Lock { ticket: of, .. } if *of == ticket);
        match self.take_event(conn, is_it)? {
            Event::Lock { result, .. } => Some(result),
            _ => None,
        }
    }

    /// Takes the answer of a waiting notification out of the mailbox, if there is one.
    pub(super) fn take_notify_outcome(
        &mut self,
        conn: ConnId,
        ticket: Ticket,
    ) -> Option<NotifyOutcome> {
        let is_it =
            |event: &Event| matches!(event, Event::Notify { ticket: of, .. } if *of == ticket);
        match self.take_event(conn, is_it)? {
            Event::Notify { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    fn take_event(&mut self, conn: ConnId, is_it: impl Fn(&Event) -> bool) -> Option<Event> {
        let events = &mut self.connections.get_mut(&conn)?.events;
        let at = events.iter().position(is_it)?;
        Some(events.remove(at))
    }

    /// The connections whose empty mailboxes have received events. [`super::locked`] wakes them after unlocking.
    pub fn take_wakes(&mut self) -> Vec<Arc<dyn Wake>> {
        core::mem::take(&mut self.wakes)
    }

    pub(super) fn post(&mut self, conn: ConnId, event: Event) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            if connection.events.is_empty() {
                self.wakes.push(connection.wake.clone());
            }
            connection.events.push(event);
        }
    }
}
