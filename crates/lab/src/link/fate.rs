//! The result of sending a frame.

use coax_wire::time::Time;

use crate::cause::Provenance;

/// The result of sending a frame.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It leaves at `leaves` and arrives with its account.
    Arrives { leaves: Time, account: Provenance },
    /// It left and the link lost it.
    Lost { leaves: Time },
    /// It left, and the router's queue was full.
    QueueFull { leaves: Time },
    /// The ring was full, and the card dropped it.
    RingDropped,
    /// The ring is full until this time; the driver waits.
    RingBlocked { until: Time },
}
