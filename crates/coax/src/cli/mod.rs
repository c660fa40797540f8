//! The command line: one module a verb.
//!
//! Exit codes: 0 done, 1 it failed, 2 wrong usage.

pub mod bench;
pub mod browse;
pub mod credentials;
pub mod decode;
pub mod doctor;
pub mod explain;
pub mod files;
pub mod help;
pub mod lab;
pub mod lookup;
pub mod manual;
pub mod message;
pub mod name_options;
pub mod output;
pub mod profiles;
pub mod progress;
pub mod prompt;
pub mod replay;
pub mod serve;
pub mod setup;
pub mod speed;
pub mod status;
pub mod tour;
pub mod usage;
pub mod user;
pub mod web;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
pub use coax_report::nearest;
use files::Verb;
use output::WrongUsage;

/// `coax --version`: the release, the commit and the optional parts.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("COAX_COMMIT"),
    ", ",
    env!("COAX_FEATURES"),
    ")"
);

/// File sharing and performance diagnosis for vintage computers (SMB1 and NetBIOS).
#[derive(Debug, Parser)]
#[command(
    name = "coax",
    version = VERSION,
    about,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = help::COLUMNS
)]
#[command(
    after_help = "First try: coax serve DIR shares that folder with all clients from DOS to Windows XP and prints what to \
    type there. 'coax COMMAND --help' explains a command, 'coax help' lists further topics. Exit codes: 0 done, 1 it failed, \
    2 wrong usage."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs. A comment of one is its whole description; an `about` leaves the longer one of its arguments.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "an `about` says what the verb does")]
pub enum Command {
    #[command(about = "Share folders with DOS, Windows 3.11 to XP, OS/2, consoles, scanners")]
    Serve(Box<serve::ServeArgs>),
    /// Show the clients and open files of a server on this machine, or disconnect a client
    Status(Box<status::StatusArgs>),
    #[command(about = "Write smb.conf, users and settings of the service from four answers")]
    Setup(Box<setup::SetupArgs>),
    #[command(about = "Check this machine, its network and a client for what keeps clients out")]
    Doctor(Box<doctor::DoctorArgs>),
    #[command(about = "Add, remove and list the users of 'coax serve'")]
    User(Box<user::UserArgs>),
    #[command(about = "Copy a file both ways with each redirector profile and compare")]
    Bench(Box<bench::BenchArgs>),
    /// Simulate a copy over old TCP stacks, network cards and links in virtual time
    Lab(Box<lab::LabArgs>),
    #[command(about = "Measure raw TCP throughput; works with mTCP's SPDTEST")]
    Speed(Box<speed::SpeedArgs>),
    /// List a folder of a server
    Ls(Box<files::LsArgs>),
    /// Copy from a server
    Get(Box<files::GetArgs>),
    /// Copy to a server
    Put(Box<files::PutArgs>),
    /// Delete files on a server
    Rm(Box<files::RmArgs>),
    /// Create folders on a server
    Mkdir(Box<files::MkdirArgs>),
    /// Remove empty folders on a server
    Rmdir(Box<files::PathsArgs>),
    /// Rename or move a file or folder within a share
    Mv(Box<files::MvArgs>),
    /// Show times, size and attributes of a file, or the disk of a share
    Stat(Box<files::StatArgs>),
    /// List what a server shares
    Shares(Box<files::SharesArgs>),
    /// List the workgroups, servers and shares of the network
    Browse(Box<browse::BrowseArgs>),
    /// Find machines by NetBIOS name, and the names of a machine
    Lookup(Box<lookup::LookupArgs>),
    /// Send a message to a machine, a user or a workgroup (NET SEND, WinPopup)
    Message(Box<message::MessageArgs>),
    /// Show the redirector profiles, with the source of each value
    Profiles(Box<profiles::ProfilesArgs>),
    #[command(about = "Explain from packet captures why file copies are slow")]
    Explain(Box<explain::ExplainArgs>),
    /// Show every field of SMB and NetBIOS messages, and what is invalid in them
    Decode(decode::DecodeArgs),
    /// Play the client side of a capture against a server and compare the answers
    Replay(replay::ReplayArgs),
    #[command(about = "Serve the web page on this machine: explain, lab and decode in a browser")]
    Web(web::WebArgs),
    #[command(about = "Demonstrate all commands on this machine in under a minute")]
    Tour(tour::TourArgs),
    /// Explain a command or a topic: exit-codes, environment, output, sizes, urls
    Help(help::HelpArgs),
    /// Print the completions of this command line for a shell
    Completions(manual::CompletionsArgs),
    /// Write the manual pages
    #[command(hide = true)]
    Man(manual::ManArgs),
    /// The helper process of 'serve' that runs print commands
    #[command(hide = true, name = coax_serve::commands::VERB)]
    RunCommands {
        /// The user to become first
        user: Option<String>,
    },
}

