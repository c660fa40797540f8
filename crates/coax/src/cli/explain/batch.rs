//! `coax explain` of many captures.

use std::{path::Path, process::ExitCode};

use coax_batch::{Job, Shard, Totals};
use coax_report::{
    explain::words::harmless,
    files::{check_writable, is_stdout},
    lab::parallel,
};
use serde_json::Value;

use super::arguments::ExplainArgs;
use crate::cli::{output::WrongUsage, progress::Progress};

/// Whether the arguments ask for the treatment of many captures.
pub(super) fn is_meant(args: &ExplainArgs) -> bool {
    args.jobs.is_some()
        || args.out.is_some()
        || args.ndjson.is_some()
        || args.parquet.is_some()
        || args.shard.is_some()
        || args.captures.iter().any(|path| path.is_dir())
}

/// Explains them. The exit code is 1 if one of them could not be read.
///
/// # Errors
/// Options that do not go together, or an output that cannot be written.
pub(super) fn main(args: &ExplainArgs) -> Result<ExitCode, WrongUsage> {
    check(args)?;
    let job = Job {
        paths: args.captures.clone(),
        threads: args.jobs.map_or_else(parallel::processors, usize::from),
        shard: args.shard.unwrap_or(Shard::ALL),
        out: args.out.clone(),
        ndjson: args.ndjson.clone(),
        parquet: args.parquet.clone(),
    };
    let quiet = args.ndjson.as_deref().is_some_and(is_stdout);
    let progress = Progress::new("captures");
    let done = job.run(|at| {
        progress.clear();
        if !quiet {
            let _ = crate::cli::output::print(&line(at.capture));
        }
        progress.at(at.done, at.all);
    });
    progress.clear();
    Ok(match done {
        Ok(totals) => summarise(&totals),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    })
}

/// Refuses what makes no sense for many captures, and outputs that cannot be written.
fn check(args: &ExplainArgs) -> Result<(), WrongUsage> {
    let wrong = |message: String| Err(WrongUsage::new("explain", message));
    for (option, given) in [
        ("--join", args.join),
        ("--json", args.json),
        ("--html", args.html.is_some()),
        ("--client", args.client.is_some()),
        ("--config", !args.config.is_empty()),
        ("--server-config", !args.server_config.is_empty()),
    ] {
        if given {
            return wrong(format!(
                "{option} is for single captures, not for folders or with --jobs, --out, --ndjson, --parquet and --shard"
            ));
        }
    }
    if args.captures.iter().any(|path| is_stdout(path)) {
        return wrong("standard input is one capture; name files or folders".into());
    }
    if let Some(Err(error)) = args.ndjson.as_deref().map(check_writable) {
        return wrong(format!("--ndjson: {error:#}"));
    }
    for (option, folder) in [("--out", &args.out), ("--parquet", &args.parquet)] {
        if let Some(Err(error)) = folder.as_deref().map(check_folder) {
            return wrong(format!("{option}: {error}"));
        }
    }
    Ok(())
}

/// Creates the folder of the results, if it is missing, and tries to write in it.
fn check_folder(folder: &Path) -> Result<(), String> {
    let tried = std::fs::create_dir_all(folder).map_err(|error| error.to_string());
    let tried = tried.and_then(|()| {
        check_writable(&folder.join("trial")).map_err(|error| error.root_cause().to_string())
    });
    tried.map_err(|error| format!("the folder {} cannot be used: {error}", folder.display()))
}

/// A capture in one line: its name and the headline of its longest copy, or its verdict.
fn line(capture: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let copies = capture.get("copies").and_then(Value::as_array);
    let wall = |copy: &&Value| copy.get("wall_s").and_then(Value::as_f64).unwrap_or(0.0);
    let longest = copies.and_then(|copies| {
        copies
            .iter()
            .max_by(|one, other| wall(one).total_cmp(&wall(other)))
    });
    let told = longest
        .and_then(|copy| text(copy, "headline").or_else(|| text(copy, "verdict")))
        .or_else(|| text(capture, "verdict"));
    let name = text(capture, "file").unwrap_or_default();
    format!("{}: {}\n", harmless(&name), told.unwrap_or_default())
}

fn summarise(totals: &Totals) -> ExitCode {
    for failure in &totals.failures {
        let name = harmless(&failure.path.display().to_string());
        eprintln!("error: {name}: {}", failure.reason);
    }
    let mut parts = vec![format!("{} captures explained", totals.explained)];
    for (count, what) in [
        (totals.known, "known from an earlier run"),
        (totals.others, "other files left out"),
        (totals.failures.len(), "failed"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    eprintln!("{}", parts.join(", "));
    match totals.failures.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
