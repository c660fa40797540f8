//! A server on an in-memory file system and a client that sends raw bytes, for tests of handlers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use crate::{
    Connection, Peer, Server,
    config::Config,
    memfs::MemFs,
    share::{Share, ShareKind, ShareOptions},
    table::{Exclusive, Tables, Wake},
};
use alloc::{sync::Arc, vec, vec::Vec};
use coax_wire::{
    block::Block,
    header::{Flags, Flags2, HEADER_LEN, Header, Mid, Pid, Tid},
    io::Writer,
    status::Status,
    time::{Span, Time},
};
use core::sync::atomic::{AtomicBool, Ordering};

/// Midnight of 2026-11-21, the current time of tests.
pub const NOW: Time = Time(1_795_219_200_000_000_000);

#[derive(Debug)]
struct Locked(spin::Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock());
    }
}

/// Shared tables for tests.
pub fn exclusive(tables: Tables) -> Arc<dyn Exclusive> {
    Arc::new(Locked(spin::Mutex::new(tables)))
}

#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A server with a share `DISK` that guests may write to, and `IPC$`.
#[derive(Clone, Debug)]
pub struct TestServer {
    pub server: Arc<Server>,
    pub fs: Arc<MemFs>,
}

impl Default for TestServer {
    fn default() -> Self {
        Self::new()
    }
}

impl TestServer {
    pub fn new() -> Self {
        Self::with(Config::default(), ShareOptions::default())
    }

    pub fn with(config: Config, options: ShareOptions) -> Self {
        let fs = Arc::new(MemFs::new());
        fs.set_time(crate::vfs::FsTime(NOW.0 as i64));
        let disk = Share {
            options,
            ..Share::for_guests(1, "DISK", ShareKind::Disk(fs.clone()))
        };
        let ipc = Share::for_guests(2, "IPC$", ShareKind::Ipc);
        let tables = Tables::new(config.tables());
        let server = Server {
            config,
            shares: vec![Arc::new(disk), Arc::new(ipc)],
            accounts: coax_logon::accounts::Accounts::default(),
            tables: exclusive(tables),
        };
        Self {
            server: Arc::new(server),
            fs,
        }
    }

    /// Changes the server before the first connection.
    pub fn edit(&mut self, change: impl FnOnce(&mut Server)) {
        change(Arc::get_mut(&mut self.server).expect("no client may be connected yet"));
    }

    /// A new connection.
    pub fn connect(&self) -> TestClient {
        self.connect_from("")
    }

    /// A new connection from an address with a port.
    pub fn connect_from(&self, address: &str) -> TestClient {
        let peer = Peer {
            address: address.into(),
            ..Peer::default()
        };
        TestClient::of(&self.server, peer)
    }

    /// A client that has negotiated `dialect` and connected `DISK` in the way of that dialect.
    pub fn client(&self, dialect: &str) -> TestClient {
        self.client_from("", dialect)
    }

    /// Like `client`, from an address with a port.
    pub fn client_from(&self, address: &str, dialect: &str) -> TestClient {
        let mut client = self.connect_from(address);
        client.negotiate(&[dialect]);
        client.log_on_and_connect(dialect);
        client
    }
}

/// A client that sends raw messages. `header` is used for every request.
#[derive(Debug)]
pub struct TestClient {
    pub conn: Connection,
    pub woken: Arc<Flag>,
    pub now: Time,
    pub header: Header,
    mid: u16,
}

/// A decoded message from the server.
#[derive(Clone, Debug)]
pub struct Answer {
    pub header: Header,
    pub message: Vec<u8>,
    /// The client gets DOS error codes only.
    dos: bool,
}

impl Answer {
    /// The reply's status as an NTSTATUS value, or class and code in the same form as [`Status`]'s DOS statuses.
    pub fn status(&self) -> u32 {
        self.header.status
    }

