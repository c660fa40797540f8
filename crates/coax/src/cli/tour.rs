//! `coax tour`: everything once.

use std::{io::IsTerminal as _, path::PathBuf, process::ExitCode};

use clap::Args;

use super::output::WrongUsage;
use crate::tour::{self, Event, SIZE, json, text};
use coax_transfer::speed::Stop;

/// `coax tour`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "Demonstrates all commands on this machine in under a minute: serves a folder, copies 42 MB to it and back with \
        every redirector profile, predicts the published tables, simulates slow copies and explains their captures.\n\n\
        The server listens only on a free loopback port. coax removes all files afterwards."
)]
pub struct TourArgs {
    /// Also write an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Report as one JSON object (docs/tour.md)
    #[arg(long)]
    pub json: bool,
}

/// Goes round.
///
/// # Errors
/// The page cannot be written where it is to go.
pub fn main(args: &TourArgs) -> Result<ExitCode, WrongUsage> {
    super::output::check_outputs("tour", args.json, &[("--html", args.html.as_deref())])?;
    Ok(go_round(args))
}

fn go_round(args: &TourArgs) -> ExitCode {
    let progress = std::io::stderr().is_terminal();
    let outcome = tour::run(SIZE, &Stop::on_signals(), &mut |event| {
        if progress {
            eprint!("\r{}\x1b[K", now(event));
        }
    });
    if progress {
        eprint!("\r\x1b[K");
    }
    let tour = match outcome {
        Ok(tour) => tour,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let mut told = if args.json {
        format!("{:#}\n", json::report(&tour))
    } else {
        text::report(&tour)
    };
    if let Some(path) = &args.html {
        let is_stdout = coax_report::files::is_stdout(path);
        if let Err(error) = tour::page::write(path, &tour) {
            eprintln!("error: {error:#}");
            return ExitCode::FAILURE;
        }
        if is_stdout {
            told.clear();
        } else if !args.json {
            told.push_str(&format!("\nThe page: {}\n", path.display()));
        }
    }
    let printed = super::output::print(&told);
    if tour.is_good() {
        return printed;
    }
    eprintln!("error: not every part of it succeeded; the report says which");
    ExitCode::FAILURE
}

fn now(event: Event<'_>) -> String {
    match event {
        Event::Copying(profile, true) => format!("copying as {profile}, to the server"),
        Event::Copying(profile, false) => format!("copying as {profile}, from the server"),
        Event::Predicting => "predicting the published tables".into(),
        Event::Explaining(scenario) => format!("a slow copy, explained: {scenario}"),
    }
}