/// Reads the command line and runs the verb.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    run(&arguments).unwrap_or_else(|wrong| {
        eprint!("{}", usage::text(&wrong, &arguments));
        ExitCode::from(2)
    })
}

fn run(given: &[OsString]) -> Result<ExitCode, WrongUsage> {
    let arguments = speed::dos_spelling(given.iter().cloned())
        .map_err(|message| WrongUsage::new("speed", message))?;
    credentials::hide_in_urls(&arguments);
    Ok(match parsed(arguments)?.command {
        Command::Serve(args) => serve::main(*args)?,
        Command::Status(args) => status::main(&args),
        Command::Setup(args) => setup::main(&args)?,
        Command::Doctor(args) => doctor::main(&args)?,
        Command::User(args) => user::main(&args)?,
        Command::Bench(args) => bench::main(&args)?,
        Command::Lab(args) => lab::main(&args)?,
        Command::Speed(args) => speed::main(&args),
        Command::Ls(args) => files::main(Verb::Ls(&args))?,
        Command::Get(args) => files::main(Verb::Get(&args))?,
        Command::Put(args) => files::main(Verb::Put(&args))?,
        Command::Rm(args) => files::main(Verb::Rm(&args))?,
        Command::Mkdir(args) => files::main(Verb::Mkdir(&args))?,
        Command::Rmdir(args) => files::main(Verb::Rmdir(&args))?,
        Command::Mv(args) => files::main(Verb::Mv(&args))?,
        Command::Stat(args) => files::main(Verb::Stat(&args))?,
        Command::Shares(args) => files::main(Verb::Shares(&args))?,
        Command::Browse(args) => browse::main(&args)?,
        Command::Lookup(args) => lookup::main(&args)?,
        Command::Message(args) => message::main(&args)?,
        Command::Profiles(args) => profiles::main(&args)?,
        Command::Explain(args) => explain::main(&args)?,
        Command::Decode(args) => decode::main(&args)?,
        Command::Replay(args) => replay::main(&args)?,
        Command::Web(args) => web::main(&args)?,
        Command::Tour(args) => tour::main(&args)?,
        Command::Help(args) => help::main(&args, definition())?,
        Command::Completions(args) => manual::completions(&args, &mut definition()),
        Command::Man(args) => manual::man(&args, definition()),
        Command::RunCommands { user } => run_commands(user.as_deref()),
    })
}

/// The definition of the command line, with what is the same for several verbs.
pub fn definition() -> clap::Command {
    help::with_environment(Cli::command())
}

/// The command line, read. Help and version end the program.
fn parsed(arguments: Vec<OsString>) -> Result<Cli, WrongUsage> {
    let mut command = definition();
    command.build();
    let parsed = command
        .clone()
        .try_get_matches_from(arguments.iter().cloned())
        .and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| match usage::shows_text(&error) {
        true => error.exit(),
        false => usage::wrong_usage(&error, &command, &arguments),
    })
}

fn run_commands(user: Option<&str>) -> ExitCode {
    match coax_serve::commands::serve_orders(user) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::definition().debug_assert();
    }
}
