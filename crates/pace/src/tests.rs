//! The policy against simulated rings and paths.

#![allow(clippy::arithmetic_side_effects)]

use std::vec::Vec;

use coax_wire::time::{Span, Time};
use proptest::prelude::*;

use crate::{Handshake, Learned, Mode, Pacer, Received, Sent};

const MSS: u64 = 1460;
const OLD: Handshake = Handshake {
    mss: MSS as u32,
    window_scale: false,
    timestamps: false,
    rtt: Span(200_000),
};

fn pacer() -> Pacer {
    Pacer::new(Mode::Auto, OLD, Learned::default())
}

/// A client sends a message through a ring of `ring` segments, one window after the other, at `ns` per segment. Returns the
/// time after it and the number of stalls.
fn message(pacer: &mut Pacer, mut now: u64, ring: u64, ns: u64, rtt: u64) -> (u64, u32) {
    let (mut rest, mut stalls) = (65_024_u64, 0);
    while rest > 0 {
        let window = u64::from(pacer.receive_window().unwrap_or(65_535));
        let burst = rest.min(window / MSS * MSS);
        let passes = burst.min(ring * MSS);
        for part in split(passes) {
            rest -= part;
            now += ns;
            let got = Received {
                bytes: part,
                rest,
                rtt: Span(rtt),
                out_of_order: 0,
            };
            pacer.received(Time(now), got);
        }
        now += rtt;
        if passes < burst {
            stalls += 1;
            now += 300_000_000;
        }
    }
    (now + rtt, stalls)
}

fn split(bytes: u64) -> impl Iterator<Item = u64> {
    (0..bytes.div_ceil(MSS)).map(move |i| MSS.min(bytes - i * MSS))
}

#[test]
fn a_modern_client_has_no_limits() {
    for handshake in [
        Handshake {
            window_scale: true,
            ..OLD
        },
        Handshake {
            timestamps: true,
            ..OLD
        },
    ] {
        let pacer = Pacer::new(Mode::Auto, handshake, Learned::default());
        assert!(!pacer.is_active());
        assert_eq!(
            (pacer.receive_window(), pacer.allowance(1 << 40)),
            (None, u64::MAX)
        );
        assert!(Pacer::new(Mode::Always, handshake, Learned::default()).is_active());
    }
    assert!(!Pacer::new(Mode::Off, OLD, Learned::default()).is_active());
}

#[test]
fn a_window_that_costs_no_time_does_not_grow() {
    let mut pacer = pacer();
    let mut now = 0;
    for _ in 0..200 {
        now = message(&mut pacer, now, 10, 120_000, 120_000).0;
    }
    assert_eq!(pacer.receive_window(), Some(8760));
}

#[test]
fn a_window_that_costs_time_grows_until_it_costs_none() {
    let mut pacer = pacer();
    let mut now = 0;
    for _ in 0..2000 {
        now = message(&mut pacer, now, 100, 12_000, 5_000_000).0;
    }
    assert_eq!(pacer.receive_window(), None, "it has outgrown 64 KB");
}

#[test]
fn a_ring_is_found_and_not_overflowed_again() {
    let mut pacer = pacer();
    let (mut now, mut stalls) = (0, 0);
    for _ in 0..2000 {
        let (then, more) = message(&mut pacer, now, 16, 12_000, 1_000_000);
        (now, stalls) = (then, stalls + more);
    }
    let window = pacer.receive_window().map(u64::from).unwrap_or(0) / MSS;
    assert!((9..=16).contains(&window), "{window} segments");
    assert!(stalls <= 4, "{stalls} stalls");
    assert_eq!(pacer.learned().receive, Some(window as u32));
    let mut next = Pacer::new(Mode::Auto, OLD, pacer.learned());
    let stalls: u32 = (0..2000)
        .map(|i| message(&mut next, i * 10_000_000_000, 16, 12_000, 1_000_000).1)
        .sum();
    assert_eq!(stalls, 0, "what was learned is not tried again");
}

#[test]
fn a_ring_of_four_segments_is_found() {
    let mut pacer = pacer();
    let (mut now, mut stalls) = (0, 0);
    for _ in 0..500 {
        let (then, more) = message(&mut pacer, now, 4, 120_000, 120_000);
        (now, stalls) = (then, stalls + more);
    }
    assert!(
        pacer
            .receive_window()
            .is_some_and(|w| u64::from(w) <= 4 * MSS)
    );
    assert!(stalls <= 3, "{stalls} stalls");
}

#[test]
fn a_path_that_loses_segments_is_not_a_card() {
    let mut pacer = pacer();
    let mut now = 0;
    for _ in 0..40 {
        now += 400_000_000;
        let got = Received {
            bytes: MSS,
            rest: 30_000,
            rtt: Span(200_000),
            out_of_order: 0,
        };
        pacer.received(Time(now), got);
    }
    assert_eq!(pacer.receive_window(), None);
    assert_eq!(pacer.learned(), Learned::default());
}

