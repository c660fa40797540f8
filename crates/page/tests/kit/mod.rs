//! A made-up server, its page, and readers.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::FileExt as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use coax_page::{Day, Limits, Recording, Setting, ShareSetting, Source};
use coax_serve::{
    TotalsStatus, TrafficStatus,
    status::{ClientStatus, Status},
    web::{Door, Token},
};
use tokio::{runtime::Runtime, sync::Notify};

pub const TOKEN: &str = "0123456789abcdef";
/// A time that nothing takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that the test makes up.
#[derive(Default)]
pub struct Fake {
    /// Looks so far, how many are under way, and how many were at most.
    pub looks: AtomicUsize,
    under_way: AtomicUsize,
    pub at_once: AtomicUsize,
    /// How long a look takes.
    pub look_ms: AtomicU64,
    /// Bytes that make the text large.
    pub padding: AtomicUsize,
    pub disk_hangs: AtomicBool,
    pub disks_asked: AtomicUsize,
    /// Recordings under way.
    pub recordings: Arc<AtomicUsize>,
    notices: Mutex<Vec<String>>,
}

/// What the page and the test share.
struct Shared(Arc<Fake>);

impl std::ops::Deref for Shared {
    type Target = Fake;

    fn deref(&self) -> &Fake {
        &self.0
    }
}

impl Source for Shared {
    fn day(&self) -> Option<Day> {
        None
    }

    fn status(&self) -> Status {
        self.looks.fetch_add(1, SeqCst);
        let now = self.under_way.fetch_add(1, SeqCst) + 1;
        self.at_once.fetch_max(now, SeqCst);
        std::thread::sleep(Duration::from_millis(self.look_ms.load(SeqCst)));
        self.under_way.fetch_sub(1, SeqCst);
        let client = ClientStatus {
            client: 1,
            address: "10.0.0.2:1025".into(),
            system: "<script>alert(1)</script>".into(),
            refused: vec!["x".repeat(self.padding.load(SeqCst))],
            ..ClientStatus::default()
        };
        Status {
            wins: None,
            schema: 1,
            version: "0.1.0".into(),
            process: 7,
            seconds: 60,
            state: "serving".into(),
            clients: vec![client],
            files: Vec::new(),
            files_total: 0,
            networks: Vec::new(),
            print_jobs: Vec::new(),
            limits: Vec::new(),
            audit: None,
        }
    }

    fn totals(&self) -> TotalsStatus {
        let traffic = TrafficStatus {
            requests: 1,
            received: 2,
            sent: 3,
        };
        TotalsStatus {
            shares: [("DATA".to_owned(), traffic)].into(),
            ..TotalsStatus::default()
        }
    }

    fn name(&self) -> (String, String) {
        ("FAKE".into(), "GROUP".into())
    }

    fn names(&self) -> Vec<String> {
        vec!["fake".into(), "fake.local".into()]
    }

    fn shares(&self) -> Vec<ShareSetting> {
        vec![ShareSetting {
            name: "DATA".into(),
            printer: false,
        }]
    }

    fn configuration(&self) -> Vec<Setting> {
        let text = |text: &str| text.to_owned();
        vec![Setting {
            section: text("global"),
            parameter: text("deadtime"),
            value: text("1"),
            default: text("0"),
        }]
    }

    fn space(&self, _: &str) -> Option<(u64, u64)> {
        self.disks_asked.fetch_add(1, SeqCst);
        while self.disk_hangs.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Some((1, 2))
    }

    fn record(&self, _: Option<u64>, _: u64) -> Result<Box<dyn Recording>, String> {
        self.recordings.fetch_add(1, SeqCst);
        Ok(Box::new(Running(self.recordings.clone())))
    }

    fn explain(&self, capture: File) -> Result<String, String> {
        let len = capture.metadata().map_err(|error| error.to_string())?.len();
        Ok(format!("explained {len} bytes"))
    }

    fn notice(&self, text: String) {
        self.notices.lock().unwrap().push(text);
    }
}

struct Running(Arc<AtomicUsize>);

impl Recording for Running {
    fn bytes(&self) -> u64 {
        5
    }

    fn is_full(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> std::io::Result<File> {
        let file = tempfile::tempfile()?;
        file.write_all_at(b"capture", 0)?;
        Ok(file)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Limits with a short period.
pub fn limits() -> Limits {
    Limits {
        period: Duration::from_millis(100),
        ..Limits::default()
    }
}

/// The page of a made-up server.
pub struct Site {
    pub fake: Arc<Fake>,
    pub address: SocketAddr,
    ended: Arc<Notify>,
    runtime: Option<Runtime>,
}

impl Site {
    pub fn open(fake: Fake, token: Option<&str>) -> Self {
        Self::open_with(fake, token, limits())
    }

    pub fn open_with(fake: Fake, token: Option<&str>, limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (fake, ended) = (Arc::new(fake), Arc::new(Notify::new()));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let door = Door {
            listener,
            token: token.map(Token::new),
        };
        let over = ended.clone();
        runtime.block_on(async {
            let source = Arc::new(Shared(fake.clone()));
            coax_page::start(door, source, limits, async move { over.notified().await }).unwrap();
        });
        Self {
            fake,
            address,
            ended,
            runtime: Some(runtime),
        }
    }

    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    pub fn ask(&self, request: &str) -> Answer {
        ask_at(self.address, request)
    }

    /// A reader of events.
    pub fn events(&self) -> Events {
        let mut stream = self.connect();
        stream
            .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        Events(BufReader::new(stream))
    }

    /// The value of a metric.
    pub fn metric(&self, name: &str) -> u64 {
        let text = self.ask(&get("/metrics")).body;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0, |value| value.parse().unwrap())
    }

    pub fn notices(&self) -> Vec<String> {
        self.fake.notices.lock().unwrap().clone()
    }

    /// Waits until it is so.
    pub fn until<T>(&self, mut is: impl FnMut() -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = is() {
                return found;
            }
            assert!(Instant::now() < until, "it never was so");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn end(&self) {
        self.ended.notify_one();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.fake.disk_hangs.store(false, SeqCst);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

pub fn ask_at(address: SocketAddr, request: &str) -> Answer {
    let mut stream = connect(address);
    // a server that has refused already need not take the rest
    let _ = stream.write_all(request.as_bytes());
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    let text = String::from_utf8_lossy(&text);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("{request:.80}: {text:.200}"));
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.into(),
        body: body.into(),
    }
}

pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

pub fn post(path: &str, fields: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub fn field(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines();
        lines.find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }
}

pub struct Events(BufReader<TcpStream>);

impl Events {
    /// The next texts.
    pub fn texts(&mut self, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        while found.len() < count {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the events ended");
            if let Some(text) = line.strip_prefix("data: ") {
                found.push(text.to_owned());
            }
        }
        found
    }

    /// Whether the server has ended them.
    pub fn is_over(&mut self) -> bool {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).is_ok()
    }
}
