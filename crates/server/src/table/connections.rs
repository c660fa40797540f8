//! Connections: who takes part, and what each may hold.

use super::{ConnId, Doomed, Event, Open, OpenId, Refusal, ShareId, Tables, Wake};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

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
    pub(super) events: Vec<Event>,
    pub(super) opens: BTreeSet<OpenId>,
    pub(super) locks: usize,
    pub(super) waits: usize,
    /// Trees connected, by share.
    pub(super) trees: BTreeMap<ShareId, usize>,
}

impl Tables {
    /// Registers a connection; `wake` is called when it has events.
    pub fn add_connection(&mut self, wake: Arc<dyn Wake>) -> ConnId {
        let id = ConnId(self.next_id());
        let connection = Connection {
            wake,
            events: Vec::new(),
            opens: BTreeSet::new(),
            locks: 0,
            waits: 0,
            trees: BTreeMap::new(),
        };
        self.connections.insert(id, connection);
        id
    }

    /// Forgets a connection and all it holds: opens, locks, waiting locks, notifications, parked requests.
    /// Returns the names whose deletion falls due by it, as [`close`](Self::close) does.
    pub fn drop_connection(&mut self, conn: ConnId) -> Vec<Doomed> {
        let Some(connection) = self.connections.remove(&conn) else {
            return Vec::new();
        };
        connection
            .opens
            .into_iter()
            .filter_map(|open| self.close(open).ok()?.delete)
            .collect()
    }

    /// Counts a tree that `conn` connects, unless all connections together have `limit` (0: no limit) of that share.
    pub fn add_tree(&mut self, conn: ConnId, share: ShareId, limit: usize) -> bool {
        let held = |connection: &Connection| connection.trees.get(&share).copied().unwrap_or(0);
        if limit > 0 && self.connections.values().map(held).sum::<usize>() >= limit {
            return false;
        }
        if let Some(connection) = self.connections.get_mut(&conn) {
            *connection.trees.entry(share).or_default() += 1;
        }
        true
    }

    /// A tree was disconnected.
    pub fn drop_tree(&mut self, conn: ConnId, share: ShareId) {
        let connection = self.connections.get_mut(&conn);
        if let Some(count) = connection.and_then(|connection| connection.trees.get_mut(&share)) {
            *count = count.saturating_sub(1);
        }
    }

    /// The opens of a connection, oldest first.
    pub fn opens_of(&self, conn: ConnId) -> impl Iterator<Item = &Open> {
        let opens = self
            .connections
            .get(&conn)
            .into_iter()
            .flat_map(|connection| &connection.opens);
        opens.filter_map(|open| self.opens.get(open))
    }

    pub(super) fn may_open(&self, conn: ConnId) -> Result<(), Refusal> {
        let connection = self
            .connections
            .get(&conn)
            .ok_or(Refusal::UnknownConnection)?;
        if connection.opens.len() >= self.config.limits.opens {
            return Err(Refusal::TooManyOpens);
        }
        Ok(())
    }

    pub(super) fn may_wait(&self, conn: ConnId, more: usize) -> Result<(), Refusal> {
        let connection = self
            .connections
            .get(&conn)
            .ok_or(Refusal::UnknownConnection)?;
        if connection.waits.saturating_add(more) > self.config.limits.waits {
            return Err(Refusal::TooManyWaits);
        }
        Ok(())
    }

    pub(super) fn count_waits(&mut self, conn: ConnId, added: usize, gone: usize) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.waits = connection.waits.saturating_add(added).saturating_sub(gone);
        }
    }

    pub(super) fn count_locks(&mut self, conn: ConnId, added: usize, gone: usize) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.locks = connection.locks.saturating_add(added).saturating_sub(gone);
        }
    }
}
