//! The command line: one module a verb.
//!
//! Exit codes: 0 done, 1 it failed, 2 wrong usage.

pub mod bench;
pub mod hello;
pub mod serve;
pub mod speed;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// SMB1 and NetBIOS for vintage machines.
#[derive(Debug, Parser)]
#[command(
    name = "coax",
    version,
    about,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
#[command(
    after_help = "A first try: coax serve DIR shares that folder with everything from DOS to Windows XP, and prints what to \
    type there. 'coax VERB --help' tells more. Exit codes: 0 done, 1 it failed, 2 wrong usage."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Share folders with DOS, Windows for Workgroups, 9x, NT, OS/2, consoles, scanners
    Serve(Box<serve::ServeArgs>),
    /// Copy a file both ways as each redirector of the time did, and compare
    Bench(Box<bench::BenchArgs>),
    /// Measure raw TCP, as mTCP's SPDTEST does and together with it
    Speed(Box<speed::SpeedArgs>),
}

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let arguments = match speed::dos_spelling(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(message) => return speed::wrong_usage(&message),
    };
    match Cli::parse_from(arguments).command {
        Command::Serve(args) => serve::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Speed(args) => speed::main(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
