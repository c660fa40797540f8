//! Serves a file system of your own to SMB1 clients over ordinary sockets.
//!
//! `cargo run -p coax-server --example serve_your_own_vfs` serves one client on the loopback interface, which reads a file
//! and checks it. `… -- ADDRESS:PORT` serves clients, one at a time, until it is killed.
//!
//! The example has three parts: the file system ([`Notes`] and its two helpers), the driver ([`serve`], [`Locked`],
//! [`Flag`]), and the client of the check ([`check`]).

use std::{
    any::Any,
    collections::BTreeMap,
    error::Error,
    hash::{BuildHasher, Hasher, RandomState},
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coax_netbios::{Accept, Session, SessionConfig, Transport};
use coax_server::{
    Connection, Peer, Server,
    config::Config,
    share::{Share, ShareKind},
    table::{Exclusive, Tables, Wake},
    vfs::{
        FileId, FsTime, Kind, OpenHow, SetTimes, Space, Stat, Vfs, VfsDir, VfsError, VfsFile,
        VfsResult,
    },
};
use coax_wire::{
    block::{Block, WireStr},
    command,
    header::{HEADER_LEN, Header, Pid, Tid},
    io::Writer,
    smb::{negotiate, open, read, tree_connect},
    time::Time,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const TEXT: &[u8] = b"This text comes from a file system of your own.\r\n";
/// The driver looks this often whether another connection has woken its own. A driver with an event loop needs no such
/// interval: its [`Wake`] writes to the loop.
const WAKE_INTERVAL: Duration = Duration::from_millis(50);

// ---- the file system: one read-only folder of texts ----

/// A folder of texts. Every operation that changes something fails with [`VfsError::ReadOnly`].
#[derive(Debug)]
struct Notes {
    texts: Arc<BTreeMap<String, Vec<u8>>>,
}

/// An open text, or the open folder (`text` is `None`).
#[derive(Debug)]
struct Note {
    stat: Stat,
    text: Option<Vec<u8>>,
}

/// The folder, open for listing.
#[derive(Debug)]
struct Listing(Arc<BTreeMap<String, Vec<u8>>>);

/// A real file system reports the times and the inode that it stores. The engine relies on `id`: two opens of one object
/// have the same, and no other object has it.
fn stat(inode: u64, kind: Kind, size: u64) -> Stat {
    let time = FsTime(1_000_000_000_000_000_000);
    Stat {
        id: FileId {
            device: 1,
            inode,
            stream: 0,
        },
        kind,
        size,
        allocated: size,
        created: Some(time),
        modified: time,
        accessed: time,
        changed: time,
        links: 1,
        mode: 0o444,
    }
}

/// The state of the object at `path`, which is relative to the share's root.
fn find(texts: &BTreeMap<String, Vec<u8>>, path: &str) -> VfsResult<Stat> {
    if path.is_empty() {
        return Ok(stat(1, Kind::Directory, 0));
    }
    let number = texts.keys().position(|name| name == path);
    let number = number.ok_or(VfsError::NotFound)? as u64;
    let size = texts.get(path).map_or(0, Vec::len) as u64;
    Ok(stat(2 + number, Kind::File, size))
}

impl Vfs for Notes {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        if how.write || how.truncate {
            return Err(VfsError::ReadOnly);
        }
        let stat = match find(&self.texts, path) {
            Err(VfsError::NotFound) if how.create => return Err(VfsError::ReadOnly),
            Ok(_) if how.exclusive => return Err(VfsError::Exists),
            found => found?,
        };
        let text = self.texts.get(path).cloned();
        Ok((Arc::new(Note { stat, text }), false))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        match find(&self.texts, path)?.kind {
            Kind::Directory => Ok(Arc::new(Listing(self.texts.clone()))),
            _ => Err(VfsError::NotADirectory),
        }
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        find(&self.texts, path)
    }

    fn make_dir(&self, _: &str) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn remove_file(&self, _: &str) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn remove_dir(&self, _: &str) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn rename(&self, _: &str, _: &str, _: bool) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn hard_link(&self, _: &str, _: &str) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn attribute(&self, path: &str, _: &str) -> VfsResult<Vec<u8>> {
        find(&self.texts, path).and(Err(VfsError::NoAttribute))
    }

    fn space(&self) -> VfsResult<Space> {
        Ok(Space {
            total: 1 << 20,
            free: 0,
        })
    }
}

impl VfsFile for Note {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        let text = self.text.as_ref().ok_or(VfsError::IsADirectory)?;
        let mut rest = text.get(offset as usize..).unwrap_or_default();
        // Reading from memory does not fail.
        Ok(rest.read(buf).unwrap_or(0))
    }

    fn write_at(&self, _: u64, _: &[u8]) -> Result<(), (usize, VfsError)> {
        Err((0, VfsError::ReadOnly))
    }

    fn stat(&self) -> VfsResult<Stat> {
        Ok(self.stat)
    }

    fn set_len(&self, _: u64) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn reserve(&self, _: u64) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    /// Nothing is ever unwritten.
    fn sync(&self) -> VfsResult<()> {
        Ok(())
    }

    fn set_times(&self, _: SetTimes) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn set_writable(&self, _: bool) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn attribute(&self, _: &str) -> VfsResult<Vec<u8>> {
        Err(VfsError::NoAttribute)
    }

    fn set_attribute(&self, _: &str, _: &[u8]) -> VfsResult<()> {
        Err(VfsError::ReadOnly)
    }

    fn update_attribute(
        &self,
        _: &str,
        _: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        Err(VfsError::NoAttribute)
    }

    fn remove_attribute(&self, _: &str) -> VfsResult<()> {
        Err(VfsError::NoAttribute)
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        Ok(Vec::new())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl VfsDir for Listing {
    fn names(&self) -> VfsResult<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }

    fn entry(&self, name: &str, _: Option<&str>) -> VfsResult<(Stat, Option<Vec<u8>>)> {
        Ok((find(&self.0, name)?, None))
    }

    fn stat(&self) -> VfsResult<Stat> {
        find(&self.0, "")
    }
}

// ---- the driver: sockets, time and locks ----

/// The tables that all connections share, behind a lock.
#[derive(Debug)]
struct Locked(Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Set when another connection's request concerns this one.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn server(files: Arc<dyn Vfs>) -> Server {
    let config = Config::default();
    let tables = Tables::new(config.tables());
    Server {
        config,
        shares: vec![
            Arc::new(Share::for_guests(1, "NOTES", ShareKind::Disk(files))),
            Arc::new(Share::for_guests(2, "IPC$", ShareKind::Ipc)),
        ],
        accounts: Default::default(), // nobody has a password: every client is a guest
        tables: Arc::new(Locked(Mutex::new(tables))),
    }
}

/// A monotonic clock is better: this one follows corrections of the system's time.
fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time(since.map_or(0, |since| since.as_nanos() as u64))
}

