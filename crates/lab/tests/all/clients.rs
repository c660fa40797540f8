//! Several clients of one server.

use coax_client::Direction;
use coax_lab::{
    Cause, End, Side,
    scenario::Scenario,
    smb::{CopyResult, CopySetup, copy},
};

/// Clients on a switch, on which 10 Mbit/s limit a copy and machines cost nothing. The windows are those of old machines: with larger ones,
/// frames of several clients wait before the server's port for longer than a retransmission timer.
fn scenario(clients: u16, changes: &[&str]) -> CopySetup {
    let mut scenario = Scenario::new("clients");
    let all = [
        "link=ethernet-10",
        "server.machine=fast",
        "server.stack.receive_window=8760",
        "client.stack.receive_window=8760",
        "direction=to-server",
        "size=400kB",
    ];
    for change in all.iter().chain(changes) {
        scenario.set_text(change).unwrap();
    }
    scenario.set_text(&format!("clients={clients}")).unwrap();
    CopySetup::of(&scenario).unwrap()
}

fn run(clients: u16, changes: &[&str]) -> CopyResult {
    let setup = scenario(clients, changes);
    let result = copy(&setup);
    assert_eq!(result.copied, Ok(setup.size), "{changes:?}");
    for (number, client) in (0..).zip(&result.clients) {
        assert_eq!(client.copied, Ok(setup.size), "{number} {changes:?}");
        let took = client.ended - client.began;
        assert_eq!(client.account.total(), took, "{number} {changes:?}");
    }
    result
}

/// From the first request of any client to the last response.
fn seconds(result: &CopyResult) -> f64 {
    let began = result.clients.iter().map(|client| client.began).min();
    let ended = result.clients.iter().map(|client| client.ended).max();
    match began.zip(ended) {
        Some((began, ended)) => (ended - began).0 as f64 / 1e9,
        None => result.took.0 as f64 / 1e9,
    }
}

const PROFILES: &str = r#"also=["windows-98", "ms-net-3.11-full", "wfw-3.11", "nt-4-copy"]"#;

#[test]
fn the_port_of_the_server_is_shared_and_never_exceeded() {
    for direction in ["direction=to-server", "direction=to-client"] {
        let alone = seconds(&run(1, &[direction]));
        for clients in [2, 4, 8] {
            let together = seconds(&run(clients, &[direction]));
            let ratio = together / alone / f64::from(clients);
            assert!(
                (0.9..1.05).contains(&ratio),
                "{direction} {clients}: {ratio}"
            );
            let wire = f64::from(clients) * 400_000.0 * 8.0 / 1e7;
            assert!(together > wire, "{together} s, but the wire needs {wire} s");
        }
    }
}

#[test]
fn clients_that_are_slower_than_the_wire_do_not_slow_each_other() {
    let slow = ["client.machine=wfw-486sx33", "link=ethernet-100"];
    let (alone, together) = (seconds(&run(1, &slow)), seconds(&run(5, &slow)));
    assert!(
        (1.0..1.05).contains(&(together / alone)),
        "{together} {alone}"
    );
}

#[test]
fn requests_of_all_clients_wait_for_one_processor_and_one_disk() {
    for (change, slowest) in [
        (r#"server.machine.request.fixed="20 ms""#, 0.02),
        (r#"server.machine.disk_write.fixed="20 ms""#, 0.02),
    ] {
        let changes = [
            "link=ethernet-100",
            "client.profile.write.block=16000",
            change,
        ];
        let result = run(6, &changes);
        let requests = 6.0 * 400_000.0 / 16_000.0;
        let least = requests * slowest;
        assert!(seconds(&result) >= least, "{change}: {}", seconds(&result));
        assert!(
            seconds(&result) < least * 1.3,
            "{change}: {}",
            seconds(&result)
        );
        let waits = result
            .clients
            .iter()
            .map(|it| it.account.get(Cause::ServerThink).0);
        let share = waits.sum::<u64>() as f64 / 6e9 / seconds(&result);
        assert!(share > 0.85, "{change}: {share}");
    }
}

#[test]
fn different_clients_copy_every_byte_both_ways_at_once() {
    for direction in [Direction::ToServer, Direction::ToClient] {
        for link in ["link=ethernet-10", "link=hub-10", "link=ds3-62ms"] {
            let mut setup = scenario(6, &[PROFILES, link, "size=100kB"]);
            setup.whole = true;
            setup.direction = direction;
            let result = copy(&setup);
            assert_eq!(result.clients.len(), 6);
            assert_eq!(result.wrong_bytes, 0);
            for client in &result.clients {
                assert_eq!(client.copied, Ok(100_000), "{} {link}", client.profile);
            }
            let names: Vec<_> = result
                .clients
                .iter()
                .map(|it| it.profile.as_str())
                .collect();
            assert_eq!(names.get(1..3).unwrap(), ["windows-98", "ms-net-3.11-full"]);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_frames_and_each_client_has_its_own() {
    let digest = |changes: &[&str]| copy(&scenario(4, changes)).world.digest();
    let hub = ["link=hub-10", "seed=3"];
    assert_eq!(digest(&hub), digest(&hub));
    assert_ne!(digest(&hub), digest(&["link=hub-10", "seed=4"]));
    let result = run(4, &[PROFILES]);
    let sent = [1, 2, 3].map(|client| result.world.path(End::new(Side::Client, client)).frames);
    assert!(sent.iter().all(|frames| *frames > 50), "{sent:?}");
    assert_ne!(sent.first(), sent.get(1));
}

/// Counts, not time: the events of each client's copy stay the same to fifty stations.
#[test]
fn cost_grows_linearly_to_fifty_clients() {
    for link in ["link=ethernet-100", "link=hub-10"] {
        let events = |clients| {
            let result = run(clients, &[link, "size=100kB"]);
            let frames: u64 = result.world.path(Side::Server).frames
                + (0..clients)
                    .map(|it| result.world.path(End::new(Side::Client, it)).frames)
                    .sum::<u64>();
            let collisions = result.world.medium().map_or(0, |it| it.collisions);
            (
                result.world.events() as f64 / f64::from(clients),
                result.world.events() as f64 / (frames + collisions) as f64,
            )
        };
        let few = events(2);
        for clients in [10, 25, 50] {
            let many = events(clients);
            println!("{link} {clients}: {many:?} after {few:?}");
            assert!(many.1 < few.1 * 1.3, "{link} {clients}: {many:?} {few:?}");
            if link == "link=ethernet-100" {
                assert!(many.0 < few.0 * 1.3, "{link} {clients}: {many:?} {few:?}");
            }
        }
    }
}
