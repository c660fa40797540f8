#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use coax_lab::scenario::Scenario;

use super::{
    data, predictions, report, run,
    tables::{self, Kind},
    trace,
};

#[test]
fn every_scenario_and_every_cell_can_be_set_up() {
    for (name, _) in data::SCENARIOS {
        let scenario = data::scenario(name).unwrap();
        assert!(!scenario.title().is_empty(), "{name}");
        coax_lab::smb::CopySetup::of(&scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in tables::names() {
        let table = tables::table(name).unwrap();
        for cell in &table.cells {
            for against in [false, true] {
                let scenario = cell.scenario(&table.sources, against);
                let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error:#}", cell.id));
                coax_lab::smb::CopySetup::of(&scenario)
                    .unwrap_or_else(|error| panic!("{}: {error}", cell.id));
            }
            if let Some(path) = &cell.published {
                data::published(&table.published, path).unwrap();
            }
        }
    }
}

/// The full names of all cells of copies.
fn cells() -> std::collections::BTreeSet<String> {
    let tables = tables::names().map(|name| (name, tables::table(name).unwrap()));
    tables
        .flat_map(|(name, table)| {
            let cells: Vec<String> = table.cells.iter().map(|cell| cell.name(name)).collect();
            cells
        })
        .collect()
}

#[test]
fn every_changed_value_of_the_lab_has_a_source_and_sources_name_cells_that_exist() {
    let cells = cells();
    let check = |scenario: &coax_lab::scenario::Scenario, what: &str| {
        for basis in scenario.evidence().unwrap() {
            let is_changed = basis.instead_of.is_some();
            assert!(!is_changed || !basis.source.is_empty(), "{what}: {basis:?}");
            for cell in basis.tuned.cells() {
                assert!(cells.contains(cell), "{what}: {}: {cell}", basis.path);
            }
        }
    };
    for (name, _) in data::SCENARIOS {
        check(&data::scenario(name).unwrap(), name);
    }
    for name in tables::names() {
        let table = tables::table(name).unwrap();
        for cell in &table.cells {
            check(&cell.scenario(&table.sources, false).unwrap(), &cell.id);
            check(&cell.scenario(&table.sources, true).unwrap(), &cell.id);
        }
    }
}

#[test]
fn a_label_follows_from_the_sources_of_the_values() {
    let labels = |name: &str, table: &str| {
        let (_, file, cell) = tables::find(&format!("{table}/{name}")).unwrap();
        let mut scenario = cell.scenario(&file.sources, false).unwrap();
        let kind = scenario.kind(&cell.name(table)).unwrap();
        for key in [
            "client.machine",
            "client.stack",
            "client.card",
            "server.machine",
        ] {
            let plain = if key.ends_with("stack") {
                "linux"
            } else {
                "fast"
            };
            let plain = if key.ends_with("card") {
                "plain"
            } else {
                plain
            };
            scenario.set(key, plain.into()).unwrap();
        }
        (kind, scenario.kind(&cell.name(table)).unwrap())
    };
    // fitted by its machine alone
    assert_eq!(
        labels("wfw-486/read", "samba-speed"),
        (Kind::Fitted, Kind::Predicted)
    );
    // what remains is the selected network
    assert_eq!(
        labels("dls-5.0-full/to-client", "copy-times"),
        (Kind::Fitted, Kind::Chosen)
    );
    assert_eq!(
        labels("dls-5.0-predir/to-client", "copy-times").0,
        Kind::Predicted
    );
    assert_eq!(
        labels("2000-to-nt-changed/wan", "wan-copy").0,
        Kind::Predicted
    );
}

#[test]
fn fitted_cells_are_left_out_and_misses_are_explained() {
    for name in tables::names() {
        let table = tables::table(name).unwrap();
        for cell in &table.cells {
            let scenario = cell.scenario(&table.sources, false).unwrap();
            let kind = scenario.kind(&cell.name(name)).unwrap();
            let is_tuned = kind != Kind::Predicted;
            assert_eq!(cell.without.is_some(), is_tuned, "{name}/{}", cell.id);
        }
    }
}

#[test]
fn a_scenario_of_the_lab_gives_the_figure_of_its_table() {
    for (name, _) in data::SCENARIOS {
        let cell = tables::of_scenario(name);
        assert!(cell.is_some(), "{name} is not a cell of a table");
    }
    let (table, file, spec) = tables::find("copy-times/dls-4.0/to-server").unwrap();
    let filled = tables::cell(&table, &file, &spec).unwrap();
    let run = run::run(&data::scenario("dos-dls-4.0").unwrap()).unwrap();
    assert_eq!(run.seconds, filled.model);
    let without = filled.left_out.unwrap();
    assert!(without.model > 1.05 * filled.model, "{without:?}");
}

#[test]
fn the_page_of_predictions_is_what_the_lab_predicts() {
    let names: Vec<&str> = tables::names().collect();
    let filled = tables::fill(&names).unwrap();
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/evidence/predictions.md"
    );
    if std::env::var_os("COAX_BLESS").is_some() {
        std::fs::write(page, predictions::markdown(&filled)).unwrap();
    }
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page == predictions::markdown(&filled),
        "docs/evidence/predictions.md is out of date: run COAX_BLESS=1 cargo test -p coax-report the_page_of_predictions"
    );
    check_accuracy(&filled);
}

