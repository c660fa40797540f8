//! A connection of the server, as the tables know it.

use super::{Event, OpenId, ShareId, Ticket, Wake};
use crate::budget::Account;
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};
use coax_wire::time::Time;

/// What one connection may hold. Each is refused with its own [`Refusal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files and folders.
    pub opens: usize,
    /// Byte-range locks granted.
    pub locks: usize,
    /// Waiting byte ranges plus waiting change notifications.
    pub waits: usize,
    /// Bytes of change notifications buffered for one open folder, as they go on the wire.
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
    /// What others are told of who it is.
    pub(super) label: String,
    pub(super) events: Vec<Event>,
    pub(super) opens: BTreeSet<OpenId>,
    /// Its opens, locks and memory.
    pub(super) account: Arc<Account>,
    /// Where it is from, if that is known.
    pub(super) address: Option<String>,
    /// The NetBIOS name it gave as its own.
    pub(super) name: Option<String>,
    /// Not before then is it probed again.
    pub(super) probe_again: Option<Time>,
    pub(super) waits: usize,
    /// Log-ons that wait, and until when.
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
