//! `coax profiles`: which redirectors can be imitated, and how each value is known.

use std::process::ExitCode;

use clap::Args;

use super::output::{WrongUsage, print};
use coax_report::profiles::{list, named};

/// `coax profiles`' arguments.
#[derive(Args, Clone, Debug)]
pub struct ProfilesArgs {
    /// Show all values of this one, with their sources
    pub name: Option<String>,
    /// As one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Does what the command line says.
///
/// # Errors
/// There is no such profile.
pub fn main(args: &ProfilesArgs) -> Result<ExitCode, WrongUsage> {
    let text = match &args.name {
        None => list(args.json),
        Some(name) => named(name, args.json)
            .map_err(|message| WrongUsage::new("profiles", message).at(name))?,
    };
    Ok(print(&text))
}
