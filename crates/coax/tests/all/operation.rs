//! A running server is reconfigured and stopped while clients copy.

use std::{
    io::Write,
    os::{fd::OwnedFd, unix::net::UnixDatagram},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::site::{AtEnd, COAX, Copying, Server, Site, coax, content, copy_until, texts};

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
    let mut server = Server::of(start("direct", listener.into()));
    let listening = server.event("listening");
    assert_eq!(
        (&listening["direct"], &listening["nbt"]),
        (&Value::from(address.as_str()), &Value::Null)
    );
    server.address = address;
    assert!(coax(&["ls", &server.url("DATA")]).status.success());
    server.stop();
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
