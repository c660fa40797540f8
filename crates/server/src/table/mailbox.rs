//! Mailboxes: what one connection's request means for another connection.

use super::event::{Event, Wake};
use super::{ConnId, LockError, Tables, Ticket};
use alloc::{sync::Arc, vec::Vec};

impl Tables {
    /// Empties the mailbox of `conn`, oldest event first.
    pub fn take_events(&mut self, conn: ConnId) -> Vec<Event> {
        match self.connections.get_mut(&conn) {
            Some(connection) => core::mem::take(&mut connection.events),
            None => Vec::new(),
        }
    }

    /// Takes the outcome of a waiting lock out of the mailbox, if it has been decided.
    pub(super) fn take_lock_outcome(
        &mut self,
        conn: ConnId,
        ticket: Ticket,
    ) -> Option<Result<(), LockError>> {
        let events = &mut self.connections.get_mut(&conn)?.events;
        let at = events
            .iter()
            .position(|event| matches!(event, Event::Lock { ticket: of, .. } if *of == ticket))?;
        match events.remove(at) {
            Event::Lock { result, .. } => Some(result),
            _ => None,
        }
    }

    /// The connections whose mailboxes were empty and are not any more, to be woken after unlocking.
    /// [`super::locked`] does it.
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
