//! The rate of the path, when it carries what, and when it is saturated.
//!
//! A packet that left before the one before it had arrived (less the shortest delay) was queued behind it: the path carried
//! both without a pause. The time between the arrivals of such packets is what the path needs for the second. This is the
//! dispersion that multiQ and packet bunch modes look for in one capture; both ends show directly where it holds.

use super::direction::{Direction, Segment};
use crate::constants::{MIN_BURST, MIN_CLOSENESS};
use coax_capture::Transport;

/// Bytes that follow each other without a pause, at least, for a sample of the rate. Cards and kernels deliver packets in
/// batches, so that samples are longer where there is more: one in [`SAMPLES`] of all bytes.
const MIN_SAMPLE: u64 = 8_000;
const MAX_SAMPLE: u64 = 512_000;
const SAMPLES: u64 = 32;
/// The path is no bottleneck if less than one byte in this number was queued: the samples are too few.
const MIN_QUEUED: u64 = 10;
/// A link has one rate. If the upper quartile of the samples is more than this multiple of the lower one, a sender that
/// paces its packets behind the point of capture made the distances.
const MAX_SPREAD: f64 = 1.4;
/// Times of capture are this exact, nanoseconds.
const TOLERANCE: i64 = 20_000;
/// A window in which the path carries data for this part of the time is saturated.
const SATURATED: f64 = 0.9;
/// Round trips in a window, and its shortest length, nanoseconds.
const WINDOW_ROUNDS: i64 = 4;
const MIN_WINDOW: i64 = 20_000_000;
/// Windows at most.
const MAX_WINDOWS: i64 = 1 << 20;

/// A packet at the end of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) sent: Option<i64>,
    pub(super) arrived: i64,
    /// Bytes on the wire.
    pub(super) wire: u64,
    /// Which connection it is of.
    pub(super) of: usize,
    /// What carries that.
    pub(super) transport: Transport,
}

/// What the path carried in a direction, of all connections, by arrival.
pub(super) fn carried(directions: &[&Direction]) -> Vec<Carried> {
    let mut all = Vec::new();
    for (of, direction) in directions.iter().enumerate() {
        all.extend(direction.arrivals.iter().map(|arrival| Carried {
            // it is unknown which transmission arrived
            sent: direction.sent_at(arrival.start).filter(|_| !arrival.again),
            arrived: arrival.at,
            wire: wire(arrival, direction),
            transport: direction.transport,
            of,
        }));
    }
    all.sort_by_key(|packet| packet.arrived);
    all
}

/// Bytes on the wire of what the card may have captured as one segment.
fn wire(segment: &Segment, direction: &Direction) -> u64 {
    let len = segment.end - segment.start;
    match direction.transport {
        // time stamps are usual
        Transport::Tcp => {
            len + len.div_ceil(direction.mss.max(1)) * (Transport::Tcp.overhead() + 12)
        }
        other => len + other.overhead(),
    }
}

/// The rate of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// Nanoseconds that it needs for a byte.
    pub(super) ns_per_byte: f64,
    /// It carries other packets between those of the captures: without them these would follow each other faster.
    pub(super) is_shared: bool,
}

/// The rate of the path, if packets were queued. Packets that left together have no others between them; others that were
/// queued may have. So if the former follow each other much faster, they show the rate, and other traffic takes the rest.
pub(super) fn rate(carried: &[Carried], base: i64) -> Option<Rate> {
    let usual = ns_per_byte(carried, base).or_else(|| by_size(carried))?;
    let alone = bursts(carried, usual).filter(|alone| alone * MAX_SPREAD < usual);
    Some(Rate {
        ns_per_byte: alone.unwrap_or(usual),
        is_shared: alone.is_some(),
    })
}

/// Nanoseconds for a byte in bursts: packets that left much closer to each other than they arrive on average.
fn bursts(carried: &[Carried], usual: f64) -> Option<f64> {
    let mut samples: Vec<(f64, u64)> = Vec::new();
    let mut burst: Option<(i64, i64, i64, u64)> = None;
    let all: u64 = carried.iter().map(|packet| packet.wire).sum();
    for packet in carried {
        let closest = (usual * packet.wire as f64 / MIN_CLOSENESS) as i64;
        let follows =
            burst.filter(|burst| packet.sent.is_some_and(|sent| sent - burst.1 <= closest));
        burst = match (follows, packet.sent) {
            (Some((since, _, _, bytes)), Some(sent)) => {
                Some((since, sent, packet.arrived, bytes + packet.wire))
            }
            (_, sent) => {
                samples.extend(burst.and_then(of_burst));
                sent.map(|sent| (packet.arrived, sent, packet.arrived, 0))
            }
        };
    }
    samples.extend(burst.and_then(of_burst));
    middle(samples, all)
}

