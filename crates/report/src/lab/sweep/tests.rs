#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::lab::data;

fn sweep(scenario: &str, set: &[&str], grid: &[&str]) -> Result<Sweep> {
    let owned = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    Sweep::new(data::scenario(scenario)?, &owned(set), &owned(grid))
}

fn problem(set: &[&str], grid: &[&str]) -> String {
    format!("{:#}", sweep("dos-dls-5.0-full", set, grid).unwrap_err())
}

#[test]
fn the_result_is_the_same_whatever_the_number_of_threads() {
    let output = |threads| {
        let grid = [
            "link.delay=0..20 ms:3",
            "client=wfw-3.11,windows-98",
            "direction=to-server,to-client",
        ];
        let loss = "link.loss_to_server={ rule = { kind = \"random\", probability = 0.01 } }";
        let swept = sweep("dos-dls-5.0-full", &["size=200kB", loss], &grid).unwrap();
        assert_eq!(swept.runs(), 12);
        let swept = swept.run(threads, |_| ());
        output::csv(&swept) + &output::text(&swept) + &output::object(&swept).to_string()
    };
    let one = output(1);
    assert!(one == output(2));
    assert!(one == output(7));
}

#[test]
fn a_run_of_a_sweep_is_the_run_of_its_scenario() {
    let grid = ["client.stack.receive_window=2900,8700", "size=1MB,2MB"];
    let swept = sweep("dos-ms-net-basic", &["direction=to-client"], &grid)
        .unwrap()
        .run(2, |_| ());
    assert_eq!(swept.runs[2].values, ["8700", "1MB"]);
    let mut alone = data::scenario("dos-ms-net-basic").unwrap();
    for change in [
        "direction=to-client",
        "client.stack.receive_window=8700",
        "size=1MB",
    ] {
        alone.set_text(change).unwrap();
    }
    let alone = run(&alone).unwrap();
    let outcome = swept.runs[2].outcome.as_ref().unwrap();
    assert_eq!(outcome.seconds, alone.seconds);
    assert_eq!(outcome.causes_ns, alone.causes_ns);
    assert_eq!(outcome.parameters, alone.parameters);
}

#[test]
fn a_client_brings_its_stack_and_machine_unless_they_are_set() {
    let runs = |set: &[&str]| {
        let swept = sweep("dos-dls-5.0-full", set, &["client=nt-4-copy,windows-98"]).unwrap();
        let scenario = |run| swept.scenario(&swept.layout.place(run)).unwrap();
        let stack = |run| scenario(run).parameter("client.stack");
        [stack(0), stack(1)].map(Option::unwrap)
    };
    assert_eq!(runs(&[]), ["nt-4", "windows-98"]);
    assert_eq!(runs(&["stack=linux"]), ["linux", "linux"]);
}

#[test]
fn a_run_that_fails_is_a_cell_and_not_the_end() {
    let grid = ["client.card.tx_ring=9,60"];
    let swept = sweep("dos-ms-net-full", &["limit=20 s", "size=1MB"], &grid)
        .unwrap()
        .run(2, |_| ());
    let failed = swept.runs[0].outcome.as_ref().unwrap_err();
    assert!(failed.contains("longer than the 20 s"), "{failed}");
    assert!(swept.runs[1].outcome.is_ok());
    let csv = output::csv(&swept);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    assert_eq!(rows[1][column("seconds")], "");
    assert_eq!(rows[1][column("client.card.tx_ring_frames")], "9");
    assert!(rows[1][column("error")].contains("longer than"));
    assert_eq!(rows[2][column("error")], "");
    let shares: f64 = (0..rows[0].len())
        .filter(|at| rows[0][*at].starts_with("share."))
        .map(|at| rows[2][at].parse::<f64>().unwrap())
        .sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert!(output::text(&swept).contains("1 of 2 runs failed"));
    let object = output::object(&swept);
    assert!(object["runs"][0]["seconds"].is_null() && object["runs"][1]["failed"].is_null());
    assert_eq!(object["axes"][0]["unit"], "frames");
}

