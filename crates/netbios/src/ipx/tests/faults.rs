//! Two stations joined by a cable that loses, doubles, delays and reorders frames, from seeds.

use super::super::*;
use super::lan::{Lan, name, pattern};

/// Sends messages in both directions over a bad cable; whether all arrived, each once and in order, or the session
/// ended with an error at a side that was told.
fn exchange(seed: u64, loss: u64, duplication: u64, delay: u64) -> usize {
    let mut lan = Lan::pair();
    lan.seed(seed);
    let (client, server) = lan.call(Carriage::NetBios);
    (lan.loss, lan.duplication, lan.delay) = (loss, duplication, delay);
    let mut sent = [0usize; 2];
    let count = 12;
    for _ in 0..4000 {
        for (side, session) in [(1, client), (0, server)] {
            while sent[side] < count && lan.stations[side].can_send(session) {
                let len = (seed as usize * 977 + sent[side] * 7919) % 40_000;
                lan.send(side, session, pattern(len, sent[side]));
                sent[side] += 1;
            }
        }
        lan.run(Span::from_millis(50));
        let arrived = [lan.messages(0, server).len(), lan.messages(1, client).len()];
        if arrived == [count; 2] {
            break;
        }
    }
    for (side, session) in [(0, server), (1, client)] {
        let messages = lan.messages(side, session);
        assert_eq!(
            messages.len(),
            count,
            "seed {seed}: {:?}",
            lan.closed(side, session)
        );
        for (at, message) in messages.iter().enumerate() {
            let len = (seed as usize * 977 + at * 7919) % 40_000;
            assert!(*message == pattern(len, at), "seed {seed}, message {at}");
        }
    }
    let of = |station: &Ipx| station.counters().retransmitted as usize;
    lan.stations.iter().map(of).sum()
}

#[test]
fn nothing_is_lost_or_doubled_over_a_cable_that_loses_doubles_and_reorders() {
    let mut again = 0;
    for seed in 0..40 {
        again += exchange(seed, 30, 20, 30);
    }
    assert!(again > 40, "{again}");
}

#[test]
fn delays_alone_lose_nothing() {
    for seed in 100..120 {
        exchange(seed, 0, 0, 200);
    }
}

#[test]
fn a_cable_that_loses_a_fifth_of_all_frames_still_carries_messages() {
    for seed in 200..210 {
        exchange(seed, 200, 0, 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| {
        let mut lan = Lan::pair();
        lan.seed(seed);
        (lan.loss, lan.duplication, lan.delay) = (50, 20, 50);
        let (client, _) = lan.call(Carriage::NetBios);
        lan.send(1, client, pattern(40_000, 1));
        lan.run(Span::from_secs(5));
        lan.log
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_session_ends_over_a_bad_cable_too() {
    for seed in 0..20 {
        let mut lan = Lan::pair();
        lan.seed(seed);
        let (client, server) = lan.call(Carriage::NetBios);
        (lan.loss, lan.duplication, lan.delay) = (150, 50, 50);
        lan.send(1, client, pattern(20_000, 1));
        let now = lan.now;
        lan.stations[1].hang_up(now, client);
        lan.run(Span::from_secs(120));
        assert_eq!(
            lan.closed(1, client),
            Some(SessionClose::Local),
            "seed {seed}"
        );
        assert!(lan.closed(0, server).is_some(), "seed {seed}");
        assert_eq!(lan.messages(0, server), [pattern(20_000, 1)], "seed {seed}");
        let left: usize = lan.stations.iter().map(Ipx::session_count).sum();
        assert_eq!(left, 0, "seed {seed}");
    }
}

/// Whole frames with random changes: no panic, and the server keeps its name.
#[test]
fn damaged_frames_do_no_harm() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(Carriage::NetBios);
    lan.send(1, client, pattern(9000, 0));
    lan.run(Span::from_secs(1));
    let frames = lan.log.clone();
    let mut random = 1u64;
    for round in 0..20_000usize {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut frame = frames[round % frames.len()].clone();
        let at = 14 + (random >> 33) as usize % (frame.len() - 14);
        frame[at] = (random >> 17) as u8;
        for to in 0..2 {
            lan.inject(to, &frame);
        }
    }
    lan.run(Span::from_secs(100));
    assert!(lan.stations[0].owns(&name("SERVER<20>")));
    assert!(lan.stations[0].session_count() <= 64);
}
