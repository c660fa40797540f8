//! Oplocks: as asked for, as granted, and while they break.

use super::Ticket;
use coax_wire::time::Time;

/// An oplock, as granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oplock {
    /// None.
    #[default]
    None,
    /// Level II: the client may cache what it reads.
    LevelII,
    /// Exclusive (level I): it may cache what it writes, and locks.
    Exclusive,
    /// Batch: it may also keep the file open.
    Batch,
}

impl Oplock {
    /// Nobody else may have the file open while this one is not broken.
    pub(super) fn excludes(self) -> bool {
        matches!(self, Self::Exclusive | Self::Batch)
    }
}

/// An oplock, as asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OplockWish {
    /// None.
    #[default]
    None,
    /// Exclusive; level II if it cannot be.
    Exclusive,
    /// Batch; level II if it cannot be.
    Batch,
}

/// An oplock break that the holder has not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// What the holder was told remains.
    pub to: Oplock,
    /// When its time is up.
    pub deadline: Time,
}

/// Why an operation on a file must wait, or that it need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakOutcome {
    /// No exclusive or batch oplock is in the way.
    Clear,
    /// Park the request until [`Event::Retry`].
    Wait {
        /// Park it under this.
        ticket: Ticket,
        /// When the holder's time is up.
        deadline: Time,
    },
}
