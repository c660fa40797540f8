//! The client's and the server's engine, connected in virtual time.

pub mod users;

use coax_client::{
    Client, Credentials, Error, Event, Exchange, JobId, LocalError, LocalFiles, Operation, Outcome,
    Tail, Target, profile::Profile,
};
use coax_netbios::{Accept, Session, SessionConfig};
use coax_server::{
    Connection, Peer, Server,
    config::Config,
    memfs::MemFs,
    share::{Share, ShareKind},
    table::{Exclusive, Tables, Wake},
};
use coax_wire::{
    codepage::CodePage,
    nbt::name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION, ScopedName},
    time::{Span, Time},
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// The start time of the tests: midnight of 2026-11-21.
pub const NOW: Time = Time(1_795_219_200_000_000_000);

#[derive(Debug)]
struct Locked(Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap());
    }
}

#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Local files by job.
#[derive(Debug, Default)]
pub struct Files {
    pub files: BTreeMap<JobId, Vec<u8>>,
    pub full_at: Option<usize>,
}

impl LocalFiles for Files {
    fn write(&mut self, job: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        let file = self.files.entry(job).or_default();
        let end = offset as usize + data.len();
        if self.full_at.is_some_and(|full| end > full) {
            let message = "no space left".into();
            return Err(LocalError {
                message,
                disk_full: true,
            });
        }
        if file.len() < end {
            file.resize(end, 0);
        }
        file[offset as usize..end].copy_from_slice(data);
        Ok(())
    }

    fn read(&mut self, job: JobId, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        let file = self.files.get(&job).map_or(&[][..], |file| file);
        let rest = file.get(offset as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

type Tamper = Box<dyn FnMut(Vec<u8>) -> Option<Vec<u8>>>;
type Intercept = Box<dyn FnMut(&[u8]) -> Option<Vec<u8>>>;

/// A connected client and server.
pub struct Pair {
    pub client: Client,
    pub files: Files,
    pub fs: Arc<MemFs>,
    pub now: Time,
    server: Connection,
    session: Session,
    woken: Arc<Flag>,
    pub events: Vec<Event>,
    /// The client's writes.
    pub writes: Vec<Vec<u8>>,
    /// All messages of both sides, as (from the client, bytes).
    pub messages: Vec<(bool, Vec<u8>)>,
    pub exchanges: Vec<Exchange>,
    intercepted: Vec<Vec<u8>>,
    /// Changes, drops (`None`) or passes the server's data.
    pub tamper: Option<Tamper>,
    /// Answers requests instead of the server.
    pub intercept: Option<Intercept>,
    /// The next job's number.
    next: u32,
}

pub fn profile(name: &str) -> Arc<Profile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clients");
    let text = std::fs::read_to_string(path.join(format!("{name}.toml"))).unwrap();
    Arc::new(toml::from_str(&text).unwrap())
}

/// All profiles.
pub fn profiles() -> Vec<Arc<Profile>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clients");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    names.sort();
    names.iter().map(|name| profile(name)).collect()
}

/// A server with one disk.
fn server(config: Config, fs: Arc<MemFs>) -> Server {
    let tables = Tables::new(config.tables());
    Server {
        config,
        shares: vec![
            Arc::new(Share::for_guests(1, "DISK", ShareKind::Disk(fs))),
            Arc::new(Share::for_guests(2, "IPC$", ShareKind::Ipc)),
        ],
        accounts: coax_logon::accounts::Accounts::default(),
        tables: Arc::new(Locked(Mutex::new(tables))),
    }
}

pub fn target(profile: &Profile, share: &str) -> Target {
    let name = |text: &[u8], suffix| ScopedName {
        name: NbName::new(text, suffix).unwrap(),
        scope: Default::default(),
    };
    Target {
        server: "COAX".into(),
        share: share.into(),
        service: "?????",
        credentials: Credentials {
            user: "GUEST".into(),
            domain: String::new(),
            password: "".into(),
            allow_weak: true,
        },
        transport: (*profile.transport.port).into(),
        called: name(b"*SMBSERVER", SUFFIX_SERVER),
        calling: name(b"TESTER", SUFFIX_WORKSTATION),
        code_page: CodePage::cp437(),
        dialect: None,
        sign: false,
        entropy: [7; 24].into(),
        zone: Default::default(),
        filetime: 0,
    }
}

impl Pair {
    pub fn new(profile: Arc<Profile>) -> Self {
        Self::with(profile, Config::default(), |_| {})
    }

    pub fn with(profile: Arc<Profile>, config: Config, edit: impl FnOnce(&mut Target)) -> Self {
        Self::serving(profile, config, |_| {}, edit)
    }

