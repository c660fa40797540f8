//! The driver over loopback: ephemeral ports, a raw client of a few lines.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod faults;
mod isolation;
mod reads;
mod refusals;

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use coax_server::Server;

use super::{report::Told, *};
use coax_smbconf::load::load_text;

/// Time limit that no test reaches.
const LONG: Duration = Duration::from_secs(20);

struct Fixture {
    running: Running,
    lines: Receiver<Line>,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn start(options: &str) -> Self {
        Self::with_threads(options, 8)
    }

    fn with_threads(options: &str, threads: usize) -> Self {
        Self::build(options, threads, |_| {})
    }

    /// Builds a server with the options and applies `change` before it starts.
    fn build(options: &str, threads: usize, change: impl FnOnce(&mut Server)) -> Self {
        let tuning = Tuning {
            threads,
            ..Tuning::default()
        };
        Self::tuned(options, tuning, change)
    }

    fn tuned(options: &str, tuning: Tuning, change: impl FnOnce(&mut Server)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let conf =
            format!("[global]\n{options}\n[DATA]\npath = {path}\nguest ok = yes\nread only = no\n");
        let mut settings = load_text("test", &conf).settings;
        let loopback = coax_smbconf::settings::Listener::exactly("127.0.0.1:0".parse().unwrap());
        settings.listen = coax_smbconf::settings::Listeners {
            nbt: vec![loopback],
            direct: vec![loopback],
            names: Some(loopback),
            netbeui: Vec::new(),
            ipx: Vec::new(),
        };
        let (tell, lines) = channel();
        let reporter = Reporter::to(move |told| {
            if let Told::Line(line, _) = told {
                // The test may have ended and dropped the receiver.
                let _ = tell.send(line);
            }
        })
        .unwrap();
        let mut built = build::server(&settings, &mut Vec::new()).unwrap();
        change(&mut built.server);
        let running = start(built, settings, reporter, tuning);
        Self {
            running,
            lines,
            folder,
        }
    }

    fn direct(&self) -> Client {
        Client::connect(self.running.bound().direct[0])
    }

    fn nbt(&self) -> Client {
        Client::connect(self.running.bound().nbt[0])
    }

    /// The next line that `pick` accepts.
    fn line<T>(&self, mut pick: impl FnMut(&Line) -> Option<T>) -> T {
        let until = Instant::now() + LONG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .expect("the line before the timeout");
            if let Some(found) = pick(&line) {
                return found;
            }
        }
    }

    fn disconnected(&self) -> String {
        self.line(|line| match line {
            Line::Disconnected { why, .. } => Some(why.clone()),
            _ => None,
        })
    }
}

fn start(built: build::Built, settings: Settings, reporter: Reporter, tuning: Tuning) -> Running {
    let parts = Parts {
        built,
        sockets: Sockets::open(&settings, &mut Default::default(), &mut Vec::new()).unwrap(),
        runner: Runner::default(),
        capture: None,
        audit: None,
        status: None,
        account: None,
        control: None,
        takeover: None,
    };
    let threads = Threads::new(tuning, parts.built.folders.len()).unwrap();
    Running::start_on(threads, parts, settings, (reporter, UnderTest::default())).unwrap()
}

