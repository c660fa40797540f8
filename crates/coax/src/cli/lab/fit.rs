//! `coax lab fit`: a machine's values from measured copies.

use std::{fmt::Write as _, fs, io::Read as _, path::PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use coax_fit::{Input, Kind, Options, Problem, Setting, Unknown, estimate, input};
use coax_lab::scenario::{Scenario, parse_size};
use coax_report::{
    files::write_whole,
    lab::{fit, keys},
};

use super::named::named;

/// Most bytes of a file of measurements.
const MOST_BYTES: u64 = 64 << 20;

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
    /// Members of the population that is moved through the ranges
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
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Estimates. Returns what is to be printed.
pub(super) fn fit(args: &FitArgs) -> Result<(String, bool)> {
    let input = read(args)?;
    let left_out = input.left_out.clone();
    let problem = problem(args, input)?;
    let cap = parse_size(&args.cap).map_err(|why| anyhow::anyhow!("--cap: {why}"))?;
    let options = Options {
        members: args.members,
        seed: args.seed,
        deviation: args.deviation,
    };
    let found = estimate(&problem, &options, &mut |runs| fit::simulate(runs, cap))?;
    if let Some(out) = &args.out {
        write_whole(out, found.scenario.as_file().as_bytes())?;
    }
    if args.json {
        return Ok((format!("{:#}\n", fit::json(&found, &left_out)), true));
    }
    let mut text = fit::text(&found);
    for line in &left_out {
        let _ = writeln!(text, "Left out: {line}.");
    }
    if let Some(out) = &args.out {
        let _ = writeln!(
            text,
            "Scenario: {0}. Run it: coax lab run {0}",
            out.display()
        );
    }
    Ok((text, true))
}

fn read(args: &FitArgs) -> Result<Input> {
    let mut all = Input::default();
    for path in &args.files {
        let name = path.display().to_string();
        let about = || format!("cannot read {name}");
        let mut bytes = Vec::new();
        let file = fs::File::open(path).with_context(about)?;
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)
            .with_context(about)?;
        ensure!(
            bytes.len() as u64 <= MOST_BYTES,
            "{name}: a file of measurements has at most 64 MiB"
        );
        input::add(&mut all, &name, &String::from_utf8_lossy(&bytes))?;
    }
    Ok(all)
}

fn problem(args: &FitArgs, input: Input) -> Result<Problem> {
    let mut base = match args.scenario.as_ref().or(input.scenario.as_ref()) {
        Some(name) => named(name)?.scenario,
        None => Scenario::new("command line"),
    };
    base.change(&input.set, &Default::default())?;
    for assignment in &args.set {
        keys::set_text(&mut base, assignment)?;
    }
    let mut unknowns = match args.unknown.is_empty() {
        true => input.unknowns,
        false => args
            .unknown
            .iter()
            .map(|text| Unknown::parse(text))
            .collect::<Result<_>>()?,
    };
    if unknowns.is_empty() {
        unknowns = input::usual()?;
    }
    let mut wanted = input.wanted;
    for text in &args.predict {
        wanted.push(prediction(text)?);
    }
    Ok(Problem {
        base,
        unknowns,
        measured: input.measured,
        wanted,
    })
}

/// `KEY=VALUE,KEY=VALUE`.
fn prediction(text: &str) -> Result<Setting> {
    let mut changes = toml::Table::new();
    let mut client = None;
    for assignment in text.split(',') {
        let (key, value) = assignment
            .split_once('=')
            .with_context(|| format!("--predict '{text}': write KEY=VALUE,KEY=VALUE, such as direction=to-server,size=42MB"))?;
        match key.trim() {
            "client" => client = Some(value.trim().to_owned()),
            key => input::put(
                &mut changes,
                keys::whole(key),
                coax_lab::scenario::parse_value(value),
            ),
        }
    }
    Ok(Setting {
        name: text.to_owned(),
        kind: Kind::Copy,
        client,
        changes,
    })
}
