//! Simulated machines with known values: they are found again, and what the copies do not tell is said.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use coax_lab::{rng::Rng, scenario::Scenario};

use crate::{
    Input, Knowledge, Options, Problem, Run, Unknown, estimate, sample::unit, seconds,
    statistics::normal,
};

fn simulate(runs: &[Run]) -> Vec<Option<f64>> {
    let (some, others) = runs.split_at(runs.len() / 2);
    let all = |runs: &[Run]| -> Vec<Option<f64>> {
        runs.iter().map(|run| seconds(run, 100_000)).collect()
    };
    std::thread::scope(|scope| {
        let some = scope.spawn(|| all(some));
        let others = all(others);
        [some.join().unwrap(), others].concat()
    })
}

/// A WfW client over 10 Mbit/s, and small copies that tell different things.
const COPIES: &str = r#"
[[copy]]
name = "read in blocks of 1,024"
direction = "to-client"
size = "80kB"
seconds = 1
"client.profile.read.block" = 1024
[[copy]]
name = "read in blocks of 8,192"
direction = "to-client"
size = "200kB"
seconds = 1
"client.profile.read.block" = 8192
[[copy]]
name = "write"
direction = "to-server"
size = "200kB"
seconds = 1
[[predict]]
name = "read in blocks of 4,096"
direction = "to-client"
size = "200kB"
"client.profile.read.block" = 4096
[[predict]]
name = "the same over 20 ms"
direction = "to-client"
size = "80kB"
"client.profile.read.block" = 4096
"link.delay" = "20 ms"
"#;

const NAMES: [&str; 3] = ["client.packet", "client.request", "server.request"];

fn base() -> Scenario {
    let mut scenario = Scenario::new("test");
    scenario.choose_client("wfw-3.11").unwrap();
    scenario.set_text("link=ethernet-10").unwrap();
    scenario.set_text("client.machine=fast").unwrap();
    scenario
}

/// The problem of a machine whose values are drawn from the ranges, with times that have an error of `deviation`.
fn machine(
    seed: u64,
    deviation: f64,
    simulate: fn(&[Run]) -> Vec<Option<f64>>,
) -> (Problem, Vec<f64>, Vec<f64>) {
    let mut input = Input::default();
    crate::input::add(&mut input, "copies", COPIES).unwrap();
    let unknowns: Vec<Unknown> = NAMES
        .iter()
        .map(|name| Unknown::usual(name).unwrap())
        .collect();
    let mut rng = Rng::new(seed);
    let mut truth = base();
    let values: Vec<f64> = unknowns
        .iter()
        .map(|unknown| {
            let value = unknown.at(unit(&mut rng));
            unknown.set(&mut truth, value).unwrap();
            value
        })
        .collect();
    let time = |setting: &crate::Setting| {
        let scenario = setting.scenario(&truth).unwrap();
        let kind = setting.kind;
        simulate(&[Run { scenario, kind }])[0].unwrap()
    };
    let mut measure = |setting: &_| time(setting) * (normal(&mut rng) * deviation).exp();
    for measured in &mut input.measured {
        measured.seconds = measure(&measured.setting);
    }
    let wanted = input.wanted.iter().map(measure).collect();
    let problem = Problem {
        base: base(),
        unknowns,
        measured: input.measured,
        wanted: input.wanted,
    };
    (problem, values, wanted)
}

fn options(seed: u64) -> Options {
    Options {
        members: 16,
        seed,
        deviation: 0.03,
    }
}

/// How often the range of 90 % contains the value, and the time of a copy that was not measured.
#[derive(Debug, Default)]
struct Coverage {
    values: (usize, usize),
    times: (usize, usize),
    worst: f64,
}

fn coverage(
    machines: std::ops::Range<u64>,
    members: usize,
    simulate: fn(&[Run]) -> Vec<Option<f64>>,
) -> Coverage {
    let mut all = Coverage::default();
    for seed in machines {
        let (problem, truth, wanted) = machine(seed, 0.03, simulate);
        let options = Options {
            members,
            ..options(seed)
        };
        let found = estimate(&problem, &options, &mut { simulate }).unwrap();
        for (parameter, truth) in found.parameters.iter().zip(truth) {
            all.values.0 += usize::from((parameter.low..=parameter.high).contains(&truth));
            all.values.1 += 1;
        }
        for (prediction, truth) in found.predictions.iter().zip(wanted) {
            all.times.0 += usize::from((prediction.low..=prediction.high).contains(&truth));
            all.times.1 += 1;
            let off = (prediction.seconds.unwrap() / truth).ln().abs();
            all.worst = all.worst.max(off);
        }
    }
    all
}

/// A copy in closed form: requests, and packets on a wire or through a machine.
fn closed(runs: &[Run]) -> Vec<Option<f64>> {
    let time = |run: &Run| {
        let value = |key: &str, default: &str| {
            let text = run.scenario.parameter(key);
            Unknown::with_range("x", &format!("0..{}", text.as_deref().unwrap_or(default)))
                .map_or(0.0, |known| known.high)
        };
        let bytes = run.scenario.size() as f64;
        let block = value("client.profile.read.block", "4096");
        let each = value("client.machine.request.fixed", "1 ns")
            + value("server.machine.request.fixed", "1 ns")
            + 2.0 * value("link.delay", "60 us");
        let packet = value("client.machine.rx_data.fixed", "1 ns").max(1.23e-3);
        Some(bytes / block * each + bytes / 1460.0 * packet)
    };
    runs.iter().map(time).collect()
}

