//! `coax lab` as a command: what it prints, what it writes and how it ends.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    fs,
    process::{Command, Output},
};

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coax"))
        .arg("lab")
        .args(arguments)
        .output()
        .unwrap()
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = lab(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_scenario_file_that_is_wrong_is_named_with_its_key_and_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    for (text, key, allowed) in [
        ("colour = \"red\"", "colour", "direction"),
        ("[set]\nlink.rate = \"0 Mbit/s\"", "link.rate", "zero"),
        (
            "[set]\nclient.stack.mss = 1",
            "client.stack.mss",
            "64 to 9000",
        ),
        ("[client]\nprofile = \"vax\"", "vax", "modern"),
        ("size = \"much\"", "size", "42MB"),
        ("[set]\nlink.queue_bytes = -1", "link.queue_bytes", "u64"),
    ] {
        fs::write(&file, text).unwrap();
        let output = lab(&["run", file.to_str().unwrap()]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert!(
            said.contains(key) && said.contains(allowed),
            "{text}: {said}"
        );
        assert!(said.contains("mine.toml") || key == "vax", "{text}: {said}");
    }
}

#[test]
fn a_copy_from_names_is_told_as_one_object_whose_causes_sum_to_its_time() {
    let told = json(&[
        "copy",
        "--client",
        "wfw-3.11",
        "--from-server",
        "--size",
        "1MiB",
        "--link",
        "ethernet-10",
        "--set",
        "client.stack.receive_window=4380",
        "--json",
    ]);
    assert_eq!(told["bytes"], 1 << 20);
    assert_eq!(told["parameters"]["client.stack"], "wfw-tcpip-32");
    assert_eq!(told["parameters"]["client.stack.receive_window"], "4380");
    let causes = told["causes_ns"].as_object().unwrap();
    let sum: u64 = causes.values().map(|ns| ns.as_u64().unwrap()).sum();
    assert_eq!(sum as f64 / 1e9, told["seconds"].as_f64().unwrap());
    // no faster than the wire
    assert!(told["seconds"].as_f64().unwrap() > f64::from(1 << 20) * 8.0 / 1e7);
    assert!(!told["not_modelled"].as_array().unwrap().is_empty());
}

#[test]
fn the_same_seed_gives_the_same_capture_and_another_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let capture = |seed: &str| {
        let file = folder.path().join("copy.pcapng");
        let path = file.to_str().unwrap();
        let loss = "link.loss_to_server={ rule = { kind = \"random\", probability = 0.01 } }";
        let set = ["--set", "size=300kB", "--set", loss];
        json(
            &[
                &[
                    "run",
                    "dos-dls-5.0-full",
                    "--json",
                    "--seed",
                    seed,
                    "--pcap",
                    path,
                ],
                &set[..],
            ]
            .concat(),
        );
        fs::read(file).unwrap()
    };
    let first = capture("7");
    assert!(first == capture("7"));
    assert!(first != capture("8"));
}

#[test]
fn a_copy_that_does_not_end_in_time_fails() {
    let output = lab(&["run", "dos-ms-net-full", "--set", "limit=10 s"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("FAILED") && said.contains("longer than the 10 s"),
        "{said}"
    );
}

#[test]
fn a_table_is_told_as_the_object_that_is_documented() {
    let told = json(&["tables", "wan-copy", "--json"]);
    let table = &told["tables"][0];
    assert_eq!(table["name"], "wan-copy");
    for cell in table["cells"].as_array().unwrap() {
        for key in [
            "id",
            "published",
            "unit",
            "model",
            "ratio",
            "kind",
            "mechanism",
        ] {
            assert!(!cell[key].is_null(), "{key}: {cell}");
        }
        let ratio = cell["model"].as_f64().unwrap() / cell["published"].as_f64().unwrap();
        assert!((ratio - cell["ratio"].as_f64().unwrap()).abs() < 1e-9);
    }
}
