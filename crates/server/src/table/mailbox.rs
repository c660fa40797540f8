//! Mailboxes: what one connection's request means for another connection.

use super::{ConnId, LockError, NotifyOutcome, OpenId, Oplock, Tables, Ticket};
use alloc::{sync::Arc, vec::Vec};
use core::fmt::Debug;

/// Tells a connection's driver that there are events in its mailbox. Called without the tables being locked; calls may
/// be superfluous, and may come from the connection's own work.
pub trait Wake: Send + Sync + Debug {
    /// Makes the driver call [`Tables::take_events`] soon.
    fn wake(&self);
}

/// What a connection has to do because of something that happened elsewhere (or on itself).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Tell the client that its oplock on `open` breaks to `to` ([MS-CIFS] 3.3.4.2). Only the break of an exclusive or
    /// batch oplock is answered by the client; that of a level II oplock has already happened.
    OplockBreak {
        /// Whose oplock.
        open: OpenId,
        /// What remains: [`Oplock::LevelII`] or [`Oplock::None`].
        to: Oplock,
    },
    /// The client began anew on another connection: close this one.
    Evicted,
    /// Find out whether the peer is still there.
    Probe,
    /// Run the request parked under this ticket again.
    Retry {
        /// As given in [`super::OpenOutcome::BreakFirst`].
        ticket: Ticket,
    },
    /// The waiting lock has been granted or has failed: answer it.
    Lock {
        /// As given in [`super::LockOutcome::Waiting`].
        ticket: Ticket,
        /// Granted, or the error to answer.
        result: Result<(), LockError>,
    },
    /// The change notification is complete: answer it.
    Notify {
        /// As given to [`super::WatchOutcome::Waiting`].
        ticket: Ticket,
        /// The changes, or why there will be none.
        outcome: NotifyOutcome,
    },
}

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
