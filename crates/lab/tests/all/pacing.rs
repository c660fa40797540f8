//! The server limits the windows of old clients (`server.config.pacing`): what that brings, and that it costs no other copy anything.

use coax_catalog::{files, netbios::Carrier};
use coax_lab::{
    scenario::Scenario,
    smb::{CopyResult, CopySetup, copy},
};

fn run(name: &str, changes: &[&str]) -> CopyResult {
    let text = files::find(files::SCENARIOS, name).unwrap();
    let mut scenario = Scenario::parse(name, text).unwrap();
    for change in changes {
        scenario.set_text(change).unwrap();
    }
    copy(&CopySetup::of(&scenario).unwrap())
}

fn seconds(result: &CopyResult) -> f64 {
    result.copied.clone().unwrap();
    result.took.0 as f64 / 1e9
}

#[test]
fn the_copy_that_took_49_minutes_takes_seconds() {
    let result = run("dos-ms-net-full", &["server.config.pacing=true"]);
    assert!(seconds(&result) <= 6.0, "{} s", seconds(&result));
}

#[test]
fn no_scenario_gets_slower() {
    let over_tcp = |name: &str| Scenario::built_in(name).unwrap().carrier() == Carrier::Tcp;
    for (name, _) in files::SCENARIOS.iter().filter(|(name, _)| over_tcp(name)) {
        for direction in ["direction=to-client", "direction=to-server"] {
            let same = [direction, "size=2MB"];
            let without = seconds(&run(name, &same));
            let with = seconds(&run(name, &[same[0], same[1], "server.config.pacing=true"]));
            std::println!("{name} {direction}: {without:.3} s, with pacing {with:.3} s");
            assert!(
                with <= without * 1.03,
                "{name} {direction}: {without} s, with pacing {with} s"
            );
        }
    }
}
