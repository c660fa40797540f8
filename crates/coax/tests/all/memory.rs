//! The memory of a server stays flat however many connections come and go.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixDatagram,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
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
fn request(command: u8, (tid, uid): (u16, u16), words: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 32];
    message[..5].copy_from_slice(&[0xff, b'S', b'M', b'B', command]);
    message[24..26].copy_from_slice(&tid.to_le_bytes());
    message[28..30].copy_from_slice(&uid.to_le_bytes());
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

fn word(message: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([message[at], message[at + 1]])
}

/// The words of SESSION_SETUP_ANDX: no further command, buffers of 4,356 bytes, no password ([MS-CIFS] 2.2.4.53.1).
const LOG_ON: [u8; 26] = {
    let mut words = [0; 26];
    words[0] = 0xff;
    (words[4], words[5], words[6]) = (0x04, 0x11, 1);
    words
};

/// Connects, logs on as a guest, opens a file and reads 8 bytes; five of six visitors vanish at one of several points before.
fn visit(address: &str, number: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    let stops = |point: usize| number % 6 == point;
    if stops(0) {
        return;
    }
    let mut ask = |command, ids, words: &[u8], bytes: &[u8]| {
        let request = request(command, ids, words, bytes);
        stream.write_all(&request).unwrap();
        let answer = answer(&mut stream);
        assert_eq!(answer[5..9], [0; 4], "{command:#x}: {answer:x?}");
        answer
    };
    ask(0x72, (0, 0), &[], b"\x02NT LM 0.12\0");
    if stops(1) {
        return;
    }
    let session = ask(0x73, (0, 0), &LOG_ON, b"\0\0\0\0");
    let uid = word(&session, 28);
    if stops(2) {
        return;
    }
    let tree = ask(0x70, (0, uid), &[], b"\x04DATA\0\x04\0\x04A:\0");
    let ids = (word(&tree, 24).max(word(&tree, 35)), uid);
    if stops(3) {
        return;
    }
    let open = ask(0x02, ids, &[0x40, 0, 0x16, 0], b"\x04F\0");
    let fid = word(&open, 33).to_le_bytes();
    if stops(4) {
        // Half a message.
        stream.write_all(&[0, 0, 4, 0, 0xff]).unwrap();
        return;
    }
    let read = ask(0x0a, ids, &[fid[0], fid[1], 8, 0, 0, 0, 0, 0, 0, 0], b"");
    assert!(read.ends_with(b"contents"), "{read:x?}");
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

/// Visitors at the same time.
const VISITORS: usize = 4;
/// Marks after the warm-up, at which the memory is read.
const MARKS: usize = 10;

impl Server {
    fn start(share: &std::path::Path, notify: &std::path::Path) -> (Self, BufReader<ChildStdout>) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_coax"))
            .arg("serve")
            .args(["--share", &format!("DATA={}:ro", share.display())])
            .args(["--direct", "127.0.0.1:0", "--json"])
            .env("NOTIFY_SOCKET", notify)
            .env("WATCHDOG_USEC", "1000000")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        (Self(child), out)
    }
}

/// Opens and closes this number of connections; several are open at the same time.
fn visits(address: &str, count: usize, manager: &Mutex<Manager>) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..VISITORS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    visit(address, number);
                    if number.is_multiple_of(64) {
                        manager.lock().unwrap().drain();
                    }
                }
            });
        }
    });
}

/// The growth of the memory in bytes for each connection: the median of the last three marks less that of the first three.
fn growth(marks: &[u64], connections: usize) -> f64 {
    let median = |part: &[u64]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part[1] as f64
    };
    let (first, last) = (&marks[..3], &marks[marks.len() - 3..]);
    // The middles of the two groups are two marks nearer than the ends.
    let between = connections * (marks.len() - 3) / (marks.len() - 1);
    (median(last) - median(first)) / between as f64
}

/// After `warm` connections, `count` more increase the memory by less than `limit` bytes each, and leave no row behind.
fn stays_flat(warm: usize, count: usize, limit: f64) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("F"), b"contents").unwrap();
    let notify = tempfile::tempdir().unwrap();
    let path = notify.path().join("notify");
    let manager = Mutex::new(Manager::new(&path));
    let (server, mut out) = Server::start(folder.path(), &path);
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = listening["direct"].as_str().unwrap().to_owned();
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    visits(&address, warm, &manager);
    let (mut marks, files) = (vec![server.resident()], server.descriptors());
    let began = Instant::now();
    for mark in 1..=MARKS {
        visits(&address, count / MARKS, &manager);
        marks.push(server.resident());
        let (done, rss) = (mark * (count / MARKS), marks[mark]);
        println!(
            "{done} connections, {:.0} s: {rss} bytes",
            began.elapsed().as_secs_f64()
        );
    }
    // One client that stays: the counts of those before it have ended.
    let mut last = TcpStream::connect(&address).unwrap();
    let negotiate = request(0x72, (0, 0), &[], b"\x02PC NETWORK PROGRAM 1.0\0");
    last.write_all(&negotiate).unwrap();
    answer(&mut last);
    let mut manager = manager.into_inner().unwrap();
    manager.wait_for("1 clients, 0 open files");
    drop(last);
    manager.wait_for("0 clients, 0 open files");
    let (growth, left) = (growth(&marks, count), server.descriptors());
    println!("{growth:.1} bytes for each connection, {files} to {left} descriptors");
    assert!(
        growth < limit,
        "{growth} bytes for each connection: {marks:?}"
    );
    assert!(left <= files + 8, "{files} to {left} descriptors");
}

#[test]
fn memory_stays_flat_over_connections_that_end_in_every_way() {
    stays_flat(5_000, 20_000, 100.0);
}

#[test]
#[ignore = "long: a million connections"]
fn memory_stays_flat_over_a_million_connections() {
    stays_flat(50_000, 1_000_000, 4.0);
}

#[test]
fn the_growth_is_that_of_the_marks() {
    let marks: Vec<u64> = (0..=10).map(|mark| 5_000_000 + mark * 1_000).collect();
    assert_eq!(growth(&marks, 10_000), 1.0);
    // One mark of three may be wrong.
    let mut shaken = marks;
    (shaken[2], shaken[9]) = (9_000_000, 0);
    assert!((growth(&shaken, 10_000) - 1.0).abs() < 0.3);
}
