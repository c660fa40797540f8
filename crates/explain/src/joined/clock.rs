//! How far one machine's clock is ahead of the other's, and how much faster it runs.
//!
//! A packet's arrival minus its departure, each by its own clock, is its one-way delay plus the offset in one direction,
//! and minus the offset in the other. So each packet bounds the offset: from above in one direction, from below in the
//! other. The line (offset and drift) with the largest distance from both sets of bounds is taken (the linear programme of
//! Moon, Skelly and Towsley 1999, for both directions at once). It assumes that the shortest delay is the same in both
//! directions; half of their sum is the uncertainty.

use std::collections::HashMap;

use super::{
    log::{FileLog, Packet},
    pairing::Pair,
};

/// Clocks drift less than this, parts per million. Chosen: twenty times what ntpd corrects (500 ppm); clocks of old
/// machines and of virtual ones are worse. A drift that fits only beyond it is none.
const MAX_DRIFT_PPM: f64 = 10_000.0;
/// Steps of the search for the drift.
const STEPS: u32 = 80;
/// A drift must widen the distance by this part of it, or by [`MIN_GAIN_NS`], or the clocks count as equally fast.
const MIN_GAIN: f64 = 0.02;
/// A shorter capture shows no drift, nanoseconds.
const MIN_SPAN_NS: i64 = 10_000_000_000;
const MIN_GAIN_NS: f64 = 2_000.0;
/// By so much packets may contradict a line, nanoseconds. Chosen: software takes times of packets up to so much too late.
const MAX_MISFIT_NS: f64 = 100_000.0;

/// The second clock minus the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clock {
    /// At [`Self::since`] of the first clock, nanoseconds.
    pub(super) offset_ns: f64,
    pub(super) since: i64,
    /// Nanoseconds per nanosecond.
    pub(super) drift: f64,
    /// How far off the offset may be, nanoseconds. Below 0, packets contradict the line by so much.
    pub(super) uncertainty_ns: f64,
}

impl Clock {
    /// Whether a line fits: no clock was set meanwhile.
    pub(super) fn fits(&self) -> bool {
        self.uncertainty_ns >= -MAX_MISFIT_NS
    }

    /// A time of the second clock, by the first.
    pub(super) fn by_first(&self, second: i64) -> i64 {
        let since = (second as f64 - self.offset_ns - self.since as f64) / (1.0 + self.drift);
        let offset = self.offset_ns + self.drift * since;
        second.saturating_sub(offset as i64)
    }
}

/// Of each direction: packets that both files have, as (time in the first file, time in the second less that).
pub(super) fn delays(files: [&FileLog; 2], pairs: &[Pair]) -> [Vec<(i64, i64)>; 2] {
    let mut delays = [Vec::new(), Vec::new()];
    for [one, other] in pairs {
        let logs = (
            files[0].connections.get(*one),
            files[1].connections.get(*other),
        );
        let (Some(one), Some(other)) = logs else {
            continue;
        };
        for ((one, other), delays) in one.halves.iter().zip(&other.halves).zip(&mut delays) {
            let known = unique(&other.packets);
            for (key, at) in unique(&one.packets) {
                if let (Some(at), Some(Some(then))) = (at, known.get(&key)) {
                    delays.push((at, then - at));
                }
            }
        }
    }
    for way in &mut delays {
        way.sort_unstable();
    }
    delays
}

type PacketKey = (u32, u32, u16, u32, bool);

/// Packets by what no router changes, and their times; none of those that came twice.
fn unique(packets: &[Packet]) -> HashMap<PacketKey, Option<i64>> {
    let mut found: HashMap<PacketKey, Option<i64>> = HashMap::with_capacity(packets.len());
    for packet in packets {
        let key = (
            packet.seq,
            packet.ack,
            packet.window,
            packet.identification,
            packet.len > 0,
        );
        found
            .entry(key)
            .and_modify(|at| *at = None)
            .or_insert(Some(packet.at));
    }
    found
}

