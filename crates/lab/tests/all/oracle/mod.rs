//! Compares the lab's TCP with smoltcp, an independent TCP, over a simple link in virtual time. Experiments that both
//! can represent must take equally long.
//!
//! Not comparable: smoltcp's minimum timeout of one second, its fast retransmit (which retransmits everything and
//! cannot be disabled), its missing silly window avoidance, and its delayed-ACK rules.

mod other;

use coax_lab::{
    Setup, Side,
    apps::{self, BlockPlan},
    link::TxFull,
    tcp::{
        StackParams,
        params::{CongestionControl, Nagle},
    },
};
use coax_wire::time::Span;
use other::Other;

const FILE: u64 = 4_200_000;
const LIMIT: Span = Span::from_secs(100_000);

/// The lab's parameters for smoltcp's behaviour.
fn as_smoltcp(window: u32) -> StackParams {
    StackParams {
        receive_window: window,
        congestion: CongestionControl::None,
        fast_retransmit: 3,
        nagle: Nagle::Off,
        delayed_ack: Span(0),
        sender_sws_avoidance: false,
        rto_initial: Span::from_secs(1),
        rto_min: Span::from_secs(1),
        rto_max: Span::from_secs(60),
        window_update_segments: 0,
        ..StackParams::default()
    }
}

fn setup(rate: u64, delay_us: u64, window: u32, ring: usize) -> Setup {
    let mut setup = Setup::default();
    setup.link.rate = rate;
    setup.link.delay = Span(delay_us * 1000);
    setup.client.stack = as_smoltcp(window);
    setup.server.stack = as_smoltcp(window);
    setup.client.nic.tx_ring = ring;
    setup.client.nic.tx_full = TxFull::Drop;
    setup
}

/// Relative difference between the lab and smoltcp.
fn difference(what: &str, lab: Span, other: u64) -> f64 {
    let ratio = lab.0 as f64 / other as f64;
    println!(
        "{what:40} lab {:9.4} s  smoltcp {:9.4} s  {:+.3} %",
        lab.0 as f64 / 1e9,
        other as f64 / 1e9,
        (ratio - 1.0) * 100.0
    );
    (ratio - 1.0).abs()
}

#[test]
fn bulk_copies_take_as_long_whatever_the_window() {
    for (rate, delay_us, window) in [
        (100_000_000, 60, 65_535),
        (10_000_000, 60, 8_760),
        (45_000_000, 31_000, 8_760),
        (45_000_000, 31_000, 17_520),
        (45_000_000, 31_000, 35_040),
        (45_000_000, 31_000, 64_240),
        (100_000_000, 1_000, 2_920),
    ] {
        let setup = setup(rate, delay_us, window, 0);
        let lab = apps::bulk(&setup, Side::Client, FILE, LIMIT);
        let other = Other::new(&setup).bulk(FILE);
        let off = difference(
            &format!("bulk {rate} bit/s {delay_us} us window {window}"),
            lab.took,
            other,
        );
        assert!(off < 0.02, "{off}");
    }
}

#[test]
fn copies_in_blocks_take_as_long() {
    let plans = [
        ("raw reads of 65,024", BlockPlan::read(FILE, 65_024, 55, 4)),
        (
            "raw writes of 65,024",
            BlockPlan::write_raw(FILE, 65_024, 55, 41, 4, 41),
        ),
        ("core reads of 1,024", BlockPlan::read(FILE, 1024, 51, 52)),
        ("AndX writes of 4,292", BlockPlan::write(FILE, 4292, 68, 51)),
        (
            "AndX writes of 61,440",
            BlockPlan::write(FILE, 61_440, 68, 51),
        ),
    ];
    for (name, plan) in plans {
        for (rate, delay_us, window) in [
            (100_000_000, 60, 65_535),
            (45_000_000, 31_000, 64_240),
            (45_000_000, 31_000, 17_520),
        ] {
            let setup = setup(rate, delay_us, window, 0);
            let lab = apps::blocks(&setup, &plan, LIMIT);
            assert!(lab.done);
            let other = Other::new(&setup).blocks(&plan);
            let off = difference(
                &format!("{name}, {delay_us} us, window {window}"),
                lab.took,
                other,
            );
            assert!(off < 0.02, "{off}");
        }
    }
}

#[test]
fn rings_that_drop_take_as_long() {
    let plan = BlockPlan::write_raw(FILE, 65_024, 55, 41, 4, 41);
    for ring in [8, 9, 10, 11, 12] {
        let setup = setup(100_000_000, 60, 65_535, ring);
        let lab = apps::blocks(&setup, &plan, LIMIT);
        let other = Other::new(&setup).blocks(&plan);
        assert!(difference(&format!("ring of {ring}"), lab.took, other) < 0.02);
    }
    // if the window is larger than the ring, fast retransmit avoids the timeout in both
    for window in [8_760, 13_140, 14_600, 17_520] {
        let setup = setup(100_000_000, 60, window, 9);
        let lab = apps::blocks(&setup, &plan, LIMIT);
        let other = Other::new(&setup).blocks(&plan);
        assert!(difference(&format!("ring of 9, window {window}"), lab.took, other) < 0.02);
    }
}
