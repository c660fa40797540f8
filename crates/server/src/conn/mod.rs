//! One client's connection: messages and time in, messages, events and the next deadline out.
//!
//! A driver feeds [`Connection::handle_message`] whole SMB messages (the NetBIOS session layer cuts them), then drains
//! [`Connection::poll_transmit`] and [`Connection::poll_event`]. When another connection's doings concern this one, its
//! [`crate::table::Wake`] is called and the driver calls [`Connection::handle_wake`]; when [`Connection::poll_timeout`]
//! comes, [`Connection::handle_timeout`].

#[cfg(test)]
mod authorization_tests;
mod call;
mod chain;
mod dispatch;
mod held;
mod parked;
mod reach;
mod refusal;
mod reply;
mod send;

pub use call::{Call, Flow, Outcome, Park, Retry};
pub use held::Held;
pub use reach::Reach;
pub use reply::{Reply, Tail, Transmit};

use crate::{
    budget::Account,
    event::Event,
    files::Files,
    handlers::{negotiate, raw::RawState, transaction::Pending},
    search::Searches,
    server::Server,
    session::{SessionTable, Signing},
    table::{ConnId, Wake},
    tree::{Authorized, TreeTable},
};
use alloc::{collections::VecDeque, string::String, sync::Arc, vec::Vec};
use coax_wire::{
    dialect::Dialect,
    header::{Header, SMB2_PROTOCOL, Tid, Uid},
    status::Status,
    time::Time,
};
pub(crate) use parked::Leaving;
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
    /// The driver's number for it; 0 if it has none.
    pub number: u64,
}

impl Peer {
    /// Who it is, in words: for other clients' reports.
    fn label(&self) -> String {
        let name = self
            .calling
            .as_deref()
            .map(|name| alloc::format!(" \"{name}\""));
        let name = name.unwrap_or_default();
        match self.number {
            0 => alloc::format!("{}{name}", self.address),
            number => alloc::format!("client {number} at {}{name}", self.address),
        }
    }
}

impl Peer {
    /// The address without its port: what a client's connections have in common.
    pub fn host(&self) -> &str {
        match self.address.rsplit_once(':') {
            Some((host, _)) => host,
            None => &self.address,
        }
    }
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
    /// The header's flag for caseless paths means what it says (`Call::is_case_exact`).
    pub flags_case: bool,
}

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    pub(crate) server: Arc<Server>,
    pub(crate) id: ConnId,
    pub(crate) account: Arc<Account>,
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
    leaving: Option<Leaving>,
    transmits: VecDeque<Transmit>,
    pub(crate) events: VecDeque<Event>,
    /// A buffer that was sent and may be used again.
    spare: Vec<u8>,
    closing: bool,
    /// Whether the peer is still there is to be found out.
    probe: bool,
}

impl Connection {
    /// A fresh connection. `wake` is called when another connection's doings concern it; `challenge` is eight random
    /// bytes.
    pub fn new(server: Arc<Server>, wake: Arc<dyn Wake>, peer: Peer, challenge: [u8; 8]) -> Self {
        let label = peer.label();
        let (id, account) = server.locked(|tables| {
            let id = tables.add_connection_from(wake, peer.host());
            tables.label(id, label);
            tables.name_connection(id, peer.calling.clone());
            (id, tables.account(id).cloned().unwrap_or_default())
        });
        Self {
            server,
            id,
            account,
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
            leaving: None,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            spare: Vec::new(),
            closing: false,
            probe: false,
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
            Err(_) if message.starts_with(&SMB2_PROTOCOL) => self.end_smb2(),
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

    /// Where what is held for the client is reserved.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Whether the driver should find out, by a TCP keep-alive probe for instance, if the peer is still there: what it
    /// holds keeps another connection of the same client from its files. Says so once.
    pub fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe)
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
        self.hang_up();
        crate::ops::close::close_everything(self, now);
        let doomed = self.server.locked(|tables| tables.drop_connection(self.id));
        debug_assert!(doomed.is_empty(), "everything was closed before");
    }

    /// [`Self::handle_disconnect`] did not come to its end: gives up what the connection has in the shared tables, so that it
    /// is in nobody's way. Files that were to be deleted stay.
    pub fn abandon(&mut self) {
        self.closing = true;
        self.server.locked(|tables| {
            for doomed in tables.drop_connection(self.id) {
                tables.finish_delete(doomed.file);
            }
        });
    }

    /// A client begins with a header of SMB2.
    fn end_smb2(&mut self) {
        if self.client.dialect.is_none() {
            let offered = alloc::vec![String::from("SMB2 or later")];
            let chosen = None;
            self.events.push_back(Event::Negotiated { offered, chosen });
        }
        negotiate::refuse_smb2(self);
        self.fatal(String::from("it speaks only SMB2 or later"));
    }

    /// The tree of `tid`, as the user of `uid` may use it.
    ///
    /// # Errors
    /// `BAD_UID` if nobody is logged on under it, or the user may not use the share; `BAD_TID`.
    pub(crate) fn authorize(&self, uid: Uid, tid: Tid) -> crate::error::Result<Authorized<'_>> {
        let session = self.sessions.find(uid).ok_or(Status::BAD_UID)?;
        self.trees.authorize(tid, session)
    }

    /// Ends the session of `uid`; whatever hangs on it is closed before.
    pub(crate) fn end_session(&mut self, uid: Uid) {
        if let Some(session) = self.sessions.remove(uid) {
            self.trees.forget(session.id);
        }
    }

    /// Makes `uid` the session of `user`, whosever it was.
    pub(crate) fn establish_session(&mut self, uid: Uid, user: Option<String>) {
        if let Some(before) = self.sessions.establish(uid, user) {
            self.trees.forget(before.id);
        }
    }

    /// Asks the driver to close, and says why.
    pub(crate) fn fatal(&mut self, why: String) {
        self.closing = true;
        self.events.push_back(Event::Fatal { why });
    }
}
