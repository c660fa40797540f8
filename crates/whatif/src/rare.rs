//! What machines take now and then and not for every request: another program's turn, waking up, a disk.

use crate::constants::{MAX_RARE_PART, MAX_WAITS_PER_REQUEST, SHAPING};
use coax_cause::Cause;
use coax_explain::report::Copy;

use crate::observation::{MACHINES, Observation};

/// The part of client's and server's time that is beyond what they usually take for a request. A capture does not say
/// whether it comes by the request or by the second; it comes no more often than by either.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rare {
    pub(crate) parts: [f64; 2],
    /// The same as a part of the whole copy.
    of_all: f64,
}

impl Rare {
    /// Of a copy of requests that waited for one another; nothing of any other, where one machine's time hides another's.
    pub(crate) fn of(copy: &Copy, seen: &Observation, is_serial: bool) -> Self {
        if !is_serial {
            return Self::default();
        }
        let parts = MACHINES.map(|cause| part(copy, seen, cause));
        let spent = MACHINES.into_iter().zip(parts);
        let rare: f64 = spent.map(|(cause, part)| seen.spent(cause) * part).sum();
        let of_all = (rare / seen.wall.max(1.0)).min(MAX_RARE_PART);
        Self { parts, of_all }
    }

    /// How long a copy takes that would take `wall` with so much of it for every request, when `model` is how it is made.
    pub(crate) fn ease(&self, wall: f64, model: &Observation) -> f64 {
        let spent = MACHINES.into_iter().zip(self.parts);
        let rare: f64 = spent.map(|(cause, part)| model.spent(cause) * part).sum();
        let usual = (wall - rare).max(0.0);
        wall.min(usual / (1.0 - self.of_all))
    }
}

/// The part of what went to `cause` that is beyond as many stretches of the usual length.
fn part(copy: &Copy, seen: &Observation, cause: Cause) -> f64 {
    let Some(row) = copy.breakdown.of(cause) else {
        return 0.0;
    };
    let (count, total) = (row.count as f64, row.total.0 as f64);
    if total <= 0.0 || count > seen.requests * MAX_WAITS_PER_REQUEST {
        return 0.0;
    }
    // where acknowledgments are waited for, what is beyond one stretch a request is at the ends of those waits
    let is_held = seen.spent(Cause::NagleDelayedAck) > seen.wall / SHAPING;
    let count = if is_held {
        count.min(seen.requests)
    } else {
        count
    };
    (1.0 - count * row.median.0 as f64 / total).clamp(0.0, 1.0)
}
