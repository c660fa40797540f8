//! One client's connection: messages and time in, messages, events and the next deadline out.
//!
//! A driver feeds [`Connection::handle_message`] whole SMB messages (the NetBIOS session layer cuts them), then drains
//! [`Connection::poll_transmit`] and [`Connection::poll_event`]. When another connection's doings concern this one, its
//! [`crate::table::Wake`] is called and the driver calls [`Connection::handle_wake`]; when [`Connection::poll_timeout`]
//! comes, [`Connection::handle_timeout`].

mod call;
mod chain;
mod dispatch;
mod held;
mod parked;
mod reply;
mod send;

pub use call::{Call, Flow, Outcome, Park, Retry};
pub use held::Held;
pub use reply::{Reply, Tail, Transmit};

use crate::{
    event::Event,
    files::Files,
    handlers::{raw::RawState, transaction::Pending},
    search::Searches,
    server::Server,
    session::{SessionTable, Signing},
    table::{ConnId, Wake},
    tree::TreeTable,
};
use alloc::{collections::VecDeque, string::String, sync::Arc, vec::Vec};
use coax_wire::{dialect::Dialect, header::Header, time::Time};
use parked::Parked;

/// Who is at the other end, as far as the transport knows.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Address, in words.
    pub address: String,
    /// NetBIOS name it gave as its own.
    pub calling: Option<String>,
    /// NetBIOS name it called us by.
    pub called: Option<String>,
}

/// What the client said of itself in negotiate and set-up, and what follows from it.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Dialect agreed.
    pub dialect: Option<&'static Dialect>,
    /// Largest message it takes, bytes; 0 until it says so.
    pub max_buffer: u16,
    /// Its capabilities ([`coax_wire::smb::negotiate::cap`]).
    pub capabilities: u32,
    /// Extended security was agreed.
    pub extended_security: bool,
}

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    pub(crate) server: Arc<Server>,
    pub(crate) id: ConnId,
    pub(crate) peer: Peer,
    pub(crate) client: Client,
    pub(crate) challenge: [u8; 8],
    pub(crate) sessions: SessionTable,
    pub(crate) trees: TreeTable,
    pub(crate) files: Files,
    pub(crate) searches: Searches,
    pub(crate) signing: Signing,
    pub(crate) raw: RawState,
    pub(crate) transactions: Vec<Pending>,
    parked: Vec<Parked>,
    transmits: VecDeque<Transmit>,
    pub(crate) events: VecDeque<Event>,
    /// A buffer that was sent and may be used again.
    spare: Vec<u8>,
    closing: bool,
}

impl Connection {
    /// A fresh connection. `wake` is called when another connection's doings concern it; `challenge` is eight random
    /// bytes.
    pub fn new(server: Arc<Server>, wake: Arc<dyn Wake>, peer: Peer, challenge: [u8; 8]) -> Self {
        let id = server.locked(|tables| tables.add_connection(wake));
        Self {
            server,
            id,
            peer,
            client: Client::default(),
            challenge,
            sessions: SessionTable::default(),
            trees: TreeTable::default(),
            files: Files::default(),
            searches: Searches::default(),
            signing: Signing::default(),
            raw: RawState::default(),
            transactions: Vec::new(),
            parked: Vec::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            spare: Vec::new(),
            closing: false,
        }
    }

    /// Takes one whole message. Replies, if any, wait in [`Self::poll_transmit`].
    pub fn handle_message(&mut self, now: Time, message: &[u8]) {
        if self.closing {
            return;
        }
        if self.raw.takes(message) {
            crate::handlers::raw::data(self, now, message);
            return;
        }
        match Header::parse(message) {
            Ok(header) => self.handle_request(now, header, message),
            Err(error) => self.fatal(alloc::format!("{error}")),
        }
    }

    /// Runs parked requests that other connections' doings may have freed, and sends breaks and notifications.
    pub fn handle_wake(&mut self, now: Time) {
        let events = self.server.locked(|tables| tables.take_events(self.id));
        for event in events {
            self.handle_table_event(now, event);
        }
    }

    /// Ends what has waited too long, on this connection or another, and runs what that frees.
    pub fn handle_timeout(&mut self, now: Time) {
        self.server.locked(|tables| tables.expire(now));
        self.handle_wake(now);
    }

    /// The next message to send, in order. Call until `None` after every `handle_*`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Takes back the bytes of a [`Tail::Bytes`] that were sent: the next read uses them again, which spares it clearing and
    /// the allocator. Optional.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.len() > self.spare.len() {
            self.spare = buffer;
        }
    }

    /// The client has nothing to ask for the moment: frees what was kept for speed alone.
    pub fn rest(&mut self) {
        self.spare = Vec::new();
    }

    /// A buffer of `len` bytes, whatever they are, to be overwritten.
    pub(crate) fn spare_buffer(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = core::mem::take(&mut self.spare);
        buffer.resize(len, 0);
        buffer
    }

    /// The next thing to report.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Self::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.parked.iter().filter_map(Parked::deadline).min()
    }

    /// Whether the driver should close the connection once everything is sent.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether the client holds anything open: an idle connection may be dropped after `deadtime`.
    pub fn is_idle(&self) -> bool {
        self.files.is_empty() && self.parked.is_empty() && self.searches.is_empty()
    }

    /// The connection is gone: closes what it held, deletes what was to be deleted, undoes nothing that was
    /// acknowledged.
    pub fn handle_disconnect(&mut self, now: Time) {
        self.closing = true;
        self.parked.clear();
        self.transactions.clear();
        self.searches.close_where(|_| true);
        crate::ops::close::close_everything(self, now);
        let doomed = self.server.locked(|tables| tables.drop_connection(self.id));
        debug_assert!(doomed.is_empty(), "everything was closed before");
    }

    /// [`Self::handle_disconnect`] did not come to its end: gives up what the connection has in the shared tables, so that it
    /// is in nobody's way. Files that were to be deleted stay.
    pub fn abandon(&mut self) {
        self.closing = true;
        self.server.locked(|tables| tables.drop_connection(self.id));
    }

    /// Asks the driver to close, and says why.
    pub(crate) fn fatal(&mut self, why: String) {
        self.closing = true;
        self.events.push_back(Event::Fatal { why });
    }
}
