//! Why packets take longer than the shortest time of the path, where no packet of the captures explains it.
//!
//! A queue of other packets has a memory: what leaves while it stands meets what is left of it. So the waits of packets that
//! follow each other, each after the one before has arrived, are correlated. Those of a path that varies by itself (radio
//! links, changes of route) are not, and neither are those of a path that stands still now and then: most packets do not
//! wait on it, and a few wait for long.

use super::direction::Direction;
use crate::constants::{MIN_DELAY, MIN_MEMORY, MIN_MEMORY_ERRORS, MIN_WAITS};

/// What makes packets late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Delays {
    /// Too few packets show it.
    #[default]
    Unknown,
    /// The path carries other packets first.
    Queue,
    /// It carries nothing for some time.
    Standstill,
    /// It varies.
    Varies,
}

/// A wait that counts: from when bytes were due to when they arrived.
pub(super) fn least(base: i64) -> i64 {
    (MIN_DELAY.0 as i64).max(base / 4)
}

/// What makes the packets of a direction late; the path takes `ns_per_byte` if that is known.
pub(super) fn of(direction: &Direction, ns_per_byte: Option<f64>) -> Delays {
    judged(
        &waits(direction, ns_per_byte.unwrap_or(0.0)),
        least(direction.base),
    )
}

/// Waits of packets that left when nothing of their direction was on its way: no packet of their own was before them.
fn waits(direction: &Direction, ns_per_byte: f64) -> Vec<i64> {
    let (mut waits, mut until) = (Vec::new(), i64::MIN);
    for send in &direction.sends {
        let Some(arrived) = direction.arrived_at(send.start) else {
            continue;
        };
        if !send.again && send.at >= until && !direction.was_lost(send.start) {
            let serial = ((send.end - send.start) as f64 * ns_per_byte) as i64;
            waits.push((arrived - send.at - direction.base - serial).max(0));
        }
        until = until.max(direction.delivered_at(send.end).unwrap_or(arrived));
    }
    waits
}

fn judged(waits: &[i64], least: i64) -> Delays {
    if waits.len() < MIN_WAITS {
        return Delays::Unknown;
    }
    let least_memory = MIN_MEMORY.max(MIN_MEMORY_ERRORS / (waits.len() as f64).sqrt());
    if memory(waits) >= least_memory {
        return Delays::Queue;
    }
    let late = waits.iter().filter(|wait| **wait > least).count();
    if late * 2 > waits.len() {
        Delays::Varies
    } else {
        Delays::Standstill
    }
}

/// The correlation of each wait and the next.
fn memory(waits: &[i64]) -> f64 {
    let count = waits.len().saturating_sub(1).max(1) as f64;
    let (before, after) = (
        waits
            .get(..waits.len().saturating_sub(1))
            .unwrap_or_default(),
        waits.get(1..).unwrap_or_default(),
    );
    let mean = |part: &[i64]| part.iter().map(|wait| *wait as f64).sum::<f64>() / count;
    let means = (mean(before), mean(after));
    let mut sums = (0.0, 0.0, 0.0);
    for (one, next) in before.iter().zip(after) {
        let (one, next) = (*one as f64 - means.0, *next as f64 - means.1);
        sums = (
            sums.0 + one * next,
            sums.1 + one * one,
            sums.2 + next * next,
        );
    }
    sums.0 / (sums.1 * sums.2).sqrt().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn numbers(count: i64, number: impl Fn(i64) -> i64) -> Vec<i64> {
        (0..count).map(number).collect()
    }

    #[test]
    fn waits_that_resemble_the_one_before_are_a_queue() {
        // a queue that fills for ten packets and drains for ten
        let queue = numbers(100, |at| (10 - (at % 20 - 10).abs()) * MS);
        assert_eq!(judged(&queue, MS), Delays::Queue);
    }

    #[test]
    fn waits_that_do_not_are_a_path_that_varies() {
        let varies = numbers(100, |at| at * 7919 % 31 * MS);
        assert_eq!(judged(&varies, MS), Delays::Varies);
    }

    #[test]
    fn a_few_long_waits_among_many_short_ones_are_a_path_that_stands_still() {
        let stands = numbers(100, |at| if at % 25 == 7 { 200 * MS } else { 0 });
        assert_eq!(judged(&stands, MS), Delays::Standstill);
    }

    #[test]
    fn few_waits_show_nothing() {
        assert_eq!(judged(&[MS, 2 * MS, 3 * MS], MS), Delays::Unknown);
    }
}