struct Client {
    stream: TcpStream,
    tid: [u8; 2],
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        Self {
            stream,
            tid: [0; 2],
        }
    }

    /// Connects from another address of this machine.
    fn connect_from(address: &str, server: SocketAddr) -> Self {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        let own: SocketAddr = format!("{address}:0").parse().unwrap();
        socket.bind(&own.into()).unwrap();
        socket.connect(&server.into()).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(LONG)).unwrap();
        Self {
            stream,
            tid: [0; 2],
        }
    }

    fn send(&mut self, message: &[u8]) {
        let len = u32::try_from(message.len()).unwrap().to_be_bytes();
        self.stream.write_all(&[&len, message].concat()).unwrap();
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).unwrap();
        let mut message = vec![0; u32::from_be_bytes(header) as usize & 0x1_ffff];
        self.stream.read_exact(&mut message).unwrap();
        message
    }

    /// The dialect index the server answers.
    fn negotiate(&mut self, dialects: &[&str]) -> u16 {
        let bytes: Vec<u8> = dialects
            .iter()
            .flat_map(|d| [&[2], d.as_bytes(), &[0]].concat())
            .collect();
        self.send(&request(0x72, &[], &bytes));
        let reply = self.receive();
        assert_eq!((&reply[..4], reply[4]), (&b"\xffSMB"[..], 0x72));
        u16::from_le_bytes([reply[33], reply[34]])
    }

    fn echo(&mut self, data: &[u8]) {
        self.send(&request(0x2b, &[1, 0], data));
        let reply = self.receive();
        assert_eq!(reply[4], 0x2b);
        assert!(reply.ends_with(data), "the echo must return the sent data");
    }

    /// Negotiates the core protocol and connects to the share DATA.
    fn use_the_share(&mut self) {
        self.use_share("DATA");
    }

    fn use_share(&mut self, name: &str) {
        self.negotiate(CORE);
        let strings = format!("\x04{name}\0\x04\0\x04A:\0");
        self.send(&request(0x70, &[], strings.as_bytes()));
        let reply = self.receive();
        assert_eq!((reply[4], reply[5]), (0x70, 0), "{reply:x?}");
        self.tid = [reply[35], reply[36]];
    }

    /// Asks to open `path` in the share and leaves the answer for later.
    fn ask_open(&mut self, path: &str) {
        let mut message = request(
            0x02,
            &[0, 0, 0x16, 0],
            &[b"\x04", path.as_bytes(), b"\0"].concat(),
        );
        message[24..26].copy_from_slice(&self.tid);
        self.send(&message);
    }

    fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 64]), Ok(0) | Err(_))
    }
}

fn request(command: u8, words: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 32];
    message[..5].copy_from_slice(&[0xff, b'S', b'M', b'B', command]);
    message.push(u8::try_from(words.len() / 2).unwrap());
    message.extend(words);
    message.extend(u16::try_from(bytes.len()).unwrap().to_le_bytes());
    message.extend(bytes);
    message
}

const CORE: &[&str] = &["PC NETWORK PROGRAM 1.0"];

#[test]
fn a_client_that_offers_only_unknown_dialects_receives_no_dialect() {
    let server = Fixture::start("");
    assert_eq!(
        server.direct().negotiate(&["SOME OTHER PROTOCOL 3.1"]),
        0xffff
    );
    let chosen = server.line(|line| match line {
        Line::Negotiated { dialect, .. } => Some(*dialect),
        _ => None,
    });
    assert_eq!(chosen, None);
}

#[test]
fn sessions_on_both_ports_echo_and_are_reported_from_start_to_end() {
    let server = Fixture::start("");
    let mut client = server.nbt();
    client
        .stream
        .write_all(&session_request("ATTIC", "DOSBOX"))
        .unwrap();
    let mut positive = [0; 4];
    client.stream.read_exact(&mut positive).unwrap();
    assert_eq!(positive, [0x82, 0, 0, 0]);
    assert_eq!(client.negotiate(CORE), 0);
    client.echo(b"hello");
    drop(client);
    let told = server.line(|line| match line {
        Line::Client(told) => Some(told.clone()),
        _ => None,
    });
    assert_eq!(
        (told.name.as_deref(), told.transport),
        (Some("DOSBOX"), "nbt")
    );
    assert!(told.guess.contains("core-protocol"), "{}", told.guess);
    assert_eq!(server.disconnected(), "it closed the connection");
    let mut direct = server.direct();
    assert_eq!(direct.negotiate(CORE), 0);
    direct.echo(&[7; 900]);
}

fn session_request(called: &str, calling: &str) -> Vec<u8> {
    let encode = |name: &str, suffix: u8| {
        let mut padded = format!("{name:<15}").into_bytes();
        padded.push(suffix);
        let halves = padded
            .iter()
            .flat_map(|b| [b'A' + (b >> 4), b'A' + (b & 15)]);
        [vec![32], halves.collect(), vec![0]].concat()
    };
    let names = [encode(called, 0x20), encode(calling, 0)].concat();
    [&[0x81, 0, 0, 68][..], &names].concat()
}

