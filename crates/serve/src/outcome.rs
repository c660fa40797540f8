//! How a turn of serving a client ends, and how a connection ends.

use coax_server::Reach;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed it.
    Closed,
    /// The server is shutting down.
    Stopping,
    /// Another reason, as text.
    Because(String),
}

/// How a turn of serving a client ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnOutcome {
    /// The client has no pending request.
    Idle,
    /// The client does not accept the data to send.
    Blocked,
    /// The client has more requests, but others wait for a thread.
    Again,
    /// The next step may access disks for which no pass is free.
    Wait(Reach),
    /// The connection has ended, and its opens must be closed.
    Over(End),
    /// The connection has ended, and its opens are closed.
    Gone,
}
