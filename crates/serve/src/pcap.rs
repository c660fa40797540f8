//! `--pcap`: writes the clients' traffic to a capture file that tshark and `coax explain` read.
//!
//! The bytes and times are those of the server's system calls. The server cannot see TCP, so the capture contains
//! synthetic segments, ACKs, windows and handshakes: each run of bytes is one segment, and the next data of the other
//! side acknowledges it.

use std::{
    fs::{File, OpenOptions, Permissions},
    io::Write,
    net::SocketAddr,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coax_lab::{
    capture::{
        frame::{Ip, MAX_PAYLOAD, Tcp, tcp_frame},
        pcapng,
    },
    segment::Flags,
};

use coax_smbconf::settings::ClientChoice;

use super::{report::Reporter, socket::Socket, trace::Selection};

/// Bytes queued for a slow disk; the capture drops and counts packets beyond this limit.
const WAITING_BYTES: usize = 32 << 20;
/// Packets queued at most.
const WAITING_PACKETS: usize = 16_384;
/// Approximate size of one write, bytes.
const BATCH: usize = 256 << 10;
/// Bytes of one connection held until its client's name is known.
const HELD_BYTES: usize = 64 << 10;
const TTL: u8 = 64;
/// Both windows are at their maximum, so that the capture never appears receive window limited: the real windows are
/// unknown.
const WINDOW: u16 = u16::MAX;
/// Options of both SYNs: window scale 7 (RFC 7323), padded to a word.
const SYN_OPTIONS: &[u8] = &[1, 3, 3, 7];

/// A file to capture to, opened before the process confines itself.
#[derive(Debug)]
pub(super) struct Target {
    file: File,
    /// What the log calls it.
    name: String,
    limit: u64,
    /// The option that sets the limit.
    limited_by: &'static str,
}

impl Target {
    /// Creates or truncates `path`, readable only by its owner.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn open(path: &Path, limit: u64) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(path)?;
        // An existing file may have been readable by others.
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(Self {
            file,
            name: path.display().to_string(),
            limit,
            limited_by: "--pcap-limit",
        })
    }

    /// A file that has no name in any folder.
    pub(super) fn unnamed(file: File, name: &str, limit: u64) -> Self {
        Self {
            file,
            name: name.into(),
            limit,
            limited_by: "its limit",
        }
    }
}

/// Accepts packets from every thread without blocking.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    packets: SyncSender<Message>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
    /// The limit is reached or the disk failed: the writer writes nothing more.
    over: AtomicBool,
}

#[derive(Debug)]
enum Message {
    Packet(Vec<u8>),
    /// The writer drops this when everything before it is written.
    Flush(SyncSender<()>),
}

