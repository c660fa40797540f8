//! The bench against a server in this process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use coax_catalog::clients;
use std::{fs, thread};

use super::{figures::Contents, *};
use crate::client::testkit::Served;

const SIZE: u64 = 300_007;

fn plan(served: &Served, profiles: Vec<Arc<Profile>>) -> Plan {
    Plan {
        place: served.location(""),
        profiles,
        size: SIZE,
        runs: 1,
        options: Options {
            record: true,
            allow_weak: true,
            ..Options::default()
        },
        ceiling: None,
    }
}

fn named(names: &[&str]) -> Vec<Arc<Profile>> {
    names
        .iter()
        .map(|name| clients::by_name(name).unwrap())
        .collect()
}

fn is_empty(served: &Served) -> bool {
    fs::read_dir(served.folder()).unwrap().next().is_none()
}

#[test]
fn every_redirector_copies_both_ways_and_leaves_nothing_behind() {
    let served = Served::start("server min protocol = CORE", None);
    let plan = plan(&served, clients::all().to_vec());
    let report = run(&plan, &Stop::default(), &mut |_| {}).unwrap();
    for row in &report.rows {
        assert_eq!(
            (row.contents, &row.error),
            (Contents::Same, &None),
            "{}",
            row.profile
        );
        let moved: u64 = row.requests.mix().iter().map(|line| line.bytes).sum();
        assert_eq!(moved, 2 * SIZE, "{}", row.profile);
    }
    assert!(report.is_good() && is_empty(&served) && report.notes.is_empty());
}

#[test]
fn a_redirector_without_a_common_dialect_has_an_error_row() {
    let served = Served::start("server min protocol = NT1", None);
    let plan = plan(&served, named(&["ms-net-3.11-full", "modern"]));
    let report = run(&plan, &Stop::default(), &mut |_| {}).unwrap();
    assert!(report.rows[0].error.is_some() && !report.rows[0].was_possible());
    assert_eq!(report.rows[1].contents, Contents::Same);
    assert!(report.is_good());
}

#[test]
fn each_run_copies_with_every_profile_and_counts() {
    let served = Served::start("", None);
    let mut plan = plan(&served, named(&["modern", "nt-4-copy"]));
    plan.runs = 3;
    let mut order = Vec::new();
    let report = run(&plan, &Stop::default(), &mut |event| {
        if let Event::Copying(number, name, true) = event {
            order.push((number, name.to_string()));
        }
    })
    .unwrap();
    let expected: Vec<_> = (1..=3)
        .flat_map(|n| [(n, "modern".into()), (n, "nt-4-copy".into())])
        .collect();
    assert_eq!(order, expected);
    let closes = |row: &Row| {
        row.requests
            .mix()
            .iter()
            .find(|line| line.command == "CLOSE")
            .unwrap()
            .count
    };
    assert_eq!(closes(&report.rows[0]), 6);
}

#[test]
fn an_absent_server_is_reported_once() {
    let mut served = Served::start("", None);
    let plan = plan(&served, clients::all().to_vec());
    served.stop();
    let error = run(&plan, &Stop::default(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, BenchError::Unreachable(_)), "{error}");
}

#[test]
fn a_stopped_benchmark_reports_results_and_removes_its_file() {
    let served = Served::start("", None);
    let mut plan = plan(&served, named(&["nt-4-copy", "ibm-dls-5.0-predir"]));
    plan.size = 4_000_000;
    let stop = Stop::default();
    let report = thread::scope(|scope| {
        let stop = &stop;
        run(&plan, stop, &mut |event| {
            if let Event::Copying(_, "ibm-dls-5.0-predir", false) = event {
                scope.spawn(|| stop.set());
            }
        })
        .unwrap()
    });
    assert!(report.stopped && report.rows[0].was_possible());
    assert_eq!(report.rows[1].error.as_deref(), Some("stopped"));
    assert!(is_empty(&served), "{:?}", report.notes);
}