    pub fn block(&self) -> Block<'_> {
        Block::first(&self.message).unwrap()
    }

    pub fn word(&self, index: usize) -> u16 {
        self.block().word(index).unwrap()
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.block().bytes.to_vec()
    }

    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.header.status, 0, "{:?}", Status(self.header.status));
        self
    }

    /// Asserts that the server refused the request with this status, in the client's error format.
    #[track_caller]
    pub fn refused(&self, status: Status) {
        let nt = self.header.flags2.has(Flags2::NT_STATUS);
        let expected = match self.dos {
            true => status.dos().for_dos().to_wire(),
            false => status.to_wire(nt),
        };
        assert_eq!(
            self.header.status,
            expected,
            "{:?}, not {status:?}",
            Status(self.header.status)
        );
    }
}

/// A decoded transaction reply.
#[derive(Clone, Debug)]
pub struct Trans2Answer {
    pub answer: Answer,
    pub parameters: Vec<u8>,
    pub data: Vec<u8>,
}

impl Trans2Answer {
    #[track_caller]
    pub fn ok(self) -> Self {
        Self {
            answer: self.answer.ok(),
            ..self
        }
    }

    #[track_caller]
    pub fn refused(&self, status: Status) {
        self.answer.refused(status);
    }

    /// A 16-bit number in the data.
    pub fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.data[at..at + 2].try_into().unwrap())
    }

    /// A 32-bit number in the data.
    pub fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.data[at..at + 4].try_into().unwrap())
    }

    /// A 64-bit number in the data.
    pub fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.data[at..at + 8].try_into().unwrap())
    }
}

impl TestClient {
    /// A new connection.
    pub fn of(server: &Arc<Server>, peer: Peer) -> Self {
        let woken = Arc::new(Flag::default());
        let conn = Connection::new(server.clone(), woken.clone(), peer, *b"12345678");
        Self {
            conn,
            woken,
            now: NOW,
            header: Header {
                flags: Flags(Flags::CASELESS),
                ..Header::default()
            },
            mid: 0,
        }
    }

    /// A client that has negotiated `dialect` and connected `DISK` in the way of that dialect.
    pub fn on(server: &Arc<Server>, dialect: &str) -> Self {
        let mut client = Self::of(server, Peer::default());
        client.negotiate(&[dialect]);
        client.log_on_and_connect(dialect);
        client
    }

    pub fn negotiate(&mut self, dialects: &[&str]) -> Answer {
        let mut out = Writer::default();
        coax_wire::smb::negotiate::Request::emit(dialects, &mut out);
        if dialects.contains(&"NT LM 0.12") {
            self.header.flags2 = Flags2(Flags2::NT_STATUS | Flags2::UNICODE | Flags2::LONG_NAMES);
        }
        self.header.pid = Pid(77);
        self.send_block(0x72, out.as_slice()).ok()
    }

    fn log_on_and_connect(&mut self, dialect: &str) {
        let core = [
            "PC NETWORK PROGRAM 1.0",
            "PCLAN1.0",
            "MICROSOFT NETWORKS 1.03",
        ]
        .contains(&dialect);
        if core {
            let reply = self.request(0x70, &[], b"\x04DISK\0\x04\0\x04A:\0").ok();
            self.header.tid = Tid(reply.word(1));
            return;
        }
        let reply = if dialect == "NT LM 0.12" {
            self.request(
                0x73,
                &[0xff, 0, 0xffff, 50, 1, 0, 0, 0, 0, 0, 0, 0xd0fc, 0x0080],
                &[0; 12],
            )
            .ok()
        } else {
            self.request(0x73, &[0xff, 0, 0xffff, 50, 1, 0, 0, 0, 0, 0], b"\0\0\0\0")
                .ok()
        };
        self.header.uid = reply.header.uid;
        self.connect_share("DISK");
    }

    /// Connects a share and stores its TID in `header`.
    pub fn connect_share(&mut self, name: &str) {
        let mut bytes = vec![0];
        bytes.extend(self.string(&alloc::format!("\\\\COAX\\{name}"), 32 + 1 + 8 + 2 + 1));
        bytes.extend(b"?????\0");
        let reply = self.request(0x75, &[0xff, 0, 0, 1], &bytes).ok();
        self.header.tid = reply.header.tid;
    }

