//! How often the analyser is right where the truth is known: copies made in the lab, causes by shares by round trips by
//! rates by places of the capture.
//!
//! A sample runs with every test. The whole is docs/evidence/accuracy.md: scripts/accuracy.

mod carried;
mod families;
mod page;
mod run;
mod tally;

use families::FAMILIES;
use run::{Case, Half, Outcome, TAPS, Truth, run};
use tally::{figures, verdict};

const SHARES: [u64; 4] = [5, 20, 50, 95];
const ROUNDS_US: [u64; 4] = [200, 2_000, 20_000, 200_000];
const RATES: [u64; 4] = [56, 1_000, 10_000, 100_000];

/// Every point, in an order that does not matter.
fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    for half in [Half::Tuned, Half::HeldOut] {
        for (place, family) in FAMILIES.iter().enumerate() {
            let mut seed = first_seed(half, place);
            for target in SHARES {
                for round_us in ROUNDS_US {
                    for rate in RATES {
                        for to_server in [false, true] {
                            out.push(Case {
                                family,
                                half,
                                target,
                                round_us,
                                rate,
                                to_server: to_server || family.set.contains(&"direction=to-server"),
                                seed,
                            });
                            seed += 1;
                        }
                    }
                }
            }
        }
    }
    out
}

/// The first of a family's seeds: a family that is added leaves those of all others as they are.
const fn first_seed(half: Half, place: usize) -> u64 {
    const EACH: u64 = 128;
    const AT_FIRST: u64 = 16;
    let (place, half) = (place as u64, matches!(half, Half::HeldOut) as u64);
    let before = if place < AT_FIRST {
        half * AT_FIRST + place
    } else {
        place * 2 + half
    };
    1 + before * EACH
}

fn outcomes(every: usize) -> Vec<Outcome> {
    let only = std::env::var("COAX_ACCURACY_ONLY").ok();
    let tuned = std::env::var_os("COAX_ACCURACY_TUNED").is_some();
    cases()
        .iter()
        .enumerate()
        .filter(|(place, case)| {
            place % every == 0 && only.as_ref().is_none_or(|only| case.name().contains(only))
        })
        .filter(|(_, case)| !tuned || case.half == Half::Tuned)
        .filter_map(|(_, case)| run(case))
        .collect()
}

/// A line for every account, for looking into.
fn tell(outcomes: &[Outcome]) {
    for outcome in outcomes {
        let brief = |account: &coax_explain::Account| {
            let shares = run::shares(account);
            let mut named: Vec<_> = coax_explain::Cause::ALL
                .into_iter()
                .zip(shares)
                .filter(|(_, share)| *share >= 1.0)
                .collect();
            named.sort_by(|a, b| b.1.total_cmp(&a.1));
            named
                .iter()
                .map(|(cause, share)| format!("{} {share:.0}", cause.name()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        eprintln!(
            "{} [{:?}] {:.3} s",
            outcome.case.name(),
            outcome.case.half,
            outcome.wall.0 as f64 / 1e9,
        );
        for (said, (_, tap)) in outcome.said.iter().zip(TAPS) {
            let Some(said) = said else {
                eprintln!("    {tap:7} nothing");
                continue;
            };
            let (truth, account) = (said.truth(Truth::Link), &said.account);
            let verdict = verdict(truth, account);
            let mark = if verdict.right { ' ' } else { '!' };
            eprintln!(
                "  {mark} {tap:7} {:3.0} off: {}\n                is  {}",
                verdict.distance,
                brief(account),
                brief(truth)
            );
        }
    }
}

#[test]
fn a_sample_of_known_causes_is_told_right() {
    let outcomes = outcomes(61);
    let chain = figures(&outcomes, Truth::Chain, |_, _| true);
    assert!(chain.right_share() >= 90.0, "{}", chain.right_share());
    let all = figures(&outcomes, Truth::Link, |_, _| true);
    assert!(all.cases >= 170, "{}", all.cases);
    assert!(all.right_share() >= 92.0, "{}", all.right_share());
    assert!(all.error() <= 5.0, "{}", all.error());
    assert!(all.distance() <= 9.5, "{}", all.distance());
    assert!(all.unattributed_median() <= 2.0);
}

#[test]
#[ignore = "minutes: scripts/accuracy"]
fn the_whole_is_written_down() {
    let every = std::env::var("COAX_ACCURACY_EVERY")
        .ok()
        .and_then(|text| text.parse().ok());
    let outcomes = outcomes(every.unwrap_or(1));
    if std::env::var_os("COAX_ACCURACY_TELL").is_some() {
        tell(&outcomes);
    }
    let page = page::page(&outcomes);
    match std::env::var_os("COAX_ACCURACY_PAGE") {
        Some(path) => std::fs::write(path, page).unwrap(),
        None => eprintln!("{page}"),
    }
}
