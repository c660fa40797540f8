//! A client: a connection, the client's knowledge, and the messages it has sent.

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

/// A flag that the tables set when the connection has events.
#[derive(Debug, Default)]
pub struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Bell {
    /// Clears the flag; returns whether it was set.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first message of the request with this MID.
    Request(u16),
    /// Another part of the request, or the data of a raw write.
    Piece(u16),
    /// NT_CANCEL of the request.
    Cancel(u16),
    /// The acknowledgement of a break on this FID.
    Acknowledge(u16, Oplock),
}

/// A message in transit to the server.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The kind of the message.
    pub kind: Kind,
    /// The request of the message, as sent.
    pub request: Request,
    /// The bytes of the message.
    pub bytes: Vec<u8>,
}

/// A file or folder that the client has open.
#[derive(Clone, Debug)]
pub struct File {
    /// FID.
    pub fid: u16,
    /// User, tree and process that opened it.
    pub ids: (u16, u16, u16),
    /// The client opened it as a folder, as far as it knows.
    pub folder: bool,
    /// The oplock, as far as the client knows.
    pub oplock: Oplock,
    /// Cached data: offset, bytes requested, bytes read.
    pub cached: Option<(u64, u16, Vec<u8>)>,
    /// Cached data that the client must still write.
    pub dirty: Option<(u64, Vec<u8>)>,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    /// The server's side of the connection.
    pub conn: Connection,
    /// Wakes the driver when the server's side has events.
    pub bell: Arc<Bell>,
    /// Dialect.
    pub speaker: Speaker,
    /// Messages in transit.
    pub outbox: VecDeque<Envelope>,
    /// Further parts of requests, by MID, until the server asks for them.
    pub pieces: BTreeMap<u16, Vec<Vec<u8>>>,
    /// UIDs and their users.
    pub sessions: Vec<(u16, Option<&'static str>)>,
    /// TIDs, and the UIDs that connected them.
    pub trees: Vec<(u16, u16)>,
    /// Open files and folders.
    pub files: Vec<File>,
    /// Unanswered breaks: FID and remaining oplock.
    pub breaks: Vec<(u16, Oplock)>,
    /// MIDs of acknowledgements sent.
    pub acknowledged: Vec<u16>,
    /// The connection has ended.
    pub gone: bool,
    /// A raw write is in progress: the client must not send anything else.
    pub raw: bool,
    mid: u16,
}

impl Client {
    /// A new connection.
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

    /// The MID of the next request.
    pub fn next_mid(&mut self) -> u16 {
        self.mid = if self.mid >= 0xff00 { 1 } else { self.mid + 1 };
        self.mid
    }

    /// The open file of a FID.
    pub fn file(&mut self, fid: u16) -> Option<&mut File> {
        self.files.iter_mut().find(|file| file.fid == fid)
    }

    /// Invalidates the read cache.
    pub fn forget_cached(&mut self) {
        for file in &mut self.files {
            file.cached = None;
        }
    }
}
