//! The medium beside closed forms and published measurements.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

const RATE: u64 = 10_000_000;
/// 10 µs between any two stations: 2 km of cable. A slot time is 51.2 µs.
const DELAY: Span = Span(10_000);

fn others(stations: u32, frame_bytes: u64, load: f64) -> Others {
    Others {
        stations,
        frame_bytes,
        load,
    }
}

struct Seen {
    /// Frames of each station.
    frames: Vec<u64>,
    /// The part of the time in which frames were sent, their gaps included.
    used: f64,
    stats: MediumStats,
    steps: u64,
}

fn run(others: &Others, seconds: u64, seed: u64) -> Seen {
    let mut medium = Medium::new(RATE, DELAY, 0, others, &mut Rng::new(seed));
    let end = Time(seconds * 1_000_000_000);
    let mut frames = alloc::vec![0; others.stations as usize];
    let mut steps = 0;
    while medium.next().is_some_and(|next| next < end) {
        steps += 1;
        if let Some(Step::Sent { station, .. }) = medium.resolve() {
            frames[station] += 1;
        }
    }
    let sent: u64 = frames.iter().sum();
    let bits = sent * (others.frame_bytes + 20) * 8;
    Seen {
        frames,
        used: bits as f64 / RATE as f64 / seconds as f64,
        stats: *medium.stats(),
        steps,
    }
}

#[test]
fn one_station_fills_the_medium_and_never_collides() {
    for bytes in [64, 1518] {
        let seen = run(&others(1, bytes, 2.0), 2, 1);
        assert!(seen.used > 0.999, "{bytes}: {}", seen.used);
        assert_eq!(seen.stats.collisions, 0);
    }
}

#[test]
fn a_light_load_passes_whole() {
    for load in [0.05, 0.3] {
        let seen = run(&others(10, 1518, load), 20, 1);
        assert!(
            (seen.used / load - 1.0).abs() < 0.03,
            "{load}: {}",
            seen.used
        );
        assert_eq!(seen.stats.dropped, 0);
    }
}

/// Metcalfe and Boggs (CACM 19, 1976): the efficiency of Q stations that always have a frame is P / (P + W·T), where P is the time of a
/// frame, T the slot, A = (1 − 1/Q)^(Q−1) and W = (1 − A) / A the mean number of slots lost. T is here what a collision takes with its gap:
/// preamble, jam and two propagation delays.
fn metcalfe_and_boggs(stations: u32, bytes: u64) -> f64 {
    let frame = (bytes + 20) as f64 * 8.0;
    let q = f64::from(stations);
    let a = (0..stations - 1).fold(1.0, |power, _| power * (1.0 - 1.0 / q));
    let slot = 96.0 + 96.0 + 2.0 * 100.0;
    frame / (frame + (1.0 - a) / a * slot)
}

#[test]
fn the_efficiency_of_many_stations_is_that_of_metcalfe_and_boggs_and_few_do_better_by_capture() {
    for (stations, bytes) in [
        (10_u32, 1518_u64),
        (24, 1518),
        (64, 1518),
        (64, 512),
        (5, 512),
        (5, 1518),
    ] {
        let seen = run(&others(stations, bytes, 5.0), 20, 2);
        let expected = metcalfe_and_boggs(stations, bytes);
        let ratio = seen.used / expected;
        std::println!(
            "{stations} stations, {bytes} bytes: {:.3}, closed form {expected:.3}",
            seen.used
        );
        match stations < 10 {
            // the formula lets all stations try with the same probability; the binary back-off lets the last sender win a series
            true => assert!(
                ratio > 1.0 && seen.used < 0.99,
                "{stations}, {bytes}: {ratio}"
            ),
            false => assert!((ratio - 1.0).abs() < 0.05, "{stations}, {bytes}: {ratio}"),
        }
    }
}

#[test]
fn stations_share_fairly_over_seconds_and_unfairly_over_milliseconds() {
    let long = run(&others(8, 1518, 5.0), 60, 3);
    let (least, most) = (
        long.frames.iter().min().unwrap(),
        long.frames.iter().max().unwrap(),
    );
    assert!(*most < least * 5 / 4, "{:?}", long.frames);
    // the capture effect: who has just sent is more likely to send again than one of eight
    let mut medium = Medium::new(RATE, DELAY, 0, &others(8, 1518, 5.0), &mut Rng::new(3));
    let (mut last, mut again, mut all) = (usize::MAX, 0, 0);
    while all < 20_000 {
        if let Some(Step::Sent { station, .. }) = medium.resolve() {
            again += u32::from(station == last);
            all += 1;
            last = station;
        }
    }
    let part = f64::from(again) / f64::from(all);
    assert!(part > 0.2, "{part}");
}

/// Counts, not time: the number of steps follows the frames, not the stations.
#[test]
fn work_is_linear_in_frames_up_to_fifty_stations() {
    let steps = |stations| {
        let seen = run(&others(stations, 1518, 0.4), 10, 4);
        let frames: u64 = seen.frames.iter().sum();
        assert_eq!(seen.steps, frames + seen.stats.collisions);
        seen.steps as f64 / frames as f64
    };
    let one = steps(1);
    for stations in [5, 10, 25, 50] {
        assert!(
            steps(stations) < one * 1.5,
            "{stations}: {}",
            steps(stations)
        );
    }
}

#[test]
fn sixteen_collisions_drop_a_frame_and_the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let seen = run(&others(200, 64, 10.0), 10, seed);
        (seen.stats, seen.frames)
    };
    let first = run(5);
    assert!(first.0.dropped > 0);
    assert_eq!(first, run(5));
    assert_ne!(first, run(6));
}

#[test]
fn stations_that_start_within_the_delay_of_each_other_collide_and_others_wait() {
    let meet = |apart: u64| {
        let mut medium = Medium::new(RATE, DELAY, 2, &others(0, 64, 0.0), &mut Rng::new(1));
        medium.offer(0, Time(1_000_000), 72);
        medium.offer(1, Time(1_000_000 + apart), 72);
        let step = medium.resolve().unwrap();
        (step, medium)
    };
    let (step, _) = meet(9_999);
    assert_eq!(
        step,
        Step::Collided {
            dropped: Vec::new()
        }
    );
    let (step, mut medium) = meet(10_000);
    let end = Time(1_000_000 + 57_600);
    let sent = |station, start, end| Step::Sent {
        station,
        start,
        end,
    };
    assert_eq!(step, sent(0, Time(1_000_000), end));
    // the other one senses the end later by the delay, and then waits for the gap
    let start = end + Span(10_000 + 9_600);
    assert_eq!(medium.resolve(), Some(sent(1, start, start + Span(57_600))));
    assert_eq!(medium.next(), None);
}
