//! `coax lab`: predicts.

mod advise;
mod fit;
mod import;
mod sweep;
mod wrong;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, anyhow, bail};
use clap::{Args, Subcommand};
use coax_lab::{Tap, scenario::Scenario};

use super::output::{self, WrongUsage};
use coax_report::{
    files::{is_stdout, write_whole},
    lab::{
        evidence, keys, list,
        named::{self, Named, named},
        plots::{self, sequence::Part},
        predictions, report,
        run::{self, Summary},
        tables::{self, CellSpec, Table},
    },
};
use sweep::SweepArgs;

/// Arguments of `coax lab`.
#[derive(Debug, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run a scenario: a file, the name of one that comes with the lab, or a cell of a table
    Run(RunArgs),
    /// Run a copy with components chosen by name
    Copy(Box<CopyArgs>),
    /// Run a scenario over a parameter grid on all CPUs
    Sweep(SweepArgs),
    /// Compare published figures with the lab's predictions
    Tables(TablesArgs),
    /// List the names of scenarios, clients, servers, stacks, machines, cards, links and tables
    List(ListArgs),
    /// Read your machines' configuration files, say what each line means for speed, and write a scenario
    Import(import::ImportArgs),
    /// Search the settings of your machines' files for a faster copy, and show the lines to change
    Advise(advise::AdviseArgs),
    /// Estimate a machine's values from measured copies, and predict other copies
    Fit(fit::FitArgs),
}

