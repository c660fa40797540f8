//! `coax bench`: from arguments to a measurement, and what is said of it.

use coax_catalog::clients;
use std::{
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
    sync::Arc,
};

use super::{nearest::unknown, output::WrongUsage};
use clap::Args;
use coax_client::profile::Profile;

use coax_report::bench::{json, text};
use coax_transfer::{
    bench::{BenchError, Event, Plan, Report, run},
    client::{Location, Options},
    speed::{Stop, ceiling::CeilingTarget},
};

/// `coax bench`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    arg_required_else_help = true,
    long_about = "Copies a file of incompressible data to a server and back with each redirector profile, verifies the \
        contents, and prints the time, the requests, and the ratio to the best.",
    after_help = "First try: coax bench smb://SERVER/SHARE\n\
        The share must be writable; coax removes its file afterwards. docs/bench.md explains the table."
)]
pub struct BenchArgs {
    /// The share to measure, optionally with a folder
    #[arg(value_name = "smb://[USER[:PASSWORD]@]HOST[:PORT]/SHARE[/FOLDER]", value_parser = place)]
    pub place: Location,
    /// Length of the file: 42MB (of 1,000,000 bytes), 42MiB (of 1,048,576), or bytes
    #[arg(long, value_name = "SIZE", default_value = "42MB", value_parser = size)]
    pub size: u64,
    /// Redirector profiles, separated by commas, or all; docs/clients.md lists them
    #[arg(long = "as", value_name = "P1,P2,…|all", default_value = "all", value_parser = chosen)]
    pub profiles: Chosen,
    /// Repeat each copy N times and report minimum, median and maximum
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub runs: u32,
    /// First measure raw TCP with 'coax speed serve', which runs at HOST and sends at PORT and receives at PORT + 1 (else
    /// HOST:PORT,PORT). Report each copy relative to it
    #[arg(long, value_name = "HOST:PORT")]
    pub ceiling: Option<CeilingTarget>,
    /// Send the password in plaintext or as an LM response if the server supports nothing better. Anybody on the network
    /// can read or break it
    #[arg(long)]
    pub allow_weak: bool,
    /// Report as one JSON object (docs/bench.md)
    #[arg(long)]
    pub json: bool,
}

/// The redirectors that were asked for.
#[derive(Clone, Debug)]
pub struct Chosen(Vec<Arc<Profile>>);

/// Does what `coax bench` was told.
///
/// # Errors
/// A password is missing.
pub fn main(args: &BenchArgs) -> Result<ExitCode, WrongUsage> {
    let place = super::files::with_known_password(&args.place)
        .map_err(|message| WrongUsage::new("bench", message))?;
    Ok(bench(args, place))
}

fn bench(args: &BenchArgs, place: Location) -> ExitCode {
    let plan = Plan {
        profiles: args.profiles.0.clone(),
        size: args.size,
        runs: args.runs,
        options: Options {
            record: true,
            allow_weak: args.allow_weak || place.user.is_none(),
            ..Options::default()
        },
        ceiling: args.ceiling.clone(),
        place,
    };
    let stop = Stop::on_signals();
    let progress = std::io::stderr().is_terminal();
    let outcome = run(&plan, &stop, &mut |event| {
        if progress {
            eprint!("\r{}\x1b[K", now(event, plan.runs));
        }
    });
    if progress {
        eprint!("\r\x1b[K");
    }
    match outcome {
        Ok(report) => told(&plan, &report, args.json),
        Err(error) => {
            eprintln!("error: {error}\n  = help: {}", advice(&error));
            ExitCode::FAILURE
        }
    }
}

fn now(event: Event<'_>, runs: u32) -> String {
    match event {
        Event::Ceiling => "measuring raw TCP".into(),
        Event::Copying(number, profile, to_server) => {
            let way = if to_server { "to" } else { "from" };
            let of = match runs {
                1 => String::new(),
                runs => format!("run {number} of {runs}: "),
            };
            format!("{of}{profile}, {way} the server")
        }
    }
}

fn told(plan: &Plan, report: &Report, as_json: bool) -> ExitCode {
    let text = if as_json {
        format!("{}\n", json::report(report))
    } else {
        text::report(&plan.place.to_string(), report)
    };
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            return ExitCode::FAILURE;
        }
        _ => {}
    }
    for note in &report.notes {
        eprintln!("note: {note}");
    }
    if report.is_good() && !report.stopped {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {}", text::failure(report));
    ExitCode::FAILURE
}

fn advice(error: &BenchError) -> &'static str {
    match error {
        BenchError::NoRoom(_) => "try a smaller --size",
        BenchError::Ceiling(_) => {
            "start 'coax speed serve' on the server's machine and name its source port, as --ceiling HOST:2000"
        }
        BenchError::Unreachable(_) => {
            "check the name, that the server runs and that its port is open"
        }
    }
}

fn place(text: &str) -> Result<Location, String> {
    let place: Location = text.parse().map_err(|error| format!("{error}"))?;
    if place.share.is_empty() {
        return Err("there is no share in it: write smb://HOST/SHARE".into());
    }
    Ok(place)
}

fn chosen(text: &str) -> Result<Chosen, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(Chosen(clients::all().to_vec()));
    }
    let one = |name: &str| {
        clients::by_name(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = coax_catalog::files::CLIENTS
                .iter()
                .map(|(name, _)| *name)
                .collect();
            unknown("profile", name.trim(), &known)
        })
    };
    text.split(',')
        .map(one)
        .collect::<Result<_, _>>()
        .map(Chosen)
}

/// Bytes of `42MB`, `42MiB`, `42`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "kib" => 1 << 10,
        "mb" => 1_000_000,
        "mib" => 1 << 20,
        "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => {
            return Err(format!(
                "{unit:?} is not a unit: write 42MB, 42MiB, 1GB, or bytes"
            ));
        }
    };
    let number: u64 = digits
        .trim()
        .parse()
        .map_err(|_| "write a whole number and a unit, as 42MB or 42MiB".to_string())?;
    match number.checked_mul(scale) {
        Some(bytes @ 1..=LARGEST) => Ok(bytes),
        _ => Err("from 1 byte to 1 TiB".into()),
    }
}

/// The largest file, bytes.
const LARGEST: u64 = 1 << 40;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sizes_are_of_a_thousand_or_of_1024() {
        let sizes = [
            ("42MB", 42_000_000),
            ("42MiB", 44_040_192),
            ("4292", 4292),
            ("1 kib", 1024),
            ("2GB", 2_000_000_000),
        ];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "-1MB", "1.5MB", "0", "42XB", "99999999999GB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn profiles_are_named_with_commas_and_an_unknown_one_is_told_what_there_is() {
        let names = |text: &str| -> Vec<String> {
            chosen(text)
                .unwrap()
                .0
                .iter()
                .map(|profile| profile.name.clone())
                .collect()
        };
        assert_eq!(names("modern, NT-4-Copy"), ["modern", "nt-4-copy"]);
        assert_eq!(names("all").len(), coax_catalog::files::CLIENTS.len());
        assert!(chosen("msdos").unwrap_err().contains("ms-net-3.11-full"));
    }

    #[test]
    fn a_share_must_be_named() {
        assert!(place("smb://host").is_err());
        assert_eq!(place("smb://host/data/sub").unwrap().path, "sub");
    }
}
