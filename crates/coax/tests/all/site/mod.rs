//! A folder with a configuration, servers that use it, and copies.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A time that no event takes, so that a test fails instead of waiting for ever.
const PATIENCE: Duration = Duration::from_secs(120);

pub const COAX: &str = env!("CARGO_BIN_EXE_coax");

/// A folder with a configuration and shares, and servers that use it.
pub struct Site(pub tempfile::TempDir);

impl Site {
    pub fn new() -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        for folder in ["etc", "data", "more"] {
            std::fs::create_dir(site.path(folder)).unwrap();
        }
        site
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn conf(&self) -> PathBuf {
        self.path("etc/smb.conf")
    }

    /// Writes the configuration as editors do: a new file replaces the old one.
    pub fn configure(&self, global: &str, shares: &str) {
        let text = format!(
            "[global]\nguest account = nobody\nmap to guest = bad user\n{global}\n[DATA]\npath = {}\nguest ok = yes\nread only = no\n{shares}",
            self.path("data").display()
        );
        let new = self.path("etc/new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.conf()).unwrap();
    }

    pub fn more(&self, name: &str) -> String {
        let folder = self.path("more");
        format!("[{name}]\npath = {}\nguest ok = yes\n", folder.display())
    }
}

pub struct Server {
    pub child: Child,
    /// Its lines, read by a thread of their own.
    lines: Receiver<String>,
    pub address: String,
}

/// Sends the lines of a program as they come.
fn lines(out: ChildStdout) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

impl Server {
    pub fn start(site: &Site) -> Self {
        Self::start_with(site, &[])
    }

    pub fn start_with(site: &Site, further: &[&str]) -> Self {
        let child = Command::new(COAX)
            .args(["serve", "--json", "--direct", "127.0.0.1:0", "--config"])
            .arg(site.conf())
            .args(further)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self::of(child);
        let listening = server.event("listening");
        server.address = listening["direct"].as_str().unwrap().into();
        server
    }

    /// A server of which only the process is known yet.
    pub fn of(mut child: Child) -> Self {
        Self {
            lines: lines(child.stdout.take().unwrap()),
            child,
            address: String::new(),
        }
    }

    /// A server that can be taken over.
    pub fn replaceable(site: &Site, further: &[&str]) -> Self {
        let option = format!("coax:takeover socket = {}", site.path("takeover").display());
        let all = [&["--option", &option], further].concat();
        Self::start_with(site, &all)
    }

    /// Waits for the end of the process.
    pub fn ended(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// The next event of this kind.
    pub fn event(&mut self, kind: &str) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no event '{kind}'"));
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == kind {
                return event;
            }
        }
    }

    /// The next notice that contains `part`.
    pub fn notice(&mut self, part: &str) -> String {
        loop {
            let notice = self.event("notice");
            let text = notice["text"].as_str().unwrap();
            if text.contains(part) {
                return text.into();
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Reloads and returns the outcome.
    pub fn reload(&mut self) -> Value {
        self.signal(Signal::HUP);
        self.event("reloaded")
    }

    pub fn url(&self, path: &str) -> String {
        format!("smb://{}/{path}", self.address)
    }

    pub fn stop(mut self) {
        self.signal(Signal::TERM);
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn coax(arguments: &[&str]) -> Output {
    Command::new(COAX).args(arguments).output().unwrap()
}

pub fn texts(value: &Value) -> Vec<&str> {
    let list = value.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap()).collect()
}

/// Bytes that differ from file to file and from block to block.
pub fn content(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(31) ^ (at >> 12) ^ seed.wrapping_mul(151)) as u8)
        .collect()
}

/// Copies a file there and back until `ended`, and compares every byte. Returns the number of rounds.
pub fn copy_until(ended: &AtomicBool, url: &str, folder: &Path, seed: usize) -> usize {
    let (local, back) = (folder.join("local"), folder.join("back"));
    let mut rounds = 0;
    while rounds == 0 || !ended.load(Ordering::Relaxed) {
        let bytes = content(seed.wrapping_add(rounds * 7), 3_000_000);
        std::fs::write(&local, &bytes).unwrap();
        let there = format!("{url}/client{seed}.bin");
        let (local, back_text) = (local.to_str().unwrap(), back.to_str().unwrap());
        for arguments in [["put", local, &there], ["get", &there, back_text]] {
            let done = coax(&arguments);
            assert!(done.status.success(), "{done:?}");
        }
        let same = std::fs::read(&back).unwrap() == bytes;
        assert!(same, "client {seed}, round {rounds}");
        rounds += 1;
    }
    rounds
}

/// Ends the copies, also if the test fails.
pub struct AtEnd<'a>(pub &'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A copy from a pipe, which goes on when the test writes.
pub struct Copying(pub Child);

impl Copying {
    pub fn begin(url: &str, bytes: &[u8]) -> Self {
        let mut child = Command::new(COAX)
            .args(["put", "-", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
        Self(child)
    }

    pub fn finish(mut self, bytes: &[u8]) {
        self.0.stdin.take().unwrap().write_all(bytes).unwrap();
        let done = self.0.wait_with_output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }
}
