//! A week in virtual time, and drivers with defects that it must find.

use coax_simulation::week::{Defect, week};

#[test]
fn a_week_leaves_nothing_behind() {
    let figures = week(1, 7, None).unwrap_or_else(|what| panic!("{what}"));
    println!("{figures:?}");
    // each kind of event has happened, more than once a day
    let counts = [
        figures.connections,
        figures.wrong_passwords,
        figures.waited,
        figures.idle,
        figures.printed,
        figures.searches,
    ];
    assert!(counts.iter().all(|count| *count > 7 * 10), "{figures:?}");
    // announcements every twelve minutes and the machines' own, but no storm
    assert!((700..70_000).contains(&figures.datagrams), "{figures:?}");
}

#[test]
fn the_same_seed_is_the_same_week() {
    let days = |seed| week(seed, 2, None).unwrap();
    let once = days(5);
    assert_eq!(once, days(5));
    assert_ne!(once.trace, days(6).trace);
}

#[test]
fn a_driver_with_a_defect_is_found() {
    for (defect, finding) in [
        (Defect::ForgottenConnection, "connections, and"),
        (Defect::MissedTimer, "ns late"),
        (Defect::UncountedBytes, "counted are"),
        (Defect::KeptJobs, "print jobs are left"),
    ] {
        match week(1, 3, Some(defect)) {
            Err(what) => assert!(what.contains(finding), "{defect:?}: {what}"),
            Ok(figures) => panic!("{defect:?} was not found: {figures:?}"),
        }
    }
}
