//! Other connections of the same client: ending them when it begins anew, and finding out whether they are dead.
//!
//! A machine that crashed leaves connections behind that nobody closed, with files open on them. Two connections are
//! taken to be of one client if they come from one address, unless both gave a NetBIOS name and the names differ
//! (several machines behind one router).

use super::evictions::{EVICTION, Eviction, PROBES_APART};
use super::{ConnId, Event, Tables, Ticket, Timer};
use crate::vfs::FileId;
use alloc::{collections::BTreeSet, string::String, vec::Vec};
use coax_wire::time::Time;

impl Tables {
    /// Tells who a connection says it is.
    pub fn name_connection(&mut self, conn: ConnId, name: Option<String>) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.name = name;
        }
    }

    /// Ends all other connections of the client of `conn` (smb.conf `reset on zero vc`), which get [`Event::Evicted`].
    /// `None` if there are none; else what to wait for until they are closed ([`Event::Retry`]), and how long at most.
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

    /// A request on `conn` is kept from `file`: those connections of the same client that have it open get
    /// [`Event::Probe`], for the client may have crashed and come back.
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

    /// A connection is gone: nobody waits for it any more, and it waits for nobody.
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

    /// The log-on that waits under `ticket` goes on, whoever is left.
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
