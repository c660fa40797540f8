//! `coax serve` as a program: what it prints, what it answers, and how it ends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

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
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_coax"))
            .arg("serve")
            .args(["--share", &format!("DATA={}:rw", folder.path().display())])
            .args(["--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0", "--json"])
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

    fn event(&mut self) -> Option<Value> {
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