/// Serves one client until it leaves.
fn serve(server: &Arc<Server>, mut socket: TcpStream) -> Outcome<()> {
    let woken = Arc::new(Flag::default());
    let peer = Peer {
        address: socket.peer_addr()?.to_string(),
        ..Peer::default()
    };
    let challenge = RandomState::new().build_hasher().finish().to_le_bytes();
    let mut connection = Connection::new(server.clone(), woken.clone(), peer, challenge);
    let served = exchange(&mut connection, &woken, &mut socket);
    connection.handle_disconnect(now());
    served
}

fn exchange(connection: &mut Connection, woken: &Flag, socket: &mut TcpStream) -> Outcome<()> {
    let config = SessionConfig::default();
    let mut session = Session::server(now(), Transport::Direct445, Accept::Any, config);
    socket.set_read_timeout(Some(WAKE_INTERVAL))?;
    let mut buffer = vec![0; 65_536];
    while !connection.is_closing() {
        match socket.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => receive(&mut session, connection, buffer.get(..count).unwrap_or(&[]))?,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
        if woken.0.swap(false, Ordering::SeqCst) {
            connection.handle_wake(now());
        }
        if connection.poll_timeout().is_some_and(|due| due <= now()) {
            connection.handle_timeout(now());
        }
        send(&session, connection, socket)?;
        while let Some(event) = connection.poll_event() {
            println!("{event:?}");
        }
    }
    Ok(())
}

