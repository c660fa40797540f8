//! `coax lab sweep`.

use std::{io, path::PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use coax_batch::Shard;
use coax_fit::sample::Sample;

use super::super::progress::Progress;
use coax_report::{
    files::{is_stdout, write_whole},
    lab::{
        parallel, plots,
        sweep::{Sweep, Swept, merge::Merge, output, plan::Plan},
    },
};

#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// A TOML file or a name. The file may contain the grid in a table [sweep]
    scenario: String,
    /// Vary one value: KEY=V1,V2,... or KEY=A..B:N (N values from A to B) or KEY=A..B*F (each F times the one before)
    #[arg(long, value_name = "KEY=VALUES")]
    grid: Vec<String>,
    /// Override a value for all runs
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take points from ranges instead of a grid: latin:N (a Latin hypercube), sobol:N (a Sobol' sequence), or saltelli:N (Sobol'
    /// sensitivity indices from N base points)
    #[arg(long, value_name = "METHOD:N")]
    sample: Option<Sample>,
    /// Sample one value: KEY=A..B, KEY=A..B:log or KEY=V1,V2,...
    #[arg(long, value_name = "KEY=RANGE")]
    range: Vec<String>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run each point with N seeds; the report then has means and 95 % confidence intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    replicates: Option<u32>,
    /// Run only the I-th of N parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Run nothing: compute the sensitivity indices of --sample saltelli from the --csv tables of all parts, in any order
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shard", "csv", "parquet", "svg", "threads"])]
    merge: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Write a table of comma-separated values, one row for each run
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Write the same table as a Parquet file
    #[arg(long, value_name = "FILE")]
    pub(super) parquet: Option<PathBuf>,
    /// Draw the results. One key: a line or bars. Several keys: heat maps of the last two, one map for each combination of the others. A
    /// sample: dots or sensitivity indices
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Run N simulations at once [default: number of CPUs]. The result does not depend on N
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Runs the sweep; whether any run ended.
pub(super) fn sweep(args: &SweepArgs) -> Result<(String, bool)> {
    if !args.merge.is_empty() {
        return merged(args).map(|text| (text, true));
    }
    let sweep = planned(args)?;
    let (progress, runs) = (Progress::new("runs"), sweep.runs());
    let threads = args.threads.unwrap_or_else(parallel::processors);
    let swept = sweep.run(threads, |done| progress.at(done, runs));
    progress.clear();
    write(args, &swept)?;
    let outputs = [args.csv.as_deref(), args.svg.as_deref()];
    let text = if outputs.into_iter().flatten().any(is_stdout) {
        String::new()
    } else if args.json {
        serde_json::to_string_pretty(&output::object(&swept)).context("JSON")? + "\n"
    } else {
        output::text(&swept)
    };
    // a part may have no points
    let has_ended = swept.runs.iter().any(|run| run.outcome.is_ok());
    Ok((text, has_ended || swept.runs.is_empty()))
}

/// The indices of parts that were run before.
fn merged(args: &SweepArgs) -> Result<String> {
    // a part without points: all arguments are checked, and the whole may have more runs than one sweep
    let plan = Plan {
        part: Some((1, u32::MAX)),
        ..plan(args)
    };
    let sweep = Sweep::planned(super::named::named(&args.scenario)?.scenario, plan)?;
    let mut merge = Merge::new(&sweep)?;
    for file in &args.merge {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        merge.add(&name, &text)?;
    }
    let merged = merge.finish()?;
    Ok(match args.json {
        true => {
            serde_json::to_string_pretty(&output::merged_object(&merged)).context("JSON")? + "\n"
        }
        false => output::merged_text(&merged),
    })
}

fn plan(args: &SweepArgs) -> Plan {
    Plan {
        set: args.set.clone(),
        grid: args.grid.clone(),
        ranges: args.range.clone(),
        sample: args.sample,
        seed: args.seed,
        replicates: args.replicates.unwrap_or(1) as usize,
        part: args.shard.map(Shard::numbers),
    }
}

fn planned(args: &SweepArgs) -> Result<Sweep> {
    let is_part = args.shard.is_some_and(|shard| !shard.is_all());
    ensure!(
        args.svg.is_none() || !is_part,
        "--svg draws a whole sweep and --shard runs a part of it: write --parquet or --csv, and draw from all parts"
    );
    let sweep = Sweep::planned(super::named::named(&args.scenario)?.scenario, plan(args))?;
    if args.svg.is_some() {
        plots::check(&sweep)?;
    }
    Ok(sweep)
}

fn write(args: &SweepArgs, swept: &Swept) -> Result<()> {
    if let Some(file) = &args.csv {
        write_whole(file, output::csv(swept).as_bytes())?;
    }
    if let Some(file) = &args.parquet {
        coax_batch::write_swept(file, swept).map_err(io::Error::other)?;
    }
    if let Some(file) = &args.svg {
        write_whole(file, plots::sweep(swept).as_bytes())?;
    }
    Ok(())
}