#[test]
fn several_requests_in_one_packet_and_one_in_many_packets_are_served() {
    let server = Fixture::start("");
    let mut client = server.direct();
    client.negotiate(CORE);
    let echo = request(0x2b, &[1, 0], b"abc");
    let framed = [
        &u32::try_from(echo.len()).unwrap().to_be_bytes(),
        echo.as_slice(),
    ]
    .concat();
    client.stream.write_all(&framed.repeat(50)).unwrap();
    for _ in 0..50 {
        assert!(client.receive().ends_with(b"abc"));
    }
    client.stream.set_nodelay(true).unwrap();
    for byte in &framed {
        client.stream.write_all(std::slice::from_ref(byte)).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(client.receive().ends_with(b"abc"));
}

#[test]
fn more_busy_clients_than_threads_are_all_served() {
    let server = Fixture::with_threads("", 2);
    let address = server.running.bound().direct[0];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = Client::connect(address);
                client.negotiate(CORE);
                for _ in 0..300 {
                    client.echo(b"busy");
                }
            });
        }
    });
}

#[test]
fn idle_clients_use_no_thread_and_are_still_served() {
    let server = Fixture::with_threads("", 2);
    let mut clients: Vec<Client> = (0..200).map(|_| server.direct()).collect();
    for client in &mut clients {
        client.negotiate(CORE);
    }
    for client in &mut clients {
        client.echo(b"still here");
    }
}

#[test]
fn an_idle_client_is_served_once_more_and_then_uses_no_thread() {
    let server = Fixture::start("");
    let mut clients: Vec<Client> = (0..10).map(|_| server.direct()).collect();
    for client in &mut clients {
        client.negotiate(CORE);
    }
    std::thread::sleep(Duration::from_millis(3_500));
    let jobs = server.running.host.pool.jobs();
    // accepted, its request, and once more; on a busy machine a request may come in two parts
    assert!(
        jobs <= 4 * clients.len(),
        "the request must be served and its buffer released: {jobs}"
    );
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.running.host.pool.jobs(), jobs);
}

#[test]
fn clients_that_stop_within_a_message_do_not_block_others() {
    let server = Fixture::with_threads("", 2);
    let mut dead: Vec<Client> = (0..20).map(|_| server.direct()).collect();
    for client in &mut dead {
        client.negotiate(CORE);
        client
            .stream
            .write_all(b"\x00\x00\x10\x00\xffSMB\x2b")
            .unwrap();
    }
    let mut live = server.direct();
    live.negotiate(CORE);
    live.echo(b"alive");
    drop(dead);
    for _ in 0..20 {
        assert!(server.disconnected().contains("within a packet"));
    }
    live.echo(b"alive");
}

#[test]
fn clients_that_do_not_read_their_replies_block_no_others_and_lose_no_data() {
    let server = Fixture::with_threads("", 2);
    let mut stuck: Vec<Client> = (0..3).map(|_| server.direct()).collect();
    let data = vec![0x5a; 16_000];
    let echo = request(0x2b, &[1, 0], &data);
    let framed = [
        &u32::try_from(echo.len()).unwrap().to_be_bytes(),
        echo.as_slice(),
    ]
    .concat();
    let mut sent = vec![0; stuck.len()];
    for (client, sent) in stuck.iter_mut().zip(&mut sent) {
        client.negotiate(CORE);
        client
            .stream
            .set_write_timeout(Some(Duration::from_millis(400)))
            .unwrap();
        while client
            .stream
            .write(&framed)
            .is_ok_and(|n| n == framed.len())
            && *sent < 4_000
        {
            *sent += 1;
        }
        assert!(
            *sent > 10 && *sent < 4_000,
            "the server must stop reading: {sent}"
        );
    }
    let mut live = server.direct();
    live.negotiate(CORE);
    live.echo(b"alive");
    for (client, sent) in stuck.iter_mut().zip(sent) {
        for _ in 0..sent {
            assert!(client.receive().ends_with(&data));
        }
    }
}

