//! The memory of a server stays flat however many connections come and go.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixDatagram,
    process::{Child, Command, Stdio},
    time::Duration,
};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Resident memory, bytes.
    fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.0.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.unwrap().split_whitespace().nth(1).unwrap();
        kib.parse::<u64>().unwrap() * 1024
    }

    fn descriptors(&self) -> usize {
        let path = format!("/proc/{}/fd", self.0.id());
        std::fs::read_dir(path).unwrap().count()
    }
}

/// A request of the core protocol with its frame.
fn request(command: u8, tid: [u8; 2], words: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 32];
    message[..5].copy_from_slice(&[0xff, b'S', b'M', b'B', command]);
    message[24..26].copy_from_slice(&tid);
    message.push((words.len() / 2) as u8);
    message.extend(words);
    message.extend((bytes.len() as u16).to_le_bytes());
    message.extend(bytes);
    let mut framed = (message.len() as u32).to_be_bytes().to_vec();
    framed.extend(message);
    framed
}

fn answer(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut message = vec![0; u32::from_be_bytes(header) as usize];
    stream.read_exact(&mut message).unwrap();
    message
}

/// Connects to the share, opens a file, and vanishes at one of several points.
fn visit(address: &str, number: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    if number.is_multiple_of(5) {
        return;
    }
    let mut ask = |request: Vec<u8>| {
        stream.write_all(&request).unwrap();
        answer(&mut stream)
    };
    ask(request(0x72, [0; 2], &[], b"\x02PC NETWORK PROGRAM 1.0\0"));
    if number % 5 == 1 {
        return;
    }
    let tree = ask(request(0x70, [0; 2], &[], b"\x04DATA\0\x04\0\x04A:\0"));
    assert_eq!(tree[5], 0, "{tree:x?}");
    let tid = [tree[35], tree[36]];
    if number % 5 == 2 {
        return;
    }
    let open = ask(request(0x02, tid, &[0x40, 0, 0x16, 0], b"\x04F\0"));
    assert_eq!(open[5], 0, "{open:x?}");
    if number % 5 == 4 {
        // Half a message.
        stream.write_all(&[0, 0, 4, 0, 0xff]).unwrap();
    }
}

/// The service manager's end of the reports, and the counts that were reported last: they are sent only when they change.
struct Manager {
    socket: UnixDatagram,
    counts: String,
}

impl Manager {
    fn new(path: &std::path::Path) -> Self {
        let socket = UnixDatagram::bind(path).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let counts = String::new();
        Self { socket, counts }
    }

    fn note(&mut self, message: &[u8]) {
        let text = String::from_utf8_lossy(message);
        if let Some(counts) = text.lines().find_map(|line| line.strip_prefix("STATUS=")) {
            self.counts = counts.to_owned();
        }
    }

    /// Takes what has arrived: the messages must not fill the socket's queue.
    fn drain(&mut self) {
        let mut buffer = [0; 4096];
        self.socket.set_nonblocking(true).unwrap();
        while let Ok(len) = self.socket.recv(&mut buffer) {
            self.note(&buffer[..len]);
        }
        self.socket.set_nonblocking(false).unwrap();
    }

    /// Waits until the engine's own counts are these.
    fn wait_for(&mut self, counts: &str) {
        let mut buffer = [0; 4096];
        for _ in 0..100 {
            if self.counts.starts_with(counts) {
                return;
            }
            let len = self.socket.recv(&mut buffer).expect("a report");
            self.note(&buffer[..len]);
        }
        panic!("the counts are {}, never {counts}", self.counts);
    }
}

/// After `warm` connections, `count` more increase the memory by less than `growth` bytes, and leave no row behind.
fn stays_flat(warm: usize, count: usize, growth: u64) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("F"), b"contents").unwrap();
    let notify = tempfile::tempdir().unwrap();
    let path = notify.path().join("notify");
    let mut manager = Manager::new(&path);
    let mut child = Command::new(env!("CARGO_BIN_EXE_coax"))
        .arg("serve")
        .args(["--share", &format!("DATA={}:ro", folder.path().display())])
        .args(["--direct", "127.0.0.1:0", "--json"])
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "1000000")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let server = Server(child);
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = listening["direct"].as_str().unwrap().to_owned();
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    for number in 0..warm {
        visit(&address, number);
        manager.drain();
    }
    let (before, files) = (server.resident(), server.descriptors());
    for number in 0..count {
        visit(&address, number);
        manager.drain();
    }
    // One client that stays: the counts of those before it have ended.
    let mut last = TcpStream::connect(&address).unwrap();
    let negotiate = request(0x72, [0; 2], &[], b"\x02PC NETWORK PROGRAM 1.0\0");
    last.write_all(&negotiate).unwrap();
    answer(&mut last);
    manager.wait_for("1 clients, 0 open files");
    drop(last);
    manager.wait_for("0 clients, 0 open files");
    let (after, left) = (server.resident(), server.descriptors());
    println!("{count} connections: {before} to {after} bytes, {files} to {left} descriptors");
    assert!(after < before + growth, "{before} to {after} bytes");
    assert!(left <= files + 8, "{files} to {left} descriptors");
}

#[test]
fn memory_stays_flat_over_connections_that_end_in_every_way() {
    stays_flat(2_000, 8_000, 6 << 20);
}

#[test]
#[ignore = "long: a million connections"]
fn memory_stays_flat_over_a_million_connections() {
    stays_flat(50_000, 1_000_000, 16 << 20);
}
