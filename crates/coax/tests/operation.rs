//! A running server is reconfigured and stopped while clients copy.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::{
        fd::OwnedFd,
        unix::net::{UnixDatagram, UnixStream},
    },
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

    /// A server that can be taken over.
    fn replaceable(site: &Site, further: &[&str]) -> Self {
        let option = format!("coax:takeover socket = {}", site.path("takeover").display());
        let all = [&["--option", &option], further].concat();
        Self::start_with(site, &all)
    }

    /// Waits for the end of the process.
    fn ended(mut self) {
        assert!(self.child.wait().unwrap().success());
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

/// Ends the copies, also if the test fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reloads `count` times while four clients copy.
fn reload_under_load(count: usize) {
    let site = Site::new();
    site.configure("", &site.more("MORE"));
    let mut server = Server::start(&site);
    let (ended, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    let url = server.url("DATA");
    std::thread::scope(|scope| {
        let _end = AtEnd(&ended);
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
    server.event("connected");
    site.configure(&format!("{global}hosts deny = ALL\n"), "");
    server.signal(Signal::HUP);
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

/// The messages that a service manager gets, without status texts.
fn messages(manager: &UnixDatagram, until: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let len = manager.recv(&mut buffer).expect(until);
        let text = String::from_utf8_lossy(&buffer[..len]).into_owned();
        let lines = text.lines().filter(|line| !line.starts_with("STATUS="));
        let lines: Vec<String> = lines.map(Into::into).collect();
        let found = lines.iter().any(|line| line == until);
        all.extend(lines);
        if found {
            return all;
        }
    }
}

#[test]
fn the_service_manager_learns_when_the_server_is_ready_reloads_lives_and_stops() {
    let site = Site::new();
    site.configure("", "");
    let path = site.path("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let limit = std::time::Duration::from_secs(60);
    manager.set_read_timeout(Some(limit)).unwrap();
    let mut command = Command::new(COAX);
    command.args(["serve", "--json", "--direct", "127.0.0.1:0", "--config"]);
    command
        .arg(site.conf())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "200000");
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    assert_eq!(messages(&manager, "READY=1"), ["READY=1"]);
    messages(&manager, "WATCHDOG=1");
    messages(&manager, "WATCHDOG=1");
    kill_process(pid, Signal::HUP).unwrap();
    let reloading = messages(&manager, "READY=1");
    let begin = reloading
        .iter()
        .position(|line| line == "RELOADING=1")
        .unwrap();
    assert!(
        reloading[begin + 1].starts_with("MONOTONIC_USEC="),
        "{reloading:?}"
    );
    kill_process(pid, Signal::TERM).unwrap();
    messages(&manager, "STOPPING=1");
    assert!(child.wait().unwrap().success());
}

#[test]
fn sockets_of_the_service_manager_are_used_instead_of_the_configured_addresses() {
    let site = Site::new();
    site.configure("smb ports = 4450\n", "");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // The shell moves the socket to descriptor 3 and knows the process number.
    let script = "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" \"$@\" 3<&0 0</dev/null";
    let start = |name: &str, listener: OwnedFd| {
        let mut command = Command::new("sh");
        command.args(["-c", script, COAX, "serve", "--json", "--config"]);
        command.arg(site.conf()).env("LISTEN_FDNAMES", name);
        command
            .stdin(Stdio::from(listener))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let refused = start("http", listener.try_clone().unwrap().into())
        .wait_with_output()
        .unwrap();
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && error.contains("FileDescriptorName=nbt"),
        "{error}"
    );
    let mut child = start("direct", listener.into());
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut server = Server {
        child,
        out,
        address: String::new(),
    };
    let listening = server.event("listening");
    assert_eq!(
        (&listening["direct"], &listening["nbt"]),
        (&Value::from(address.as_str()), &Value::Null)
    );
    server.address = address;
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
}

/// A copy from a pipe, which goes on when the test writes.
struct Copying(Child);

impl Copying {
    fn begin(url: &str, bytes: &[u8]) -> Self {
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

    fn finish(mut self, bytes: &[u8]) {
        self.0.stdin.take().unwrap().write_all(bytes).unwrap();
        let done = self.0.wait_with_output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }
}

#[test]
fn a_server_that_stops_lets_a_copy_finish_and_refuses_new_clients() {
    let site = Site::new();
    site.configure("coax:drain time = 60\n", "");
    let mut server = Server::start(&site);
    let bytes = content(5, 2_000_000);
    let (first, rest) = bytes.split_at(1_000_000);
    let copy = Copying::begin(&server.url("DATA/slow.bin"), first);
    server.event("client");
    server.signal(Signal::TERM);
    server.notice("stopping");
    while std::net::TcpStream::connect(&server.address).is_ok() {
        std::thread::yield_now();
    }
    copy.finish(rest);
    server.ended();
    assert!(std::fs::read(site.path("data/slow.bin")).unwrap() == bytes);
}

#[test]
fn a_second_signal_stops_at_once() {
    let site = Site::new();
    site.configure("coax:drain time = 100000\n", "");
    let mut server = Server::start(&site);
    let copy = Copying::begin(&server.url("DATA/slow.bin"), &content(5, 1_000_000));
    server.event("client");
    server.signal(Signal::TERM);
    server.notice("stopping");
    server.signal(Signal::TERM);
    server.ended();
    drop(copy.0.stdin);
}

#[test]
fn a_takeover_cuts_no_copy_and_refuses_no_client() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let bytes = content(9, 2_000_000);
    let (first, rest) = bytes.split_at(1_000_000);
    let slow = Copying::begin(&server.url("DATA/slow.bin"), first);
    server.event("client");
    let (ended, url) = (AtomicBool::new(false), server.url("DATA"));
    let address = server.address.clone();
    let mut olds = Vec::new();
    std::thread::scope(|scope| {
        let _end = AtEnd(&ended);
        for seed in 0..2 {
            let (ended, url) = (&ended, &url);
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                copy_until(ended, url, folder.path(), seed)
            });
        }
        for _ in 0..4 {
            let new = Server::replaceable(&site, &["--takeover"]);
            assert_eq!(new.address, address);
            server.notice("a new process accepts clients now");
            olds.push(std::mem::replace(&mut server, new));
        }
    });
    slow.finish(rest);
    assert!(std::fs::read(site.path("data/slow.bin")).unwrap() == bytes);
    for old in olds {
        old.ended();
    }
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
}

#[test]
fn a_takeover_that_fails_at_any_step_leaves_the_old_server_serving() {
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let serves = |server: &Server| assert!(coax(&["ls", &server.url("DATA")]).status.success());
    let path = site.path("takeover");
    let ask = |hello: &[u8]| {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(hello).unwrap();
        let mut answer = String::new();
        BufReader::new(stream.try_clone().unwrap())
            .read_line(&mut answer)
            .unwrap();
        (stream, answer)
    };
    let (stream, answer) = ask(b"{\"hello\":{\"version\":99}}\n");
    assert!(
        answer.contains("refused") && answer.contains("version 99"),
        "{answer}"
    );
    drop(stream);
    assert!(server.notice("takeover").contains("serves on"));
    let (stream, answer) = ask(b"{\"hello\":{\"version\":1}}\n");
    assert!(
        answer.contains("offer") && answer.contains("direct"),
        "{answer}"
    );
    drop(stream);
    server.notice("ended before it could serve");
    let (mut stream, _) = ask(b"{\"hello\":{\"version\":1}}\n");
    stream.write_all(b"\"nonsense\"\n").unwrap();
    assert!(server.notice("takeover").contains("serves on"));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("refused"), "{rest}");
    let (_, answer) = ask(b"GET / HTTP/1.0\n");
    assert!(answer.contains("no request"), "{answer}");
    serves(&server);
    // A new server that cannot start.
    site.configure("", "[NEW]\npath = /no/such/folder\n");
    let socket = format!("coax:takeover socket = {}", path.display());
    let conf = site.conf();
    let run = |further: &[&str]| {
        let arguments = [
            &["serve", "--takeover", "--config", conf.to_str().unwrap()],
            further,
        ]
        .concat();
        let done = coax(&arguments);
        assert!(!done.status.success());
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let error = run(&["--direct", &server.address, "--option", &socket]);
    assert!(error.contains("/no/such/folder"), "{error}");
    server.notice("ended before it could serve");
    site.configure("", "");
    let error = run(&["--direct", "127.0.0.1:0"]);
    assert!(error.contains("coax:takeover socket"), "{error}");
    let error = run(&[
        "--direct",
        "127.0.0.1:0",
        "--option",
        "coax:takeover socket = /no/such/socket",
    ]);
    assert!(error.contains("no server answers"), "{error}");
    // A second server at the same socket, without a takeover.
    let done = coax(&[
        "serve",
        "--direct",
        "127.0.0.1:0",
        "--option",
        &socket,
        "--config",
        conf.to_str().unwrap(),
    ]);
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(error.contains("another server listens"), "{error}");
    serves(&server);
    server.stop();
}

#[test]
fn another_users_process_gets_no_sockets() {
    if !rustix::process::geteuid().is_root() {
        return println!("SKIPPED: only root can become another user");
    }
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    let site = Site::new();
    site.configure("", "");
    let mut server = Server::replaceable(&site, &[]);
    let path = site.path("takeover");
    for (path, mode) in [(path.as_path(), 0o666), (site.0.path(), 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(s.recv(999).decode())";
    let done = Command::new("python3")
        .args(["-c", script])
        .arg(&path)
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let answer = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        answer.contains("refused") && answer.contains("user 65534"),
        "{done:?}"
    );
    assert!(server.notice("takeover").contains("user 65534"));
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
}
