//! Identifiers of table rows, and the errors of the tables.

use crate::vfs::FileId;

/// One connection (NetBIOS session) of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// One open: the object behind a FID of a connection. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenId(pub u64);

/// A parked request. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A share, as the engine numbers them, or a path space ([`super::Tables::join_space`]), which has the number of one of
/// its shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShareId(pub u32);

/// Why the tables refuse a request, independent of other opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The connection was never registered or has been dropped.
    #[error("unknown connection")]
    UnknownConnection,
    /// No such open, or no longer.
    #[error("unknown open")]
    UnknownOpen,
    /// The connection has as many opens as `Limits::opens` allows.
    #[error("too many open files")]
    TooManyOpens,
    /// The connection has as many byte-range locks as `Limits::locks` allows.
    #[error("too many locks")]
    TooManyLocks,
    /// The connection has as many waiting locks and notifications as `Limits::waits` allows.
    #[error("too many waiting requests")]
    TooManyWaits,
}

/// The kind of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Break(OpenId),
    Lock(FileId, Ticket),
    Patience(FileId, Ticket),
    LogOn(ConnId, Ticket),
    Eviction(Ticket),
}
