//! Connections and their limits.

use super::connection::Connection;
use super::{ConnId, Doomed, Open, OpenId, Refusal, ShareId, Tables, Wake};
use crate::budget::{Account, Budgets, Resource, Usage};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};

impl Tables {
    /// Registers a connection without an address. The tables call `wake` when the connection has events.
    pub fn add_connection(&mut self, wake: Arc<dyn Wake>) -> ConnId {
        self.add_connection_from(wake, "")
    }

    /// Registers a connection from `address`. It shares the budgets of that address. An empty address is never shared.
    pub fn add_connection_from(&mut self, wake: Arc<dyn Wake>, address: &str) -> ConnId {
        let id = ConnId(self.next_id());
        let address = Some(address).filter(|address| !address.is_empty());
        let of_address: Arc<Usage> = match address {
            Some(address) => {
                let (usage, connections) = self.addresses.entry(address.into()).or_default();
                *connections = connections.saturating_add(1);
                usage.clone()
            }
            None => Arc::default(),
        };
        let account = Account::new(self.budgets(), of_address, self.total.clone());
        let connection = Connection {
            wake,
            label: String::new(),
            events: Vec::new(),
            opens: BTreeSet::new(),
            account: Arc::new(account),
            address: address.map(String::from),
            name: None,
            probe_again: None,
            waits: 0,
            log_ons: BTreeMap::new(),
            trees: BTreeMap::new(),
        };
        self.connections.insert(id, connection);
        id
    }

    /// Sets the name of a connection in the reports of others.
    pub fn label(&mut self, conn: ConnId, label: String) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.label = label;
        }
    }

    /// Returns the name set by [`Self::label`], or `None` if the connection is gone.
    pub fn label_of(&self, conn: ConnId) -> Option<&str> {
        let connection = self.connections.get(&conn)?;
        Some(&connection.label)
    }

    /// Removes a connection with its opens, locks, waiting locks, notifications and parked requests. Returns the names
    /// to delete now, as [`close`](Self::close) does.
    pub fn drop_connection(&mut self, conn: ConnId) -> Vec<Doomed> {
        let Some(connection) = self.connections.remove(&conn) else {
            return Vec::new();
        };
        self.drop_log_ons(conn, connection.log_ons);
        let doomed = connection
            .opens
            .into_iter()
            .filter_map(|open| self.close(open).ok()?.delete)
            .collect();
        // The row is already gone, so closing the opens did not count them down.
        for resource in [Resource::Opens, Resource::Locks] {
            let held = connection.account.held(resource);
            connection.account.give(resource, held);
        }
        if let Some(address) = connection.address {
            self.leave_address(&address);
        }
        self.note_gone(conn);
        doomed
    }

    /// The account of a connection, which counts its resources.
    pub fn account(&self, conn: ConnId) -> Option<&Arc<Account>> {
        self.connections
            .get(&conn)
            .map(|connection| &connection.account)
    }

    /// The usage of all connections together.
    pub fn total(&self) -> &Usage {
        &self.total
    }

    fn budgets(&self) -> Budgets {
        let (mut budgets, limits) = (self.config.budgets, self.config.limits);
        budgets.opens.connection = budgets.opens.connection.min(limits.opens);
        budgets.locks.connection = budgets.locks.connection.min(limits.locks);
        budgets
    }

    /// Counts down the connections of `address`, and removes the address with its last connection.
    fn leave_address(&mut self, address: &str) {
        if let Some((_, connections)) = self.addresses.get_mut(address) {
            *connections = connections.saturating_sub(1);
            if *connections == 0 {
                self.addresses.remove(address);
            }
        }
    }

    /// Counts a tree connect of `conn`. Fails if all connections together already have `limit` (0: no limit) of that
    /// share.
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

    /// Counts a tree disconnect.
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

    /// Whether the budgets allow `conn` one more open.
    pub(super) fn may_open(&self, conn: ConnId) -> Result<(), Refusal> {
        let account = self.account(conn).ok_or(Refusal::UnknownConnection)?;
        account
            .take(Resource::Opens, 1)
            .map_err(|_| Refusal::TooManyOpens)?;
        account.give(Resource::Opens, 1);
        Ok(())
    }

    /// Counts an open that [`Self::may_open`] has allowed, or a close.
    pub(super) fn count_open(&mut self, conn: ConnId, id: OpenId, opened: bool) {
        let Some(connection) = self.connections.get_mut(&conn) else {
            return;
        };
        if opened && connection.opens.insert(id) {
            connection.account.force(Resource::Opens, 1);
        } else if !opened && connection.opens.remove(&id) {
            connection.account.give(Resource::Opens, 1);
        }
    }

    /// Whether the budgets allow `conn` this many more locks.
    pub(super) fn may_have_locks(&self, conn: ConnId, more: usize) -> Result<(), Refusal> {
        let account = self.account(conn).ok_or(Refusal::UnknownConnection)?;
        account
            .take(Resource::Locks, more)
            .map_err(|_| Refusal::TooManyLocks)?;
        account.give(Resource::Locks, more);
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
        if let Some(account) = self.account(conn) {
            account.force(Resource::Locks, added);
            account.give(Resource::Locks, gone);
        }
    }
}
