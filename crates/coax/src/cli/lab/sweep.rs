//! `coax lab sweep`.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use super::super::progress::Progress;
use coax_report::{
    files::{is_stdout, write_whole},
    lab::{
        parallel, plots,
        sweep::{Sweep, output},
    },
};

#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// A TOML file, or a name; its table [sweep] may hold the grid
    scenario: String,
    /// Vary one value: KEY=V1,V2,... or KEY=A..B:N (N values from A to B) or KEY=A..B*F (each F times the one before)
    #[arg(long, value_name = "KEY=VALUES")]
    grid: Vec<String>,
    /// Override a value for all runs
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Write a table of comma-separated values, one row a run
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Draw it: a heat map of the last two keys, one for each combination of those before them; of one key a line or bars
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Runs at once; as many as there are processors if nothing is said. The result is the same
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Runs the grid; whether every run ended.
pub(super) fn sweep(args: &SweepArgs) -> Result<(String, bool)> {
    let mut set = args.set.clone();
    if let Some(seed) = args.seed {
        set.push(format!("seed={seed}"));
    }
    let sweep = Sweep::new(
        super::named::named(&args.scenario)?.scenario,
        &set,
        &args.grid,
    )?;
    if args.svg.is_some() {
        plots::check(&sweep)?;
    }
    let (progress, runs) = (Progress::new("runs"), sweep.runs());
    let threads = args.threads.unwrap_or_else(parallel::processors);
    let swept = sweep.run(threads, |done| progress.at(done, runs));
    progress.clear();
    if let Some(file) = &args.csv {
        write_whole(file, output::csv(&swept).as_bytes())?;
    }
    if let Some(file) = &args.svg {
        write_whole(file, plots::sweep(&swept).as_bytes())?;
    }
    let outputs = [args.csv.as_deref(), args.svg.as_deref()];
    let text = if outputs.into_iter().flatten().any(is_stdout) {
        String::new()
    } else if args.json {
        serde_json::to_string_pretty(&output::object(&swept)).context("JSON")? + "\n"
    } else {
        output::text(&swept)
    };
    Ok((text, swept.runs.iter().any(|run| run.outcome.is_ok())))
}
