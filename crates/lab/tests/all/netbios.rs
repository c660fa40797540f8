//! Copies over NetBEUI, NetBIOS over IPX and direct hosting, by the engines that `coax serve` runs on real interfaces.

use coax_catalog::scenario::Scenario;
use coax_client::Direction;
use coax_lab::{
    Carrier, Cause,
    link::LossParams,
    smb::{CopyResult, CopySetup, copy},
};

const OTHERS: [Carrier; 3] = [Carrier::Netbeui, Carrier::Nbipx, Carrier::Ipx];

fn setup(name: &str, carrier: Carrier, size: u64, direction: Direction) -> CopySetup {
    let mut scenario = Scenario::built_in(name).unwrap();
    scenario
        .set_text(&format!("transport={}", carrier.name()))
        .unwrap();
    scenario.set_text(&format!("size={size}")).unwrap();
    let mut setup = CopySetup::of(&scenario).unwrap();
    setup.direction = direction;
    setup.whole = true;
    setup.world.keep_truth = true;
    setup
}

/// The copy has every byte, and its causes add up to its time, in sum and in order.
fn checked(setup: &CopySetup) -> CopyResult {
    let result = copy(setup);
    assert_eq!(
        result.copied.clone(),
        Ok(setup.files_of(0).bytes()),
        "{:?}",
        setup.world.carrier
    );
    assert_eq!(result.wrong_bytes, 0);
    assert_eq!(result.account.total(), result.took);
    let stretches = result.world.truth();
    let end = result.world.now();
    let begin = stretches.first().unwrap().from;
    assert_eq!(end - begin, result.took);
    for pair in stretches.windows(2) {
        assert_eq!(pair[0].to, pair[1].from, "no gap and no overlap");
    }
    result
}

#[test]
fn every_scenario_copies_both_ways_over_every_transport_that_it_may_use() {
    for (name, _) in coax_catalog::files::SCENARIOS {
        for carrier in OTHERS {
            let is_wan = name.starts_with("wan-");
            if (carrier == Carrier::Netbeui && is_wan) || name.starts_with("tcp-") {
                continue; // through a router, or TCP alone
            }
            for direction in [Direction::ToServer, Direction::ToClient] {
                checked(&setup(name, carrier, 200_000, direction));
            }
        }
    }
}

#[test]
fn lost_frames_are_sent_again_and_their_time_is_charged_to_recovery() {
    for carrier in OTHERS {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let mut setup = setup("windows-95-pentium", carrier, 2_000_000, direction);
            let clean = checked(&setup);
            setup.world.link.loss_to_server = LossParams::random(0.02);
            setup.world.link.loss_to_client = LossParams::random(0.02);
            let result = checked(&setup);
            let sent = match direction {
                Direction::ToServer => result.client_tcp,
                Direction::ToClient => result.server_tcp,
            };
            let lost = result.to_server.lost + result.to_client.lost;
            let recovery = [Cause::Timeout, Cause::FastRecovery, Cause::NagleDelayedAck]
                .map(|cause| result.account.get(cause).0)
                .iter()
                .sum::<u64>();
            assert!(lost > 10, "{carrier:?} {direction:?}");
            assert!(result.took > clean.took);
            if carrier != Carrier::Ipx {
                assert!(sent.timeout_retransmissions + sent.fast_retransmissions > 0);
            }
            assert!(
                recovery > (result.took.0 - clean.took.0) / 2,
                "{carrier:?} {direction:?}: {:?}",
                result.account
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    for carrier in OTHERS {
        let mut setup = setup("windows-95-pentium", carrier, 300_000, Direction::ToServer);
        setup.world.link.loss_to_server = LossParams::random(0.05);
        let digest = || copy(&setup).world.digest();
        assert_eq!(digest(), digest());
    }
}

#[test]
fn a_copy_takes_at_least_as_long_as_the_wire_needs_for_its_frames() {
    for carrier in OTHERS {
        let result = checked(&setup(
            "lan-2000-to-nt",
            carrier,
            1_000_000,
            Direction::ToServer,
        ));
        let bits = result.to_server.wire_bytes * 8;
        let floor = bits * 10; // 100 Mbit/s: 10 ns a bit; the log-on is part of neither bound
        assert!(result.took.0 > floor * 95 / 100, "{carrier:?}");
    }
}

#[test]
fn several_clients_copy_at_the_same_time() {
    for carrier in OTHERS {
        let mut scenario = Scenario::built_in("windows-95-pentium").unwrap();
        for assignment in ["clients=3", "also=[\"wfw-3.11\"]", "size=200000"] {
            scenario.set_text(assignment).unwrap();
        }
        let carried = format!("transport={}", carrier.name());
        scenario.set_text(&carried).unwrap();
        let result = copy(&CopySetup::of(&scenario).unwrap());
        assert_eq!(result.clients.len(), 3);
        for client in &result.clients {
            assert_eq!(client.copied, Ok(200_000), "{carrier:?}");
            assert_eq!(client.account.total(), client.ended - client.began);
        }
    }
}

/// A driver that looks at its card now and then finds several frames. A station that takes them together answers them together.
#[test]
fn frames_that_are_taken_together_are_acknowledged_together() {
    let acknowledgments = |at_once: u16| {
        let mut scenario = Scenario::built_in("lan-2000-to-nt").unwrap();
        for setting in [
            "transport=netbeui".to_owned(),
            "size=2000000".to_owned(),
            "direction=to-server".to_owned(),
            "server.card.poll=500 us".to_owned(),
            "client.netbios=coax".to_owned(),
            "server.netbios=coax".to_owned(),
            format!("server.netbios.frames_at_once={at_once}"),
        ] {
            scenario.set_text(&setting).unwrap();
        }
        let mut setup = CopySetup::of(&scenario).unwrap();
        (setup.whole, setup.world.keep_truth) = (true, true);
        let result = checked(&setup);
        let data = result.client_tcp.data_segments;
        assert!(result.client_tcp.timeouts == 0 && data > 1300, "{data}");
        (result.server_tcp.pure_acks, data)
    };
    let (each, data) = acknowledgments(1);
    let (some, _) = acknowledgments(2);
    let (all, _) = acknowledgments(256);
    assert!(each >= data, "one for each frame: {each} of {data}");
    assert!(some < each && all < each / 4 * 3, "{all}, {some}, {each}");
    assert!(all >= data / 7, "one for each window at least: {all}");
}
