//! Compares runs with closed-form predictions.

use coax_lab::{
    Cause, Setup, Side,
    apps::{self, BlockPlan},
    laws,
    link::{LinkParams, LossParams, LossRule},
    profile::built_in,
    tcp::{
        StackParams,
        params::{AckRule, CongestionControl, Nagle, RtoRecovery},
    },
};
use coax_wire::time::Span;

const LIMIT: Span = Span::from_secs(100_000);

fn stack(name: &str) -> StackParams {
    built_in(name).unwrap().params
}

/// A stack without delaying rules and without fast retransmit.
fn plain() -> StackParams {
    StackParams {
        congestion: CongestionControl::None,
        fast_retransmit: 0,
        delayed_ack: Span(0),
        nagle: Nagle::Off,
        ..StackParams::default()
    }
}

fn both(stack: StackParams) -> Setup {
    let mut setup = Setup::default();
    setup.client.stack = stack.clone();
    setup.server.stack = stack;
    setup
}

fn assert_within(what: &str, model: f64, expected: f64, part: f64) {
    let off = (model / expected - 1.0).abs();
    assert!(
        off <= part,
        "{what}: model {model}, expected {expected}, difference {:.2} %",
        off * 100.0
    );
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

#[test]
fn a_bulk_copy_fills_the_wire_and_is_charged_to_it() {
    let result = apps::bulk(&both(plain()), Side::Client, 42_000_000, LIMIT);
    assert!(result.intact);
    assert_within(
        "42 MB at 100 Mbit/s",
        seconds(result.took),
        laws::wire_time(42_000_000, 1460, 100_000_000),
        0.002,
    );
    assert!(result.account.get(Cause::Bandwidth).0 > result.took.0 / 1000 * 999);
}

#[test]
fn a_window_shorter_than_the_path_is_one_window_a_round_trip() {
    for window in [8_760_u32, 17_520, 35_040, 64_240] {
        let mut setup = both(StackParams {
            receive_window: window,
            ..plain()
        });
        setup.link = LinkParams {
            rate: 45_000_000,
            delay: Span::from_millis(31),
            ..LinkParams::default()
        };
        let result = apps::bulk(&setup, Side::Client, 4_000_000, LIMIT);
        // the first segment of a window must arrive completely before its ACK
        let round_trip = 0.062 + laws::wire_time(1460, 1460, 45_000_000) + 84.0 * 8.0 / 45e6;
        let law = laws::window_rate(u64::from(window), round_trip);
        assert_within(&format!("window {window}"), result.rate(), law, 0.02);
        assert_eq!(result.account.dominant(), Cause::ReceiveWindow);
        let share = result.account.get(Cause::ReceiveWindow).0 as f64 / result.took.0 as f64;
        assert!(share > 0.75, "{window}: {:?}", result.account);
    }
}

#[test]
fn stop_and_wait_is_one_block_a_round_trip() {
    for block in [1024_u64, 4292, 16_384, 61_440] {
        let mut setup = both(plain());
        setup.link = LinkParams {
            rate: 45_000_000,
            delay: Span::from_millis(31),
            ..LinkParams::default()
        };
        let file = block * 50;
        let result = apps::blocks(&setup, &BlockPlan::write(file, block, 68, 41), LIMIT);
        let on_wire =
            laws::wire_time(block + 68, 1460, 45_000_000) + laws::wire_time(41, 1460, 45_000_000);
        let law = laws::block_rate(block, 0.062, on_wire, 0.0);
        assert_within(
            &format!("block {block}"),
            file as f64 / seconds(result.took),
            law,
            0.02,
        );
        assert_eq!(result.account.dominant(), Cause::RoundTrips);
    }
}

#[test]
fn nts_4292_byte_writes_over_62_milliseconds_make_half_a_megabit() {
    let mut setup = Setup {
        link: built_in("ds3-62ms").unwrap().params,
        ..Setup::default()
    };
    setup.client.stack = stack("windows-2000");
    setup.server.stack = stack("nt-4");
    setup.client.stack.nagle = Nagle::Off;
    setup.server.stack.nagle = Nagle::Off;
    let result = apps::blocks(&setup, &BlockPlan::write(429_200, 4292, 68, 51), LIMIT);
    let megabits = 429_200.0 * 8.0 / seconds(result.took) / 1e6;
    assert_within("Mbit/s", megabits, 0.5, 0.15);
    assert_eq!(result.account.dominant(), Cause::RoundTrips);
}

/// The client reads in bulk with this window and ACK rule; the server uses silly window avoidance.
fn old_reader(window: u32, rule: AckRule) -> apps::BulkResult {
    let mut setup = both(plain());
    setup.link.rate = 10_000_000;
    setup.client.stack = StackParams {
        receive_window: window,
        ack_rule: rule,
        ..stack("wfw-tcpip-32")
    };
    apps::bulk(&setup, Side::Server, 400_000, LIMIT)
}

#[test]
fn a_window_of_two_segments_and_a_bit_waits_for_the_delayed_acknowledgment() {
    let slow = old_reader(3072, AckRule::BytesMoreThan);
    let law = laws::delayed_ack_rate(2920, 0.2, laws::wire_time(2920, 1460, 10_000_000));
    assert_within("window 3072", slow.rate(), law, 0.02);
    assert_eq!(slow.account.dominant(), Cause::NagleDelayedAck);
    // the stall does not occur with the larger window or the other rule
    assert!(old_reader(8192, AckRule::BytesMoreThan).rate() > slow.rate() * 30.0);
    assert!(old_reader(3072, AckRule::BytesAtLeast).rate() > slow.rate() * 30.0);
}

#[test]
fn a_last_small_segment_held_by_nagle_waits_for_the_delayed_acknowledgment() {
    let mut setup = both(plain());
    setup.link.rate = 10_000_000;
    setup.client.stack = stack("wfw-tcpip-32");
    setup.server.stack.nagle = Nagle::Standard;
    let read = |setup: &Setup, block| {
        let result = apps::blocks(setup, &BlockPlan::read(block * 40, block, 55, 0), LIMIT);
        (block as f64 * 40.0 / seconds(result.took), result.account)
    };
    let (held, account) = read(&setup, 2048);
    let exchange =
        laws::wire_time(55, 1460, 10_000_000) + laws::wire_time(2048, 1460, 10_000_000) + 0.00024;
    assert_within(
        "2,048 bytes a response",
        held,
        laws::delayed_ack_rate(2048, 0.2, exchange),
        0.02,
    );
    assert_eq!(account.dominant(), Cause::NagleDelayedAck);
    // a response of one segment, or of several full ones that trigger an ACK, is not delayed
    for (block, factor) in [(1024, 15.0), (4380, 15.0)] {
        assert!(read(&setup, block).0 > held * factor, "{block}");
    }
    setup.server.stack.nagle = Nagle::Off;
    assert!(read(&setup, 2048).0 > held * 30.0);
}

#[test]
fn one_in_a_thousand_lost_costs_a_stack_without_fast_retransmit_a_timer_each() {
    let raw = BlockPlan::write_raw(42_000_000, 65_024, 55, 41, 4, 41);
    let clean = seconds(apps::blocks(&both(plain()), &raw, LIMIT).took);
    for (timer_ms, recovery) in [
        (1000, RtoRecovery::GoBackN),
        (1500, RtoRecovery::OldestOnly),
    ] {
        let mut setup = both(StackParams {
            rto_min: Span::from_millis(timer_ms),
            rto_initial: Span::from_millis(timer_ms),
            rto_recovery: recovery,
            ..plain()
        });
        setup.link.loss_to_server = LossParams {
            rule: LossRule::Periodic { every: 1000 },
            data_only: true,
        };
        let result = apps::blocks(&setup, &raw, LIMIT);
        let frames = result.world.path(Side::Client).lost as f64 * 1000.0;
        let law = laws::serial_timeout_time(clean, frames, 0.001, timer_ms as f64 / 1e3);
        assert_within(
            &format!("timer {timer_ms} ms"),
            seconds(result.took),
            law,
            0.02,
        );
        let factor = seconds(result.took) / clean;
        assert!((8.0..13.0).contains(&factor), "{factor}");
        assert_eq!(result.account.dominant(), Cause::Timeout);
    }
}

#[test]
fn fast_retransmit_makes_the_same_loss_harmless_to_a_bulk_copy_on_a_lan() {
    for (name, most) in [("linux", 1.1), ("windows-2000", 1.6), ("bsd-4.4", 3.0)] {
        let mut setup = both(stack(name));
        let clean = apps::bulk(&setup, Side::Client, 42_000_000, LIMIT);
        setup.link.loss_to_server = LossParams::random(0.001);
        let lossy = apps::bulk(&setup, Side::Client, 42_000_000, LIMIT);
        let factor = lossy.took.0 as f64 / clean.took.0 as f64;
        let stats = lossy.world.tcp(Side::Client).stats();
        assert!(stats.fast_retransmissions > 10, "{name}: {stats:?}");
        assert!((1.0..most).contains(&factor), "{name}: {factor} {stats:?}");
        assert!(lossy.intact);
    }
}

#[test]
fn slow_start_is_charged_to_slow_start() {
    let mut setup = both(stack("bsd-4.4"));
    setup.server.stack.receive_window = 65_535;
    setup.link = built_in("ds3-62ms").unwrap().params;
    let result = apps::bulk(&setup, Side::Client, 50_000, LIMIT);
    assert_eq!(
        result.account.dominant(),
        Cause::SlowStart,
        "{:?}",
        result.account
    );
}

#[test]
fn a_slow_processor_is_charged_to_its_side() {
    for (side, cause) in [
        (Side::Client, Cause::ClientThink),
        (Side::Server, Cause::ServerThink),
    ] {
        let mut setup = both(plain());
        let machine = match side {
            Side::Client => &mut setup.client.machine,
            Side::Server => &mut setup.server.machine,
        };
        machine.rx_data.fixed = Span::from_millis(7);
        machine.tx_data.fixed = Span::from_millis(7);
        for from in [Side::Client, Side::Server] {
            let result = apps::bulk(&setup, from, 1_000_000, LIMIT);
            assert_eq!(result.account.dominant(), cause);
            let law = 685.0 * 0.007;
            assert_within("7 ms a packet", seconds(result.took), law, 0.02);
        }
    }
}

#[test]
fn a_slow_start_that_overruns_a_deep_queue_is_repaired_without_a_collapse() {
    let mut setup = both(stack("linux"));
    setup.link = LinkParams {
        rate: 20_000_000,
        access_rate: Some(10_000_000_000),
        delay: Span::from_millis(10),
        queue_bytes: 262_144,
        ..LinkParams::default()
    };
    let result = apps::bulk(&setup, Side::Client, 10_000_000, LIMIT);
    assert!(result.intact && result.bytes == 10_000_000);
    let path = result.world.path(Side::Client);
    assert!(path.queue_drops > 0, "the queue must be deep enough");
    // one overrun drops about as many frames as the path holds, 200; repeated overruns would drop thousands
    assert!(path.queue_drops < 1000, "{} dropped", path.queue_drops);
    let wire = laws::wire_time(10_000_000, 1448, setup.link.rate);
    assert!(seconds(result.took) < 1.5 * wire, "{:?}", result.took);
}
