//! The state of one connection, and the execution of its requests.
//!
//! This layer is below operations and handlers, which change the state and answer requests through it. It does not
//! depend on commands: [`Dispatch`] supplies their table.

mod acts;
mod call;
mod chain;
mod driver;
mod held;
mod moved;
mod parked;
mod peer;
mod progress;
mod reach;
mod refusal;
mod reply;
mod send;

pub use held::Held;
pub use peer::{Carriage, Client, Peer};
pub use progress::{Leaving, Park};
pub use reach::Reach;
pub use reply::{Reply, Tail, Transmit};

use crate::{
    act::{Acts, MovedByShare},
    budget::Account,
    error::Result,
    event::Event,
    files::Files,
    raw_mode::RawState,
    search::Searches,
    server::Server,
    session::{SessionTable, Signing},
    table::{ConnId, LockError, NotifyOutcome, Ticket, Wake},
    transaction::{Pending, Transaction},
    tree::TreeTable,
};
use alloc::{boxed::Box, collections::VecDeque, sync::Arc, vec::Vec};
use coax_wire::{
    block::Block,
    header::{Fid, Header},
    status::Status,
    time::Time,
};
use core::fmt;
use progress::Parked;

/// The state of one connection.
///
/// Handlers and operations work on it. It runs requests, including parked ones, through its [`Dispatch`], so it does
/// not depend on the handlers.
#[derive(Debug)]
pub struct Context {
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
    pub(crate) message: crate::message::Incoming,
    pub(crate) transactions: Vec<Pending>,
    pub(crate) events: VecDeque<Event>,
    acts: Acts,
    /// Bytes through files that were closed since the last look.
    closed: MovedByShare,
    dispatch: Dispatch,
    parked: Vec<Parked>,
    leaving: Option<Leaving>,
    transmits: VecDeque<Transmit>,
    /// A sent buffer, for reuse.
    spare: Vec<u8>,
    closing: bool,
    /// The driver should check that the peer still exists.
    probe: bool,
}

/// Finds the handler of a command, checks the command's requirements, and calls the handler.
#[derive(Clone, Copy)]
pub struct Dispatch(pub fn(u8, &mut Call<'_>) -> Outcome);

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dispatch")
    }
}

/// The outcome of a handler that did not fail.
#[derive(Debug)]
pub enum Flow {
    /// The reply contains its block; the chain continues.
    Done,
    /// The reply contains its block with this status (`BUFFER_OVERFLOW` …); the chain ends.
    DoneWith(Status),
    /// The request waits: it runs again when the tables release its ticket or its deadline passes.
    Park(Park),
    /// The request has no reply.
    Silent,
}

/// The reason why a parked request runs again.
#[derive(Clone, Debug)]
pub enum Retry {
    /// Its wait condition may have ended.
    Again,
    /// The byte-range lock was granted or has failed.
    Lock(core::result::Result<(), LockError>),
    /// The awaited changes, or the reason why there will be none.
    Notify(NotifyOutcome),
    /// The client cancelled it, or its session, tree or file is being closed: it must end with `CANCELLED`.
    Cancelled,
}

/// A handler's outcome. An error sends an empty block under its status and ends the chain.
pub type Outcome = Result<Flow>;

/// One command being served.
#[derive(Debug)]
pub struct Call<'a> {
    /// The connection.
    pub conn: &'a mut Context,
    /// The request's header; a chain's earlier commands may have set `uid` and `tid`.
    pub header: Header,
    /// This command's words and bytes.
    pub block: Block<'a>,
    /// Now.
    pub now: Time,
    /// The reply.
    pub reply: &'a mut Reply,
    /// The file that an earlier command of this chain opened.
    pub chain_fid: Option<Fid>,
    /// When the request arrived, however long it has been parked.
    pub arrived: Time,
    /// Its ticket, if it was parked.
    pub ticket: Option<Ticket>,
    /// Set if this handler was parked before.
    pub retry: Option<Retry>,
    /// Data that this request keeps for its next run if it parks now: an assembled transaction.
    pub kept: Option<Box<Transaction>>,
}

impl Context {
    /// The state of a new connection. The server calls `wake` when another connection's requests affect it; `challenge`
    /// is eight random bytes; `dispatch` runs its commands.
    pub fn new(
        server: Arc<Server>,
        wake: Arc<dyn Wake>,
        peer: Peer,
        challenge: [u8; 8],
        dispatch: Dispatch,
    ) -> Self {
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
            message: crate::message::Incoming::default(),
            transactions: Vec::new(),
            events: VecDeque::new(),
            acts: Acts::default(),
            closed: MovedByShare::default(),
            dispatch,
            parked: Vec::new(),
            leaving: None,
            transmits: VecDeque::new(),
            spare: Vec::new(),
            closing: false,
            probe: false,
        }
    }
}
