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
        Self::new(MACHINES.map(|cause| part(copy, seen, cause)), seen)
    }

    /// With these parts of client's and server's time, or smaller ones: no more than [`MAX_RARE_PART`] of the copy is rare.
    fn new(parts: [f64; 2], seen: &Observation) -> Self {
        let spent = MACHINES.into_iter().zip(parts);
        let rare: f64 = spent.map(|(cause, part)| seen.spent(cause) * part).sum();
        let of_all = rare / seen.wall.max(1.0);
        let kept = (MAX_RARE_PART / of_all.max(MAX_RARE_PART)).min(1.0);
        Self {
            parts: parts.map(|part| part * kept),
            of_all: of_all * kept,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_does_not_change_takes_as_long_as_before() {
        for server in [0.0, 2.0, 5.0, 9.7] {
            let seen = Observation::with(1e10, Cause::ServerThink, server * 1e9);
            let rare = Rare::new([0.0, 1.0], &seen);
            let same = rare.ease(seen.wall, &seen);
            assert!((same - 1e10).abs() < 10.0, "{server}: {same}");
        }
    }

    #[test]
    fn waits_that_fill_most_of_a_copy_do_not_vanish_from_the_prediction() {
        let seen = Observation::with(1e10, Cause::ServerThink, 9.7e9);
        let rare = Rare::new([0.0, 1.0], &seen);
        // half as many requests: at the server half of the time at most
        let changed = Observation::with(5.1e9, Cause::ServerThink, 4.85e9);
        let predicted = rare.ease(changed.wall, &changed);
        assert!((4.5e9..=5.2e9).contains(&predicted), "{predicted}");
    }
}