/// Cuts the bytes into messages and hands them to the engine.
fn receive(session: &mut Session, connection: &mut Connection, mut bytes: &[u8]) -> Outcome<()> {
    loop {
        let taken = session.handle_bytes(now(), bytes);
        bytes = bytes.get(taken..).unwrap_or_default();
        let Some(message) = session.poll_message() else {
            return Ok(());
        };
        connection.handle_message(now(), message?);
        session.consume();
    }
}

fn send(session: &Session, connection: &mut Connection, socket: &mut TcpStream) -> Outcome<()> {
    while let Some(transmit) = connection.poll_transmit() {
        let mut message = session.header_for(transmit.len())?.to_vec();
        message.extend(transmit.head);
        message.extend(transmit.tail.into_bytes());
        socket.write_all(&message)?;
    }
    Ok(())
}

// ---- the check: a client of the core protocol reads the file ----

fn check(mut socket: TcpStream) -> Outcome<()> {
    let dialect = "PC NETWORK PROGRAM 1.0";
    ask(&mut socket, command::NEGOTIATE, Tid(0), |out| {
        negotiate::Request::emit(&[dialect], out);
    })?;
    let connect = tree_connect::Request {
        path: text(b"\\\\COAX\\NOTES"),
        password: text(b""),
        service: text(b"A:"),
    };
    let reply = ask(&mut socket, command::TREE_CONNECT, Tid(0), |out| {
        connect.emit(out);
    })?;
    let tid = tree_connect::Response::parse(&Block::first(&reply)?)?.tid;
    let file = open::Open {
        access_mode: 0,
        search_attributes: 0,
        path: text(b"\\README.TXT"),
    };
    let reply = ask(&mut socket, command::OPEN, tid, |out| file.emit(out))?;
    let opened = open::OpenResponse::parse(&Block::first(&reply)?)?;
    let all = read::Request {
        fid: opened.fid,
        count: 1024,
        offset: 0,
        remaining: 0,
    };
    let reply = ask(&mut socket, command::READ, tid, |out| all.emit(out))?;
    let data = read::Response::parse(&Block::first(&reply)?)?.data;
    match reply.get(data) == Some(TEXT) {
        true => Ok(()),
        false => Err("the file has other contents".into()),
    }
}

fn text(raw: &[u8]) -> WireStr<'_> {
    WireStr {
        raw,
        unicode: false,
    }
}

/// Sends a request and receives its reply.
fn ask(
    socket: &mut TcpStream,
    command: u8,
    tid: Tid,
    emit: impl FnOnce(&mut Writer),
) -> Outcome<Vec<u8>> {
    let header = Header {
        command,
        tid,
        pid: Pid(1),
        ..Header::default()
    };
    let mut out = Writer::default();
    header.emit(&mut out);
    emit(&mut out);
    let message = out.into_vec();
    socket.write_all(&(message.len() as u32).to_be_bytes())?;
    socket.write_all(&message)?;
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let mut reply = vec![0; (u32::from_be_bytes(length) as usize).max(HEADER_LEN)];
    socket.read_exact(&mut reply)?;
    match Header::parse(&reply)?.status {
        0 => Ok(reply),
        status => Err(format!("command {command:#x} failed with status {status:#x}").into()),
    }
}

fn main() -> Outcome<()> {
    let texts = BTreeMap::from([("Readme.txt".to_string(), TEXT.to_vec())]);
    let files = Notes {
        texts: Arc::new(texts),
    };
    let server = Arc::new(server(Arc::new(files)));
    if let Some(address) = std::env::args().nth(1) {
        for socket in TcpListener::bind(address)?.incoming() {
            if let Err(error) = serve(&server, socket?) {
                println!("{error}");
            }
        }
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let client = thread::spawn(move || {
        let checked = TcpStream::connect(address).map_err(Into::into);
        checked.and_then(check).map_err(|error| error.to_string())
    });
    serve(&server, listener.accept()?.0)?;
    client.join().map_err(|_| "the client panicked")??;
    println!("the client read Readme.txt: {} bytes", TEXT.len());
    Ok(())
}
