//! `coax serve --ci` and `--fault`: a server for tests of clients.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::cli::nearest;
use coax_fault::Fault;
use coax_serve::ci::{CiStart, EndWatch};
use coax_smbconf::{
    log_level::LogLevels,
    settings::{Listener, Listeners, Settings},
    share_argument::ShareArg,
};

/// The level at which every request is reported.
const REQUESTS: u8 = 3;
/// The share of a temporary folder.
const SHARE: &str = "CI";

/// `--ci`, `--fault` and what belongs to them.
#[derive(Args, Clone, Debug, Default)]
pub struct TestArgs {
    /// Be the server of a client's tests: listen on free ports of 127.0.0.1, print each request and why it failed as a JSON line, and
    /// share a temporary folder that guests may write to (or DIR). The server ends with its parent process. Exit code 1: the client
    /// sent invalid requests, or a fault was never applied (docs/for-client-developers.md)
    #[arg(long, conflicts_with_all = ["check", "explain_config", "takeover", "config"])]
    pub ci: bool,
    /// End after this time, such as 90s or 10min, with exit code 1
    #[arg(long, value_name = "TIME", value_parser = time, requires = "ci")]
    pub ci_time_limit: Option<Duration>,
    /// End with this process instead of the parent. With none, only a signal or the time limit ends the server
    #[arg(long, value_name = "PID|none", value_parser = process, requires = "ci")]
    pub ci_parent: Option<Process>,
    /// Inject a fault: --fault 'READ_ANDX#3=disconnect', --fault 'WRITE_RAW:interim=delay 2s'. Repeatable; works without --ci too
    #[arg(long = "fault", value_name = "FAULT", value_parser = fault)]
    pub faults: Vec<Fault>,
}

/// The process that the server ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// None.
    None,
    /// The one with this number.
    Number(i32),
}

/// A temporary folder with the share's folder in it.
#[derive(Debug)]
pub struct Temporary {
    folder: tempfile::TempDir,
}

impl Temporary {
    /// Creates it.
    ///
    /// # Errors
    /// Why the system does not.
    pub fn new() -> Result<Self, String> {
        let failed = |error| format!("cannot create a temporary folder: {error}");
        let folder = tempfile::Builder::new()
            .prefix("coax-ci-")
            .tempdir()
            .map_err(failed)?;
        std::fs::create_dir(folder.path().join(SHARE)).map_err(failed)?;
        Ok(Self { folder })
    }

    /// The share of it.
    pub fn share(&self) -> ShareArg {
        ShareArg {
            name: SHARE.into(),
            dir: self.path(),
            read_only: false,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(SHARE)
    }
}

impl TestArgs {
    /// Enters what `--ci` decides into the settings. `listens` says whether the command line names addresses.
    pub fn apply(&self, settings: &mut Settings, listens: bool, is_temporary: bool) {
        if !self.ci {
            return;
        }
        settings.json = true;
        let global = &mut settings.global;
        if global.log_level.highest() < REQUESTS {
            global.log_level = LogLevels::all(REQUESTS);
        }
        // A test has ended: nobody waits for its clients.
        global.drain_seconds = 0;
        // The sandbox would keep the temporary folder from being removed.
        global.sandbox &= !is_temporary;
        if !listens {
            let free = Listener::exactly(([127, 0, 0, 1], 0).into());
            settings.listen = Listeners {
                nbt: vec![free],
                direct: vec![free],
                names: None,
                netbeui: Vec::new(),
                ipx: Vec::new(),
            };
        }
    }

    /// What the server needs for `--ci`.
    ///
    /// # Errors
    /// The process that it is to end with does not exist.
    pub fn start(&self, settings: &Settings) -> Result<Option<CiStart>, String> {
        if !self.ci {
            return Ok(None);
        }
        let limit = self.ci_time_limit;
        let watch = match self.ci_parent {
            None => EndWatch::of(None, limit)?,
            Some(Process::Number(number)) => EndWatch::of(Some(number), limit)?,
            Some(Process::None) => EndWatch::without_parent(limit),
        };
        let share = settings.shares.first();
        Ok(Some(CiStart {
            watch,
            share: share.map(|share| share.name.clone()).unwrap_or_default(),
            folder: share.map(|share| share.path.clone()).unwrap_or_default(),
        }))
    }
}

fn fault(text: &str) -> Result<Fault, String> {
    text.parse::<Fault>()
        .map_err(|error| match error.unknown() {
            Some((word, known)) => match nearest::nearest(word, known) {
                Some(name) => format!("{error}; did you mean '{name}'?"),
                None if known.len() <= 12 => format!("{error}; there are {}", known.join(", ")),
                None => format!("{error}; docs/for-client-developers.md lists them"),
            },
            None => error.to_string(),
        })
}

/// Seconds or minutes.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number and s, min or h, such as 90s or 10min".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = text
        .split_at_checked(end.unwrap_or(text.len()))
        .ok_or_else(wrong)?;
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "s" => Some(number),
        "min" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    };
    let seconds = seconds.filter(|seconds| (1..=7 * 24 * 3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

fn process(text: &str) -> Result<Process, String> {
    match (text, text.parse::<i32>()) {
        ("none", _) => Ok(Process::None),
        (_, Ok(number)) if number > 0 => Ok(Process::Number(number)),
        _ => Err("write the number of a process, or none".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_end() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("10min"), Ok(Duration::from_secs(600)));
        assert_eq!(time("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "5", "0s", "s", "1d", "99999999999999999999s", "9999h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_typo_in_a_fault_gets_the_name_that_was_meant() {
        assert_eq!(
            fault("REED_ANDX=drop"),
            Err("there is no SMB command 'REED_ANDX'; did you mean 'READ_ANDX'?".into())
        );
        assert_eq!(
            fault("READ_ANDX=error ACESS_DENIED"),
            Err("there is no status 'ACESS_DENIED'; did you mean 'ACCESS_DENIED'?".into())
        );
        assert_eq!(
            fault("READ_ANDX:now=drop"),
            Err("there is no stage 'now'; there are request, interim, reply".into())
        );
    }

    #[test]
    fn processes_are_numbers_or_none() {
        assert_eq!(process("none"), Ok(Process::None));
        assert_eq!(process("17"), Ok(Process::Number(17)));
        assert!(process("-1").is_err() && process("x").is_err());
    }
}