/// Checks the documented accuracy: fast cells within 10 %, fitted cells within 5 %.
fn check_accuracy(tables: &[tables::Filled]) {
    for table in tables {
        for cell in &table.cells {
            let Some(ratio) = cell.ratio else { continue };
            let explained = cell.miss.is_some() || table.miss.is_some();
            assert!(!cell.misses() || explained, "{}: {ratio}", cell.id);
            assert!(cell.kind != Kind::Fitted || cell.left_out.is_some());
            let allowed = match (table.name.as_str(), cell.kind) {
                ("copy-times", _) if cell.id == "ms-net-full/to-server" => 0.15,
                ("copy-times", Kind::Fitted) if !cell.id.starts_with("dls-5.0-full") => 0.05,
                ("copy-times", _) => 0.10,
                ("wan-copy", _) if cell.misses() => 0.30,
                ("wan-copy", _) => 0.15,
                ("samba-speed", _) if cell.id.starts_with("rcvwindow") => 0.15,
                _ => continue,
            };
            assert!((ratio - 1.0).abs() <= allowed, "{}: {ratio}", cell.id);
        }
    }
}

#[test]
fn the_published_trace_is_the_lab_s_packet_by_packet() {
    let table = tables::table("wan-copy").unwrap();
    let rows = trace::rows(&table.published, &table.trace.unwrap()).unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        // the published clock ticks every 1/64 s
        assert!(
            (row.published_s - row.model_s).abs() < 1.0 / 64.0,
            "{row:?}"
        );
        for word in ["ACK", "4292 bytes", "Win=8760", "5906824", "5911116"] {
            assert_eq!(
                row.published.contains(word),
                row.model.contains(word),
                "{row:?}"
            );
        }
        let same =
            |word: &str| row.published.to_lowercase().contains(word) == row.model.contains(word);
        assert!(same("request") && same("response"), "{row:?}");
    }
}

#[test]
fn a_table_or_scenario_that_is_not_there_names_those_that_are() {
    let error = tables::table("weather").unwrap_err().to_string();
    assert!(error.contains("copy-times"), "{error}");
    let error = data::scenario("weather").unwrap_err().to_string();
    assert!(error.contains("dos-dls-4.0"), "{error}");
}

#[test]
fn causes_of_a_run_add_up_and_its_capture_has_a_ground_truth() {
    let mut scenario = data::scenario("dos-dls-5.0-full").unwrap();
    scenario.set_text("size=200kB").unwrap();
    let (summary, capture, truth) = run::run_captured(&scenario, coax_lab::Tap::Client).unwrap();
    let sum: u64 = summary.causes_ns.values().sum();
    assert_eq!(sum as f64 / 1e9, summary.seconds);
    let stretches: u64 = truth
        .iter()
        .map(|stretch| stretch.to.0 - stretch.from.0)
        .sum();
    assert_eq!(stretches, sum);
    assert!(truth.windows(2).all(|pair| pair[0].to == pair[1].from));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.pcapng");
    run::write_capture(&file, &capture, &truth).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), capture);
    let beside = std::fs::read_to_string(folder.path().join("copy.pcapng.truth.json")).unwrap();
    let beside: serde_json::Value = serde_json::from_str(&beside).unwrap();
    assert_eq!(beside["stretches"].as_array().unwrap().len(), truth.len());
}

