//! `coax lab advise`: which settings of these machines would make a copy faster.

use std::{fmt::Write as _, sync::Mutex, thread};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use coax_lab::scenario::Scenario;
use coax_report::lab::run;
use coax_settings::{Advice, advise};
use serde_json::{Value, json};

use super::import::MachineFiles;

/// Arguments of `coax lab advise`.
#[derive(Debug, Args)]
#[command(
    after_help = "The files are not changed: the diff shows the lines to change, and 'patch -p0' applies it.\n\n\
    Example: coax lab advise PROTOCOL.INI SYSTEM.INI smb.conf --set link.delay=30ms"
)]
pub struct AdviseArgs {
    #[command(flatten)]
    machines: MachineFiles,
    /// The client writes (default: it reads)
    #[arg(long)]
    to_server: bool,
    /// Size of the file, as 42MB or 42MiB [default: 8MB]
    #[arg(long)]
    size: Option<String>,
    /// Override a value of the scenario that no file sets, as link.delay="31 ms"
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Searches. Returns what is to be printed.
pub(super) fn advice(args: &AdviseArgs) -> Result<(String, bool)> {
    let import = args.machines.read()?;
    let resolved = import.resolved(&args.machines.title(), args.machines.client.as_deref());
    let mut scenario = resolved.map_err(|why| anyhow!("the lines make no scenario: {why}"))?;
    scenario.set_text(if args.to_server {
        "direction=to-server"
    } else {
        "direction=to-client"
    })?;
    if let Some(size) = &args.size {
        scenario.set_text(&format!("size={size}"))?;
    }
    for text in &args.set {
        scenario.set_text(text)?;
    }
    scenario.resolve()?;
    let found = match advise(&import, &scenario, &mut seconds_of_all) {
        Ok(found) => found,
        Err(why) => bail!(why),
    };
    Ok((
        if args.json {
            format!("{:#}\n", as_json(&found))
        } else {
            text(&found)
        },
        true,
    ))
}

/// Runs scenarios on all CPUs. The results do not depend on their number.
fn seconds_of_all(scenarios: &[Scenario]) -> Vec<Option<f64>> {
    let next = Mutex::new(scenarios.iter().enumerate());
    let results = Mutex::new(vec![None; scenarios.len()]);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(scenarios.len()) {
            scope.spawn(|| {
                while let Some((place, scenario)) =
                    next.lock().ok().and_then(|mut next| next.next())
                {
                    let time = seconds(scenario);
                    if let Ok(mut results) = results.lock()
                        && let Some(slot) = results.get_mut(place)
                    {
                        *slot = time;
                    }
                }
            });
        }
    });
    results.into_inner().unwrap_or_default()
}

fn seconds(scenario: &Scenario) -> Option<f64> {
    let summary = run::run(scenario).ok()?;
    summary.failure().is_none().then_some(summary.seconds)
}

fn text(found: &Advice) -> String {
    let mut text = format!(
        "As the files are, the simulated copy takes {:.2} s.\n",
        found.now_s
    );
    let _ = match found.steps.last() {
        None => writeln!(
            text,
            "No setting of these files makes it faster by 2 % or more ({} simulated copies).",
            found.runs
        ),
        Some(last) => writeln!(
            text,
            "With the changes below {:.2} s, {:.1} times as fast ({} simulated copies).\n",
            last.after_s,
            found.now_s / last.after_s.max(1e-9),
            found.runs
        ),
    };
    for step in &found.steps {
        let _ = writeln!(
            text,
            "{:8.2} s -> {:8.2} s  {}: {}",
            step.before_s, step.after_s, step.file, step.line
        );
        if let Some(note) = step.note {
            let _ = writeln!(text, "                         usual advice: {note}");
        }
        let _ = writeln!(text, "                         source: {}", step.source);
    }
    if !found.diff.is_empty() {
        let _ = write!(text, "\n{}", found.diff);
    }
    text
}

fn as_json(found: &Advice) -> Value {
    let steps = found.steps.iter().map(|step| {
        json!({
            "file": step.file, "line": step.line, "before_s": step.before_s, "after_s": step.after_s,
            "note": step.note, "source": step.source,
        })
    });
    let predicted_s = found.steps.last().map(|step| step.after_s);
    json!({ "now_s": found.now_s, "predicted_s": predicted_s, "steps": steps.collect::<Vec<_>>(), "runs": found.runs, "diff": found.diff })
}
