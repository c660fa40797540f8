//! Opens that wait for a close: of what, and how long.

use super::{ConnId, Ticket};
use coax_wire::time::Time;

/// An open that waits for somebody to close the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWaiter {
    pub(super) conn: ConnId,
    pub(super) ticket: Ticket,
    pub(super) deadline: Time,
}

/// How long an open may wait for others to close the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until then.
    pub until: Time,
    /// Also for opens of its own connection: not of use to a client that has one request outstanding at a time.
    pub own: bool,
}

/// What a parked open that is forgotten waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// A close: share modes forbid it, and that is what its client is told (raw.mux).
    OpenWaiter,
    /// An oplock's break, or nothing any more.
    Other,
}
