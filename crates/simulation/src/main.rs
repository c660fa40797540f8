//! `coax-simulation --seed N [--keep 3,7,9]` replays a program; `--seeds FIRST..END` runs many.

use coax_simulation::{Failure, STEPS, run, shrink::shortest, world::Figures};
use std::{collections::BTreeMap, ops::Range, process::ExitCode, time::Instant};

const USAGE: &str = "usage: coax-simulation --seed N [--keep STEP,STEP…] [--quiet]
       coax-simulation --seeds FIRST..END [--survey]";

enum Wish {
    One {
        seed: u64,
        keep: Option<Vec<usize>>,
        quiet: bool,
    },
    Many(Range<u64>),
    Survey(Range<u64>),
}

fn wish() -> Option<Wish> {
    let (mut seed, mut keep, mut many) = (None, None, None);
    let (mut quiet, mut survey) = (false, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => seed = Some(words.next()?.parse().ok()?),
            "--keep" => {
                let steps: Result<Vec<usize>, _> = words
                    .next()?
                    .split(',')
                    .filter(|step| !step.is_empty())
                    .map(str::parse)
                    .collect();
                keep = Some(steps.ok()?);
            }
            "--seeds" => {
                let range = words.next()?;
                let (first, end) = range.split_once("..")?;
                many = Some(first.parse().ok()?..end.parse().ok()?);
            }
            "--quiet" => quiet = true,
            "--survey" => survey = true,
            _ => return None,
        }
    }
    match (seed, many) {
        (Some(seed), None) => Some(Wish::One { seed, keep, quiet }),
        (None, Some(seeds)) if survey => Some(Wish::Survey(seeds)),
        (None, Some(seeds)) => Some(Wish::Many(seeds)),
        _ => None,
    }
}

fn main() -> ExitCode {
    match wish() {
        Some(Wish::One { seed, keep, quiet }) => one(seed, keep.as_deref(), quiet),
        Some(Wish::Many(seeds)) => many(seeds),
        Some(Wish::Survey(seeds)) => survey(seeds),
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn one(seed: u64, keep: Option<&[usize]>, quiet: bool) -> ExitCode {
    match run(seed, keep, !quiet) {
        Ok(figures) => {
            println!("seed {seed}: nothing wrong; {figures:?}");
            ExitCode::SUCCESS
        }
        Err(Failure { what, log }) => {
            log.iter().for_each(|line| println!("{line}"));
            println!("seed {seed}: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Continues after failures. Prints each failing seed, and then the kinds of failures: the number of failing seeds and
/// the first one of each.
fn survey(seeds: Range<u64>) -> ExitCode {
    let count = seeds.end.saturating_sub(seeds.start);
    let mut kinds: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for seed in seeds {
        if let Err(failure) = run(seed, None, false) {
            println!("seed {seed}: {}", failure.what);
            let kind = failure.kind();
            kinds.entry(kind).or_insert((0, seed)).0 += 1;
        }
    }
    for (kind, (count, first)) in &kinds {
        println!("{count:>6} seeds, first {first}: {kind}");
    }
    let failed: u64 = kinds.values().map(|(count, _)| count).sum();
    println!("{count} seeds, {failed} of them failed");
    if kinds.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn many(seeds: Range<u64>) -> ExitCode {
    let (begin, count) = (Instant::now(), seeds.end.saturating_sub(seeds.start));
    let mut sum = Figures::default();
    for seed in seeds {
        match run(seed, None, false) {
            Ok(figures) => add(&mut sum, figures),
            Err(failure) => {
                report(seed, &failure);
                return ExitCode::FAILURE;
            }
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{count} seeds, nothing wrong: {sum:?}");
    println!("{seconds:.1} s, {:.0} seeds/s", count as f64 / seconds);
    ExitCode::SUCCESS
}

fn add(sum: &mut Figures, one: Figures) {
    sum.succeeded += one.succeeded;
    sum.refused += one.refused;
    sum.breaks += one.breaks;
    sum.waited += one.waited;
    sum.faults += one.faults;
    sum.calls += one.calls;
    sum.time = sum.time.saturating_add(one.time);
    sum.trace ^= one.trace;
}

fn report(seed: u64, failure: &Failure) {
    println!("seed {seed}: {}", failure.what);
    let kept = shortest((0..STEPS).collect(), |steps| {
        run(seed, Some(steps), false).is_err_and(|other| other.kind() == failure.kind())
    });
    let steps: Vec<String> = kept.iter().map(ToString::to_string).collect();
    println!("{} steps are enough; replay them with", kept.len());
    println!(
        "  cargo run -p coax-simulation -- --seed {seed} --keep {}",
        steps.join(",")
    );
    if let Err(Failure { what, log }) = run(seed, Some(&kept), true) {
        log.iter().for_each(|line| println!("{line}"));
        println!("{what}");
    }
}
