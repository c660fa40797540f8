//! `coax ls get put rm mkdir rmdir mv stat shares`: files on servers, by profile.

mod advice;
mod arguments;
mod get;
mod progress;
mod put;
mod session;
mod text;
mod tree;

use std::{io::Write as _, process::ExitCode};

use clap::CommandFactory as _;
use serde_json::{Value, json};

pub use arguments::{
    Common, CopyOptions, GetArgs, LsArgs, MkdirArgs, MvArgs, PathsArgs, PutArgs, RmArgs,
    SharesArgs, StatArgs,
};
use session::Failure;

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
    /// Make folders.
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

/// Why a verb stopped.
#[derive(Debug)]
enum Stop {
    /// The command line makes no sense.
    Usage(String),
    /// It makes sense and cannot be done.
    Failed(Box<Failure>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// What a verb did: the report, and what went wrong with single files on the way.
#[derive(Debug, Default)]
struct Done {
    report: serde_json::Map<String, Value>,
    text: String,
    failures: Vec<Failure>,
}

/// Does what the command line says.
pub fn main(verb: Verb<'_>) -> ExitCode {
    let outcome = match verb {
        Verb::Ls(args) => tree::ls(args),
        Verb::Get(args) => get::get(args),
        Verb::Put(args) => put::put(args),
        Verb::Rm(args) => tree::rm(args),
        Verb::Mkdir(args) => tree::mkdir(args),
        Verb::Rmdir(args) => tree::rmdir(args),
        Verb::Mv(args) => tree::mv(args),
        Verb::Stat(args) => tree::stat(args),
        Verb::Shares(args) => tree::shares(args),
    };
    match outcome {
        Ok(done) => report(done, verb.common().json),
        Err(Stop::Failed(failure)) => report(
            Done {
                failures: vec![*failure],
                ..Done::default()
            },
            verb.common().json,
        ),
        Err(Stop::Usage(message)) => wrong_usage(verb.name(), &message),
    }
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

fn wrong_usage(verb: &str, message: &str) -> ExitCode {
    let mut command = super::Cli::command();
    command.build();
    let kind = clap::error::ErrorKind::ValueValidation;
    let error = match command.find_subcommand_mut(verb) {
        Some(verb) => verb.error(kind, message),
        None => command.error(kind, message),
    };
    // Nothing is left to do if standard error is gone.
    let _ = error.print();
    ExitCode::from(2)
}
