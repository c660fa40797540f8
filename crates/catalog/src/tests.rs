#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::string::ToString;

use crate::{
    card::NicParams,
    component::{Described, built_in, built_in_with, parse},
    files::{CLIENTS, SCENARIOS},
    link::LinkParams,
    machine::MachineParams,
    netbios::NetbiosParams,
    scenario::Scenario,
    server::ServerParams,
    stack::StackParams,
};
use std::format;

#[test]
fn every_scenario_resolves() {
    for (name, text) in SCENARIOS {
        let scenario = Scenario::parse(name, text).unwrap();
        assert!(!scenario.title().is_empty(), "{name}");
        if let Err(error) = scenario.resolve() {
            panic!("{error}");
        }
    }
}

#[test]
fn every_client_names_a_stack_and_a_machine_that_exist() {
    for (name, _) in CLIENTS {
        let mut scenario = Scenario::new(name);
        scenario.choose_client(name).unwrap();
        for transport in ["tcp", "netbeui"] {
            scenario.set("transport", transport.into()).unwrap();
            if let Err(error) = scenario.resolve() {
                panic!("{error}");
            }
        }
    }
}

fn every<T: Described>() -> usize {
    for (name, _) in T::BUILT_IN {
        built_in::<T>(name).unwrap();
    }
    T::BUILT_IN.len()
}

#[test]
fn every_component_parses_and_every_stack_names_its_sources() {
    let files = |folder: &str| {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        std::fs::read_dir(data.join(folder)).unwrap().count()
    };
    assert_eq!(every::<StackParams>(), files("stacks"));
    assert_eq!(every::<MachineParams>(), files("machines"));
    assert_eq!(every::<NicParams>(), files("cards"));
    assert_eq!(every::<LinkParams>(), files("links"));
    assert_eq!(every::<ServerParams>(), files("servers"));
    assert_eq!(every::<NetbiosParams>(), files("netbios"));
    for (name, _) in NetbiosParams::BUILT_IN {
        let netbios = built_in::<NetbiosParams>(name).unwrap();
        assert_eq!(
            netbios.evidence.len(),
            21,
            "{name} gives every value a source"
        );
    }
    let own = built_in::<NetbiosParams>("coax").unwrap();
    assert_eq!(
        own.params,
        NetbiosParams::default(),
        "what coax's stations do"
    );
    for (name, _) in StackParams::BUILT_IN {
        let stack = built_in::<StackParams>(name).unwrap();
        assert!(
            stack.evidence.iter().all(|known| !known.source.is_empty()),
            "{name}"
        );
        let mut keys = stack.evidence.iter().map(|known| known.key.as_str());
        assert!(keys.any(|key| key == "receive_window"), "{name}");
    }
}

#[test]
fn a_bad_file_is_told_of_with_its_name_its_key_and_what_is_allowed() {
    let read = |values: &str| {
        let text = format!("title = \"t\"\n[sources]\ns = \"somewhere\"\n[values]\n{values}");
        parse::<StackParams>("bad", &text).unwrap_err().to_string()
    };
    let unknown = read("windows = { value = 1, source = \"s\" }");
    assert!(
        unknown.contains("bad: windows: unknown field") && unknown.contains("receive_window"),
        "{unknown}"
    );
    let impossible = read("ack_every = { value = 0, source = \"s\" }");
    assert!(
        impossible.contains("bad: ack_every") && impossible.contains("at least 1"),
        "{impossible}"
    );
    let unit = read("rto_min = { value = 300, source = \"s\" }");
    assert!(unit.contains("bad: rto_min"), "{unit}");
    let choice = read("nagle = { value = \"sometimes\", source = \"s\" }");
    assert!(choice.contains("minshall"), "{choice}");
    let source = read("mss = { value = 1460, source = \"elsewhere\" }");
    assert!(source.contains("`elsewhere` is not among"), "{source}");
    assert!(read("mss = 1460").contains("bad: "));
}

#[test]
fn impossible_links_and_unknown_names_are_refused() {
    let zero = toml::Value::String("0 Mbit/s".to_string());
    let refused = built_in_with::<LinkParams>("ethernet-10", &[("rate", zero)]).unwrap_err();
    assert!(
        refused.to_string().contains("ethernet-10: rate"),
        "{refused}"
    );
    let unknown = built_in::<StackParams>("os-9").unwrap_err().to_string();
    assert!(
        unknown.contains("no stack is called `os-9`") && unknown.contains("windows-95"),
        "{unknown}"
    );
}

#[test]
fn a_changed_value_loses_its_evidence() {
    let changed = built_in_with::<StackParams>(
        "windows-95",
        &[("receive_window", toml::Value::Integer(3072))],
    );
    let changed = changed.unwrap();
    assert_eq!(changed.params.receive_window, 3072);
    assert!(
        changed
            .evidence
            .iter()
            .all(|known| known.key != "receive_window")
    );
}
