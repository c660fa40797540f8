//! Oplocks: requested, granted and breaking.

use super::Ticket;
use coax_wire::time::Time;

/// A granted oplock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oplock {
    /// None.
    #[default]
    None,
    /// Level II: the client may cache what it reads.
    LevelII,
    /// Exclusive (level I): the client may also cache writes and locks.
    Exclusive,
    /// Batch: the client may also keep the file open.
    Batch,
}

impl Oplock {
    /// Whether this oplock must break before another client may open the file.
    pub(super) fn excludes(self) -> bool {
        matches!(self, Self::Exclusive | Self::Batch)
    }
}

/// A requested oplock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OplockWish {
    /// None.
    #[default]
    None,
    /// Exclusive; level II if exclusive is impossible.
    Exclusive,
    /// Batch; level II if batch is impossible.
    Batch,
}

/// An oplock break that the holder has not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The remaining oplock that the break offers to the holder.
    pub to: Oplock,
    /// The deadline of the holder.
    pub deadline: Time,
}

/// Whether an operation on a file must wait for an oplock break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakOutcome {
    /// No exclusive or batch oplock is in the way.
    Clear,
    /// Park the request until `Event::Retry`.
    Wait {
        /// The ticket of the parked request.
        ticket: Ticket,
        /// The deadline of the holder.
        deadline: Time,
    },
}
