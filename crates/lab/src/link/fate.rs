//! What becomes of a frame.

use coax_wire::time::Time;

use crate::cause::Provenance;

/// What became of a frame that was handed to the card.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It begins to leave at `leaves` and arrives with its account.
    Arrives { leaves: Time, account: Provenance },
    /// It left and was lost on the way.
    Lost { leaves: Time },
    /// It left and found the router's queue full.
    QueueFull { leaves: Time },
    /// The card had no room and dropped it.
    RingDropped,
    /// The card has no room until then; the driver waits.
    RingBlocked { until: Time },
}
