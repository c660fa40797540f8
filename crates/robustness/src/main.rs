//! `coax-robustness run|seeds|replay`: see docs/fuzzing.md.
#![allow(clippy::panic, clippy::expect_used)]

use coax_robustness::{
    run::run,
    targets::{TARGETS, Target},
};
use std::{fs, path::Path, process::ExitCode, time::Duration};

const USAGE: &str = "usage: coax-robustness run [--seconds N] [--seed N] [--keep DIR] [TARGET...]
       coax-robustness seeds DIR
       coax-robustness replay TARGET FILE...
       coax-robustness list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((verb, rest)) if verb == "run" => run_targets(rest),
        Some((verb, [folder])) if verb == "seeds" => write_seeds(Path::new(folder)),
        Some((verb, [target, files @ ..])) if verb == "replay" => replay(target, files),
        Some((verb, [])) if verb == "list" => {
            TARGETS
                .iter()
                .for_each(|target| println!("{}", target.name));
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// What `run` was asked for.
struct Asked<'a> {
    seconds: u64,
    seed: u64,
    keep: &'a str,
    /// The targets; none: all.
    names: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn parse(arguments: &'a [String]) -> Option<Self> {
        let mut asked = Self {
            seconds: 10,
            seed: 1,
            keep: "target/fuzz-findings",
            names: Vec::new(),
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--seconds" => asked.seconds = rest.next()?.parse().ok()?,
                "--seed" => asked.seed = rest.next()?.parse().ok()?,
                "--keep" => asked.keep = rest.next()?,
                name => asked.names.push(name),
            }
        }
        let known = |name: &&str| TARGETS.iter().any(|target| target.name == *name);
        asked.names.iter().all(known).then_some(asked)
    }
}

fn run_targets(arguments: &[String]) -> ExitCode {
    let Some(asked) = Asked::parse(arguments) else {
        return usage();
    };
    let (time, keep) = (Duration::from_secs(asked.seconds), Path::new(asked.keep));
    let chosen = |target: &&Target| asked.names.is_empty() || asked.names.contains(&target.name);
    let mut findings = 0;
    for target in TARGETS.iter().filter(chosen) {
        let outcome = run(target, time, asked.seed, keep);
        println!("{:20} {:>10} inputs", target.name, outcome.executions);
        if let Some(path) = outcome.finding {
            println!("FINDING in {}: {}", target.name, path.display());
            findings += 1;
        }
    }
    println!("{findings} findings (seed {})", asked.seed);
    ExitCode::from(u8::from(findings > 0))
}

fn write_seeds(folder: &Path) -> ExitCode {
    for target in TARGETS {
        let own = folder.join(target.name);
        fs::create_dir_all(&own).expect("the folder for seeds cannot be created");
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(own.join(format!("seed-{number:04}")), seed)
                .expect("the seed file cannot be written");
        }
    }
    ExitCode::SUCCESS
}

fn replay(name: &str, files: &[String]) -> ExitCode {
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        return usage();
    };
    for file in files {
        let input = fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        (target.feed)(&input);
        println!("{file}: fine");
    }
    ExitCode::SUCCESS
}