fn of_burst((since, _, until, bytes): (i64, i64, i64, u64)) -> Option<(f64, u64)> {
    let span = until - since;
    (bytes >= MIN_BURST && span > 0).then(|| (span as f64 / bytes as f64, bytes))
}

/// Nanoseconds that the path needs for a byte, if packets were queued.
fn ns_per_byte(carried: &[Carried], base: i64) -> Option<f64> {
    let mut samples: Vec<(f64, u64)> = Vec::new();
    let mut run: Option<(i64, i64, u64)> = None;
    let all: u64 = carried.iter().map(|packet| packet.wire).sum();
    let least = (all / SAMPLES).clamp(MIN_SAMPLE, MAX_SAMPLE);
    for packet in carried {
        let is_queued = |last: i64| {
            packet
                .sent
                .is_some_and(|sent| sent + base <= last + TOLERANCE)
        };
        let follows = run.filter(|(_, last, _)| is_queued(*last));
        run = match follows {
            Some((since, _, bytes)) => {
                let bytes = bytes + packet.wire;
                let span = packet.arrived - since;
                if bytes >= least && span > 0 {
                    samples.push((span as f64 / bytes as f64, bytes));
                    Some((packet.arrived, packet.arrived, 0))
                } else {
                    Some((since, packet.arrived, bytes))
                }
            }
            None => {
                samples.extend(run.and_then(sample));
                Some((packet.arrived, packet.arrived, 0))
            }
        };
    }
    samples.extend(run.and_then(sample));
    middle(samples, all).or_else(|| middle(short_runs(carried, base), all))
}

/// The rate where no packet waits for another, as in direct hosting over IPX with one packet in a message: large packets take
/// longer than small ones by their bytes. Of packets without TCP only: no card cuts those, so each has its own time.
fn by_size(carried: &[Carried]) -> Option<f64> {
    /// Packets of each kind, at least.
    const MIN_PACKETS: usize = 8;
    let most = carried.iter().map(|packet| packet.wire).max()?;
    let least = |of: &dyn Fn(u64) -> bool| {
        let packets = carried.iter().filter(|packet| of(packet.wire));
        let timed = packets.filter_map(|packet| Some((packet.arrived - packet.sent?, packet.wire)));
        let mut packets: Vec<(i64, u64)> = timed.collect();
        packets.sort_unstable();
        (packets.len() >= MIN_PACKETS).then(|| packets.first().copied())?
    };
    if carried
        .iter()
        .any(|packet| packet.transport == Transport::Tcp)
    {
        return None;
    }
    let (small, large) = (
        least(&|wire| wire * 4 <= most)?,
        least(&|wire| wire * 10 >= most * 9)?,
    );
    let pace = (large.0 - small.0) as f64 / large.1.abs_diff(small.1).max(1) as f64;
    Some(pace).filter(|pace| *pace > 0.0)
}

/// Samples of runs that are too short to hide how packets are delivered: each is full packets that follow a full one, the
/// first of them of the run. Requests of a few kilobytes, one at a time, leave no others.
fn short_runs(carried: &[Carried], base: i64) -> Vec<(f64, u64)> {
    let full = carried.iter().map(|packet| packet.wire).max().unwrap_or(0);
    let pairs = carried.windows(2).filter_map(|pair| {
        let [before, packet] = pair else { return None };
        let is_queued = packet.sent? + base <= before.arrived + TOLERANCE;
        let span = packet.arrived - before.arrived;
        let is_full = packet.wire * 10 >= full * 9 && before.wire * 10 >= full * 9;
        (is_queued && is_full && span > 0).then(|| (span as f64 / packet.wire as f64, packet.wire))
    });
    pairs.collect()
}

/// The weighted median of samples that agree.
fn middle(mut samples: Vec<(f64, u64)>, all: u64) -> Option<f64> {
    samples.sort_by(|one, other| one.0.total_cmp(&other.0));
    let queued: u64 = samples.iter().map(|sample| sample.1).sum();
    if queued < all / MIN_QUEUED {
        return None;
    }
    let at = |part: u64| {
        let mut sum = 0;
        let place = samples.iter().find(|sample| {
            sum += sample.1;
            sum >= part
        });
        place.map_or(0.0, |sample| sample.0)
    };
    if at(queued / 4) * MAX_SPREAD < at(queued / 4 * 3) {
        return None;
    }
    Some(at(queued / 2)).filter(|pace| *pace > 0.0)
}

/// The sample that a run without a pause gives: from when to when, and its bytes.
fn sample((since, until, bytes): (i64, i64, u64)) -> Option<(f64, u64)> {
    let span = until - since;
    (bytes >= MIN_SAMPLE && span > 0).then(|| (span as f64 / bytes as f64, bytes))
}