#[derive(Debug, Args)]
struct Common {
    /// Override a value, as client.stack.mss=1450, link.delay="31 ms", transport=netbeui or client.profile.read.block=4096
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print every value with its source
    #[arg(long)]
    explain: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write a pcapng capture, and the ground truth (causes per nanosecond) in FILE.truth.json
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Capture point
    #[arg(
        long,
        value_name = "PLACE",
        default_value = "client",
        requires = "pcap"
    )]
    #[arg(value_parser = ["client", "server", "wire"])]
    tap: String,
    /// Plot sequence numbers over time with the causes of waiting
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Plot only this interval, in seconds from the start of the copy
    #[arg(long, value_name = "A..B", requires = "svg", value_parser = Part::parse)]
    span: Option<Part>,
    /// Plot the frames of --span as arrows between client and server instead
    #[arg(long, requires_all = ["svg", "span"])]
    ladder: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    /// A TOML file, a name, or TABLE/CELL
    scenario: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct CopyArgs {
    /// Redirector profile; selects its usual TCP stack and machine
    #[arg(long, value_name = "PROFILE")]
    client: String,
    /// The client's TCP stack
    #[arg(long)]
    stack: Option<String>,
    /// The client's machine
    #[arg(long)]
    machine: Option<String>,
    /// The client's card
    #[arg(long)]
    card: Option<String>,
    /// The server
    #[arg(long)]
    server: Option<String>,
    /// The server's TCP stack
    #[arg(long, value_name = "STACK")]
    server_stack: Option<String>,
    /// The server's machine
    #[arg(long, value_name = "MACHINE")]
    server_machine: Option<String>,
    /// The network link
    #[arg(long)]
    link: Option<String>,
    /// Size of the file, as 42MB or 42MiB
    #[arg(long)]
    size: Option<String>,
    /// The client writes (default)
    #[arg(long, conflicts_with = "from_server")]
    to_server: bool,
    /// The client reads
    #[arg(long)]
    from_server: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct TablesArgs {
    /// One table; all if none is named
    name: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print docs/evidence/predictions.md
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Plot the table's figures side by side
    #[arg(long, value_name = "FILE", requires = "name")]
    svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// One of scenarios, clients, servers, stacks, machines, cards, links and tables; all if none is named
    kind: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Does what the command line says.
///
/// # Errors
/// An output cannot be written where it is to go, or a name, key or value is wrong.
pub fn main(args: &LabArgs) -> Result<ExitCode, WrongUsage> {
    check_outputs(&args.what)?;
    let (text, succeeded) = match run(&args.what) {
        Ok(done) => done,
        Err(error) if wrong::is_failure(&error) => {
            eprintln!("error: {error:#}");
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(wrong::usage(args.what.verb(), &error)),
    };
    let printed = output::print(&text);
    Ok(if succeeded {
        printed
    } else {
        ExitCode::FAILURE
    })
}

impl What {
    /// The verb as it is typed.
    fn verb(&self) -> &'static str {
        match self {
            Self::Run(_) => "lab run",
            Self::Copy(_) => "lab copy",
            Self::Sweep(_) => "lab sweep",
            Self::Tables(_) => "lab tables",
            Self::List(_) => "lab list",
            Self::Import(_) => "lab import",
            Self::Advise(_) => "lab advise",
            Self::Fit(_) => "lab fit",
        }
    }
}

/// Whether all outputs can be written, which is known before the simulation.
fn check_outputs(what: &What) -> Result<(), WrongUsage> {
    let check = |json, outputs: &[_]| output::check_outputs(what.verb(), json, outputs);
    let common = match what {
        What::Run(args) => &args.common,
        What::Copy(args) => &args.common,
        What::Sweep(args) => {
            let outputs = [
                ("--csv", args.csv.as_deref()),
                ("--parquet", args.parquet.as_deref()),
                ("--svg", args.svg.as_deref()),
            ];
            if args.parquet.as_deref().is_some_and(is_stdout) {
                let message = "--parquet cannot write to standard output";
                return Err(WrongUsage::new(what.verb(), message)
                    .at("--parquet")
                    .help("write --parquet FILE"));
            }
            return check(args.json, &outputs);
        }
        What::Tables(args) => {
            return check(
                args.json || args.markdown,
                &[("--svg", args.svg.as_deref())],
            );
        }
        What::Import(args) => return check(args.json, &[("--out", args.out.as_deref())]),
        What::Fit(args) => {
            let outputs = [
                ("--out", args.out.as_deref()),
                ("--svg", args.svg.as_deref()),
            ];
            return check(args.json, &outputs);
        }
        What::Advise(_) | What::List(_) => return Ok(()),
    };
    if common.pcap.as_deref().is_some_and(is_stdout) {
        let message = "--pcap cannot write to standard output, because it writes two files";
        return Err(WrongUsage::new(what.verb(), message)
            .at("--pcap")
            .help("write --pcap FILE; FILE.truth.json is the ground truth"));
    }
    let outputs = [
        ("--pcap", common.pcap.as_deref()),
        ("--svg", common.svg.as_deref()),
    ];
    check(common.json, &outputs)
}

fn run(what: &What) -> Result<(String, bool)> {
    match what {
        What::Run(args) => named(&args.scenario).and_then(|named| report(named, &args.common)),
        What::Copy(args) => composed(args).and_then(|scenario| {
            let cell = None;
            report(Named { scenario, cell }, &args.common)
        }),
        What::Sweep(args) => sweep::sweep(args),
        What::Tables(args) => print_tables(args).map(|text| (text, true)),
        What::List(args) => list::list(args.kind.as_deref(), args.json)
            .map(|text| (text, true))
            .map_err(|message| anyhow!(message)),
        What::Import(args) => import::import(args),
        What::Advise(args) => advise::advice(args),
        What::Fit(args) => fit::fit(args),
    }
}

fn composed(args: &CopyArgs) -> Result<Scenario> {
    let mut scenario = Scenario::new("command line");
    scenario.choose_client(&args.client)?;
    let direction = if args.from_server {
        "to-client"
    } else {
        "to-server"
    };
    for (key, value) in [
        ("client.stack", args.stack.as_deref()),
        ("client.machine", args.machine.as_deref()),
        ("client.card", args.card.as_deref()),
        ("server.config", args.server.as_deref()),
        ("server.stack", args.server_stack.as_deref()),
        ("server.machine", args.server_machine.as_deref()),
        ("link", args.link.as_deref()),
        ("size", args.size.as_deref()),
        ("direction", Some(direction)),
    ] {
        if let Some(value) = value {
            scenario.set(key, toml::Value::String(value.to_owned()))?;
        }
    }
    Ok(scenario)
}

/// Runs and tells, and whether the copy succeeded.
fn report(named: Named, common: &Common) -> Result<(String, bool)> {
    let Named { mut scenario, cell } = named;
    let cell = cell.filter(|_| common.set.is_empty() && common.seed.is_none());
    for assignment in &common.set {
        keys::set_text(&mut scenario, assignment)?;
    }
    if let Some(seed) = common.seed {
        let seed = i64::try_from(seed).map_err(|_| {
            anyhow!(
                "--seed {seed} is too large: write a number from 0 to {}",
                i64::MAX
            )
        })?;
        scenario.set("seed", toml::Value::Integer(seed))?;
    }
    let summary = if common.pcap.is_some() || common.svg.is_some() {
        observed(&scenario, common)?
    } else {
        run::run(&scenario)?
    };
    let text = if common.svg.as_deref().is_some_and(is_stdout) {
        String::new()
    } else {
        told(&scenario, cell.as_ref(), &summary, common)?
    };
    Ok((text, summary.failed.is_none()))
}

/// The report: the run, the cell whose figure it gives, and the sources of its values.
fn told(
    scenario: &Scenario,
    cell: Option<&(String, Table, CellSpec)>,
    summary: &Summary,
    common: &Common,
) -> Result<String> {
    let name = cell.map(|(table, _, spec)| spec.name(table));
    if common.json {
        let mut object = named::object(summary, cell)?;
        if let (true, Some(object)) = (common.explain, object.as_object_mut()) {
            let values = evidence::list(scenario, name.as_deref())?;
            object.insert("values".to_owned(), values);
        }
        return Ok(serde_json::to_string_pretty(&object)? + "\n");
    }
    let filled = match cell {
        Some((table, file, spec)) => Some(tables::cell(table, file, spec)?),
        None => None,
    };
    let mut text = report::text(summary);
    if let (Some(name), Some(filled)) = (&name, &filled) {
        text.push_str(&predictions::line(name, filled));
    }
    if common.explain {
        text.push_str(&evidence::text(scenario, name.as_deref())?);
    }
    Ok(text)
}

/// Runs, and writes what is to be kept of it.
fn observed(scenario: &Scenario, common: &Common) -> Result<Summary> {
    let tap = common.pcap.as_ref().map(|_| match common.tap.as_str() {
        "server" => Tap::Server,
        "wire" => Tap::Wire,
        _ => Tap::Client,
    });
    let observed = run::run_observed(scenario, tap, common.svg.is_some())?;
    if let Some(path) = &common.pcap {
        run::write_capture(path, &observed.capture, &observed.truth)?;
    }
    if let Some(path) = &common.svg {
        let picture = match common.span.filter(|_| common.ladder) {
            Some(part) => plots::ladder(&observed, part)?,
            None => plots::sequence::sequence(&observed, common.span)?,
        };
        write_whole(path, picture.as_bytes())?;
    }
    Ok(observed.summary)
}

fn print_tables(args: &TablesArgs) -> Result<String> {
    let names: Vec<&str> = match &args.name {
        Some(name) => vec![name.as_str()],
        None => tables::names().collect(),
    };
    let filled = tables::fill(&names)?;
    if filled.is_empty() {
        bail!("there are no tables");
    }
    if let (Some(path), [table]) = (&args.svg, filled.as_slice()) {
        write_whole(path, plots::bars(table).as_bytes())?;
    }
    Ok(if args.svg.as_deref().is_some_and(is_stdout) {
        String::new()
    } else if args.json {
        let object = serde_json::json!({ "tables": filled });
        serde_json::to_string_pretty(&object)? + "\n"
    } else if args.markdown {
        predictions::markdown(&filled)
    } else {
        predictions::text(&filled)
    })
}
