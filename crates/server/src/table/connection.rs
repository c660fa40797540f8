//! A connection of the server, as the tables see it.

use super::{Event, OpenId, ShareId, Ticket, Wake};
use crate::budget::Account;
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};
use coax_wire::time::Time;

/// Limits of one connection. The tables report each exceeded limit with its own `Refusal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files and folders.
    pub opens: usize,
    /// Byte-range locks granted.
    pub locks: usize,
    /// Waiting byte ranges plus waiting change notifications.
    pub waits: usize,
    /// Bytes of change notifications buffered for one open folder, in wire format.
    pub notify_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            opens: 16_384,
            locks: 65_536,
            waits: 1_024,
            notify_bytes: 65_536,
        }
    }
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) wake: Arc<dyn Wake>,
    /// The name of the connection in reports to others.
    pub(super) label: String,
    pub(super) events: Vec<Event>,
    pub(super) opens: BTreeSet<OpenId>,
    /// Its opens, locks and memory.
    pub(super) account: Arc<Account>,
    /// The address of the client, if known.
    pub(super) address: Option<String>,
    /// The NetBIOS name that the client gave.
    pub(super) name: Option<String>,
    /// The earliest time of the next probe.
    pub(super) probe_again: Option<Time>,
    pub(super) waits: usize,
    /// Waiting log-ons and their deadlines.
    pub(super) log_ons: BTreeMap<Ticket, Time>,
    /// Trees connected, by share.
    pub(super) trees: BTreeMap<ShareId, usize>,
}

impl Connection {
    /// Whether both are connections of one client.
    pub(super) fn is_of_one_client_with(&self, other: &Self) -> bool {
        let names_agree = match (&self.name, &other.name) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        self.address.is_some() && self.address == other.address && names_agree
    }
}