/// A client that repairs losses by fast retransmission sends messages through `loses`, which says of each segment of a burst
/// whether it is lost. Returns how many were lost in the last half.
fn with_fast_retransmission(
    pacer: &mut Pacer,
    messages: u64,
    mut loses: impl FnMut(u64) -> bool,
) -> u64 {
    let (mut now, mut out_of_order, mut late) = (0, 0, 0);
    for message in 0..messages {
        let mut rest = 65_024_u64;
        while rest > 0 {
            let window = u64::from(pacer.receive_window().unwrap_or(65_535));
            let burst = rest.min(window / MSS * MSS);
            let lost: Vec<bool> = (0..burst.div_ceil(MSS)).map(&mut loses).collect();
            let first = lost.iter().position(|lost| *lost).unwrap_or(lost.len());
            let count = lost.iter().filter(|lost| **lost).count();
            let behind = (lost.len() - first - count) as u64;
            out_of_order += behind;
            // without duplicate acknowledgments only the timer repairs
            now += if count > 0 && behind < 3 {
                300_000_000
            } else {
                0
            };
            late += if message >= messages / 2 {
                count as u64
            } else {
                0
            };
            for part in split(burst) {
                rest -= part;
                now += 120_000;
                let got = Received {
                    bytes: part,
                    rest,
                    rtt: Span(200_000),
                    out_of_order,
                };
                pacer.received(Time(now), got);
            }
            now += 200_000;
        }
    }
    late
}

#[test]
fn a_ring_is_found_although_the_client_repairs_its_losses_at_once() {
    let mut pacer = pacer();
    // the driver frees a place while the third further segment arrives
    let late = with_fast_retransmission(&mut pacer, 200, |at| at >= 4 && !at.is_multiple_of(3));
    assert!(
        pacer
            .receive_window()
            .is_some_and(|w| u64::from(w) <= 4 * MSS)
    );
    assert_eq!(late, 0, "lost in the second half");
}

#[test]
fn a_path_that_loses_segments_at_random_is_not_a_card() {
    for one_in in [10, 30, 100] {
        let mut pacer = pacer();
        let mut state = 1_u64;
        with_fast_retransmission(&mut pacer, 2000, |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33).is_multiple_of(one_in)
        });
        assert_eq!(pacer.receive_window(), None, "one in {one_in}");
    }
}

#[test]
fn one_burst_with_many_gaps_is_one_loss() {
    let mut pacer = pacer();
    for (i, out_of_order) in [0, 1, 2, 3, 3, 4].into_iter().enumerate() {
        let got = Received {
            bytes: MSS,
            rest: 30_000,
            rtt: Span(200_000),
            out_of_order,
        };
        pacer.received(Time(i as u64 * 1_000_000), got);
    }
    assert_eq!(pacer.receive_window(), Some(3 * MSS as u32));
}

#[test]
fn a_pause_between_messages_is_not_a_loss() {
    let mut pacer = pacer();
    for i in 1..100 {
        let got = Received {
            bytes: 1024,
            rest: 0,
            rtt: Span(200_000),
            out_of_order: 0,
        };
        pacer.received(Time(i * 1_000_000_000), got);
    }
    assert_eq!(pacer.receive_window(), Some(8760));
}

#[test]
fn segments_are_handed_over_in_twos() {
    let pacer = pacer();
    assert_eq!(pacer.allowance(0), 4 * MSS);
    assert_eq!(pacer.allowance(1), 3 * MSS);
    assert_eq!(pacer.allowance(2 * MSS), 2 * MSS);
    assert_eq!(
        pacer.allowance(3 * MSS),
        0,
        "one segment would wait for a delayed acknowledgment"
    );
    assert_eq!(pacer.allowance(90 * MSS), 0);
}

#[test]
fn retransmissions_shrink_the_limit_and_stop_when_they_do_not_help() {
    let mut pacer = pacer();
    let mut sent = Sent {
        rtt: Span(200_000),
        ..Sent::default()
    };
    pacer.observed(Time(0), sent, true);
    for i in 1..=4_u64 {
        sent.retransmitted += 1;
        pacer.observed(Time(i * 1_000_000), sent, true);
        let expected = if i < 4 { 2 * MSS } else { u64::MAX };
        assert_eq!(pacer.allowance(0), expected, "after {i}");
    }
}

#[test]
fn a_send_limit_grows_where_round_trips_cost_time_and_not_where_the_wire_does() {
    for (rtt, grows) in [(20_000_000, true), (100_000, false)] {
        let mut pacer = pacer();
        let mut sent = Sent {
            rtt: Span(rtt),
            ..Sent::default()
        };
        let mut now = 0;
        for _ in 0..5000 {
            let burst = pacer.allowance(0).min(65_535);
            now += rtt + burst / MSS * 1_200_000;
            sent.acknowledged += burst;
            pacer.observed(Time(now), sent, true);
        }
        assert_eq!(pacer.allowance(0) > 4 * MSS, grows, "RTT {rtt} ns");
    }
}

proptest! {
    /// Whatever the counters say, limits stay within the smallest and the largest that are possible.
    #[test]
    fn limits_stay_possible(
        mss in 0_u32..70_000,
        learned in proptest::option::of(0_u32..100_000),
        steps in proptest::collection::vec((any::<u32>(), any::<u64>(), any::<u64>(), any::<u64>(), any::<bool>()), 0..200),
    ) {
        let handshake = Handshake { mss, ..OLD };
        let learned = Learned { receive: learned, send: learned };
        let mut pacer = Pacer::new(Mode::Always, handshake, learned);
        for (gap, bytes, rest, rtt, limited) in steps {
            let now = Time(bytes ^ u64::from(gap));
            pacer.received(now, Received { bytes, rest, rtt: Span(rtt), out_of_order: rtt % 1000 });
            pacer.observed(now, Sent { acknowledged: bytes, retransmitted: rest, rtt: Span(rtt) }, limited);
            if let Some(window) = pacer.receive_window() {
                prop_assert!(window > 0 && window <= 65_535);
            }
            prop_assert!(pacer.allowance(0) > 0, "an idle connection may always send");
        }
    }
}
