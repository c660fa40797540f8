//! What a reply answers: its layout depends on the request.

use coax_wire::{
    command as code,
    header::{Header, Mid, Pid},
};

use crate::{layout::Direction, parts::Parts, recent::Recent, rpc::Pipes};

/// What a request asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The function of a transaction.
    pub(crate) function: Option<u16>,
    /// The information level and its family.
    pub(crate) level: Option<(&'static str, u16)>,
    /// Entries of a listing have resume keys.
    pub(crate) resume_keys: bool,
    /// The name of a transaction.
    pub(crate) name: String,
    /// The named pipe that it reads, writes or calls.
    pub(crate) pipe: Option<u16>,
}

/// A message in the light of those before it.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// What its request, or an earlier part of it, asked for.
    pub(crate) asked: Asked,
    /// The parts of its transaction so far.
    pub(crate) parts: Parts,
}

/// Requests that are remembered.
const MAX_REQUESTS: usize = 1024;
/// Transactions in several messages that are collected at a time.
const MAX_TRANSACTIONS: usize = 4;

type Key = (Pid, Mid);

/// The requests of one connection, so that replies can be decoded. It remembers the last 1,024.
#[derive(Debug)]
pub struct Context {
    requests: Recent<Key, Asked>,
    parts: Recent<(Key, Direction), Parts>,
    /// The named pipes of the connection.
    pub(crate) pipes: Pipes,
    /// Its headers have the fields of a connectionless transport ([MS-CIFS] 2.2.3.1).
    pub(crate) connectionless: bool,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            requests: Recent::new(MAX_REQUESTS),
            parts: Recent::new(MAX_TRANSACTIONS),
            pipes: Pipes::default(),
            connectionless: false,
        }
    }
}

impl Context {
    /// What the message is about. Of a request nothing is known yet, if it is not a later part of one.
    pub(crate) fn exchange(&mut self, header: &Header, direction: Direction) -> Exchange {
        let key = (header.pid, header.mid);
        let is_new = direction == Direction::Request && !is_later_part(header.command);
        if is_new {
            self.parts.remove(&(key, Direction::Request));
            self.parts.remove(&(key, Direction::Response));
            return Exchange::default();
        }
        Exchange {
            asked: self.requests.get(&key).cloned().unwrap_or_default(),
            parts: self.parts.take(&(key, direction)).unwrap_or_default(),
        }
    }

    /// Remembers a message.
    pub(crate) fn remember(&mut self, header: &Header, direction: Direction, exchange: Exchange) {
        let key = (header.pid, header.mid);
        if exchange.parts.are_wanted() {
            *self.parts.of((key, direction), Parts::default) = exchange.parts;
        }
        if direction == Direction::Response {
            return;
        }
        if exchange.asked == Asked::default() {
            self.requests.remove(&key);
        } else {
            *self.requests.of(key, Asked::default) = exchange.asked;
        }
    }
}

/// Requests that continue another one.
const fn is_later_part(command: u8) -> bool {
    matches!(
        command,
        code::TRANSACTION_SECONDARY | code::TRANSACTION2_SECONDARY | code::NT_TRANSACT_SECONDARY
    )
}
