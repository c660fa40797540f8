//! `coax lab fit`: a machine's values from measured copies.

use std::{fmt::Write as _, path::PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use coax_fit::Options;
use coax_lab::scenario::parse_size;
use coax_report::{
    files::{is_stdout, write_whole},
    lab::{fit::Given, plots},
};

/// Arguments of `coax lab fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "FILE is TOML or CSV with times, or the JSON of 'coax bench', 'coax explain' or 'coax speed'. docs/fit.md explains \
    the formats.\n\n\
    Example: coax lab fit copies.toml --predict direction=to-server,size=42MB --out mine.toml && coax lab run mine.toml"
)]
pub struct FitArgs {
    /// Files with measured copies
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The scenario with all known values: a file or a name [default: that of the file, else a modern client]
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<String>,
    /// An unknown value: a name, such as client.packet, or KEY=A..B or KEY=A..B:log [default: those of the file, else client.packet,
    /// client.request, server.request and link.delay]
    #[arg(long, value_name = "KEY[=RANGE]")]
    unknown: Vec<String>,
    /// A known value, as client.stack.mss=1450
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A copy to predict: what differs from the scenario, as direction=to-server,size=42MB
    #[arg(long, value_name = "KEY=VALUE,...")]
    predict: Vec<String>,
    /// Deviation between lab and reality, as a part of the time
    #[arg(long, value_name = "PART", default_value_t = 0.03)]
    deviation: f64,
    /// Sets of values that are kept while sampling; more give smoother ranges and take longer
    #[arg(long, value_name = "N", default_value_t = 96)]
    members: usize,
    /// Simulate this much of a larger file, and continue with its rate
    #[arg(long, value_name = "SIZE", default_value = "2MB")]
    cap: String,
    /// Seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the fitted scenario into this file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Plot the measured copies and the predicted ones with their ranges
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Estimates. Returns what is to be printed.
pub(super) fn fit(args: &FitArgs) -> Result<(String, bool)> {
    let cap = parse_size(&args.cap).map_err(|why| anyhow::anyhow!("--cap: {why}"))?;
    let given = Given {
        files: args.files.clone(),
        scenario: args.scenario.clone(),
        unknown: args.unknown.clone(),
        set: args.set.clone(),
        predict: args.predict.clone(),
        ..Given::default()
    };
    let options = Options {
        members: args.members,
        seed: args.seed,
        deviation: args.deviation,
    };
    let fit = given.estimate(&options, cap, &|| true)?;
    let fit = fit.context("the estimate was stopped")?;
    if let Some(out) = &args.out {
        write_whole(out, fit.found.scenario.as_file().as_bytes())?;
    }
    if let Some(path) = &args.svg {
        write_whole(path, plots::ranges(&fit.found).as_bytes())?;
        if is_stdout(path) {
            return Ok((String::new(), true));
        }
    }
    if args.json {
        return Ok((format!("{:#}\n", fit.json()), true));
    }
    let mut text = fit.text();
    if let Some(out) = &args.out {
        let _ = writeln!(
            text,
            "Scenario: {0}. Run it: coax lab run {0}",
            out.display()
        );
    }
    Ok((text, true))
}
