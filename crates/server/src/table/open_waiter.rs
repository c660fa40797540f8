//! Opens that wait for a close.

use super::{ConnId, Ticket};
use coax_wire::time::Time;

/// An open that waits until another client closes the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWaiter {
    pub(super) conn: ConnId,
    pub(super) ticket: Ticket,
    pub(super) deadline: Time,
}

/// How long an open may wait for others to close the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The deadline.
    pub until: Time,
    /// Also wait for opens of the same connection. Useless for a client with one outstanding request at a time.
    pub own: bool,
}

/// What a removed parked open was waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// A close, because of a sharing violation. The client gets that error (raw.mux).
    OpenWaiter,
    /// An oplock break, or nothing any more.
    Other,
}
