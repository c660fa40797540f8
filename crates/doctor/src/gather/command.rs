//! Other programs, for as long as they may take.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The longest that a program may run.
const PATIENCE: Duration = Duration::from_secs(3);
/// What is read of its output, bytes.
const OUTPUT_MAX: u64 = 16 << 20;
/// Where programs of the system are, also for users whose `PATH` lacks them.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// How a program ended.
#[derive(Debug)]
pub(super) enum Ran {
    /// It is not installed.
    Missing,
    /// It succeeded with this output.
    Done(String),
    /// It failed with this message.
    Failed(String),
}

/// The path of a program.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let folders = FOLDERS.iter().map(Path::new);
    folders
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// Runs a program without input.
pub(super) fn run(program: &str, arguments: &[&str]) -> Ran {
    let Some(path) = find(program) else {
        return Ran::Missing;
    };
    let started = Command::new(path)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    match started {
        Ok(child) => wait(child),
        Err(error) => Ran::Failed(error.to_string()),
    }
}

fn wait(mut child: Child) -> Ran {
    let out = child.stdout.take().map(reader);
    let err = child.stderr.take().map(reader);
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                // it is gone already, or cannot be waited for either
                let _ = child.kill();
                let _ = child.wait();
                return Ran::Failed(format!("no answer within {} s", PATIENCE.as_secs()));
            }
        }
    };
    let text = |reader: Option<std::thread::JoinHandle<String>>| {
        let text = reader.and_then(|reader| reader.join().ok());
        text.unwrap_or_default()
    };
    let (out, err) = (text(out), text(err));
    match status.success() {
        true => Ran::Done(out),
        false => Ran::Failed(err.lines().next().unwrap_or("no message").to_owned()),
    }
}

fn reader(from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // what was read until an error counts
        let _ = from.take(OUTPUT_MAX).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
