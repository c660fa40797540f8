//! Copies over a shared Ethernet with other stations.

use coax_lab::{
    Cause, Setup, Side,
    apps::{self, BulkResult},
    link::{Duplex, LinkParams, Others, TxFull},
    profile::built_in,
};
use coax_wire::time::Span;

const BYTES: u64 = 2_000_000;
const LIMIT: Span = Span::from_secs(10_000);

fn setup(stations: u32, load: f64) -> Setup {
    let mut setup = Setup::default();
    for host in [&mut setup.client, &mut setup.server] {
        host.stack = built_in("linux").unwrap().params;
        // that of old machines; a larger one is captured, see below
        host.stack.receive_window = 8760;
    }
    setup.link = LinkParams {
        rate: 10_000_000,
        delay: Span(5_000),
        duplex: Duplex::Shared,
        others: Others {
            stations,
            load,
            ..Others::default()
        },
        ..LinkParams::default()
    };
    setup
}

fn run(setup: &Setup) -> BulkResult {
    let result = apps::bulk(setup, Side::Server, BYTES, LIMIT);
    assert!(result.intact);
    assert_eq!(result.bytes, BYTES);
    assert_eq!(
        result.account.total(),
        result.took,
        "the causes are the time"
    );
    result
}

fn seconds(result: &BulkResult) -> f64 {
    result.took.0 as f64 / 1e9
}

/// The wire's time for data and its ACKs, one for two segments, without a collision.
fn alone() -> f64 {
    let segments = BYTES as f64 / 1448.0;
    segments * (1538.0 + 84.0 / 2.0) * 8.0 / 1e7
}

#[test]
fn alone_on_the_cable_data_and_acks_share_it() {
    let result = run(&setup(0, 0.0));
    let ratio = seconds(&result) / alone();
    let medium = *result.world.medium().unwrap();
    println!("{:.3} s, {ratio:.3}, {medium:?}", seconds(&result));
    assert!((1.0..1.2).contains(&ratio), "{ratio}");
    // an ACK that was ready during a frame collides with the next frame of data
    assert!(medium.collisions > 0 && medium.dropped == 0, "{medium:?}");
}

/// The capture effect (Ramakrishnan and Yang, LCN 1994): the sender of a large window has always a frame and wins each collision against the
/// receiver, whose ACKs wait ever longer and are dropped after 16 collisions. A small window ends before that.
#[test]
fn a_sender_with_a_large_window_captures_the_cable() {
    let small = run(&setup(0, 0.0));
    let mut setup = setup(0, 0.0);
    setup.client.stack.receive_window = 1 << 20;
    let large = run(&setup);
    let dropped = |result: &BulkResult| result.world.medium().unwrap().dropped;
    assert_eq!(dropped(&small), 0);
    assert!(dropped(&large) > 0);
    assert!(seconds(&large) > seconds(&small) * 1.1);
}

#[test]
fn a_load_of_others_takes_its_part_and_an_overload_more() {
    let alone = seconds(&run(&setup(0, 0.0)));
    let mut before = alone;
    for (stations, load) in [(4, 0.2), (4, 0.5), (4, 1.2)] {
        let result = run(&setup(stations, load));
        let took = seconds(&result);
        println!(
            "{stations} stations, load {load}: {took:.2} s, {:?}",
            result.world.medium()
        );
        assert!(
            took > before,
            "{stations} {load}: {took} s after {before} s"
        );
        if load < 0.6 {
            let expected = alone / (1.0 - load);
            assert!(
                (0.85..1.35).contains(&(took / expected)),
                "{took} against {expected}"
            );
        }
        assert!(result.account.get(Cause::Queueing) > Span(0));
        before = took;
    }
}

#[test]
fn the_same_seed_gives_the_same_collisions() {
    let seen = |seed| {
        let setup = Setup {
            seed,
            ..setup(5, 0.4)
        };
        let result = run(&setup);
        (
            result.took,
            result.world.digest(),
            *result.world.medium().unwrap(),
        )
    };
    assert_eq!(seen(1), seen(1));
    assert_ne!(seen(1), seen(2));
}

#[test]
fn a_ring_that_blocks_loses_nothing_on_a_busy_cable_and_one_that_drops_loses() {
    for (full, drops) in [(TxFull::Block, false), (TxFull::Drop, true)] {
        let mut setup = setup(3, 0.5);
        setup.server.nic.tx_ring = 4;
        setup.server.nic.tx_full = full;
        let result = run(&setup);
        assert_eq!(result.world.path(Side::Server).ring_drops > 0, drops);
    }
    let mut setup = setup(3, 0.5);
    setup.server.nic.tx_wait = true;
    run(&setup);
}

/// Counts, not time.
#[test]
fn the_events_of_a_copy_grow_with_the_frames_on_the_cable_and_not_with_the_stations() {
    let each = |stations| {
        let result = run(&setup(stations, 0.3));
        let medium = result.world.medium().unwrap();
        result.world.events() as f64 / (medium.frames + medium.collisions) as f64
    };
    let few = each(2);
    for stations in [10, 25, 50] {
        let many = each(stations);
        assert!(
            many < few * 1.3,
            "{stations} stations: {many} events a frame, {few} with two"
        );
    }
}
