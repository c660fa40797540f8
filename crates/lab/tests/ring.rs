//! The burst into a ring that drops: the published 48 m 43 s, its grid, and its thresholds.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use coax_lab::{
    Setup,
    apps::{self, BlockPlan},
    laws,
    link::TxFull,
    machine::MachineParams,
    profile::built_in,
    tcp::StackParams,
    units::Cost,
};
use coax_wire::time::Span;

const FILE: u64 = 42_000_000;
const BLOCK: u64 = 65_024;

fn setup(ring: usize, timer_ms: u64, server_window: u32) -> Setup {
    let mut setup = Setup::default();
    setup.client.machine = built_in::<MachineParams>("virtual-dos").unwrap().params;
    setup.client.nic.tx_ring = ring;
    setup.client.nic.tx_full = TxFull::Drop;
    setup.client.stack = built_in::<StackParams>("ms-tcpip-1.0a").unwrap().params;
    setup.client.stack.mss = 1460;
    setup.client.stack.rto_min = Span::from_millis(timer_ms);
    setup.client.stack.rto_initial = Span::from_millis(timer_ms);
    setup.server.machine = setup.client.machine;
    setup.server.machine.request = Cost::fixed(Span(100_000));
    setup.server.stack = built_in::<StackParams>("linux").unwrap().params;
    setup.server.stack.timestamps = false;
    setup.server.stack.window_scale = None;
    setup.server.stack.receive_window = server_window;
    setup
}

fn seconds(setup: &Setup, block: u64) -> f64 {
    let plan = BlockPlan::write_raw(FILE, block, 55, 41, 4, 41);
    let result = apps::blocks(setup, &plan, Span::from_secs(100_000));
    assert!(result.done, "{:?}", result.ended);
    assert_eq!(result.account.total(), result.took);
    result.took.0 as f64 / 1e9
}

#[test]
fn the_grid_of_rings_and_timers_is_the_ring_burst_law() {
    let undisturbed = seconds(&setup(0, 300, 65_535), BLOCK);
    for ring in [7, 8, 9, 10, 11, 12, 13] {
        for timer_ms in [220, 300, 1000] {
            let took = seconds(&setup(ring, timer_ms, 65_535), BLOCK);
            let blocks = FILE as f64 / BLOCK as f64;
            let law = laws::ring_burst_time(undisturbed, blocks, 45, ring as u64, timer_ms as f64 / 1e3);
            std::println!("ring {ring} timer {timer_ms} ms: {took:.0} s, law {law:.0} s, {:.3}", took / law);
        }
    }
}
