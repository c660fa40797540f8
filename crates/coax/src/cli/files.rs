//! `coax ls get put rm mkdir rmdir mv stat shares`: files on servers, by profile.

pub(super) mod arguments;
mod get;
mod mv;
mod outcome;
mod progress;
mod put;
mod session;
pub mod text;
mod tree;

use std::{io::Write as _, process::ExitCode};

use serde_json::{Value, json};

pub(crate) use arguments::code_page;
pub use arguments::{
    Common, CopyOptions, GetArgs, LsArgs, MkdirArgs, MvArgs, PathsArgs, PutArgs, RmArgs,
    SharesArgs, StatArgs,
};
use outcome::{Done, Failure, Stop};

use super::output::WrongUsage;
use coax_transfer::client::Location;

/// One of the verbs, with its arguments.
#[derive(Clone, Copy, Debug)]
pub enum Verb<'a> {
    /// What a folder holds.
    Ls(&'a LsArgs),
    /// From the server.
    Get(&'a GetArgs),
    /// To the server.
    Put(&'a PutArgs),
    /// Delete.
    Rm(&'a RmArgs),
    /// Create folders.
    Mkdir(&'a MkdirArgs),
    /// Remove empty folders.
    Rmdir(&'a PathsArgs),
    /// Another name.
    Mv(&'a MvArgs),
    /// Times, size, attributes.
    Stat(&'a StatArgs),
    /// What a server shares.
    Shares(&'a SharesArgs),
}

impl Verb<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Ls(_) => "ls",
            Self::Get(_) => "get",
            Self::Put(_) => "put",
            Self::Rm(_) => "rm",
            Self::Mkdir(_) => "mkdir",
            Self::Rmdir(_) => "rmdir",
            Self::Mv(_) => "mv",
            Self::Stat(_) => "stat",
            Self::Shares(_) => "shares",
        }
    }

    fn common(&self) -> &Common {
        match self {
            Self::Ls(args) => &args.common,
            Self::Get(args) => &args.common,
            Self::Put(args) => &args.common,
            Self::Rm(args) => &args.common,
            Self::Mkdir(args) => &args.common,
            Self::Rmdir(args) => &args.common,
            Self::Mv(args) => &args.common,
            Self::Stat(args) => &args.common,
            Self::Shares(args) => &args.common,
        }
    }
}

/// Does what the command line says.
///
/// # Errors
/// The command line makes no sense.
pub fn main(verb: Verb<'_>) -> Result<ExitCode, WrongUsage> {
    let outcome = match verb {
        Verb::Ls(args) => tree::ls(args),
        Verb::Get(args) => get::get(args),
        Verb::Put(args) => put::put(args),
        Verb::Rm(args) => tree::rm(args),
        Verb::Mkdir(args) => tree::mkdir(args),
        Verb::Rmdir(args) => tree::rmdir(args),
        Verb::Mv(args) => mv::mv(args),
        Verb::Stat(args) => tree::stat(args),
        Verb::Shares(args) => tree::shares(args),
    };
    let done = match outcome {
        Ok(done) => done,
        Err(Stop::Failed(failure)) => Done {
            failures: vec![*failure],
            ..Done::default()
        },
        Err(Stop::Usage(message)) => return Err(WrongUsage::new(verb.name(), message)),
    };
    Ok(report(done, verb.common().json))
}

/// The location with its user's password: from the URL, `COAX_PASSWORD`, or the person at the terminal.
///
/// # Errors
/// There is none; the sentence says how to give one.
pub(super) fn with_known_password(location: &Location) -> Result<Location, String> {
    session::with_password(location).map_err(|stop| match stop {
        Stop::Usage(message) => message,
        Stop::Failed(failure) => failure.to_string(),
    })
}

fn report(mut done: Done, as_json: bool) -> ExitCode {
    for failure in &done.failures {
        eprintln!("{failure}");
    }
    let text = if as_json {
        let errors: Vec<Value> = done.failures.iter().map(Failure::json).collect();
        done.report
            .insert("ok".into(), json!(done.failures.is_empty()));
        done.report.insert("errors".into(), errors.into());
        format!("{}\n", Value::Object(done.report))
    } else {
        done.text
    };
    // Standard output may be the copy itself: nothing is added to it then.
    let printed = std::io::stdout().lock().write_all(text.as_bytes());
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
        _ if done.failures.is_empty() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
