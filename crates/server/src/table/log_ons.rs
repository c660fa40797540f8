//! Delays of log-ons: the tables ask [`FailedLogOns`] and keep the deadlines.

use super::failed_log_ons::MAX_WAITING;
use super::failed_log_ons::Turn;
use super::{ConnId, Tables, Ticket, Timer};
use alloc::collections::BTreeMap;
use coax_wire::time::{Span, Time};

impl Tables {
    /// Whether the server may now check a log-on from `address`.
    pub fn log_on_turn(&mut self, now: Time, conn: ConnId, address: &str) -> Turn {
        let known = self.failed_log_ons.addresses.get(address);
        let Some(deadline) = known.map(|known| known.until).filter(|until| *until > now) else {
            return Turn::Now;
        };
        let ticket = self.next_ticket();
        let Some(connection) = self.connections.get_mut(&conn) else {
            return Turn::Refused;
        };
        if connection.log_ons.len() >= MAX_WAITING {
            return Turn::Refused;
        }
        connection.log_ons.insert(ticket, deadline);
        self.deadlines
            .insert((deadline, Timer::LogOn(conn, ticket)));
        Turn::Wait { ticket, deadline }
    }

    /// Counts a failed log-on and returns the delay of the next one from `address`. `user` is its account, if that
    /// exists.
    pub fn log_on_failed(&mut self, now: Time, address: &str, user: Option<&str>) -> Span {
        self.failed_log_ons.failed(now, address, user)
    }

    /// Notes a successful log-on of `user`.
    pub fn log_on_succeeded(&mut self, address: &str, user: &str) {
        self.failed_log_ons.succeeded(address, user);
    }

    /// Ends the delay of a waiting log-on.
    pub(super) fn end_log_on_wait(&mut self, conn: ConnId, ticket: Ticket) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.log_ons.remove(&ticket);
            self.retry(conn, ticket);
        }
    }

    /// Removes a waiting log-on.
    pub fn forget_log_on(&mut self, conn: ConnId, ticket: Ticket) {
        let connection = self.connections.get_mut(&conn);
        if let Some(deadline) = connection.and_then(|conn| conn.log_ons.remove(&ticket)) {
            self.deadlines
                .remove(&(deadline, Timer::LogOn(conn, ticket)));
        }
    }

    /// Removes the waiting log-ons of a closed connection.
    pub(super) fn drop_log_ons(&mut self, conn: ConnId, waiting: BTreeMap<Ticket, Time>) {
        for (ticket, deadline) in waiting {
            self.deadlines
                .remove(&(deadline, Timer::LogOn(conn, ticket)));
        }
    }
}
