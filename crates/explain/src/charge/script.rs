//! Charges that are known before the packets are read: two captures showed them.

use std::collections::VecDeque;

use coax_cause::Cause;
use coax_wire::time::Time;

/// What the time of a connection was spent on: until when, and the cause, in order.
#[derive(Debug, Default)]
pub(crate) struct Script {
    stretches: VecDeque<(Time, Cause)>,
}

impl Script {
    /// Of stretches in order.
    pub(crate) fn new(stretches: VecDeque<(Time, Cause)>) -> Self {
        Self { stretches }
    }

    /// The next stretch, or the part of it up to `at`. After the last one nobody asked for anything.
    pub(super) fn next(&mut self, at: Time) -> (Time, Cause) {
        match self.stretches.front() {
            None => (at, Cause::ClientThink),
            Some((until, cause)) if *until > at => (at, *cause),
            Some(_) => self
                .stretches
                .pop_front()
                .unwrap_or((at, Cause::ClientThink)),
        }
    }
}