/// Runs the full redirector's ten raw writes with changes. Returns timeouts per block, seconds, and frames that the
/// card dropped.
fn collapse(changes: &[&str]) -> (u64, f64, u64) {
    let mut scenario = data::scenario("dos-ms-net-full").unwrap();
    for change in ["size=650240"].iter().chain(changes) {
        scenario.set_text(change).unwrap();
    }
    let summary = run::run(&scenario).unwrap();
    assert_eq!(summary.failed, None, "{changes:?}");
    let way = &summary.to_server;
    (way.timeouts / 10, summary.seconds, way.dropped.sending_card)
}

#[test]
fn the_collapse_has_thresholds_that_distinguish_explanations() {
    for (ring, timeouts) in [(7, 6), (8, 5), (9, 4), (11, 4), (12, 3)] {
        let ring = format!("client.card.tx_ring={ring}");
        assert_eq!(collapse(&[&ring]).0, timeouts, "{ring}");
    }
    for cure in [
        "client.card.tx_full=block",
        "server.stack.receive_window=13140",
        "client.profile.write.method=core",
        "server.config.write_raw=false",
    ] {
        let (timeouts, seconds, dropped) = collapse(&[cure]);
        assert_eq!((timeouts, dropped), (0, 0), "{cure}");
        assert!(seconds < 0.5, "{cure}: {seconds}");
    }
    let (timeouts, _, _) = collapse(&["server.stack.receive_window=17520"]);
    assert!(timeouts > 0);
}

#[test]
fn the_reported_fall_needs_a_card_without_room() {
    let rate = |changes: &[&str]| {
        let mut scenario = data::scenario("wfw-486").unwrap();
        for change in ["size=500kB", "server.stack=bsd-4.4"].iter().chain(changes) {
            scenario.set_text(change).unwrap();
        }
        run::run(&scenario).unwrap().rate()
    };
    let [small, large] =
        ["3072", "8192"].map(|window| format!("client.stack.receive_window={window}"));
    assert!(
        rate(&[&small, "client.card=two-frames-in"])
            > 20.0 * rate(&[&large, "client.card=two-frames-in"])
    );
    assert!(rate(&[&small]) < rate(&[&large]));
}

#[test]
fn a_report_of_several_clients_has_a_line_for_each_and_their_sum() {
    let mut scenario = Scenario::new("clients");
    for change in [
        "clients=3",
        r#"also=["windows-98", "wfw-3.11"]"#,
        "size=100kB",
        "link=ethernet-10",
    ] {
        scenario.set_text(change).unwrap();
    }
    let summary = run::run(&scenario).unwrap();
    let profiles: Vec<&str> = summary
        .clients
        .iter()
        .map(|it| it.profile.as_str())
        .collect();
    assert_eq!(profiles, ["modern", "windows-98", "wfw-3.11"]);
    let (bytes, seconds) = summary.together();
    assert_eq!(bytes, 300_000);
    assert!(seconds >= 300_000.0 * 8.0 / 1e7);
    let text = report::text(&summary);
    for part in [
        "3 clients at the same time: 300,000 bytes",
        "windows-98",
        "the first client (modern)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    for client in &summary.clients {
        let sum: u64 = client.causes_ns.values().sum();
        assert!((sum as f64 / 1e9 - client.seconds).abs() < 1e-6);
    }
    let alone = run::run(&Scenario::new("alone")).unwrap();
    assert!(alone.clients.is_empty() && !report::text(&alone).contains("clients"));
    for wrong in ["clients=0", "clients=251", "also=[1]", r#"also=["nobody"]"#] {
        let mut scenario = Scenario::new("wrong");
        let error = scenario
            .set_text("clients=2")
            .and_then(|()| scenario.set_text(wrong))
            .and_then(|()| scenario.resolve().map(|_| ()))
            .unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}
