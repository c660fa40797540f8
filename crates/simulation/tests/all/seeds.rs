//! Runs two thousand programs, and checks that a program depends only on its seed.

use coax_simulation::{Failure, STEPS, run, shrink::shortest};

/// The number of seeds in every test run.
const SEEDS: u64 = 2_000;
/// One in this many seeds runs twice.
const TWICE: u64 = 10;

fn complain(seed: u64, failure: &Failure) -> ! {
    let same = |steps: &[usize]| {
        run(seed, Some(steps), false).is_err_and(|other| other.kind() == failure.kind())
    };
    let kept = shortest((0..STEPS).collect(), same);
    let steps: Vec<String> = kept.iter().map(ToString::to_string).collect();
    panic!(
        "seed {seed}: {}\nreplay it with: cargo run -p coax-simulation -- --seed {seed} --keep {}",
        failure.what,
        steps.join(",")
    );
}

#[test]
fn no_program_of_the_first_two_thousand_seeds_finds_anything_wrong() {
    for seed in 0..SEEDS {
        if let Err(failure) = run(seed, None, false) {
            complain(seed, &failure);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_the_same_times() {
    let mut traces = std::collections::BTreeSet::new();
    for seed in (0..SEEDS).step_by(TWICE as usize) {
        let once = run(seed, None, false);
        assert_eq!(once, run(seed, None, false), "seed {seed}");
        traces.extend(once.map(|figures| figures.trace));
    }
    assert_eq!(traces.len() as u64, SEEDS / TWICE, "the programs differ");
}
