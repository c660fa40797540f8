//! How a turn of serving a client ends, and how a connection ends.

use coax_server::Reach;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed it.
    Closed,
    /// The server is shutting down.
    Stopping,
    /// Anything else, in words.
    Because(String),
}

/// How a turn of serving a client ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnOutcome {
    /// The client has nothing to ask.
    Idle,
    /// The client does not take what we have to send.
    Blocked,
    /// The client asks on, but others are waiting for a thread.
    Again,
    /// What comes next may touch disks for which no pass is free.
    Wait(Reach),
    /// The connection is over, and what it held is to be closed.
    Over(End),
    /// The connection is over, and what it held is closed.
    Gone,
}
