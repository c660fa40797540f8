//! Closed-form bounds and predictions of a run, independent of the simulation.
//!
//! Times are in seconds, rates in bytes per second.

use crate::segment::OVERHEAD;

/// Bytes on the wire per byte of data, in segments of `mss`.
pub fn wire_factor(mss: u64) -> f64 {
    (mss + OVERHEAD) as f64 / mss.max(1) as f64
}

/// Minimum time on the wire: `bytes` in segments of `mss` at `rate` bits per second.
pub fn wire_time(bytes: u64, mss: u64, rate: u64) -> f64 {
    let segments = bytes.div_ceil(mss.max(1));
    (bytes + segments * OVERHEAD) as f64 * 8.0 / rate.max(1) as f64
}

/// Maximum rate with one window per round trip.
pub fn window_rate(window: u64, round_trip: f64) -> f64 {
    window as f64 / round_trip
}

/// Stop and wait: one block per round trip, transmission time and processing time of both ends.
pub fn block_rate(block: u64, round_trip: f64, on_wire: f64, think: f64) -> f64 {
    block as f64 / (round_trip + on_wire + think)
}

/// The rate if every full window waits for the delayed-ACK timer.
pub fn delayed_ack_rate(effective_window: u64, timer: f64, on_wire: f64) -> f64 {
    effective_window as f64 / (timer + on_wire)
}

/// The time of a block protocol without fast retransmit, which waits for one timeout per lost packet.
pub fn serial_timeout_time(without_loss: f64, packets: f64, probability: f64, timer: f64) -> f64 {
    without_loss + packets * probability * timer
}

/// Number of timeouts for each burst of `segments` into a ring of `ring` frames that drops the excess, if each timeout
/// retransmits everything from the first hole: the number of rounds minus one.
pub const fn ring_timeouts(segments: u64, ring: u64) -> u64 {
    segments
        .div_ceil(if ring == 0 { 1 } else { ring })
        .saturating_sub(1)
}

/// Total time of `count` timeouts that start at `first` and double.
pub fn doubling_timeouts(count: u64, first: f64) -> f64 {
    first * ((1_u64 << count.min(62)) as f64 - 1.0)
}

/// The time of a copy if every block waits for its timeouts after a burst into a ring.
pub fn ring_burst_time(
    without_drops: f64,
    blocks: f64,
    segments: u64,
    ring: u64,
    first_timer: f64,
) -> f64 {
    without_drops + blocks * doubling_timeouts(ring_timeouts(segments, ring), first_timer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_of_42_megabytes_at_100_megabits_is_three_and_a_half_seconds() {
        let floor = wire_time(42_000_000, 1460, 100_000_000);
        assert!((3.53..3.55).contains(&floor), "{floor}");
    }

    #[test]
    fn a_raw_block_of_45_segments_takes_as_many_timeouts_as_published_rings_say() {
        let timeouts = [7, 8, 9, 10, 11, 12, 13].map(|ring| ring_timeouts(45, ring));
        assert_eq!(timeouts, [6, 5, 4, 4, 4, 3, 3]);
        assert!((doubling_timeouts(4, 0.3) - 4.5).abs() < 1e-9);
    }
}