#[test]
fn data_that_is_not_smb_ends_the_connection_with_a_reason() {
    let server = Fixture::start("");
    let mut client = server.direct();
    client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nmore than a header's worth\r\n\r\n");
    assert!(client.is_closed());
    assert!(!server.disconnected().is_empty());
}

#[test]
fn hosts_deny_refuses_a_client_and_reports_the_setting() {
    let server = Fixture::start("hosts deny = 127.");
    assert!(server.direct().is_closed());
    let setting = server.line(|line| match line {
        Line::Refused { setting, .. } => setting.clone(),
        _ => None,
    });
    assert_eq!(setting, "hosts allow = 127.0.0.1");
}

#[test]
fn the_client_limit_holds_and_a_disconnect_frees_a_place() {
    let server = Fixture::start("max smbd processes = 2");
    let mut first = server.direct();
    first.negotiate(CORE);
    let mut second = server.direct();
    second.negotiate(CORE);
    assert!(server.direct().is_closed());
    drop(first);
    server.disconnected();
    let until = Instant::now() + LONG;
    loop {
        let mut client = server.direct();
        client.send(&request(0x72, &[], b"\x02PC NETWORK PROGRAM 1.0\0"));
        if matches!(client.stream.read(&mut [0; 4]), Ok(4)) {
            break;
        }
        assert!(Instant::now() < until, "the slot was not released");
    }
    second.echo(b"meanwhile");
}

#[test]
fn stopping_closes_idle_clients_at_once() {
    let server = Fixture::start("");
    let mut client = server.direct();
    client.negotiate(CORE);
    let began = Instant::now();
    server.running.stop();
    assert!(began.elapsed() < GRACE);
    assert!(client.is_closed());
    let why: Vec<String> = server
        .lines
        .try_iter()
        .map(|line| line.to_string())
        .collect();
    assert!(
        why.iter().any(|line| line.contains("shutting down")),
        "{why:?}"
    );
}

#[test]
fn a_port_in_use_is_an_error_that_says_which_and_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let mut settings = coax_smbconf::settings::Settings::default();
    settings.listen.nbt.clear();
    settings.listen.names = None;
    settings.listen.direct = vec![coax_smbconf::settings::Listener::exactly(address)];
    let reporter = Reporter::to(|_| {}).unwrap();
    let error = format!("{:#}", Running::start(settings, reporter).unwrap_err());
    assert!(
        error.contains(&address.to_string()) && error.contains("--direct"),
        "{error}"
    );
    let holder = format!("(process {}) holds this port", std::process::id());
    assert!(error.contains(&holder), "{error}");
    assert!(!error.contains("setcap"), "{error}");
}

#[test]
fn a_name_in_the_options_of_a_socket_is_set_on_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let options = [coax_smbconf::settings::SocketOption::KeepAlive(true)];
    let socket = socket::Socket::new(stream, &options).unwrap();
    let socket = socket2::SockRef::from(&socket);
    assert!(socket.keepalive().unwrap() && socket.tcp_nodelay().unwrap());
}

/// A name query for `ATTIC<20>`, RFC 1002 section 4.2.12, asking for an answer to the sender.
fn name_query(name: &str) -> Vec<u8> {
    let head = [0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let request = session_request(name, "X");
    [&head[..], &request[4..38], &[0, 0x20, 0, 1]].concat()
}

#[test]
fn the_name_service_answers_only_for_the_server_s_own_name() {
    let server = Fixture::start("netbios name = attic");
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let names = server.running.names().unwrap();
    let mut answer = [0; 600];
    let until = Instant::now() + LONG;
    let len = loop {
        socket.send_to(&name_query("BARN"), names).unwrap();
        socket.send_to(&name_query("ATTIC"), names).unwrap();
        // "No such name" has a code in the fourth byte.
        match socket.recv(&mut answer) {
            Ok(len) if answer[3] & 0x0f == 0 => break len,
            _ => {}
        }
        assert!(Instant::now() < until, "no reply");
    };
    assert_eq!(answer[..2], [0x12, 0x34]);
    assert_eq!(
        answer[13..45],
        name_query("ATTIC")[13..45],
        "the reply must be for the server's own name"
    );
    assert!(answer[..len].ends_with(&[127, 0, 0, 1]));
}
