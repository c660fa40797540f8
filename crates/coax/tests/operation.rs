//! A running server is reconfigured and stopped while clients copy.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const COAX: &str = env!("CARGO_BIN_EXE_coax");

/// A folder with a configuration and shares, and servers that use it.
struct Site(tempfile::TempDir);

impl Site {
    fn new() -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        for folder in ["etc", "data", "more"] {
            std::fs::create_dir(site.path(folder)).unwrap();
        }
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn conf(&self) -> PathBuf {
        self.path("etc/smb.conf")
    }

    /// Writes the configuration as editors do: a new file replaces the old one.
    fn configure(&self, global: &str, shares: &str) {
        let text = format!(
            "[global]\nguest account = nobody\nmap to guest = bad user\n{global}\n[DATA]\npath = {}\nguest ok = yes\nread only = no\n{shares}",
            self.path("data").display()
        );
        let new = self.path("etc/new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.conf()).unwrap();
    }

    fn more(&self, name: &str) -> String {
        let folder = self.path("more");
        format!("[{name}]\npath = {}\nguest ok = yes\n", folder.display())
    }
}

struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start(site: &Site) -> Self {
        Self::start_with(site, &[])
    }

    fn start_with(site: &Site, further: &[&str]) -> Self {
        let mut child = Command::new(COAX)
            .args(["serve", "--json", "--direct", "127.0.0.1:0", "--config"])
            .arg(site.conf())
            .args(further)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self {
            child,
            out,
            address: String::new(),
        };
        let listening = server.event("listening");
        server.address = listening["direct"].as_str().unwrap().into();
        server
    }

    /// The next event of this kind.
    fn event(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "no {kind}");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == kind {
                return event;
            }
        }
    }

    /// The next notice that contains `part`.
    fn notice(&mut self, part: &str) -> String {
        loop {
            let notice = self.event("notice");
            let text = notice["text"].as_str().unwrap();
            if text.contains(part) {
                return text.into();
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Reloads and returns the outcome.
    fn reload(&mut self) -> Value {
        self.signal(Signal::HUP);
        self.event("reloaded")
    }

    fn url(&self, path: &str) -> String {
        format!("smb://{}/{path}", self.address)
    }

    fn stop(mut self) {
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

fn coax(arguments: &[&str]) -> Output {
    Command::new(COAX).args(arguments).output().unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    let list = value.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap()).collect()
}

/// Bytes that differ from file to file and from block to block.
fn content(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(31) ^ (at >> 12) ^ seed.wrapping_mul(151)) as u8)
        .collect()
}

/// Copies a file there and back until `ended`, and compares every byte. Returns the number of rounds.
fn copy_until(ended: &AtomicBool, url: &str, folder: &Path, seed: usize) -> usize {
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

/// Reloads `count` times while four clients copy.
fn reload_under_load(count: usize) {
    let site = Site::new();
    site.configure("", &site.more("MORE"));
    let mut server = Server::start(&site);
    let (ended, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    let url = server.url("DATA");
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (ended, rounds, url) = (&ended, &rounds, &url);
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let done = copy_until(ended, url, folder.path(), seed);
                rounds.fetch_add(done, Ordering::Relaxed);
            });
        }
        for number in 0..count {
            let shares = match number % 3 {
                0 => String::new(),
                _ => site.more("MORE"),
            };
            site.configure(&format!("deadtime = {}", number + 1), &shares);
            let outcome = server.reload();
            let deadtime = format!("'{}'", number + 1);
            let changes = texts(&outcome["changes"]);
            assert!(
                changes[0].contains("deadtime") && changes[0].ends_with(&deadtime),
                "{outcome}"
            );
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert!(rounds.load(Ordering::Relaxed) >= 4);
    server.stop();
}

#[test]
fn reloads_under_load_lose_nothing() {
    reload_under_load(40);
}

#[test]
#[ignore = "long: a thousand reloads"]
fn a_thousand_reloads_under_load_lose_nothing() {
    reload_under_load(1000);
}

#[test]
fn a_reload_reports_what_changed_and_what_needs_a_restart() {
    let site = Site::new();
    site.configure("", &site.more("MORE"));
    let mut server = Server::start(&site);
    assert_eq!(texts(&server.reload()["changes"]), [""; 0]);
    site.configure("deadtime = 7\nsmb ports = 4450\n", &site.more("OTHER"));
    let outcome = server.reload();
    let expected = [
        "[global] deadtime: '10080' -> '7'",
        "share OTHER added",
        "share MORE removed; its clients are disconnected from it",
    ];
    assert_eq!(texts(&outcome["changes"]), expected);
    let restart = texts(&outcome["restart"]);
    assert!(
        restart.len() == 1 && restart[0].starts_with("[global] smb ports: "),
        "{restart:?}"
    );
    assert_eq!(texts(&outcome["errors"]), [""; 0]);
    std::fs::write(site.path("more/there.txt"), b"there").unwrap();
    let listed = |share: &str| coax(&["ls", &server.url(share)]);
    assert!(listed("OTHER").status.success() && !listed("MORE").status.success());
    server.stop();
}

#[test]
fn an_invalid_configuration_changes_nothing_and_the_errors_are_those_of_check() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::start(&site);
    for (global, shares) in [
        ("deadtime = soon\n", String::new()),
        ("deadtime = 3\n", "[B]\npath = /srv/%U\n".into()),
        (
            "deadtime = 3\nsmb passwd file = /no/such/file\n",
            String::new(),
        ),
    ] {
        site.configure(global, &shares);
        let outcome = server.reload();
        let errors = texts(&outcome["errors"]);
        assert!(
            !errors.is_empty() && texts(&outcome["changes"]).is_empty(),
            "{outcome}"
        );
        let check = coax(&[
            "serve",
            "--check",
            "--json",
            "--direct",
            "127.0.0.1:0",
            "--config",
            site.conf().to_str().unwrap(),
        ]);
        let check = String::from_utf8_lossy(&check.stdout).into_owned();
        let first = errors[0].split(": ").last().unwrap();
        assert!(check.contains(first), "{errors:?} {check}");
        assert!(coax(&["ls", &server.url("DATA")]).status.success());
    }
    std::fs::remove_file(site.conf()).unwrap();
    let outcome = server.reload();
    assert!(
        texts(&outcome["errors"])[0].contains("cannot read"),
        "{outcome}"
    );
    server.stop();
}

