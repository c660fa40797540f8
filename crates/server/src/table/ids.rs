//! Identities of what the tables hold, and why the tables refuse.

use crate::vfs::FileId;

/// One connection (NetBIOS session) of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// One open: what a FID of a connection stands for. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenId(pub u64);

/// A parked request. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A share, as the engine numbers them. Two shares of the same root should have the same number: change notification
/// is found by share and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShareId(pub u32);

/// Why the tables refuse to do something, whatever else is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The connection was never registered or has been dropped.
    #[error("unknown connection")]
    UnknownConnection,
    /// No such open (any more).
    #[error("unknown open")]
    UnknownOpen,
    /// The connection has as many opens as [`Limits::opens`] allows.
    #[error("too many open files")]
    TooManyOpens,
    /// The connection has as many byte-range locks as [`Limits::locks`] allows.
    #[error("too many locks")]
    TooManyLocks,
    /// The connection has as many waiting locks and notifications as [`Limits::waits`] allows.
    #[error("too many waiting requests")]
    TooManyWaits,
}

/// What a deadline is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Break(OpenId),
    Lock(FileId, Ticket),
    Patience(FileId, Ticket),
    LogOn(ConnId, Ticket),
    Eviction(Ticket),
}