#[test]
fn a_client_that_gives_up_is_reported_with_its_losses_and_without_causes() {
    let grid = ["client.card.tx_ring=4,14"];
    let sets = ["size=1MB", "client.stack.karn=keep"];
    let swept = sweep("dos-ms-net-full", &sets, &grid).unwrap();
    let ran = swept.run(1, |_| ());
    let failed = ran.runs[0].outcome.as_ref().unwrap_err();
    assert!(
        failed.starts_with("no answer to WRITE_RAW within 45 s (client: "),
        "{failed}"
    );
    assert!(
        failed.contains("frames dropped by its full card and "),
        "{failed}"
    );
    assert!(failed.ends_with(" retransmission timeouts)"), "{failed}");
    assert!(ran.runs[1].outcome.is_ok());
    let swept = sweep("dos-ms-net-full", &sets, &grid).unwrap();
    let summary = crate::lab::run::run(&swept.scenario(&swept.layout.place(0)).unwrap()).unwrap();
    assert!(summary.causes_ns.is_empty(), "{:?}", summary.causes_ns);
    let text = crate::lab::report::text(&summary);
    assert!(
        text.contains(failed) && !text.contains("Time spent on"),
        "{text}"
    );
}

/// Asserts that a sweep over `grid` is refused with a message that contains all of `parts`.
fn assert_refused(set: &[&str], grid: &str, parts: &[&str]) {
    let error_text = problem(set, &[grid]);
    for part in parts {
        assert!(error_text.contains(part), "{grid}: {error_text}");
    }
}

#[test]
fn a_grid_that_is_wrong_names_the_argument_the_key_and_what_is_allowed() {
    for (grid, allowed) in [
        ("client.stack.windo=1,2", "receive_window"),
        ("colour=red", "direction, protocol, size"),
        ("client.stack.mss=1460,20", "64 to 9000"),
        ("client=modern,vax", "wfw-3.11"),
        ("stack=vax", "ms-tcpip-1.0a"),
    ] {
        assert_refused(&[], grid, &[&format!("--grid {grid}"), allowed]);
    }
    let rates = "link.rate=10 Mbit/s,0 Mbit/s";
    assert_refused(&[], rates, &["--grid link.rate", "zero"]);
}

#[test]
fn what_is_set_and_varied_too_is_refused_with_both_arguments() {
    let (delay, delays) = ("link.delay=1 ms", "link.delay=1 ms,2 ms");
    let both = ["--grid link.delay", "--set link.delay=1 ms"];
    assert_refused(&[delay], delays, &both);
    let whole = ["--grid stack=nt-4", "also changed"];
    assert_refused(&["client.stack=linux"], "stack=nt-4", &whole);
    assert_refused(&["nonsense"], delay, &["nonsense", "KEY=VALUE"]);
}

#[test]
fn a_scenario_s_own_sweep_is_varied_and_the_command_line_replaces_its_keys() {
    let text = "title = \"mine\"\nsize = \"100kB\"\n[sweep]\n\"link.delay\" = [\"0 ms\", \"5 ms\"]\nclient.stack.mss = \"536..1460:2\"\n";
    let scenario = || Scenario::parse("mine.toml", text).unwrap();
    let keys = |sweep: &Sweep| {
        let axes = sweep
            .axes()
            .iter()
            .map(|axis| format!("{} {}", axis.key, axis.values.len()));
        axes.collect::<Vec<_>>().join(", ")
    };
    let own = Sweep::new(scenario(), &[], &[]).unwrap();
    assert_eq!(keys(&own), "client.stack.mss 2, link.delay 2");
    let typed = Sweep::new(scenario(), &[], &["link.delay=1..3 ms:3".to_owned()]).unwrap();
    assert_eq!(keys(&typed), "client.stack.mss 2, link.delay 3");
    let bad = Scenario::parse("mine.toml", "[sweep]\nlink.delay = []").unwrap();
    let error_text = format!("{:#}", Sweep::new(bad, &[], &[]).unwrap_err());
    assert!(
        error_text.contains("mine.toml: sweep.link.delay") && error_text.contains("no values"),
        "{error_text}"
    );
}

const LOSS: &str = "link.loss_to_server={ rule = { kind = \"random\", probability = 0.02 } }";

