//! Runs the commands of smb.conf (`print command`) in a process of their own, apart from the process that serves
//! clients.
//!
//! The serving process may start no program ([`super::sandbox`]). So [`Runner::start`] starts a second coax process before
//! the sandbox is applied; it reads one order a line from its standard input, runs it with `/bin/sh`, and answers with one line.
//! It ends when the server does. Servers without a sandbox, in tests and in `coax tour`, run their commands themselves.

use std::{
    fs::{DirBuilder, OpenOptions},
    io::{BufRead, BufReader, ErrorKind, Write},
    os::unix::{
        fs::{DirBuilderExt, OpenOptionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::sandbox::privileges::Account;

/// A command that runs longer is killed so that the next one can run.
const LONGEST: Duration = Duration::from_secs(600);
/// Poll interval for a running command.
const LOOK: Duration = Duration::from_millis(20);
/// The hidden subcommand that starts the command-running process.
pub const VERB: &str = "run-commands";

/// A command ready to run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// The command line for the shell.
    pub(super) line: String,
    /// Its working directory.
    pub(super) folder: String,
    /// A file for it to read.
    #[serde(default)]
    pub(super) file: Option<TextFile>,
}

/// A file that is written before the command runs. It replaces an older one of this name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TextFile {
    /// Where; its folder is made for this user only.
    pub(super) path: String,
    /// Its contents.
    pub(super) text: String,
}

impl TextFile {
    fn write(&self) -> std::io::Result<()> {
        let path = Path::new(&self.path);
        if let Some(folder) = path.parent()
            && !folder.exists()
        {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(self.text.as_bytes())
    }
}

/// Runs commands, in this process or in another one.
#[derive(Debug, Default)]
pub(super) enum Runner {
    /// This process.
    #[default]
    Here,
    /// The command-running process.
    Apart(Mutex<Apart>),
}

/// The pipes to the command-running process.
#[derive(Debug)]
pub(super) struct Apart {
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    // Kept so that the process can be reaped.
    _process: Child,
}

impl Runner {
    /// Starts the command-running process, which switches to `user` if one is given.
    ///
    /// # Errors
    /// The system cannot start the process.
    pub(super) fn start(user: Option<&str>) -> std::io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(VERB)
            .args(user)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Separate process group: a terminal's signal to the server must not stop print commands.
            .process_group(0)
            .spawn()?;
        let (Some(orders), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        Ok(Self::Apart(Mutex::new(Apart {
            orders,
            answers: BufReader::new(answers),
            _process: process,
        })))
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// The failure as a phrase that follows the command's name.
    pub(super) fn run(&self, order: &Order) -> Result<(), String> {
        match self {
            Self::Here => run(order),
            Self::Apart(apart) => apart
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .run(order)
                .unwrap_or_else(|error| {
                    Err(format!(
                        "did not run: coax's process for commands has ended ({error}); restart coax"
                    ))
                }),
        }
    }
}

impl Apart {
    fn run(&mut self, order: &Order) -> std::io::Result<Result<(), String>> {
        let mut line = serde_json::to_string(order)?;
        line.push('\n');
        self.orders.write_all(line.as_bytes())?;
        self.orders.flush()?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

/// Main loop of the command-running process: runs orders from standard input until it ends.
///
/// # Errors
/// The process cannot switch to `user`, or an order is malformed.
pub fn serve_orders(user: Option<&str>) -> Result<(), String> {
    if let Some(user) = user {
        Account::find(user)?.assume()?;
    }
    let mut out = std::io::stdout().lock();
    let mut folder = FileFolder(None);
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let order: Order = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        folder.note(&order);
        let answer = serde_json::to_string(&run(&order)).map_err(|error| error.to_string())?;
        writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The folder of the files, which goes with the process.
struct FileFolder(Option<PathBuf>);

impl FileFolder {
    fn note(&mut self, order: &Order) {
        let file = order.file.as_ref().filter(|_| self.0.is_none());
        if let Some(folder) = file.and_then(|file| Path::new(&file.path).parent()) {
            self.0 = Some(folder.into());
        }
    }
}

impl Drop for FileFolder {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn run(order: &Order) -> Result<(), String> {
    if let Some(file) = &order.file {
        file.write()
            .map_err(|error| format!("cannot write {}: {error}", file.path))?;
    }
    let started = Command::new("/bin/sh")
        .args(["-c", &order.line])
        .current_dir(&order.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn();
    let mut child = started.map_err(|error| format!("did not start: {error}"))?;
    match end_of(&mut child) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("failed: {status}")),
        Ok(None) => Err(format!("took longer than {} s", LONGEST.as_secs())),
        Err(error) => Err(format!("cannot be waited for: {error}")),
    }
}

/// Waits for the exit status; `None` if the command was killed.
fn end_of(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_failed_command_reports_its_exit_status() {
        let order = Order {
            line: "exit 3".into(),
            folder: "/".into(),
            file: None,
        };
        assert!(Runner::Here.run(&order).unwrap_err().contains('3'));
    }
}