    /// A pair whose server `set_up` configures with users or other shares.
    pub fn serving(
        profile: Arc<Profile>,
        config: Config,
        set_up: impl FnOnce(&mut Server),
        edit: impl FnOnce(&mut Target),
    ) -> Self {
        let fs = Arc::new(MemFs::new());
        fs.set_time(coax_server::vfs::FsTime(NOW.0 as i64));
        let mut server = server(config, fs.clone());
        set_up(&mut server);
        let server = Arc::new(server);
        let woken = Arc::new(Flag::default());
        let mut target = target(&profile, "DISK");
        edit(&mut target);
        let transport = target.transport;
        let mut client = Client::new(NOW, profile, target);
        client.record_exchanges();
        let config = SessionConfig {
            max_message: 1 << 20,
            ..SessionConfig::default()
        };
        Self {
            client,
            files: Files::default(),
            fs,
            now: NOW,
            server: Connection::new(server, woken.clone(), Peer::default(), *b"12345678"),
            session: Session::server(NOW, transport, Accept::Any, config),
            woken,
            events: Vec::new(),
            writes: Vec::new(),
            messages: Vec::new(),
            exchanges: Vec::new(),
            intercepted: Vec::new(),
            tamper: None,
            intercept: None,
            next: 0,
        }
    }

    /// Runs an operation to its end; its local file contains `local`.
    pub fn run(&mut self, operation: Operation, local: &[u8]) -> Result<Outcome, Error> {
        self.next += 1;
        let job = JobId(self.next);
        self.files.files.insert(job, local.to_vec());
        assert_eq!(
            self.client.submit(self.now, operation, &mut self.files),
            job
        );
        for _ in 0..200_000 {
            self.turn();
            let done = self
                .events
                .iter()
                .position(|event| matches!(event, Event::Done { job: of, .. } if *of == job));
            if let Some(at) = done {
                let Event::Done { result, .. } = self.events.remove(at) else {
                    unreachable!()
                };
                return result;
            }
        }
        panic!("the operation does not end: {:?}", self.events);
    }

    /// The local file of the last operation.
    pub fn local(&self) -> &[u8] {
        &self.files.files[&JobId(self.next)]
    }

    /// Exchanges the pending data once in both directions.
    pub fn turn(&mut self) {
        self.now = self.now + Span(1_000_000);
        while let Some(transmit) = self.client.poll_transmit() {
            let mut bytes = transmit.head;
            match transmit.tail {
                Tail::None => {}
                Tail::Bytes(tail) => bytes.extend(tail),
                Tail::Local { job, offset, len } => {
                    bytes.extend(&self.files.files[&job][offset as usize..][..len]);
                }
            }
            self.carry_to_server(&bytes);
            self.writes.push(bytes);
        }
        self.fetch_from_server();
        while let Some(event) = self.client.poll_event() {
            self.events.push(event);
        }
        while let Some(exchange) = self.client.poll_exchange() {
            self.exchanges.push(exchange);
        }
    }

    fn carry_to_server(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.session.handle_bytes(self.now, rest);
            rest = &rest[taken..];
            while let Some(message) = self.session.poll_message() {
                let message = message.unwrap().to_vec();
                self.session.consume();
                match self.intercept.as_mut().and_then(|answer| answer(&message)) {
                    Some(reply) => self.intercepted.push(reply),
                    None => self.server.handle_message(self.now, &message),
                }
                self.messages.push((true, message));
            }
        }
    }

    fn fetch_from_server(&mut self) {
        if let Some(bytes) = self.session.poll_transmit() {
            self.client.handle_bytes(self.now, &bytes, &mut self.files);
        }
        if self.woken.0.swap(false, Ordering::SeqCst) {
            self.server.handle_wake(self.now);
        }
        for reply in std::mem::take(&mut self.intercepted) {
            self.carry_to_client(reply);
        }
        while let Some(transmit) = self.server.poll_transmit() {
            let mut message = transmit.head;
            message.extend(transmit.tail.into_bytes());
            let passed = match &mut self.tamper {
                Some(tamper) => tamper(message),
                None => Some(message),
            };
            let Some(message) = passed else { continue };
            let mut bytes = self.session.header_for(message.len()).unwrap().to_vec();
            bytes.extend(&message);
            self.client.handle_bytes(self.now, &bytes, &mut self.files);
            self.messages.push((false, message));
        }
    }

    fn carry_to_client(&mut self, message: Vec<u8>) {
        let mut bytes = self.session.header_for(message.len()).unwrap().to_vec();
        bytes.extend(&message);
        self.client.handle_bytes(self.now, &bytes, &mut self.files);
        self.messages.push((false, message));
    }

    /// The number of requests of each command, and the largest data size.
    pub fn mix(&self) -> BTreeMap<&'static str, (usize, u32)> {
        let mut mix = BTreeMap::new();
        for exchange in &self.exchanges {
            let name = coax_wire::command::name(exchange.command).unwrap();
            let entry = mix.entry(name).or_insert((0, 0));
            entry.0 += 1;
            entry.1 = entry.1.max(exchange.bytes);
        }
        mix
    }
}

/// Bytes without a short repeating pattern.
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}