fn planned(plan: Plan) -> Result<Sweep> {
    Sweep::planned(data::scenario("dos-dls-5.0-full")?, plan)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn small(sample: &str, ranges: &[&str]) -> Plan {
    Plan {
        set: texts(&["size=50kB", LOSS]),
        ranges: texts(ranges),
        sample: sample.parse().ok(),
        ..Plan::default()
    }
}

#[test]
fn the_tables_of_any_number_of_parts_are_the_table_of_the_whole() {
    let ranges = [
        "link.delay=0..20 ms",
        "client=wfw-3.11,windows-98",
        "link.rate=1..100 Mbit/s:log",
    ];
    let grid = Plan {
        set: texts(&["size=50kB", LOSS]),
        grid: texts(&["client.stack.mss=536,1460", "link.delay=0 ms,5 ms,10 ms"]),
        replicates: 3,
        ..Plan::default()
    };
    for plan in [
        small("latin:7", &ranges),
        small("sobol:8", &ranges),
        small("saltelli:2", &ranges),
        grid,
    ] {
        let whole = planned(plan.clone()).unwrap().run(3, |_| ());
        let csv = output::csv(&whole);
        let head = csv.lines().next().unwrap();
        for count in [2, 3, 11] {
            let together = rows_of_parts(&plan, head, count);
            assert!(together == csv, "{count} parts of {:?}", plan.sample);
        }
    }
}

/// The head of the table, then the rows of all parts.
fn rows_of_parts(plan: &Plan, head: &str, count: u32) -> String {
    let mut together = format!("{head}\n");
    for index in 1..=count {
        let part = Plan {
            part: Some((index, count)),
            ..plan.clone()
        };
        let text = output::csv(&planned(part).unwrap().run(1, |_| ()));
        together += text.strip_prefix(&format!("{head}\n")).unwrap();
    }
    together
}

#[test]
fn a_part_has_no_sensitivity_indices() {
    let part = Plan {
        part: Some((1, 2)),
        ..small("saltelli:2", &["link.delay=0..20 ms"])
    };
    let part = planned(part).unwrap().run(1, |_| ());
    let reason = part.sensitivity().unwrap().unwrap_err();
    assert!(reason.contains("need all parts"), "{reason}");
}

#[test]
fn a_sample_is_within_its_ranges_and_depends_on_the_seed_only() {
    let ranges = [
        "link.delay=5..20 ms",
        "client.stack.receive_window=2920..46720:log",
    ];
    let values = |seed| {
        let plan = Plan {
            seed: Some(seed),
            ..small("latin:20", &ranges)
        };
        let runs = planned(plan).unwrap().run(2, |_| ()).runs;
        runs.into_iter().map(|run| run.values).collect::<Vec<_>>()
    };
    let first = values(4);
    assert_eq!(first, values(4));
    assert_ne!(first, values(5));
    for run in &first {
        let delay = quantity::Quantity::of("link.delay", &run[0]).unwrap().value;
        let window: u32 = run[1].parse().unwrap();
        assert!(
            (0.005..0.020).contains(&delay) && (2920..=46720).contains(&window),
            "{run:?}"
        );
    }
}

#[test]
fn replicates_have_seeds_of_their_own_and_a_mean_with_an_interval() {
    let plan = Plan {
        set: texts(&["size=200kB", LOSS]),
        grid: texts(&["link.delay=1 ms,10 ms"]),
        seed: Some(7),
        replicates: 5,
        ..Plan::default()
    };
    let swept = planned(plan).unwrap().run(2, |_| ());
    let seeds: Vec<&str> = swept
        .runs
        .iter()
        .map(|run| run.values[1].as_str())
        .collect();
    assert_eq!(
        seeds,
        ["7", "8", "9", "10", "11", "7", "8", "9", "10", "11"]
    );
    let seconds = |at: usize| swept.runs[at].outcome.as_ref().unwrap().seconds;
    let spread = swept.spreads()[0].unwrap();
    let mean = (0..5).map(seconds).sum::<f64>() / 5.0;
    assert!((spread.mean - mean).abs() < 1e-12 && spread.count == 5);
    assert!(spread.half_width.unwrap() > 0.0 && spread.least < spread.most);
    let averaged = swept.averaged();
    assert_eq!((averaged.runs.len(), averaged.axes.len()), (2, 1));
    let object = output::object(&swept);
    assert_eq!(object["points"][0]["seconds"], spread.mean);
    assert_eq!(object["points"][1]["ended"], 5);
    let text = output::text(&swept);
    assert!(
        text.contains(&format!("{mean:.3} ±")) && text.contains("5 replicates of each point"),
        "{text}"
    );
}

#[test]
fn replicates_without_chance_are_equal_and_the_report_says_so() {
    let same = Plan {
        set: texts(&["size=200kB"]),
        grid: texts(&["link.delay=1 ms"]),
        replicates: 2,
        ..Plan::default()
    };
    let text = output::text(&planned(same).unwrap().run(1, |_| ()));
    assert!(
        text.contains("±0.000") && text.contains("nothing is random here"),
        "{text}"
    );
}

#[test]
fn the_indices_of_a_copy_name_what_its_time_depends_on() {
    let plan = Plan {
        set: texts(&["size=100kB"]),
        ranges: texts(&[
            "link.rate=1..2 Mbit/s",
            "link.delay=0..1 us",
            "client.stack.ttl=32..200",
        ]),
        sample: "saltelli:32".parse().ok(),
        ..Plan::default()
    };
    let swept = planned(plan).unwrap().run(2, |_| ());
    assert_eq!(swept.runs.len(), 32 * 5);
    let found = swept.sensitivity().unwrap().unwrap();
    assert!(
        (found[0].total - 1.0).abs() < 0.1 && found[0].first > 0.9,
        "{found:?}"
    );
    assert!(found[1].total < 1e-3 && found[2].total == 0.0, "{found:?}");
    let object = output::object(&swept);
    assert_eq!(object["sensitivity"][0]["total"], found[0].total);
    assert!(output::text(&swept).contains("link.rate  "));
}

#[test]
fn indices_need_runs_that_all_end_and_differ() {
    let reason = |set: &str, ranges: &[&str]| {
        let plan = Plan {
            set: texts(&[set]),
            ..small("saltelli:2", ranges)
        };
        planned(plan)
            .unwrap()
            .run(2, |_| ())
            .sensitivity()
            .unwrap()
            .unwrap_err()
    };
    let none = reason("size=10kB", &["client.stack.ttl=32..200"]);
    assert!(none.contains("nothing has an effect"), "{none}");
    let failed = reason("limit=1 ms", &["link.delay=0..20 ms"]);
    assert!(
        failed.contains("need all runs, and 6 of 6 points failed"),
        "{failed}"
    );
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let delay = &["link.delay=0..20 ms"][..];
    let grid = seeds();
    refused([
        (
            small("none", delay),
            "--range says what --sample takes points from",
        ),
        (
            small("latin:5", &[]),
            "--sample latin has nothing to vary: write --range KEY=A..B",
        ),
        (
            Plan {
                sample: "latin:5".parse().ok(),
                ..grid.clone()
            },
            "--grid and --sample latin do not go together",
        ),
        (
            Plan {
                replicates: 2,
                ..grid.clone()
            },
            "seed is varied twice",
        ),
        (
            small("latin:5", &["link.delay=0..20 ms", "link.delay=0..1 ms"]),
            "varied twice",
        ),
        (
            small("latin:5", &["size=1..2 MB"]),
            "also changed by --set size=50kB",
        ),
    ]);
}

#[test]
fn ranges_of_unknown_keys_and_values_are_refused() {
    refused([
        (
            small("latin:5", &["link.dely=0..20 ms"]),
            "--range link.dely=0..20 ms",
        ),
        (
            small("latin:5", &["client=vax,wfw-3.11"]),
            "--range client=vax",
        ),
    ]);
}

#[test]
fn too_many_runs_are_refused_with_the_parts_that_are_possible() {
    let delay = &["link.delay=0..20 ms"][..];
    refused([
        (
            Plan {
                replicates: 9_000,
                ..small("latin:500", delay)
            },
            "500 points of --sample latin × 9000 replicates make more runs than the 10000 of one sweep: write fewer values, or parts with --shard I/450",
        ),
        (
            Plan {
                replicates: 99_999_999,
                ..seeds()
            },
            "more runs than",
        ),
        (
            Plan {
                part: Some((1, 2)),
                ..small("sobol:32768", delay)
            },
            "32768 points of --sample sobol make more runs than the 10000 of one part of a sweep: write fewer values, or parts with --shard I/4",
        ),
        (small("sobol:1073741824", delay), "100000000 of all parts"),
    ]);
}

/// A grid of three seeds.
fn seeds() -> Plan {
    Plan {
        grid: texts(&["seed=1..3:3"]),
        ..Plan::default()
    }
}

fn refused<const N: usize>(plans: [(Plan, &str); N]) {
    for (plan, words) in plans {
        let error = format!("{:#}", planned(plan).unwrap_err());
        assert!(error.contains(words), "{error}");
    }
}