/// The second clock, and whether the first file is the server's: what goes to the server comes later there.
pub(super) fn solve_roles(delays: &[Vec<(i64, i64)>; 2]) -> Option<(bool, Clock)> {
    let [to_server, to_client] = delays;
    let is_swapped = is_swapped(to_server, to_client)?;
    if !is_swapped {
        return Some((false, solve(to_server, to_client)?));
    }
    let turned = |way: &[(i64, i64)]| -> Vec<(i64, i64)> {
        way.iter().map(|(at, delay)| (at + delay, -delay)).collect()
    };
    Some((true, solve(&turned(to_server), &turned(to_client))?))
}

/// Whether what goes to the client is later in the second file than what goes to the server about the same time, mostly: a clock
/// that drifts or was set changes both alike.
fn is_swapped(to_server: &[(i64, i64)], to_client: &[(i64, i64)]) -> Option<bool> {
    to_client.first()?;
    let swapped = to_server.iter().filter(|(at, delay)| {
        let next = to_client.partition_point(|other| other.0 < *at);
        let near = to_client.get(next).or(to_client.last());
        near.is_some_and(|other| *delay < other.1)
    });
    let count = swapped.count();
    (!to_server.is_empty()).then_some(count > to_server.len() / 2)
}

/// The clock that packets bound: `above` and `below` are (time of the first clock, bound of the offset), nanoseconds.
pub(super) fn solve(above: &[(i64, i64)], below: &[(i64, i64)]) -> Option<Clock> {
    let (since, base) = (above.first()?.0, above.first()?.1);
    below.first()?;
    let relative = |points: &[(i64, i64)]| -> Vec<(f64, f64)> {
        let points = points.iter();
        points
            .map(|(at, bound)| ((at - since) as f64, (bound - base) as f64))
            .collect()
    };
    let upper = hull(relative(above), 1.0);
    let lower = hull(relative(below), -1.0);
    let level = fit(&upper, &lower, 0.0);
    let (drift, tilted) = best_drift(&upper, &lower);
    let gain = tilted.1 - level.1;
    let times = above.iter().chain(below).map(|point| point.0);
    let is_long = times.max().is_some_and(|last| last - since >= MIN_SPAN_NS);
    let is_visible = is_long && gain > MIN_GAIN_NS && gain > level.1.abs() * MIN_GAIN;
    let is_needed = level.1 < -MAX_MISFIT_NS;
    let is_within = drift.abs() < MAX_DRIFT_PPM * 1e-6 * 0.999;
    let ((offset, distance), drift) = if is_within && (is_visible || is_needed) {
        (tilted, drift)
    } else {
        (level, 0.0)
    };
    Some(Clock {
        offset_ns: offset + base as f64,
        since,
        drift,
        uncertainty_ns: distance,
    })
}

/// The drift with the largest distance from the bounds, and what [`fit`] says of it. The distance is concave.
fn best_drift(upper: &[(f64, f64)], lower: &[(f64, f64)]) -> (f64, (f64, f64)) {
    let (mut from, mut to) = (-MAX_DRIFT_PPM * 1e-6, MAX_DRIFT_PPM * 1e-6);
    for _ in 0..STEPS {
        let third = (to - from) / 3.0;
        let (one, two) = (from + third, to - third);
        if fit(upper, lower, one).1 < fit(upper, lower, two).1 {
            from = one;
        } else {
            to = two;
        }
    }
    let drift = (from + to) / 2.0;
    (drift, fit(upper, lower, drift))
}

/// The offset in the middle between the bounds for a drift, and the distance from both.
fn fit(upper: &[(f64, f64)], lower: &[(f64, f64)], drift: f64) -> (f64, f64) {
    let level = |(at, bound): &(f64, f64)| bound - drift * at;
    let least = upper.iter().map(level).fold(f64::INFINITY, f64::min);
    let most = lower.iter().map(level).fold(f64::NEG_INFINITY, f64::max);
    ((least + most) / 2.0, (least - most) / 2.0)
}

