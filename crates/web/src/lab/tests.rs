#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

fn request(scenario: &str, changes: &[(&str, &str)], picture: bool) -> String {
    json!({ "scenario": scenario, "changes": changes, "picture": picture }).to_string()
}

#[test]
fn every_choice_has_a_title_and_every_cell_a_scenario_that_resolves() {
    let catalogue = catalogue();
    for choice in catalogue["choices"].as_array().unwrap() {
        for file in choice["files"].as_array().unwrap() {
            assert!(!file["title"].as_str().unwrap().is_empty(), "{file}");
        }
    }
    let tables = catalogue["tables"].as_array().unwrap();
    assert_eq!(tables.len(), tables::names().count());
    let cells = tables
        .iter()
        .flat_map(|table| table["cells"].as_array().unwrap());
    let mut count = 0;
    for cell in cells {
        let text = cell["scenario"].as_str().unwrap();
        Scenario::parse("cell", text).unwrap().resolve().unwrap();
        count += 1;
    }
    assert!(count > 60, "{count} cells");
}

/// A change is refused exactly where the page disables it; and a shared Ethernet is short.
fn describe_or_refuse(name: &str, key: &str, value: &str) {
    let idle = describe(&request(name, &[], false)).unwrap()["without_effect"].clone();
    let is_idle = idle.as_array().unwrap().iter().any(|idle| idle == key);
    let changed = describe(&request(name, &[(key, value)], false));
    let too_long = key == "link.delay"
        && changed
            .as_ref()
            .is_err_and(|why| why.to_string().contains("shared"));
    assert_eq!(
        changed.is_err() && !too_long,
        is_idle,
        "{name} {key}: {changed:?}"
    );
}

#[test]
fn every_slider_and_switch_changes_every_scenario() {
    for (name, _) in files::SCENARIOS {
        let keys = SLIDERS.iter().map(|slider| (slider.key, slider.max));
        for (key, max) in keys {
            let value = match key {
                "link.rate" => "10 Mbit/s".to_owned(),
                key if key.ends_with("delay")
                    || key.ends_with("ack")
                    || key.ends_with("rto_min") =>
                {
                    format!("{max} ms")
                }
                _ => format!("{max}"),
            };
            describe_or_refuse(name, key, &value);
        }
        for switch in SWITCHES {
            for value in switch.values {
                describe_or_refuse(name, switch.key, value);
            }
        }
    }
}

#[test]
fn a_run_is_that_of_the_command_line_and_can_be_drawn() {
    let small = [("size", "1000000")];
    let value = run(&request("wfw-486", &small, true)).unwrap();
    let mut scenario = Scenario::built_in("wfw-486").unwrap();
    keys::set_text(&mut scenario, "size=1000000").unwrap();
    let summary = serde_json::to_value(run::run(&scenario).unwrap()).unwrap();
    assert_eq!(value["summary"], summary);
    assert!(value["picture"].as_str().unwrap().starts_with("<svg"));
}

#[test]
fn what_is_wrong_is_named() {
    let said = |request: &str| format!("{:#}", describe(request).unwrap_err());
    assert!(said("{").contains("request is damaged"));
    assert!(said(&request("no-such", &[], false)).contains("dos-386sx"));
    let wrong = said(&request("wfw-486", &[("client.stack.mss", "-1")], false));
    assert!(wrong.contains("mss"), "{wrong}");
    let wrong = said(&request("size = 3\nzise = 4\n", &[], false));
    assert!(wrong.contains("zise"), "{wrong}");
}
