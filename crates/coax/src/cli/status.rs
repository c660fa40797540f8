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
        /// Its number, as coax status shows it
        client: u64,
    },
}

/// Does what the command line says.
pub fn main(args: &StatusArgs) -> ExitCode {
    let done = match &args.what {
        Some(What::Close { file }) => on_file(args, file, "closed", |open| Ask::Close { open }),
        Some(What::Unlock { file }) => on_file(args, file, "unlocked", |open| Ask::Unlock { open }),
        Some(What::Kick { client }) => kick(args, *client),
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

fn kick(args: &StatusArgs, client: u64) -> Result<ExitCode, ask::AskError> {
    match ask::ask(&args.socket, Ask::Kick { client })? {
        Answer::Done => Ok(print(&format!("client {client} is disconnected\n"))),
        _ => Err(ask::AskError::Senseless),
    }
}

/// Does something to each open that `file` names.
fn on_file(
    args: &StatusArgs,
    file: &str,
    done: &str,
    ask: impl Fn(u64) -> Ask,
) -> Result<ExitCode, ask::AskError> {
    let opens = match file.parse() {
        Ok(number) => vec![number],
        Err(_) => opens_of(&look(args)?, file),
    };
    if opens.is_empty() {
        return Err(ask::AskError::Refused(format!(
            "no file {file} is open\n  = help: write its number or SHARE/PATH, as coax status shows them"
        )));
    }
    for open in opens {
        match ask::ask(&args.socket, ask(open))? {
            Answer::Done => print(&format!("open file {open} is {done}\n")),
            _ => return Err(ask::AskError::Senseless),
        };
    }
    Ok(ExitCode::SUCCESS)
}

/// The opens of a file, in any case and with either slash.
fn opens_of(status: &Status, file: &str) -> Vec<u64> {
    let plain = |text: &str| text.replace('\\', "/").to_lowercase();
    let wanted = plain(file);
    let rows = status.files.iter();
    rows.filter(|row| plain(&format!("{}/{}", row.share, row.path)) == wanted)
        .map(|row| row.id)
        .collect()
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
