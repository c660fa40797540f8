//! `coax lab` as a command: what it prints, what it writes and how it ends.

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
        (
            "[set]\nlink.queue_bytes = -1",
            "link.queue_bytes",
            "whole number",
        ),
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

#[test]
fn a_sweep_is_one_object_a_table_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, svg) = (path("grid.csv"), path("grid.svg"));
    let told = json(&[
        "sweep",
        "dos-dls-5.0-full",
        "--set",
        "size=200kB",
        "--grid",
        "link.delay=0 ms,5 ms,10 ms",
        "--grid",
        "direction=to-server,to-client",
        "--json",
        "--csv",
        &csv,
        "--svg",
        &svg,
    ]);
    assert_eq!(
        told["axes"][0]["numbers"],
        serde_json::json!([0.0, 0.005, 0.01])
    );
    assert_eq!(told["axes"][0]["unit"], "s");
    let runs = told["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let causes = run["causes_ns"].as_object().unwrap();
        let sum: u64 = causes.values().map(|ns| ns.as_u64().unwrap()).sum();
        assert_eq!(sum as f64 / 1e9, run["seconds"].as_f64().unwrap());
    }
    let rows = fs::read_to_string(csv).unwrap();
    assert!(rows.starts_with("point,link.delay_s,direction,"), "{rows}");
    assert_eq!(rows.lines().count(), 7);
    assert!(fs::read_to_string(svg).unwrap().starts_with("<svg "));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_sweep_without_a_grid_and_a_wrong_one_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("grid.csv");
    let csv = csv.to_str().unwrap();
    for (arguments, part) in [
        (&["sweep", "dos-dls-5.0-full"][..], "[sweep]"),
        (
            &["sweep", "dos-dls-5.0-full", "--grid", "link.rate=0 Mbit/s"],
            "--grid 'link.rate",
        ),
        (
            &["sweep", "dos-dls-5.0-full", "--grid", "seed=1..20000:20000"],
            "2 to 10000",
        ),
        (
            &["sweep", "weather", "--grid", "seed=1,2"],
            "dos-dls-5.0-full",
        ),
    ] {
        let output = lab(&[arguments, &["--csv", csv]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A sweep with chance in it, in a folder.
fn sampled(folder: &std::path::Path, more: &[&str]) -> std::process::Output {
    let arguments = [
        "lab",
        "sweep",
        "dos-dls-5.0-full",
        "--set",
        "size=30kB",
        "--set",
        "link.loss_to_server={ rule = { kind = \"random\", probability = 0.02 } }",
        "--sample",
        "latin:9",
        "--range",
        "link.delay=0..9 ms",
        "--range",
        "client=wfw-3.11,windows-98",
        "--replicates",
        "2",
    ];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_coax"));
    command
        .args(arguments)
        .args(more)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn the_tables_of_a_sweep_are_the_same_for_any_number_of_threads_and_parts() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for threads in ["1", "2", "5"] {
        let (csv, parquet) = (format!("{threads}.csv"), format!("{threads}.parquet"));
        let more = ["--threads", threads, "--csv", &csv, "--parquet", &parquet];
        assert!(sampled(folder.path(), &more).status.success());
        assert!(read(&csv) == read("1.csv") && read(&parquet) == read("1.parquet"));
    }
    assert!(read("1.parquet").starts_with(b"PAR1") && read("1.parquet").ends_with(b"PAR1"));
    let mut together = Vec::new();
    for index in 1..=4 {
        let (part, csv) = (format!("{index}/4"), format!("part-{index}.csv"));
        assert!(
            sampled(folder.path(), &["--shard", &part, "--csv", &csv])
                .status
                .success()
        );
        let text = read(&csv);
        let head = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        together.extend_from_slice(&text[if index == 1 { 0 } else { head }..]);
    }
    assert!(together == read("1.csv"));
}

#[test]
fn a_table_that_cannot_be_completed_does_not_get_its_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.parquet"), "old").unwrap();
    // files of this process may have 1024 bytes, and more is an error instead of a signal
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
    for name in ["old.parquet", "new.parquet"] {
        let done = std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_coax"), "lab", "sweep"])
            .args([
                "dos-dls-5.0-full",
                "--set",
                "size=10kB",
                "--grid",
                "seed=1..9:9",
            ])
            .args(["--parquet", name])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(
            said.contains(&format!("{name} cannot be written: ")),
            "{said}"
        );
    }
    assert_eq!(fs::read(folder.path().join("old.parquet")).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let device = sampled(folder.path(), &["--parquet", "/dev/full"]);
    let said = String::from_utf8_lossy(&device.stderr).into_owned();
    assert_eq!(device.status.code(), Some(1), "{said}");
    assert!(said.contains("it is not an ordinary file"), "{said}");
}

#[test]
fn a_run_and_a_table_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plot.svg");
    let path = file.to_str().unwrap();
    for arguments in [
        &[
            "run",
            "dos-dls-5.0-full",
            "--set",
            "size=1MB",
            "--svg",
            path,
            "--span",
            "0..0.05",
        ][..],
        &[
            "copy", "--client", "wfw-3.11", "--size", "1MB", "--svg", path,
        ],
        &["tables", "wan-copy", "--svg", path],
    ] {
        assert!(lab(arguments).status.success());
        assert!(fs::read_to_string(&file).unwrap().ends_with("</svg>\n"));
        fs::remove_file(&file).unwrap();
    }
    assert_eq!(lab(&["tables", "--svg", path]).status.code(), Some(2));
    assert_eq!(
        lab(&["run", "dos-dls-5.0-full", "--span", "0..1"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn configuration_files_become_a_scenario_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("PROTOCOL.INI"), "[tcpip]\r\ntcpwindowsize=1450\r\n").unwrap();
    fs::write(path("smb.conf"), "[global]\nmax xmit = 2920\n").unwrap();
    let (out, client, server) = (path("mine.toml"), path("PROTOCOL.INI"), path("smb.conf"));
    let done = lab(&["import", &client, &server, "--out", &out]);
    assert!(done.status.success(), "{done:?}");
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(
        text.contains("PROTOCOL.INI:2  tcpwindowsize = 1450"),
        "{text}"
    );
    assert!(text.contains("server.config.max_buffer = 2920"), "{text}");
    let ran = json(&["run", &out, "--json"]);
    assert_eq!(
        ran["parameters"]["client.stack.receive_window"], "1450",
        "{ran}"
    );
}

#[test]
fn a_value_that_cannot_be_and_a_file_that_is_no_configuration_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("PROTOCOL.INI"), "[tcpip]\ntcpwindowsize=wide\n").unwrap();
    let done = lab(&["import", &path("PROTOCOL.INI")]);
    assert_eq!(done.status.code(), Some(1));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("'wide' is not a number of bytes"), "{text}");
    fs::write(path("notes.txt"), "a = b\n").unwrap();
    let done = lab(&["import", &path("notes.txt"), "--out", &path("never.toml")]);
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.contains("notes.txt") && said.contains("PROTOCOL.INI"),
        "{said}"
    );
    assert!(!folder.path().join("never.toml").exists());
}