    /// `text` with a terminator, in the client's encoding, padded for the offset `offset` in the message.
    pub fn string(&self, text: &str, offset: usize) -> Vec<u8> {
        if !self.header.unicode() {
            return text.bytes().chain([0]).collect();
        }
        let pad = vec![0; offset % 2];
        pad.into_iter()
            .chain(text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes))
            .collect()
    }

    /// Sends a request of a core command with paths in buffer format 4.
    pub fn paths(&mut self, command: u8, words: &[u16], paths: &[&str]) -> Answer {
        let mut bytes = Vec::new();
        for path in paths {
            bytes.push(4);
            let at = HEADER_LEN + 1 + words.len() * 2 + 2 + bytes.len();
            bytes.extend(self.string(path, at));
        }
        self.request(command, words, &bytes)
    }

    /// Sends a request of words and bytes, and returns its one reply.
    #[track_caller]
    pub fn request(&mut self, command: u8, words: &[u16], bytes: &[u8]) -> Answer {
        let block = block(words, bytes);
        self.send_block(command, &block)
    }

    /// Sends a request with the given block, and returns its one reply.
    #[track_caller]
    pub fn send_block(&mut self, command: u8, block: &[u8]) -> Answer {
        self.post(command, block);
        self.answer().expect("a reply")
    }

    /// Sends a request without waiting. Returns its MID.
    pub fn post(&mut self, command: u8, block: &[u8]) -> Mid {
        self.mid += 1;
        let mid = Mid(self.mid);
        self.post_as(mid, command, block);
        mid
    }

    /// Like `post`, with a given MID.
    pub fn post_as(&mut self, mid: Mid, command: u8, block: &[u8]) {
        let header = Header {
            command,
            mid,
            ..self.header
        };
        let mut out = Writer::default();
        header.emit(&mut out);
        out.bytes(block);
        self.conn.handle_message(self.now, out.as_slice());
    }

    /// Sends raw data as a separate message.
    pub fn post_raw(&mut self, data: &[u8]) {
        self.conn.handle_message(self.now, data);
    }

    /// The next message from the server, if any.
    pub fn answer(&mut self) -> Option<Answer> {
        let message = self.raw_answer()?;
        let header = Header::parse(&message).expect("an SMB message");
        let dos = self
            .conn
            .context
            .client
            .dialect
            .is_some_and(|dialect| dialect.dos);
        Some(Answer {
            header,
            message,
            dos,
        })
    }

    /// The bytes of the next message, SMB or raw data.
    pub fn raw_answer(&mut self) -> Option<Vec<u8>> {
        if self.woken.0.swap(false, Ordering::SeqCst) {
            self.conn.handle_wake(self.now);
        }
        let transmit = self.conn.poll_transmit()?;
        let mut message = transmit.head;
        message.extend(transmit.tail.into_bytes());
        Some(message)
    }

    /// Advances the time and handles the due events.
    pub fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        self.conn.handle_timeout(self.now);
    }

    /// Opens with OPEN_ANDX for reading and writing, sharing all; creates a missing file.
    #[track_caller]
    pub fn open(&mut self, path: &str) -> u16 {
        let at = HEADER_LEN + 1 + 30 + 2;
        let bytes = self.string(path, at);
        let words = [0xff, 0, 0, 0x42, 0x16, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0];
        self.request(0x2d, &words, &bytes).ok().word(2)
    }

    /// Sends NT_CREATE_ANDX, sharing everything, with the given access, disposition and options.
    #[track_caller]
    pub fn nt_create(&mut self, path: &str, access: u32, how: (u32, u32)) -> Answer {
        let mut block = vec![24, 0xff, 0, 0, 0, 0];
        let name = self.string(path, HEADER_LEN + 1 + 48 + 2);
        block.extend((name.len() as u16).to_le_bytes());
        for field in [0, 0, access, 0, 0, 0, 7, how.0, how.1, 2] {
            block.extend(u32::to_le_bytes(field));
        }
        block.push(0);
        block.extend((name.len() as u16).to_le_bytes());
        block.extend(name);
        self.send_block(0xa2, &block)
    }

    /// Sends a TRANSACTION2 in one message, and returns its one reply.
    #[track_caller]
    pub fn trans2(&mut self, function: u16, parameters: &[u8], data: &[u8]) -> Trans2Answer {
        self.trans2_within(function, parameters, data, 0xff00)
    }

    /// Like `trans2`, with a maximum of `max_data` data bytes in the reply.
    #[track_caller]
    pub fn trans2_within(
        &mut self,
        function: u16,
        parameters: &[u8],
        data: &[u8],
        max_data: u32,
    ) -> Trans2Answer {
        self.post_trans2_within(function, parameters, data, max_data);
        let answer = self.answer().expect("a reply");
        let part = |count: usize, offset: usize| {
            let word = |index| usize::from(answer.block().word(index).unwrap_or(0));
            answer.message[word(offset)..][..word(count)].to_vec()
        };
        Trans2Answer {
            parameters: part(3, 4),
            data: part(6, 7),
            answer,
        }
    }

    /// Sends a TRANSACTION2 in one message without waiting.
    pub fn post_trans2(&mut self, function: u16, parameters: &[u8], data: &[u8]) {
        self.post_trans2_within(function, parameters, data, 0xff00);
    }

    fn post_trans2_within(&mut self, function: u16, parameters: &[u8], data: &[u8], max_data: u32) {
        use coax_wire::smb::transaction::{Kind, Request};
        let request = Request {
            kind: Kind::Transaction2,
            total_parameters: parameters.len() as u32,
            total_data: data.len() as u32,
            max_parameters: 64,
            max_data,
            max_setup: 0,
            flags: 0,
            timeout_ms: 0,
            function,
            setup: &function.to_le_bytes(),
            name: coax_wire::block::WireStr {
                raw: &[],
                unicode: false,
            },
            parameters,
            data,
        };
        let mut out = Writer::default();
        request.emit(out.zeros(HEADER_LEN));
        let block = out.as_slice()[HEADER_LEN..].to_vec();
        self.post(0x32, &block);
    }

    /// TRANS2_QUERY_PATH_INFORMATION.
    #[track_caller]
    pub fn query_path(&mut self, level: u16, path: &str) -> Trans2Answer {
        let parameters = self.path_parameters(level, path);
        self.trans2(0x05, &parameters, b"")
    }

    /// TRANS2_QUERY_FILE_INFORMATION.
    #[track_caller]
    pub fn query_fid(&mut self, level: u16, fid: u16) -> Trans2Answer {
        let parameters = [fid.to_le_bytes(), level.to_le_bytes()].concat();
        self.trans2(0x07, &parameters, b"")
    }

    /// TRANS2_SET_PATH_INFORMATION.
    #[track_caller]
    pub fn set_path(&mut self, level: u16, path: &str, data: &[u8]) -> Answer {
        let parameters = self.path_parameters(level, path);
        self.trans2(0x06, &parameters, data).answer
    }

    /// TRANS2_SET_FILE_INFORMATION.
    #[track_caller]
    pub fn set_fid(&mut self, level: u16, fid: u16, data: &[u8]) -> Answer {
        let parameters = [fid.to_le_bytes(), level.to_le_bytes(), [0, 0]].concat();
        self.trans2(0x08, &parameters, data).answer
    }

    /// Level, four reserved bytes and a path.
    pub fn path_parameters(&self, level: u16, path: &str) -> Vec<u8> {
        let mut parameters = level.to_le_bytes().to_vec();
        parameters.extend([0; 4]);
        parameters.extend(self.string(path, 0));
        parameters
    }

    pub fn close(&mut self, fid: u16) -> Answer {
        self.request(0x04, &[fid, 0, 0], b"")
    }
}

/// Word count, words, byte count, bytes.
pub fn block(words: &[u16], bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![words.len() as u8];
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend((bytes.len() as u16).to_le_bytes());
    out.extend(bytes);
    out
}
