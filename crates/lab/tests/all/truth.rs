//! Properties of every run with any stacks, machines and seeds.

use coax_lab::{
    Ended, Setup, Side, Tap, World,
    apps::{self, BlockPlan, BulkReceiver, BulkSender},
    laws,
    link::{Duplex, LinkParams, LossParams, LossRule, Reorder, TxFull},
    profile::{Described, built_in},
    tcp::StackParams,
    units::Cost,
};
use coax_wire::time::Span;
use proptest::prelude::*;

const LIMIT: Span = Span::from_secs(1_000_000);

fn stacks() -> impl Strategy<Value = StackParams> {
    (
        0..StackParams::BUILT_IN.len(),
        prop_oneof![Just(0_u32), 600..70_000_u32],
    )
        .prop_map(|(index, window)| {
            let (name, _) = StackParams::BUILT_IN.get(index).unwrap();
            let mut stack: StackParams = built_in(name).unwrap().params;
            if window > 0 {
                stack.receive_window = window;
            }
            // a run must end, so no connection may be given up
            stack.max_retries = 1000;
            stack
        })
}

fn losses() -> impl Strategy<Value = LossParams> {
    let rule = prop_oneof![
        3 => Just(LossRule::None),
        1 => (0.0..0.05).prop_map(|probability| LossRule::Random { probability }),
        // with shorter periods, go-back-N bursts may lose the same segment for ever
        1 => (90..300_u64).prop_map(|every| LossRule::Periodic { every }),
        1 => (0.0..0.01, 0.2..1.0).prop_map(|(to_bad, to_good)| LossRule::Burst {
            to_bad,
            to_good,
            loss_good: 0.0,
            loss_bad: 0.9,
        }),
    ];
    (rule, any::<bool>()).prop_map(|(rule, data_only)| LossParams { rule, data_only })
}

/// Two hosts and the default link.
fn hosts() -> impl Strategy<Value = Setup> {
    let costs = (0..3_000_u64, 0..3_000_u64);
    (stacks(), stacks(), costs, 0..20_usize, any::<bool>()).prop_map(
        |(client, server, (client_cost, server_cost), ring, drops)| {
            let mut setup = Setup {
                keep_truth: true,
                ..Setup::default()
            };
            setup.client.stack = client;
            setup.server.stack = server;
            setup.client.machine.tx_data = Cost::fixed(Span(client_cost * 1000));
            setup.client.machine.rx_data = Cost::fixed(Span(client_cost * 700));
            setup.client.machine.request = Cost::fixed(Span(client_cost * 300));
            setup.server.machine.rx_ack = Cost::fixed(Span(server_cost * 100));
            setup.server.machine.rx_data = Cost::fixed(Span(server_cost * 1000));
            setup.client.nic.tx_ring = ring;
            setup.client.nic.tx_full = if drops { TxFull::Drop } else { TxFull::Block };
            setup.server.nic.rx_ring = ring * 2;
            setup
        },
    )
}

fn links() -> impl Strategy<Value = LinkParams> {
    let path = (1..100_u64, 0..20_000_u64, any::<bool>());
    (losses(), losses(), path).prop_map(|(to_server, to_client, (mbit, delay_us, half))| {
        LinkParams {
            rate: mbit * 1_000_000,
            queue_bytes: 20_000,
            delay: Span(delay_us * 1000),
            duplex: if half { Duplex::Half } else { Duplex::Full },
            loss_to_server: to_server,
            loss_to_client: to_client,
            ..LinkParams::default()
        }
    })
}

/// Any hosts and links; optionally a polling card, a faster access link, and reordering.
fn setups() -> impl Strategy<Value = Setup> {
    (hosts(), links(), 0..4_u8, any::<u64>()).prop_map(|(hosts, link, extra, seed)| {
        let mut setup = Setup {
            link,
            seed,
            ..hosts
        };
        setup.server.nic.poll = Span(u64::from(extra & 1) * 300_000);
        setup.link.access_rate = (extra & 2 > 0).then_some(100_000_000);
        if extra == 3 {
            setup.link.reorder = Reorder {
                probability: 0.02,
                delay: Span(2_000_000),
            };
        }
        setup
    })
}

/// The causes and the intervals add up to the elapsed time, without gaps.
fn assert_truth(world: &World, took: Span) {
    assert_eq!(world.account().total(), took);
    let stretches = world.truth();
    assert_eq!(stretches.last().map(|last| last.to), Some(world.now()));
    for pair in stretches.windows(2) {
        assert_eq!(pair.first().map(|s| s.to), pair.last().map(|s| s.from));
    }
    for (cause, spent) in world.account().iter() {
        let of_it = stretches.iter().filter(|stretch| stretch.cause == cause);
        let sum: u64 = of_it.map(|stretch| (stretch.to - stretch.from).0).sum();
        assert_eq!(sum, spent.0, "{}", cause.name());
    }
}

/// Neither the wire's nor the window's limit is exceeded.
fn assert_possible(setup: &Setup, receiver: &StackParams, bytes: u64, took: Span) {
    let seconds = took.0 as f64 / 1e9 + 1e-6;
    assert!(seconds >= laws::wire_time(bytes, 1460, setup.link.rate));
    let window = f64::from(receiver.receive_window);
    let round_trip = 2.0 * setup.link.delay.0 as f64 / 1e9;
    // the first window needs no ACK
    assert!(seconds + round_trip >= (bytes as f64 / window - 1.0) * round_trip);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_bulk_run_ends_intact_with_causes_that_sum_to_its_time(setup in setups(), to_server in any::<bool>()) {
        let from = if to_server { Side::Client } else { Side::Server };
        let result = apps::bulk(&setup, from, 120_000, LIMIT);
        prop_assert_eq!(result.ended, Ended::Stopped);
        prop_assert!(result.intact && result.bytes == 120_000);
        assert_truth(&result.world, result.took);
        let receiver = if to_server { &setup.server.stack } else { &setup.client.stack };
        // the sender may connect before the receiver does, so the bounds apply to the whole run
        assert_possible(&setup, receiver, 120_000, Span(result.world.now().0));
    }

    #[test]
    fn every_copy_in_blocks_ends_with_causes_that_sum_to_its_time(setup in setups(), raw in any::<bool>(), block in 500_u64..30_000, split in any::<bool>()) {
        let mut plan = if raw {
            BlockPlan::write_raw(60_000, block, 55, 41, 4, 41)
        } else {
            BlockPlan::read(60_000, block, 51, 52)
        };
        plan.split_header = split;
        let result = apps::blocks(&setup, &plan, LIMIT);
        prop_assert!(result.done, "{:?}", result.ended);
        assert_truth(&result.world, result.took);
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes(setup in setups()) {
        let run = || {
            let mut world = World::new(&setup);
            world.record(&[Tap::Client, Tap::Server, Tap::Wire]);
            let (mut sender, mut receiver) = (BulkSender::new(50_000), BulkReceiver::new(50_000));
            world.run(&mut sender, &mut receiver, LIMIT);
            (world.digest(), world.now(), world.captures())
        };
        let (first, second) = (run(), run());
        prop_assert!(first == second);
    }
}

#[test]
fn another_seed_gives_another_run() {
    let run = |seed| {
        let mut setup = Setup {
            seed,
            ..Setup::default()
        };
        setup.link.loss_to_server = LossParams::random(0.01);
        apps::bulk(&setup, Side::Client, 1_000_000, LIMIT)
            .world
            .digest()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
