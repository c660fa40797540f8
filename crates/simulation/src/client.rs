//! A client: a connection, what it knows it has, and what it has sent.

use crate::{
    op::{Oplock, Request},
    speak::Speaker,
};
use coax_server::{Connection, Peer, Server, table::Wake};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Set when the tables have something for the connection.
#[derive(Debug, Default)]
pub struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Bell {
    /// Whether it was set; it is not any more.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first message of the request with this MID.
    Request(u16),
    /// A further piece of it, or the data of a raw write.
    Piece(u16),
    /// NT_CANCEL of it.
    Cancel(u16),
    /// The acknowledgement of a break on this FID.
    Acknowledge(u16, Oplock),
}

/// A message on its way to the server.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// What it is.
    pub kind: Kind,
    /// The request it belongs to, as it was sent.
    pub request: Request,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A file or folder that the client has open.
#[derive(Clone, Debug)]
pub struct File {
    /// FID.
    pub fid: u16,
    /// User, tree and process that opened it.
    pub ids: (u16, u16, u16),
    /// It was opened as a folder, as far as the client knows.
    pub folder: bool,
    /// Oplock, as far as the client knows.
    pub oplock: Oplock,
    /// What it has read: offset, bytes wanted, bytes got.
    pub cached: Option<(u64, u16, Vec<u8>)>,
    /// What it has yet to write.
    pub dirty: Option<(u64, Vec<u8>)>,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    /// The server's side of the connection.
    pub conn: Connection,
    /// Rings when the server's side has something to do.
    pub bell: Arc<Bell>,
    /// Dialect.
    pub speaker: Speaker,
    /// Messages sent and not yet received.
    pub outbox: VecDeque<Envelope>,
    /// Pieces to be sent when the server asks for them, by MID.
    pub pieces: BTreeMap<u16, Vec<Vec<u8>>>,
    /// UIDs and their users.
    pub sessions: Vec<(u16, Option<&'static str>)>,
    /// TIDs, and the UIDs that connected them.
    pub trees: Vec<(u16, u16)>,
    /// What it has open.
    pub files: Vec<File>,
    /// Breaks it has not answered: FID, and what remains.
    pub breaks: Vec<(u16, Oplock)>,
    /// MIDs of acknowledgements sent.
    pub acknowledged: Vec<u16>,
    /// The connection has ended.
    pub gone: bool,
    /// A raw write is under way: nothing else may be sent.
    pub raw: bool,
    mid: u16,
}

impl Client {
    /// A fresh connection.
    #[must_use]
    pub fn new(server: &Arc<Server>, nt: bool) -> Self {
        let bell = Arc::new(Bell::default());
        let conn = Connection::new(server.clone(), bell.clone(), Peer::default(), *b"12345678");
        Self {
            conn,
            bell,
            speaker: Speaker { nt },
            outbox: VecDeque::new(),
            pieces: BTreeMap::new(),
            sessions: Vec::new(),
            trees: Vec::new(),
            files: Vec::new(),
            breaks: Vec::new(),
            acknowledged: Vec::new(),
            gone: false,
            raw: false,
            mid: 0,
        }
    }

    /// A number for the next request.
    pub fn next_mid(&mut self) -> u16 {
        self.mid = if self.mid >= 0xff00 { 1 } else { self.mid + 1 };
        self.mid
    }

    /// What it has open under a FID.
    pub fn file(&mut self, fid: u16) -> Option<&mut File> {
        self.files.iter_mut().find(|file| file.fid == fid)
    }

    /// What it has read may be old.
    pub fn forget_cached(&mut self) {
        for file in &mut self.files {
            file.cached = None;
        }
    }
}
