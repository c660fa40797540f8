//! What a driver asks of a connection beside serving messages: time, what is to be sent, the end.

use super::{Context, progress::Parked, reply::Transmit};
use crate::{event::Event, tree::Authorized};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    header::{Tid, Uid},
    status::Status,
    time::Time,
};

impl Context {
    /// Runs parked requests that other connections' doings may have freed, and sends breaks and notifications.
    pub fn handle_wake(&mut self, now: Time) {
        let events = self.server.locked(|tables| tables.take_events(self.id));
        for event in events {
            self.handle_table_event(now, event);
        }
    }

    /// Ends what has waited too long, on this connection or another, and runs what that frees.
    pub fn handle_timeout(&mut self, now: Time) {
        self.server.locked(|tables| tables.expire(now));
        self.handle_wake(now);
    }

    /// The next message to send, in order. Call until `None` after every `handle_*`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Takes back the bytes of a [`Tail::Bytes`] that were sent: the next read uses them again, which spares it clearing and
    /// the allocator. Optional.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.len() > self.spare.len() {
            self.spare = buffer;
        }
    }

    /// The client has nothing to ask for the moment: frees what was kept for speed alone.
    pub fn rest(&mut self) {
        self.spare = Vec::new();
    }

    /// A buffer of `len` bytes, whatever they are, to be overwritten.
    pub(crate) fn spare_buffer(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = core::mem::take(&mut self.spare);
        buffer.resize(len, 0);
        buffer
    }

    /// The next thing to report.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Self::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.parked.iter().filter_map(Parked::deadline).min()
    }

    /// Whether the driver should find out, by a TCP keep-alive probe for instance, if the peer is still there: what it
    /// holds keeps another connection of the same client from its files. Says so once.
    pub fn take_probe(&mut self) -> bool {
        core::mem::take(&mut self.probe)
    }

    /// Whether the driver should close the connection once everything is sent.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether the client holds anything open: an idle connection may be dropped after `deadtime`.
    pub fn is_idle(&self) -> bool {
        self.files.is_empty() && self.parked.is_empty() && self.searches.is_empty()
    }

    /// [`crate::Connection::handle_disconnect`] did not come to its end: gives up what the connection has in the shared tables, so that it
    /// is in nobody's way. Files that were to be deleted stay.
    pub fn abandon(&mut self) {
        self.closing = true;
        self.server.locked(|tables| {
            for doomed in tables.drop_connection(self.id) {
                tables.finish_delete(doomed.file);
            }
        });
    }

    /// The tree of `tid`, as the user of `uid` may use it.
    ///
    /// # Errors
    /// `BAD_UID` if nobody is logged on under it, or the user may not use the share; `BAD_TID`.
    pub(crate) fn authorize(&self, uid: Uid, tid: Tid) -> crate::error::Result<Authorized<'_>> {
        let session = self.sessions.find(uid).ok_or(Status::BAD_UID)?;
        self.trees.authorize(tid, session)
    }

    /// Ends the session of `uid`; whatever hangs on it is closed before.
    pub(crate) fn end_session(&mut self, uid: Uid) {
        if let Some(session) = self.sessions.remove(uid) {
            self.trees.forget(session.id);
        }
    }

    /// Makes `uid` the session of `user`, whosever it was.
    pub(crate) fn establish_session(&mut self, uid: Uid, user: Option<String>) {
        if let Some(before) = self.sessions.establish(uid, user) {
            self.trees.forget(before.id);
        }
    }

    /// Asks the driver to close, and says why.
    pub(crate) fn fatal(&mut self, why: String) {
        self.closing = true;
        self.events.push_back(Event::Fatal { why });
    }
}