/// The lower hull of points (`sign` 1), or the upper one (-1): no other point can touch a line from that side.
fn hull(mut points: Vec<(f64, f64)>, sign: f64) -> Vec<(f64, f64)> {
    points.sort_by(|one, other| {
        one.0
            .total_cmp(&other.0)
            .then((sign * one.1).total_cmp(&(sign * other.1)))
    });
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while let [.., one, two] = hull.as_slice() {
            let cross = (two.0 - one.0) * (point.1 - one.1) - (two.1 - one.1) * (point.0 - one.0);
            if cross * sign > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Bounds of a clock that is `offset_ns` ahead and drifts, with delays of 5 ms and more each way.
    fn bounds(offset_ns: f64, ppm: f64, seconds: i64) -> [Vec<(i64, i64)>; 2] {
        let mut both = [Vec::new(), Vec::new()];
        for place in 0..1000_i64 {
            let at = seconds * 1_000_000 * place;
            let ahead = offset_ns + at as f64 * ppm * 1e-6;
            // a queue of up to 30 ms that is empty now and then
            let delay = 5_000_000 + (place * 7919 % 31) * 1_000_000;
            let back = 5_000_000 + (place * 104_729 % 29) * 1_000_000;
            both[0].push((at, ahead as i64 + delay));
            both[1].push((at, ahead as i64 - back));
        }
        both
    }

    #[test]
    fn offset_and_drift_are_found_through_queues() {
        for (offset_ns, ppm) in [
            (0.0, 0.0),
            (3.7e9, 80.0),
            (-4.2e12, -120.0),
            (1e9, 3000.0),
            (0.0, -8000.0),
        ] {
            let [above, below] = bounds(offset_ns, ppm, 60);
            let clock = solve(&above, &below).unwrap();
            assert!((clock.offset_ns - offset_ns).abs() < 20_000.0, "{clock:?}");
            assert!((clock.drift * 1e6 - ppm).abs() < 1.0, "{clock:?}");
            assert!((clock.uncertainty_ns - 5e6).abs() < 50_000.0, "{clock:?}");
            let at = 30_000_000_000_i64;
            let second = at + (offset_ns + at as f64 * ppm * 1e-6) as i64;
            assert!((clock.by_first(second) - at).abs() < 50_000);
        }
    }

    #[test]
    fn without_packets_of_both_directions_there_is_no_clock() {
        let [above, below] = bounds(0.0, 0.0, 1);
        assert_eq!(solve(&above, &[]), None);
        assert_eq!(solve(&[], &below), None);
    }

    #[test]
    fn a_clock_that_was_set_meanwhile_is_found_out() {
        let [mut above, mut below] = bounds(0.0, 0.0, 60);
        for point in above
            .iter_mut()
            .chain(&mut below)
            .filter(|point| point.0 > 30_000_000_000)
        {
            point.1 += 2_000_000_000;
        }
        assert!(!solve(&above, &below).unwrap().fits());
    }

    #[test]
    fn a_short_capture_shows_a_drift_that_nothing_else_explains() {
        let [above, below] = bounds(0.0, 4000.0, 3);
        let clock = solve(&above, &below).unwrap();
        assert!(
            clock.fits() && (clock.drift * 1e6 - 4000.0).abs() < 20.0,
            "{clock:?}"
        );
    }

    #[test]
    fn times_that_software_took_late_are_no_clock_that_was_set() {
        // no delay on the way, and each hundredth time 50 µs late
        let late = |place: i64| if place % 100 == 0 { 50_000 } else { 0 };
        let above: Vec<_> = (0..1000_i64)
            .map(|at| (at * 1_000_000, -late(at)))
            .collect();
        let below: Vec<_> = (0..1000_i64)
            .map(|at| (at * 1_000_000, late(at + 7)))
            .collect();
        let clock = solve(&above, &below).unwrap();
        assert!(clock.fits() && clock.uncertainty_ns < 0.0, "{clock:?}");
    }

    #[test]
    fn directions_that_never_alternate_show_no_drift() {
        let above: Vec<_> = (0..100_i64)
            .map(|at| (at * 100_000_000, 5_000_000))
            .collect();
        let below: Vec<_> = (200..300_i64)
            .map(|at| (at * 100_000_000, -5_000_000))
            .collect();
        assert_eq!(solve(&above, &below).unwrap().drift, 0.0);
    }
}
