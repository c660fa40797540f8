//! What one connection's request means for another connection.

use super::{LockError, NotifyOutcome, OpenId, Oplock, Ticket};
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
