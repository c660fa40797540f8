//! What makes the packets of a direction late, by both captures: see [`DelayPattern`].

use super::direction::Direction;
use crate::timeline::{DelayPattern, Delays, least_delay};
use coax_wire::time::Span;

/// A wait that counts: from when bytes were due to when they arrived.
pub(super) fn least(base: i64) -> i64 {
    least_delay(Span(base.max(0) as u64)).0 as i64
}

/// What makes the packets of a direction late; the path takes `ns_per_byte` if that is known.
pub(super) fn of(direction: &Direction, ns_per_byte: Option<f64>) -> Delays {
    let (mut pattern, mut until) = (DelayPattern::default(), i64::MIN);
    let least = Span(least(direction.base) as u64);
    for send in &direction.sends {
        let Some(arrived) = direction.arrived_at(send.start) else {
            continue;
        };
        if !send.again && send.at >= until && !direction.was_lost(send.start) {
            let serial = ((send.end - send.start) as f64 * ns_per_byte.unwrap_or(0.0)) as i64;
            let wait = (arrived - send.at - direction.base - serial).max(0);
            pattern.add(Span(wait as u64), least);
        }
        until = until.max(direction.delivered_at(send.end).unwrap_or(arrived));
    }
    pattern.delays()
}