#[test]
fn a_share_beyond_the_sandbox_needs_a_restart_and_everything_else_takes_effect() {
    let site = Site::new();
    let probe = tempfile::tempdir().unwrap();
    site.configure("", "");
    let mut server = Server::start(&site);
    let limits = server.notice("sandbox").contains("files limited");
    site.configure(
        "deadtime = 4\n",
        &format!("[NEW]\npath = {}\nguest ok = yes\n", probe.path().display()),
    );
    let outcome = server.reload();
    let (changes, restart) = (texts(&outcome["changes"]), texts(&outcome["restart"]));
    assert!(changes[0].contains("deadtime"), "{outcome}");
    if limits {
        assert!(
            restart.len() == 1 && restart[0].starts_with("share NEW: the sandbox"),
            "{outcome}"
        );
        assert_eq!(changes.len(), 1);
    } else {
        assert_eq!(changes[1], "share NEW added");
    }
    server.stop();
}

#[test]
fn a_removed_user_is_logged_off_and_a_client_that_is_not_admitted_any_more_is_disconnected() {
    let site = Site::new();
    let file = site.path("etc/smbpasswd");
    let add = |name: &str| {
        let done = Command::new(COAX)
            .args(["user", "add", name, "--file", file.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|mut child| {
                use std::io::Write;
                child.stdin.take().unwrap().write_all(b"secret\nsecret\n")?;
                child.wait_with_output()
            })
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    add("ann");
    add("bob");
    let global = format!("smb passwd file = {}\n", file.display());
    site.configure(&global, "");
    let mut server = Server::start(&site);
    let text = std::fs::read_to_string(&file).unwrap();
    let without_ann: String = text
        .lines()
        .filter(|line| !line.starts_with("ann"))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&file, without_ann).unwrap();
    let outcome = server.reload();
    assert_eq!(
        texts(&outcome["changes"]),
        ["user ann removed; the user's sessions end"]
    );
    let client = std::net::TcpStream::connect(&server.address).unwrap();
    site.configure(&format!("{global}hosts deny = ALL\n"), "");
    server.reload();
    let gone = server.event("disconnected");
    assert!(
        gone["why"]
            .as_str()
            .unwrap()
            .contains("does not admit it any more"),
        "{gone}"
    );
    drop(client);
    server.stop();
}
