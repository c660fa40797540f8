//! `coax lab sweep`.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    path::PathBuf,
    sync::Mutex,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use clap::Args;

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
    let progress = Progress::new(sweep.runs());
    let threads = args.threads.unwrap_or_else(parallel::processors);
    let swept = sweep.run(threads, |done| progress.at(done));
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

/// A line on a terminal that says how many runs are done.
#[derive(Debug)]
struct Progress {
    shown: bool,
    runs: usize,
    began: Instant,
    next: Mutex<Instant>,
}

impl Progress {
    fn new(runs: usize) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let progress = Self {
            shown: !dumb && stderr().is_terminal(),
            runs,
            began: Instant::now(),
            next: Mutex::new(Instant::now()),
        };
        progress.at(0);
        progress
    }

    /// So many runs are done.
    fn at(&self, done: usize) {
        if !self.shown {
            return;
        }
        let Ok(mut next) = self.next.try_lock() else {
            return;
        };
        let now = Instant::now();
        if now >= *next {
            *next = now + Duration::from_millis(100);
            // a terminal that is gone takes nothing away from the runs
            let _ = write!(stderr(), "\r{}\x1b[K", self.line(done, now - self.began));
        }
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }

    fn line(&self, done: usize, elapsed: Duration) -> String {
        const BAR: usize = 20;
        let filled = (done * BAR).checked_div(self.runs).unwrap_or(0).min(BAR);
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
        let left = match done {
            0 => "-:--".to_owned(),
            done => {
                let rest = self.runs.saturating_sub(done) as f64;
                let seconds = (elapsed.as_secs_f64() * rest / done as f64) as u64;
                format!("{}:{:02}", seconds / 60, seconds % 60)
            }
        };
        format!("[{bar}] {done} of {} runs  {left} left", self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_many_runs_are_done_and_how_long_the_rest_takes() {
        let progress = Progress {
            shown: false,
            runs: 40,
            began: Instant::now(),
            next: Mutex::new(Instant::now()),
        };
        assert_eq!(
            progress.line(10, Duration::from_secs(25)),
            "[#####...............] 10 of 40 runs  1:15 left"
        );
        assert_eq!(
            progress.line(0, Duration::ZERO),
            "[....................] 0 of 40 runs  -:-- left"
        );
    }
}
