//! `coax status`: what a server on this machine does now.

pub(super) mod ask;

use std::{
    io::IsTerminal as _,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use coax_report::status;
use coax_serve::status::{Answer, Ask, Status};

use super::output::print;

/// Time between two looks.
const PERIOD: Duration = Duration::from_secs(1);

/// `coax status`'s arguments.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The server answers at the socket that 'coax:status socket' of smb.conf names; the packages' service has \
    /run/coax/status. Only the user who runs the server, and root, may ask."
)]
pub struct StatusArgs {
    #[command(subcommand)]
    #[expect(missing_docs)]
    pub what: Option<What>,
    /// The server's socket
    #[arg(
        long,
        value_name = "PATH",
        global = true,
        default_value = "/run/coax/status"
    )]
    pub socket: PathBuf,
    /// Report as one JSON object (docs/status.md)
    #[arg(long)]
    pub json: bool,
    /// Update every second, with rates, until the server ends
    #[arg(long)]
    pub watch: bool,
    /// Show the traffic of each share and client in the last day, by the minute
    #[arg(long, conflicts_with = "watch")]
    pub history: bool,
}

/// What to do instead of looking.
#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Close an open file, as if its client had closed it
    Close {
        /// Its number, as coax status shows it, or SHARE/PATH: all opens of this file
        file: String,
    },
    /// Remove the byte-range locks of an open file
    Unlock {
        /// Its number, as coax status shows it, or SHARE/PATH: all opens of this file
        file: String,
    },
    /// Disconnect a client
    Kick {
        /// Its number, as coax status shows it, or its name or address: all of its connections
        client: String,
    },
}

/// Does what the command line says.
pub fn main(args: &StatusArgs) -> ExitCode {
    let done = match &args.what {
        Some(What::Close { file }) => each(args, FILE, file, "closed", |open| Ask::Close { open }),
        Some(What::Unlock { file }) => {
            each(args, FILE, file, "unlocked", |open| Ask::Unlock { open })
        }
        Some(What::Kick { client }) => each(args, CLIENT, client, "disconnected", |client| {
            Ask::Kick { client }
        }),
        None if args.history => day(args),
        None if args.watch => watch(args),
        None => look(args).map(|status| shown(args, &status, None)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn look(args: &StatusArgs) -> Result<Status, ask::AskError> {
    match ask::ask(&args.socket, Ask::Status)? {
        Answer::Status(status) => Ok(*status),
        _ => Err(ask::AskError::Senseless),
    }
}

fn day(args: &StatusArgs) -> Result<ExitCode, ask::AskError> {
    match ask::ask(&args.socket, Ask::History)? {
        Answer::History(day) if args.json => Ok(print(&format!("{}\n", serde_json::json!(day)))),
        Answer::History(day) => Ok(print(&status::history(&day))),
        _ => Err(ask::AskError::Senseless),
    }
}

/// What has a number: the word for it, what else to call it by, and the numbers of those that are called so.
type Numbered = (&'static str, &'static str, fn(&Status, &str) -> Vec<u64>);
const FILE: Numbered = ("open file", "SHARE/PATH", Status::opens_of);
const CLIENT: Numbered = ("client", "name or address", Status::clients_called);

/// Does something to each that is called `name`.
fn each(
    args: &StatusArgs,
    (what, names, find): Numbered,
    name: &str,
    done: &str,
    ask: impl Fn(u64) -> Ask,
) -> Result<ExitCode, ask::AskError> {
    let numbers = match name.parse() {
        Ok(number) => vec![number],
        Err(_) => find(&look(args)?, name),
    };
    if numbers.is_empty() {
        return Err(ask::AskError::Refused(format!(
            "there is no {what} {name}\n  = help: write its number or {names}, as coax status shows them"
        )));
    }
    for number in numbers {
        match ask::ask(&args.socket, ask(number))? {
            Answer::Done => print(&format!("{what} {number} is {done}\n")),
            _ => return Err(ask::AskError::Senseless),
        };
    }
    Ok(ExitCode::SUCCESS)
}

/// The first look, and what changed since the one before.
fn shown(args: &StatusArgs, status: &Status, before: Option<(&Status, f64)>) -> ExitCode {
    match args.json {
        true => print(&format!("{}\n", serde_json::json!(status))),
        false => print(&status::report(status, before)),
    }
}

/// Looks again and again. The end of the server is the end of this, and no failure.
fn watch(args: &StatusArgs) -> Result<ExitCode, ask::AskError> {
    let clears = !args.json && std::io::stdout().is_terminal();
    let mut before: Option<(Status, Instant)> = None;
    loop {
        let (now, at) = match look(args) {
            Err(error) if before.is_none() => return Err(error),
            Err(_) => return Ok(ExitCode::SUCCESS),
            Ok(now) => (now, Instant::now()),
        };
        if clears {
            print("\x1b[2J\x1b[H");
        }
        let then = before.as_ref();
        let then = then.map(|(status, then)| (status, (at - *then).as_secs_f64()));
        if shown(args, &now, then) != ExitCode::SUCCESS {
            return Ok(ExitCode::FAILURE);
        }
        before = Some((now, at));
        std::thread::sleep(PERIOD);
    }
}
