//! `coax serve` as a program: what it prints, what it answers, and how it ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        Self::start_with(&[])
    }

    fn start_with(further: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_coax"))
            .arg("serve")
            .args(["--share", &format!("DATA={}:rw", folder.path().display())])
            .args(["--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0", "--json"])
            .args(further)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            out,
            _folder: folder,
        }
    }

    /// The next event that is not a notice about the server itself.
    fn event(&mut self) -> Option<Value> {
        loop {
            let event = self.any_event()?;
            if event["event"] != "notice" && event["event"] != "share_problem" {
                return Some(event);
            }
        }
    }

    /// The text of the first notice with this in it.
    fn notice(&mut self, part: &str) -> String {
        loop {
            let event = self.any_event().expect("the notice is missing");
            let text = event["text"].as_str().unwrap_or_default();
            if text.contains(part) {
                return text.to_owned();
            }
        }
    }

    /// A line of the kernel's account of each thread.
    fn threads(&self, key: &str) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let value = |task: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default().trim().to_owned()
        };
        tasks.map(value).collect()
    }

    fn any_event(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn negotiate_core(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut message = vec![0; 32];
    message[..5].copy_from_slice(b"\xffSMB\x72");
    message.extend(b"\0\x18\0\x02PC NETWORK PROGRAM 1.0\0");
    let len = u32::try_from(message.len()).unwrap().to_be_bytes();
    stream.write_all(&[&len[..], &message].concat()).unwrap();
    let mut reply = [0; 4 + 37];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[4..9], *b"\xffSMB\x72");
    stream
}

#[test]
fn it_says_where_it_listens_and_who_came_and_ends_when_told_to() {
    let mut server = Server::start();
    let listening = server.event().unwrap();
    assert_eq!(listening["event"], "listening");
    assert!(listening["nbt"].as_str().unwrap().starts_with("127.0.0.1:"));
    let client = negotiate_core(listening["direct"].as_str().unwrap());
    let connected = server.event().unwrap();
    assert_eq!(
        (connected["event"].as_str(), connected["client"].as_u64()),
        (Some("connected"), Some(1))
    );
    let negotiated = server.event().unwrap();
    assert_eq!(negotiated["offered"][0], "PC NETWORK PROGRAM 1.0");
    drop(client);
    assert_eq!(server.event().unwrap()["event"], "client");
    let gone = server.event().unwrap();
    assert_eq!(
        (gone["event"].as_str(), gone["requests"].as_u64()),
        (Some("disconnected"), Some(1))
    );
    assert_eq!(gone["bytes_out"].as_u64(), Some(41));
    server.signal(Signal::TERM);
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn a_signal_ends_it_with_clients_connected_and_they_are_accounted_for() {
    let mut server = Server::start();
    let listening = server.event().unwrap();
    let mut clients: Vec<TcpStream> = (0..5)
        .map(|_| negotiate_core(listening["direct"].as_str().unwrap()))
        .collect();
    server.signal(Signal::INT);
    assert!(server.child.wait().unwrap().success());
    for client in &mut clients {
        assert!(matches!(client.read(&mut [0; 1]), Ok(0)));
    }
    let mut gone = 0;
    while let Some(event) = server.event() {
        gone += usize::from(event["event"] == "disconnected");
    }
    assert_eq!(gone, clients.len());
}

#[test]
fn every_thread_is_confined_and_the_report_says_so() {
    let mut server = Server::start();
    let report = server.notice("sandbox: ");
    if report.contains("not active") {
        println!("SKIPPED: {report}");
        return;
    }
    let (filters, privileges) = (server.threads("Seccomp:"), server.threads("NoNewPrivs:"));
    assert!(filters.len() > 2, "{filters:?}");
    assert!(filters.iter().all(|mode| mode == "2"), "{filters:?}");
    assert!(privileges.iter().all(|on| on == "1"), "{privileges:?}");
}

#[test]
fn without_the_sandbox_the_report_says_that_it_is_off() {
    let mut server = Server::start_with(&["--option", "coax:sandbox = no"]);
    let report = server.notice("sandbox: ");
    assert!(report.contains("'coax:sandbox = no'"), "{report}");
    assert!(server.threads("Seccomp:").iter().all(|mode| mode == "0"));
}

#[test]
fn every_thread_of_root_s_server_goes_on_as_the_user_it_is_given() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can become another user");
        return;
    }
    let mut server = Server::start_with(&["--option", "coax:user = nobody"]);
    server.notice("runs as user nobody");
    let users = server.threads("Uid:");
    let nobody = |ids: &String| ids.split_whitespace().all(|id| id != "0");
    assert!(users.iter().all(nobody), "{users:?}");
    let capabilities = server.threads("CapEff:");
    assert!(
        capabilities
            .iter()
            .all(|set| set.bytes().all(|digit| digit == b'0'))
    );
}

