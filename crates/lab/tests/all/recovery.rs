//! Loss detection and recovery of modern stacks over a link in virtual time.

use coax_lab::{
    Cause, Setup, Side,
    apps::{self, BulkResult},
    laws,
    link::{LinkParams, LossParams, LossRule},
    profile::built_in,
    tcp::{StackParams, params::CongestionControl},
};
use coax_wire::time::Span;

const LIMIT: Span = Span::from_secs(600);

fn over_a_deep_queue(stack: &StackParams, loss: &[u64], bytes: u64) -> BulkResult {
    let mut setup = Setup {
        link: LinkParams {
            rate: 20_000_000,
            access_rate: Some(10_000_000_000),
            delay: Span::from_millis(10),
            queue_bytes: 262_144,
            loss_to_server: LossParams {
                rule: LossRule::Packets {
                    numbers: loss.to_vec(),
                },
                data_only: true,
            },
            ..LinkParams::default()
        },
        keep_truth: true,
        ..Setup::default()
    };
    setup.client.stack = stack.clone();
    setup.server.stack = stack.clone();
    let result = apps::bulk(&setup, Side::Client, bytes, LIMIT);
    assert!(result.intact && result.bytes == bytes);
    result
}

fn linux_6() -> StackParams {
    built_in::<StackParams>("linux-6").unwrap().params
}

#[test]
fn hystart_leaves_slow_start_before_a_deep_queue_overflows() {
    let without = StackParams {
        hystart: false,
        ..linux_6()
    };
    let drops = [linux_6(), without].map(|stack| {
        let result = over_a_deep_queue(&stack, &[], 5_000_000);
        result.world.path(Side::Client).queue_drops
    });
    assert_eq!(drops[0], 0);
    assert!(drops[1] > 100, "{drops:?}");
}

#[test]
fn a_slow_start_that_overruns_a_deep_queue_loses_a_round_once_and_no_time() {
    let reno = StackParams {
        congestion: CongestionControl::NewReno,
        hystart: false,
        ..linux_6()
    };
    let result = over_a_deep_queue(&reno, &[], 10_000_000);
    let dropped = result.world.path(Side::Client).queue_drops;
    let stats = result.world.tcp(Side::Client).stats();
    // the queue holds 170 full frames and the path 33
    assert!((150..250).contains(&dropped), "{dropped}");
    assert_eq!((stats.fast_retransmissions, stats.timeouts), (dropped, 0));
    let wire = laws::wire_time(10_000_000, 1448, 20_000_000);
    assert!(
        result.took.0 as f64 / 1e9 < 1.05 * wire,
        "{:?}",
        result.took
    );
}

#[test]
fn a_segment_lost_again_is_repaired_with_rack_at_once_and_without_by_the_timer() {
    let duplicates_alone = StackParams {
        rack: false,
        ..linux_6()
    };
    // packet 40 is lost, and one of the next 100, which include the retransmission of packet 40
    let timeouts = [linux_6(), duplicates_alone].map(|stack| {
        let after = (41..140).map(|second| {
            let result = over_a_deep_queue(&stack, &[40, second], 400_000);
            let stats = result.world.tcp(Side::Client).stats();
            assert!(stats.fast_retransmissions >= 1, "{second}: {stats:?}");
            stats.timeouts
        });
        after.collect::<Vec<_>>()
    });
    assert_eq!(timeouts[0].iter().sum::<u64>(), 0, "{:?}", timeouts[0]);
    let timed_out = timeouts[1].iter().filter(|timeouts| **timeouts > 0);
    assert_eq!(timed_out.count(), 1, "{:?}", timeouts[1]);
}

#[test]
fn a_timer_on_a_coarse_grid_is_waited_for_since_it_was_set_last() {
    let stack = StackParams {
        fast_retransmit: 0,
        congestion: CongestionControl::None,
        ..built_in("bsd-4.4").unwrap().params
    };
    let begins = [300, 320, 340, 360].map(|lost| {
        let result = over_a_deep_queue(&stack, &[lost], 2_000_000);
        let truth = result.world.truth();
        let waits = truth.iter().filter(|part| part.cause == Cause::Timeout);
        waits.map(|part| part.from).min().unwrap()
    });
    // all four timers expire at the same tick, and the time up to the data's arrival was no wait
    for pair in begins.windows(2) {
        assert!(pair[1] - pair[0] > Span::from_millis(80), "{begins:?}");
    }
}