#[test]
fn a_cell_by_its_name_gives_the_figure_of_its_table_and_explains_its_values() {
    let table = json(&["tables", "wan-copy", "--json"]);
    for (name, id) in [
        ("wan-copy/2000-to-nt-changed/lan", "2000-to-nt-changed/lan"),
        ("lan-2000-to-2000", "2000-to-2000/lan"),
    ] {
        let told = json(&["run", name, "--json", "--explain"]);
        let cells = table["tables"][0]["cells"].as_array().unwrap();
        let cell = cells.iter().find(|cell| cell["id"] == id).unwrap();
        assert_eq!(&told["cell"], cell);
        for value in told["values"].as_array().unwrap() {
            let is_set = !value["instead_of"].is_null();
            assert!(!is_set || value["source"] != "", "{value}");
        }
    }
    let output = lab(&["run", "samba-speed/386sx/lanman2", "--explain"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = said.split_whitespace().collect();
    let said = words.join(" ");
    for part in [
        "Cell samba-speed/386sx/lanman2: 9.77 kB/s; published 10.00 (ratio 0.98), chosen",
        "client.profile.read.block = 2048 (instead of buffer) [chosen]",
        "fitted to samba-speed/386sx/coreplus",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // a changed run is no longer the cell
    let changed = json(&["run", "lan-2000-to-2000", "--json", "--set", "size=1MB"]);
    assert!(changed["cell"].is_null());
    let row = lab(&["run", "spdtest/IBM"]);
    assert_eq!(row.status.code(), Some(2));
    assert!(
        String::from_utf8(row.stderr)
            .unwrap()
            .contains("lab tables spdtest")
    );
}

#[test]
fn advice_for_the_files_of_a_machine_is_a_diff_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("PROTOCOL.INI"), "[tcpip]\r\ntcpwindowsize=1450\r\n").unwrap();
    let found = json(&["advise", &path("PROTOCOL.INI"), "--size", "500kB", "--json"]);
    let (now, then) = (
        found["now_s"].as_f64().unwrap(),
        found["steps"][0]["after_s"].as_f64().unwrap(),
    );
    assert!(then < now, "{found}");
    assert!(
        found["diff"]
            .as_str()
            .unwrap()
            .contains("\n-tcpwindowsize=1450\r\n+tcpwindowsize="),
        "{found}"
    );
    let again = json(&["advise", &path("PROTOCOL.INI"), "--size", "500kB", "--json"]);
    assert_eq!(again, found, "the number of threads changes nothing");
}

#[test]
fn a_machine_is_fitted_to_measured_copies_and_the_written_scenario_takes_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let copies = "scenario = \"wfw-486\"\n[unknown]\n\"client.packet\" = \"100 us..10 ms:log\"\n\
        [[copy]]\nname = \"read\"\ndirection = \"to-client\"\nsize = \"100kB\"\nseconds = 0.5\n\
        [[predict]]\nname = \"write\"\ndirection = \"to-server\"\nsize = \"100kB\"\n";
    fs::write(path("copies.toml"), copies).unwrap();
    let arguments = [
        "fit",
        &path("copies.toml"),
        "--members",
        "8",
        "--json",
        "--out",
        &path("mine.toml"),
    ];
    let found = json(&arguments);
    assert_eq!(found["parameters"][0]["knowledge"], "determined");
    let (low, high) = (
        &found["predictions"][0]["low_s"],
        &found["predictions"][0]["high_s"],
    );
    assert!(low.as_f64().unwrap() < high.as_f64().unwrap());
    let again = json(&["run", &path("mine.toml"), "--set", "size=100kB", "--json"]);
    let seconds = again["seconds"].as_f64().unwrap();
    assert!((seconds / 0.5 - 1.0).abs() < 0.1, "{seconds}");
    assert_eq!(found, json(&arguments));
}

#[test]
fn what_cannot_be_fitted_is_a_wrong_usage_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (text, words) in [
        ("[[copy]]\nsize = 5\n", "there is no time"),
        ("[[copy]]\nseconds = 1\ncolour = 2\n", "colour"),
        ("[unknown]\n\"link.colour\" = true\n", "needs a range"),
        (
            "scenario = \"vax\"\n[[copy]]\nseconds = 1\n",
            "there is no scenario 'vax'",
        ),
        ("{}", "coax bench (rows)"),
    ] {
        fs::write(path("copies"), text).unwrap();
        let output = lab(&["fit", &path("copies"), "--members", "8"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert!(said.contains(words), "{text}: {said}");
    }
    let output = lab(&["fit", &path("none.toml")]);
    assert_eq!(output.status.code(), Some(1));
}