/// When the path carried each packet, from and to; in order. Cards deliver packets in batches, so a packet may have been
/// carried well before it was captured, but not before it was sent.
pub(super) fn busy(carried: &[Carried], base: i64, ns_per_byte: f64) -> Vec<(i64, i64, usize)> {
    /// If the departure of a packet is unknown, its transmission began at most this multiple of its serialisation before
    /// its arrival.
    const MAX_BATCH: i64 = 8;
    let mut next = i64::MAX;
    let mut out = Vec::with_capacity(carried.len());
    for packet in carried.iter().rev() {
        let serial = (packet.wire as f64 * ns_per_byte) as i64;
        let to = packet.arrived.min(next);
        let batch = serial.saturating_mul(MAX_BATCH);
        let soonest = packet
            .sent
            .map_or(packet.arrived - batch, |sent| sent + base);
        let from = (to - serial).max(soonest.min(packet.arrived));
        if from < to {
            out.push((from, to, packet.of));
            next = from;
        }
    }
    out.reverse();
    out
}

/// Windows in which the path was saturated, and whether most of that was one connection's.
pub(super) fn saturated(
    busy: &[(i64, i64, usize)],
    round: i64,
    of: usize,
) -> Vec<(i64, i64, bool)> {
    let (Some(first), Some(last)) = (busy.first(), busy.last()) else {
        return Vec::new();
    };
    let span = last.1 - first.0;
    let width = (round * WINDOW_ROUNDS)
        .max(MIN_WINDOW)
        .max(span / MAX_WINDOWS);
    let mut windows = vec![(0_i64, 0_i64); usize::try_from(span / width + 1).unwrap_or(0)];
    for (from, to, whose) in busy {
        let mut at = *from;
        while at < *to {
            let place = (at - first.0) / width;
            let end = (*to).min(first.0 + (place + 1) * width);
            let window = usize::try_from(place)
                .ok()
                .and_then(|place| windows.get_mut(place));
            if let Some(window) = window {
                window.0 += end - at;
                window.1 += if *whose == of { end - at } else { 0 };
            }
            at = end;
        }
    }
    let is_saturated = |(all, _): &(i64, i64)| *all as f64 >= SATURATED * width as f64;
    let windows = windows
        .iter()
        .enumerate()
        .filter(|(_, window)| is_saturated(window));
    windows
        .map(|(place, (all, own))| {
            let from = first.0 + place as i64 * width;
            (from, from + width, own * 2 >= *all)
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const BASE: i64 = 1_000_000;

    /// Bursts of full packets, 10 ms apart, over a path that needs 80 ns for a byte, after the shortest delay.
    fn bursts_of(count: i64, packets: i64) -> Vec<Carried> {
        let burst = |number: i64| {
            (0..packets).map(move |place| {
                let sent = number * 10_000_000;
                Carried {
                    sent: Some(sent + place * 1_000),
                    arrived: sent + BASE + (place + 1) * 120_000,
                    wire: 1500,
                    of: 0,
                    transport: Transport::Tcp,
                }
            })
        };
        (0..count).flat_map(burst).collect()
    }

    #[test]
    fn the_rate_shows_in_bursts_of_two_packets() {
        for packets in [2, 3, 40] {
            let rate = ns_per_byte(&bursts_of(50, packets), BASE).unwrap_or(0.0);
            assert!((rate - 80.0).abs() < 1.0, "{packets}: {rate}");
        }
    }

    #[test]
    fn packets_that_left_together_show_the_rate_of_a_path_that_carries_others_too() {
        // others take three quarters of the path: each burst of three waits for nine packets of theirs
        let burst = |number: i64| {
            (0..3).map(move |place| Carried {
                sent: Some(number * 1_440_000 + place * 1_000),
                arrived: number * 1_440_000 + BASE + 5_000_000 + (place + 1) * 120_000,
                wire: 1500,
                of: 0,
                transport: Transport::Tcp,
            })
        };
        let shared: Vec<Carried> = (0..100).flat_map(burst).collect();
        let found = rate(&shared, BASE).unwrap();
        assert!(
            found.is_shared && (found.ns_per_byte - 80.0).abs() < 1.0,
            "{found:?}"
        );
        let alone = rate(&bursts_of(50, 40), BASE).unwrap();
        assert!(
            !alone.is_shared && (alone.ns_per_byte - 80.0).abs() < 1.0,
            "{alone:?}"
        );
    }

    #[test]
    fn packets_that_never_queue_show_no_rate() {
        assert_eq!(ns_per_byte(&bursts_of(50, 1), BASE), None);
    }
}
