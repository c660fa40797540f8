//! Other connections of the same client: the server closes them when the client starts again, and probes whether they
//! are dead.
//!
//! A crashed machine leaves connections with open files behind. The server assumes that two connections belong to one
//! client if they come from one address. The exception is two different NetBIOS names (several machines behind one
//! router).

use super::evictions::{EVICTION, Eviction, PROBES_APART};
use super::{ConnId, Event, Tables, Ticket, Timer};
use crate::vfs::FileId;
use alloc::{collections::BTreeSet, string::String, vec::Vec};
use coax_wire::time::Time;

impl Tables {
    /// Sets the NetBIOS name that a connection gave.
    pub fn name_connection(&mut self, conn: ConnId, name: Option<String>) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.name = name;
        }
    }

    /// Ends all other connections of the client of `conn` (smb.conf `reset on zero vc`) with [`Event::Evicted`]. `None`
    /// if there are none. Else returns the ticket for their close ([`Event::Retry`]) and the deadline.
    pub fn evict_siblings(&mut self, now: Time, conn: ConnId) -> Option<(Ticket, Time)> {
        let left: BTreeSet<ConnId> = self.siblings(conn).into_iter().collect();
        if left.is_empty() {
            return None;
        }
        for other in &left {
            self.post(*other, Event::Evicted);
        }
        let (ticket, deadline) = (self.next_ticket(), now + EVICTION);
        self.deadlines.insert((deadline, Timer::Eviction(ticket)));
        let eviction = Eviction {
            conn,
            left,
            deadline,
        };
        self.evictions.0.insert(ticket, eviction);
        Some((ticket, deadline))
    }

    /// Probes other connections of the same client that have `file` open, because it blocks a request on `conn`. They
    /// get [`Event::Probe`]: the client may have crashed and come back.
    pub(super) fn probe_siblings(&mut self, now: Time, conn: ConnId, file: FileId) {
        let holders: BTreeSet<ConnId> = self
            .opens_of_file(file)
            .map(|open| open.request.conn)
            .filter(|other| self.are_siblings(conn, *other))
            .collect();
        for other in holders {
            let Some(connection) = self.connections.get_mut(&other) else {
                continue;
            };
            if connection.probe_again.is_none_or(|again| again <= now) {
                connection.probe_again = Some(now + PROBES_APART);
                self.post(other, Event::Probe);
            }
        }
    }

    /// Ends all waits for a closed connection, and all waits of that connection.
    pub(super) fn note_gone(&mut self, gone: ConnId) {
        let mut over = Vec::new();
        for (ticket, eviction) in &mut self.evictions.0 {
            eviction.left.remove(&gone);
            if eviction.left.is_empty() || eviction.conn == gone {
                over.push(*ticket);
            }
        }
        over.into_iter()
            .for_each(|ticket| self.end_eviction(ticket));
    }

    /// Continues the log-on that waits under `ticket`, even if connections remain.
    pub(super) fn end_eviction(&mut self, ticket: Ticket) {
        if let Some(eviction) = self.evictions.0.remove(&ticket) {
            self.deadlines
                .remove(&(eviction.deadline, Timer::Eviction(ticket)));
            self.retry(eviction.conn, ticket);
        }
    }

    fn siblings(&self, conn: ConnId) -> Vec<ConnId> {
        let others = self.connections.keys().copied();
        others
            .filter(|other| self.are_siblings(conn, *other))
            .collect()
    }

    fn are_siblings(&self, conn: ConnId, other: ConnId) -> bool {
        let (one, two) = (self.connections.get(&conn), self.connections.get(&other));
        let same_client = one
            .zip(two)
            .is_some_and(|(one, two)| one.is_of_one_client_with(two));
        conn != other && same_client
    }
}