impl Capture {
    /// Writes to `target` on a thread of its own.
    ///
    /// # Errors
    /// The system cannot start a thread, or the first blocks cannot be written.
    pub(super) fn start(target: Target, reporter: Reporter) -> std::io::Result<Self> {
        let (packets, taken) = sync_channel(WAITING_PACKETS);
        let state = Arc::new(State::default());
        let mut writer = Writer {
            target,
            reporter,
            state: state.clone(),
            written: 0,
            told_of_drops: false,
        };
        let mut start = Vec::new();
        let program = format!("coax {} serve", env!("CARGO_PKG_VERSION"));
        pcapng::section_header(&mut start, &program);
        pcapng::interface(
            &mut start,
            "coax serve: payload as read and written, TCP made up",
        );
        writer.target.file.write_all(&start)?;
        writer.written = start.len() as u64;
        std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || writer.run(&taken))?;
        Ok(Self { packets, state })
    }

    /// Waits, for a limited time, until everything captured so far is written.
    pub(super) fn flush(&self) {
        let (done, written) = sync_channel(0);
        if self.packets.try_send(Message::Flush(done)).is_ok() {
            // The writer answers by dropping its end.
            let _ = written.recv_timeout(Duration::from_secs(2));
        }
    }

    /// Whether nothing more is captured: the limit is reached, or the disk failed.
    pub(super) fn is_over(&self) -> bool {
        self.state.over.load(Ordering::Relaxed)
    }

    fn packet(&self, bytes: Vec<u8>) {
        if self.is_over() {
            return;
        }
        let (state, len) = (&self.state, bytes.len());
        let waiting = state.waiting_bytes.fetch_add(len, Ordering::Relaxed);
        let fits = waiting.saturating_add(len) <= WAITING_BYTES;
        if !fits || self.packets.try_send(Message::Packet(bytes)).is_err() {
            state.waiting_bytes.fetch_sub(len, Ordering::Relaxed);
            state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct Writer {
    target: Target,
    reporter: Reporter,
    state: Arc<State>,
    /// Bytes of whole blocks in the file.
    written: u64,
    told_of_drops: bool,
}

impl Writer {
    fn run(&mut self, taken: &Receiver<Message>) {
        while let Ok(first) = taken.recv() {
            let mut batch = Vec::new();
            let mut flushes = Vec::new();
            let mut next = Some(first);
            while let Some(message) = next.take() {
                match message {
                    Message::Packet(bytes) => self.add(&mut batch, &bytes),
                    Message::Flush(done) => flushes.push(done),
                }
                if batch.len() < BATCH {
                    next = taken.try_recv().ok();
                }
            }
            self.write(&batch);
            self.tell_of_drops(!flushes.is_empty());
        }
    }

    fn add(&mut self, batch: &mut Vec<u8>, packet: &[u8]) {
        self.state
            .waiting_bytes
            .fetch_sub(packet.len(), Ordering::Relaxed);
        if self.state.over.load(Ordering::Relaxed) {
            return;
        }
        let pending = batch.len().saturating_add(packet.len()) as u64;
        if self.written.saturating_add(pending) > self.target.limit {
            self.state.over.store(true, Ordering::Relaxed);
            let Target {
                name,
                limit,
                limited_by,
                ..
            } = &self.target;
            self.reporter.notice(format!(
                "the capture {name} has reached {limited_by} ({limit} bytes): nothing more is captured"
            ));
            return;
        }
        batch.extend_from_slice(packet);
    }

    fn write(&mut self, batch: &[u8]) {
        if batch.is_empty() {
            return;
        }
        let Err(error) = self.target.file.write_all(batch) else {
            self.written = self.written.saturating_add(batch.len() as u64);
            return;
        };
        self.state.over.store(true, Ordering::Relaxed);
        // Half a block at the end would make the file malformed.
        let _ = self.target.file.set_len(self.written);
        let path = &self.target.name;
        self.reporter.notice(format!(
            "cannot write the capture {path}: {error}; nothing more is captured"
        ));
    }

    /// Reports once that packets are missing, and at the end their number.
    fn tell_of_drops(&mut self, at_end: bool) {
        let dropped = self.state.dropped.load(Ordering::Relaxed);
        if dropped == 0 || (self.told_of_drops && !at_end) {
            return;
        }
        self.told_of_drops = true;
        let path = &self.target.name;
        self.reporter.notice(format!(
            "the capture {path} lacks {dropped} packets so far: the disk is too slow"
        ));
    }
}

/// One client's connection in the capture.
#[derive(Debug)]
pub(super) struct Tap {
    capture: Capture,
    client: End,
    server: End,
    /// Packets held until the client's name is known.
    held: Option<Vec<Vec<u8>>>,
    held_bytes: usize,
    /// The client is not selected for capture.
    off: bool,
}

/// One end of the connection.
#[derive(Debug)]
struct End {
    address: SocketAddr,
    /// The next sequence number.
    next: u32,
    packets: u16,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Client,
    Server,
}

const ACK: Flags = Flags {
    syn: false,
    fin: false,
    rst: false,
    psh: false,
    ack: true,
};

impl Tap {
    /// Starts the capture of a client, if capture is on and the client may be selected.
    pub(super) fn begin(
        capture: Option<&Capture>,
        trace: Option<&ClientChoice>,
        socket: &Socket,
        address: &str,
        number: u64,
    ) -> Option<Self> {
        let capture = capture?.clone();
        let selection = Selection::of(trace, number, address, None);
        if selection == Selection::No {
            return None;
        }
        let (client, server) = (address.parse().ok()?, socket.local_address()?);
        Some(Self::new(capture, client, server, selection))
    }

    /// Starts with a handshake. `selection` tells whether the client is captured, if that is already known.
    pub(super) fn new(
        capture: Capture,
        client: SocketAddr,
        server: SocketAddr,
        selection: Selection,
    ) -> Self {
        let end = |address, next| End {
            address,
            next,
            packets: 0,
        };
        let mut tap = Self {
            capture,
            client: end(client, 0x1000),
            server: end(server, 0x2000),
            held: (selection == Selection::Undecided).then(Vec::new),
            held_bytes: 0,
            off: selection == Selection::No,
        };
        let syn = Flags { syn: true, ..ACK };
        tap.segment(From::Client, Flags { ack: false, ..syn }, &[]);
        tap.segment(From::Server, syn, &[]);
        tap.segment(From::Client, ACK, &[]);
        tap
    }

    /// Called when the client's name is known: writes or discards the packets held so far.
    pub(super) fn decide(&mut self, captured: bool) {
        let Some(held) = self.held.take() else {
            return;
        };
        self.off = !captured;
        if captured {
            held.into_iter()
                .for_each(|packet| self.capture.packet(packet));
        }
    }

    /// The client sent these bytes.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        self.data(From::Client, bytes);
    }

    /// The kernel took these bytes for the client.
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        self.data(From::Server, bytes);
    }

    /// Ends the connection in the capture.
    pub(super) fn end(&mut self) {
        self.decide(false);
        let fin = Flags { fin: true, ..ACK };
        self.segment(From::Server, fin, &[]);
        self.segment(From::Client, fin, &[]);
        self.segment(From::Server, ACK, &[]);
    }

    /// The other side's next data carries the ACK. Its real time is unknown, and a separate ACK would look as if the
    /// sender had waited for it.
    fn data(&mut self, from: From, bytes: &[u8]) {
        for part in bytes.chunks(MAX_PAYLOAD) {
            self.segment(from, Flags { psh: true, ..ACK }, part);
        }
    }

    fn segment(&mut self, from: From, flags: Flags, payload: &[u8]) {
        if self.off || self.capture.is_over() {
            return;
        }
        let (source, target) = match from {
            From::Client => (&mut self.client, &self.server),
            From::Server => (&mut self.server, &self.client),
        };
        source.packets = source.packets.wrapping_add(1);
        let ip = Ip {
            source: source.address,
            target: target.address,
            identification: source.packets,
            ttl: TTL,
        };
        let tcp = Tcp {
            seq: source.next,
            ack: if flags.ack { target.next } else { 0 },
            flags,
            window: WINDOW,
            options: if flags.syn { SYN_OPTIONS } else { &[] },
        };
        let taken = (payload.len() as u32).wrapping_add(u32::from(flags.syn || flags.fin));
        source.next = source.next.wrapping_add(taken);
        let mut block = Vec::new();
        pcapng::packet(&mut block, now(), &tcp_frame(&ip, &tcp, payload));
        self.keep(block);
    }

    fn keep(&mut self, block: Vec<u8>) {
        let Some(held) = &mut self.held else {
            return self.capture.packet(block);
        };
        self.held_bytes = self.held_bytes.saturating_add(block.len());
        if self.held_bytes <= HELD_BYTES {
            held.push(block);
        }
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
#[path = "tests/pcap.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests;