#[test]
fn ranges_contain_the_true_values_and_times_as_often_as_they_say() {
    let all = coverage(0..30, 32, closed);
    println!("{all:?}");
    // 90 % of 90 are 81, of 60 are 54; the lower bounds are four deviations of a binomial distribution away
    assert!(all.values.0 >= 70, "{all:?}");
    assert!((45..60).contains(&all.times.0), "{all:?}");
}

#[test]
fn simulated_machines_are_found_again_from_three_copies() {
    let all = coverage(0..3, 24, simulate);
    println!("{all:?}");
    // 90 % of 9 and of 6; fewer have a probability of less than 1 in 1,000
    assert!(all.values.0 >= 5 && all.times.0 >= 3, "{all:?}");
    assert!(all.worst < 0.3, "{all:?}");
}

/// More machines: `tests/lab/coverage.py`, whose figures docs/evidence/fit.md has.
#[test]
#[ignore = "takes minutes"]
fn coverage_of_simulated_machines() {
    println!("{:?}", coverage(100..116, 48, simulate));
}

#[test]
fn a_value_that_no_copy_tells_is_named_as_undetermined() {
    let (mut problem, ..) = machine(3, 0.0, simulate);
    problem.measured.truncate(2);
    // no write is measured
    let unknown = Unknown::with_range("server.machine.disk_write.fixed", "10 us..50 ms:log");
    problem.unknowns.push(unknown.unwrap());
    let found = estimate(&problem, &options(1), &mut simulate).unwrap();
    assert_eq!(
        found.parameters.last().unwrap().knowledge,
        Knowledge::Undetermined
    );
}

#[test]
fn client_and_server_work_for_a_request_are_known_together() {
    let (mut problem, ..) = machine(3, 0.0, closed);
    let values = ["20 us", "3 ms", "3 ms"];
    let mut truth = base();
    for (unknown, value) in problem.unknowns.iter().zip(values) {
        let value = Unknown::with_range("x", &format!("0..{value}"))
            .unwrap()
            .high;
        unknown.set(&mut truth, value).unwrap();
    }
    for measured in &mut problem.measured {
        let scenario = measured.setting.scenario(&truth).unwrap();
        let kind = measured.setting.kind;
        measured.seconds = closed(&[Run { scenario, kind }])[0].unwrap();
    }
    let more = Options {
        members: 48,
        ..options(1)
    };
    let found = estimate(&problem, &more, &mut closed).unwrap();
    let are_named = found
        .together
        .iter()
        .any(|pair| pair.names == ["client.request", "server.request"] && pair.correlation < 0.0);
    assert!(are_named, "{:?}", found.together);
    let narrow = found
        .parameters
        .iter()
        .filter(|one| one.knowledge == Knowledge::Determined);
    assert_eq!(narrow.count(), 0, "{:?}", found.parameters);
    assert!(
        found
            .fitted
            .iter()
            .all(|one| (one.model / one.seconds).ln().abs() < 0.06)
    );
}

#[test]
fn times_that_no_values_explain_widen_the_ranges() {
    let (mut problem, ..) = machine(5, 0.0, simulate);
    let narrow = estimate(&problem, &options(1), &mut simulate).unwrap();
    assert_eq!(narrow.deviation, 0.03);
    let mut slow = problem.measured[1].clone();
    slow.seconds *= 2.0;
    problem.measured.push(slow);
    let wide = estimate(&problem, &options(1), &mut simulate).unwrap();
    assert!(wide.deviation > 0.1, "{}", wide.deviation);
    let width = |found: &crate::Estimate| found.predictions[0].high / found.predictions[0].low;
    assert!(width(&wide) > width(&narrow) * 1.3);
}

#[test]
fn the_same_seed_gives_the_same_estimate_and_its_scenario_gives_the_measured_times() {
    let (problem, ..) = machine(7, 0.0, simulate);
    let told = |seed| {
        let found = estimate(&problem, &options(seed), &mut simulate).unwrap();
        (found.scenario.as_file(), format!("{:?}", found.predictions))
    };
    let first = told(1);
    assert_eq!(first, told(1));
    assert_ne!(first, told(2));
    let scenario = Scenario::parse("written", &first.0).unwrap();
    for measured in &problem.measured {
        let scenario = measured.setting.scenario(&scenario).unwrap();
        let kind = measured.setting.kind;
        let time = seconds(&Run { scenario, kind }, 100_000).unwrap();
        assert!((time / measured.seconds).ln().abs() < 0.1);
    }
}

#[test]
fn what_cannot_be_estimated_is_refused_with_the_reason() {
    let (problem, ..) = machine(1, 0.0, simulate);
    let refused = |change: &dyn Fn(&mut Problem)| {
        let mut wrong = problem.clone();
        change(&mut wrong);
        let mut never = |runs: &[Run]| vec![None; runs.len()];
        format!(
            "{:#}",
            estimate(&wrong, &options(1), &mut never).unwrap_err()
        )
    };
    for (change, words) in [
        (
            &(|p: &mut Problem| p.measured.clear()) as &dyn Fn(&mut Problem),
            "no measured copy",
        ),
        (&|p| p.unknowns.clear(), "no value is unknown"),
        (&|p| p.unknowns.push(p.unknowns[0].clone()), "given twice"),
        (
            &|p| p.unknowns[0] = Unknown::with_range("client.stack.mss", "1..99").unwrap(),
            "64 to 9000",
        ),
        (
            &|p| p.measured[0].setting.changes = "colour = 1".parse().unwrap(),
            "colour",
        ),
        (&|_| (), "the copies fail"),
    ] {
        let error = refused(change);
        assert!(error.contains(words), "{error}");
    }
}
