//! Events: what a request of one connection means for another connection.

use super::{LockError, NotifyOutcome, OpenId, Oplock, Ticket};
use core::fmt::Debug;

/// Tells the driver of a connection that its mailbox has events. The tables are unlocked during the call. Calls may be
/// redundant, and may come from the connection's own work.
pub trait Wake: Send + Sync + Debug {
    /// Makes the driver call `Tables::take_events` soon.
    fn wake(&self);
}

/// An event that a connection must handle. Its cause is usually another connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Tell the client that its oplock on `open` breaks to `to` ([MS-CIFS] 3.3.4.2). The client answers only the break
    /// of an exclusive or batch oplock. A level II oplock is already broken.
    OplockBreak {
        /// The open that holds the oplock.
        open: OpenId,
        /// The remaining oplock: [`Oplock::LevelII`] or [`Oplock::None`].
        to: Oplock,
    },
    /// The client has started again on another connection: close this one.
    Evicted,
    /// Check whether the peer is still there.
    Probe,
    /// Run the request parked under this ticket again.
    Retry {
        /// As given in [`super::OpenOutcome::BreakFirst`].
        ticket: Ticket,
    },
    /// The waiting lock was granted or has failed: answer the request.
    Lock {
        /// As given in [`super::LockOutcome::Waiting`].
        ticket: Ticket,
        /// Granted, or the error for the answer.
        result: Result<(), LockError>,
    },
    /// The change notification is complete: answer the request.
    Notify {
        /// As given to [`super::WatchOutcome::Waiting`].
        ticket: Ticket,
        /// The changes, or the reason why there are none.
        outcome: NotifyOutcome,
    },
}