#[test]
fn a_user_who_does_not_exist_keeps_the_server_from_starting() {
    let done = Command::new(env!("CARGO_BIN_EXE_coax"))
        .args([
            "serve",
            "/",
            "--direct",
            "127.0.0.1:0",
            "--option",
            "coax:user = no-such-user",
        ])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1));
    let error = String::from_utf8(done.stderr).unwrap();
    assert!(error.contains("useradd --system no-such-user"), "{error}");
}

#[test]
fn the_process_for_commands_answers_each_order_with_how_it_ended() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_coax"))
        .arg("run-commands")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let orders = "{\"line\":\"true\",\"folder\":\"/\"}\n{\"line\":\"exit 3\",\"folder\":\"/\"}\n";
    child
        .stdin
        .take()
        .unwrap()
        .write_all(orders.as_bytes())
        .unwrap();
    let out = child.wait_with_output().unwrap();
    let answers: Vec<Value> = out
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert!(answers[0].get("Ok").is_some(), "{answers:?}");
    assert!(
        answers[1]["Err"].as_str().unwrap().contains('3'),
        "{answers:?}"
    );
}

#[test]
fn a_user_signal_opens_the_log_file_anew_and_clients_stay_connected() {
    let logs = tempfile::tempdir().unwrap();
    let (log, aside) = (logs.path().join("log"), logs.path().join("log.1"));
    let option = format!("log file = {}", log.display());
    let mut server = Server::start_with(&["--option", &option]);
    let listening = server.event().unwrap();
    let address = listening["direct"].as_str().unwrap().to_string();
    let mut client = negotiate_core(&address);
    while server.event().unwrap()["event"] != "negotiated" {}
    std::fs::rename(&log, &aside).unwrap();
    server.signal(Signal::USR1);
    let notice = server.notice("signal to open logs");
    assert!(
        notice.starts_with("signal to open logs: the log file "),
        "{notice}"
    );
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(
        text.contains("signal to open logs") && text.lines().count() == 1,
        "{text}"
    );
    assert!(
        !std::fs::read_to_string(&aside)
            .unwrap()
            .contains("signal to")
    );
    client
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    assert!(
        client.read(&mut [0; 1]).is_err(),
        "the client must be disconnected"
    );
    drop(negotiate_core(&address));
    server.signal(Signal::TERM);
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn a_capture_of_its_clients_is_explained_with_every_copy_and_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (capture, local, back) = (path("c.pcapng"), path("local.bin"), path("back.bin"));
    let content: Vec<u8> = (0..700_000_u32).map(|n| (n % 251) as u8).collect();
    std::fs::write(&local, &content).unwrap();
    let mut server = Server::start_with(&["--guest", "rw", "--pcap", &capture]);
    let listening = server.event().unwrap();
    assert_eq!(
        (&listening["schema"], listening["time"].is_string()),
        (&1.into(), true)
    );
    let share = format!(
        "smb://{}/DATA/there.bin",
        listening["direct"].as_str().unwrap()
    );
    for arguments in [["put", &local, &share], ["get", &share, &back]] {
        let done = Command::new(env!("CARGO_BIN_EXE_coax"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    assert_eq!(std::fs::read(&back).unwrap(), content);
    server.signal(Signal::TERM);
    assert!(server.child.wait().unwrap().success());
    let mode = std::fs::metadata(&capture).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let report = coax_explain::explain(std::fs::File::open(&capture).unwrap()).unwrap();
    let copied: Vec<u64> = report.copies.iter().map(|copy| copy.bytes).collect();
    assert_eq!(copied, [700_000, 700_000]);
}
