//! Which log-on waits: the tables ask [`FailedLogOns`] and keep the deadlines.

use super::failed_log_ons::MAX_WAITING;
use super::failed_log_ons::Turn;
use super::{ConnId, Tables, Ticket, Timer};
use alloc::collections::BTreeMap;
use coax_wire::time::{Span, Time};

impl Tables {
    /// Whether a log-on from `address` may be judged now.
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

    /// A log-on failed: how long the next one from `address` waits. `user` is the account it was for, if there is such.
    pub fn log_on_failed(&mut self, now: Time, address: &str, user: Option<&str>) -> Span {
        self.failed_log_ons.failed(now, address, user)
    }

    /// A log-on of `user` succeeded.
    pub fn log_on_succeeded(&mut self, address: &str, user: &str) {
        self.failed_log_ons.succeeded(address, user);
    }

    /// A waiting log-on's time has come.
    pub(super) fn end_log_on_wait(&mut self, conn: ConnId, ticket: Ticket) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.log_ons.remove(&ticket);
            self.retry(conn, ticket);
        }
    }

    /// A log-on does not wait any longer.
    pub fn forget_log_on(&mut self, conn: ConnId, ticket: Ticket) {
        let connection = self.connections.get_mut(&conn);
        if let Some(deadline) = connection.and_then(|conn| conn.log_ons.remove(&ticket)) {
            self.deadlines
                .remove(&(deadline, Timer::LogOn(conn, ticket)));
        }
    }

    /// Forgets the waiting log-ons of a connection that is gone.
    pub(super) fn drop_log_ons(&mut self, conn: ConnId, waiting: BTreeMap<Ticket, Time>) {
        for (ticket, deadline) in waiting {
            self.deadlines
                .remove(&(deadline, Timer::LogOn(conn, ticket)));
        }
    }
}
