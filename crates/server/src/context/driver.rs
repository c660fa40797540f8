//! The driver's interface to a connection, apart from serving messages: time, output, the end.

use super::{Context, progress::Parked, reply::Transmit};
use crate::{event::Event, tree::Authorized};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    header::{Tid, Uid},
    status::Status,
    time::Time,
};

impl Context {
    /// Runs parked requests that other connections have unblocked, and sends breaks and notifications.
    pub fn handle_wake(&mut self, now: Time) {
        let events = self.server.locked(|tables| tables.take_events(self.id));
        for event in events {
            self.handle_table_event(now, event);
        }
    }

    /// Ends expired waits, on this connection or another, and runs the requests that this unblocks.
    pub fn handle_timeout(&mut self, now: Time) {
        self.server.locked(|tables| tables.expire(now));
        self.handle_wake(now);
    }

    /// The next message to send, in order. Call until `None` after every `handle_*`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Takes back the buffer of a sent [`Tail::Bytes`] for the next read, which saves an allocation and clearing.
    /// Optional.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.len() > self.spare.len() {
            self.spare = buffer;
        }
    }

    /// The client is idle: frees memory that only serves speed.
    pub fn rest(&mut self) {
        self.spare = Vec::new();
    }

    /// A buffer of `len` bytes with arbitrary contents, to be overwritten.
    pub(crate) fn spare_buffer(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = core::mem::take(&mut self.spare);
        buffer.resize(len, 0);
        buffer
    }

    /// The next event to report.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The time at which the driver must call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.parked.iter().filter_map(Parked::deadline).min()
    }

    /// Whether the driver should check that the peer still exists, for instance by a TCP keep-alive probe: its open
    /// files block another connection of the same client. Returns true once.
    pub fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe)
    }

    /// Whether the driver should close the connection after it has sent everything.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether the client has open files: otherwise an idle connection may be dropped after `deadtime`.
    pub fn is_idle(&self) -> bool {
        self.files.is_empty() && self.parked.is_empty() && self.searches.is_empty()
    }

    /// Cleans up if [`crate::Connection::handle_disconnect`] did not complete: removes the connection's rows from the
    /// shared tables, so that they do not block other clients. Files marked for deletion stay.
    pub fn abandon(&mut self) {
        self.closing = true;
        self.server.locked(|tables| {
            for doomed in tables.drop_connection(self.id) {
                tables.finish_delete(doomed.file);
            }
        });
    }

    /// The tree of `tid` with the access rights of the user of `uid`.
    ///
    /// # Errors
    /// `BAD_UID` if `uid` has no session, or its user may not use the share; `BAD_TID`.
    pub(crate) fn authorize(&self, uid: Uid, tid: Tid) -> crate::error::Result<Authorized<'_>> {
        let session = self.sessions.find(uid).ok_or(Status::BAD_UID)?;
        self.trees.authorize(tid, session)
    }

    /// Ends the session of `uid`; first closes everything that belongs to it.
    pub(crate) fn end_session(&mut self, uid: Uid) {
        if let Some(session) = self.sessions.remove(uid) {
            self.trees.forget(session.id);
        }
    }

    /// Assigns `uid` to a session of `user`, and replaces an earlier session.
    pub(crate) fn establish_session(&mut self, uid: Uid, user: Option<String>) {
        if let Some(before) = self.sessions.establish(uid, user) {
            self.trees.forget(before.id);
        }
    }

    /// Asks the driver to close the connection, with a reason.
    pub(crate) fn fatal(&mut self, why: String) {
        self.closing = true;
        self.events.push_back(Event::Fatal { why });
    }
}
