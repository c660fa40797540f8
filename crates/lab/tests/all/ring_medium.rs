//! Copies over a Token Ring.

use coax_lab::{
    Cause, Side,
    scenario::Scenario,
    smb::{CopyResult, CopySetup, copy},
};

const BYTES: f64 = 2_000_000.0;

fn run(changes: &[&str]) -> CopyResult {
    let mut scenario = Scenario::new("ring");
    let all = [
        "protocol=tcp",
        "direction=to-client",
        "size=2MB",
        "link=token-ring-4",
        "client.stack=bsd-4.4",
        "server.stack=bsd-4.4",
        "server.machine=fast",
        "client.stack.receive_window=32768",
        // a single first segment waits for the delayed ACK
        "server.stack.initial_window=2",
    ];
    for change in all.iter().chain(changes) {
        scenario.set_text(change).unwrap();
    }
    let setup = CopySetup::of(&scenario).unwrap();
    let result = copy(&setup);
    assert_eq!(result.copied, Ok(setup.size));
    assert_eq!(result.account.total(), result.took);
    result
}

const LARGE: [&str; 2] = ["client.stack.mss=4424", "server.stack.mss=4424"];

/// The ring's time for data and its ACKs, one for two segments: framing of 29 bytes, a token of 3, and a turn at 4 Mbit/s.
fn least(mss: f64, rate: f64) -> f64 {
    let segments = BYTES / mss;
    let frame = |bytes: f64| (bytes + 40.0 + 29.0 + 3.0) * 8.0 / rate;
    segments * frame(mss) + segments / 2.0 * frame(0.0)
}

#[test]
fn a_copy_takes_the_time_of_its_frames_and_tokens() {
    for (rate, link) in [(4e6, "link=token-ring-4"), (16e6, "link=token-ring-16")] {
        for (mss, changes) in [(1460.0, &LARGE[..0]), (4424.0, &LARGE[..])] {
            let changes: Vec<&str> = changes.iter().copied().chain([link]).collect();
            let took = run(&changes).took.0 as f64 / 1e9;
            let ratio = took / least(mss, rate);
            println!("{link} {mss}: {took:.3} s, {ratio:.3}");
            assert!((1.0..1.12).contains(&ratio), "{link} {mss}: {ratio}");
        }
    }
}

#[test]
fn larger_frames_are_faster_where_each_of_them_costs_work() {
    let slow = ["client.machine.rx_data.fixed=\"6 ms\""];
    let small = run(&slow).took;
    let changes: Vec<&str> = slow.iter().chain(&LARGE).copied().collect();
    let large = run(&changes).took;
    let ratio = small.0 as f64 / large.0 as f64;
    assert!((1.5..3.1).contains(&ratio), "{ratio}");
}

#[test]
fn a_full_ring_gives_each_station_its_turn_and_drops_nothing() {
    let alone = run(&[]).took.0 as f64;
    let result = run(&["link.others={ stations = 3, load = 3.0, frame_bytes = 1518 }"]);
    let medium = result.world.medium().unwrap();
    assert_eq!((medium.collisions, medium.dropped), (0, 0));
    assert_eq!(result.world.tcp(Side::Server).stats().timeouts, 0);
    let ratio = result.took.0 as f64 / alone;
    // one of four stations that always have a frame; the receiver's ACKs take a turn too
    assert!((3.5..5.5).contains(&ratio), "{ratio}");
    assert!(result.account.get(Cause::Queueing).0 as f64 > 0.5 * result.took.0 as f64);
}

#[test]
fn a_ring_has_no_router_and_its_frames_have_a_limit() {
    for wrong in [
        "link.access_rate=\"100 Mbit/s\"",
        "link.others={ stations = 3, load = 1.0, frame_bytes = 5000 }",
    ] {
        let mut scenario = Scenario::new("wrong");
        scenario.set_text("link=token-ring-4").unwrap();
        scenario.set_text(wrong).unwrap();
        assert!(CopySetup::of(&scenario).is_err(), "{wrong}");
    }
    let mut scenario = Scenario::new("wrong");
    scenario.set_text("protocol=tcp").unwrap();
    scenario.set_text("clients=2").unwrap();
    let error = CopySetup::of(&scenario).unwrap_err().to_string();
    assert!(error.contains("smb"), "{error}");
}
