//! One connection's state, and how its requests run in it.
//!
//! This is the layer below operations and handlers: they change the state and answer requests through it. It knows no
//! command; [`Dispatch`] brings the table of commands from above.

mod call;
mod chain;
mod driver;
mod held;
mod parked;
mod peer;
mod progress;
mod reach;
mod refusal;
mod reply;
mod send;

pub use held::Held;
pub use peer::{Client, Peer};
pub use progress::{Leaving, Park};
pub use reach::Reach;
pub use reply::{Reply, Tail, Transmit};

use crate::{
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
/// Handlers and operations work on it. It runs requests and runs waiting requests again through its [`Dispatch`], so it
/// does not depend on the handlers.
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
    pub(crate) transactions: Vec<Pending>,
    pub(crate) events: VecDeque<Event>,
    dispatch: Dispatch,
    parked: Vec<Parked>,
    leaving: Option<Leaving>,
    transmits: VecDeque<Transmit>,
    /// A buffer that was sent and can be used again.
    spare: Vec<u8>,
    closing: bool,
    /// The driver should find out whether the peer is still there.
    probe: bool,
}

/// Finds the handler of a command, checks what the command needs, and calls the handler.
#[derive(Clone, Copy)]
pub struct Dispatch(pub fn(u8, &mut Call<'_>) -> Outcome);

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dispatch")
    }
}

/// How a handler ended when it did not fail.
#[derive(Debug)]
pub enum Flow {
    /// Its block stands in the reply; the chain goes on.
    Done,
    /// Its block stands in the reply under this status (`BUFFER_OVERFLOW` …); the chain ends.
    DoneWith(Status),
    /// The request waits: it runs again when its ticket comes up or its deadline passes.
    Park(Park),
    /// Nothing is sent for this request.
    Silent,
}

/// Why a parked request runs again.
#[derive(Clone, Debug)]
pub enum Retry {
    /// What it waited for may be free now.
    Again,
    /// The byte-range lock it waited for was granted or has failed.
    Lock(core::result::Result<(), LockError>),
    /// The changes it waited for, or why there will be none.
    Notify(NotifyOutcome),
    /// The client cancelled it, or what it hangs on is being closed: it must end, with `CANCELLED`.
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
    /// What it was parked under, if it was.
    pub ticket: Option<Ticket>,
    /// Set if this handler was parked before.
    pub retry: Option<Retry>,
    /// What this request keeps for its next run if it parks now: a transaction whose pieces are gone.
    pub kept: Option<Box<Transaction>>,
}

impl Context {
    /// The state of a fresh connection. `wake` is called when another connection's requests concern it; `challenge` is
    /// eight random bytes; `dispatch` serves its commands.
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
            transactions: Vec::new(),
            events: VecDeque::new(),
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
