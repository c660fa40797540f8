//! One client's connection: messages and time in, messages, events and the next deadline out.
//!
//! A driver feeds [`Connection::handle_message`] whole SMB messages (the NetBIOS session layer cuts them), then drains
//! [`Connection::poll_transmit`] and [`Connection::poll_event`]. When another connection's doings concern this one, its
//! [`crate::table::Wake`] is called and the driver calls [`Connection::handle_wake`]; when [`Connection::poll_timeout`]
//! comes, [`Connection::handle_timeout`].

mod dispatch;

#[cfg(test)]
mod authorization_tests;

use crate::{
    budget::Account,
    context::{Client, Context, Dispatch, Held, Peer, Reach, Transmit},
    event::Event,
    handlers::{negotiate, raw},
    ops,
    server::Server,
    table::{ShareId, Wake},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::{
    header::{Header, SMB2_PROTOCOL},
    time::Time,
};

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    pub(crate) context: Context,
}

impl Connection {
    /// A fresh connection. `wake` is called when another connection's requests concern it; `challenge` is eight random
    /// bytes.
    pub fn new(server: Arc<Server>, wake: Arc<dyn Wake>, peer: Peer, challenge: [u8; 8]) -> Self {
        let dispatch = Dispatch(dispatch::serve);
        Self {
            context: Context::new(server, wake, peer, challenge, dispatch),
        }
    }

    /// Takes one whole message. Replies, if any, wait in [`Self::poll_transmit`].
    pub fn handle_message(&mut self, now: Time, message: &[u8]) {
        let context = &mut self.context;
        if context.is_closing() {
            return;
        }
        if context.raw.takes(message) {
            return raw::data(context, now, message);
        }
        match Header::parse(message) {
            Ok(header) => context.handle_request(now, header, message),
            Err(_) if message.starts_with(&SMB2_PROTOCOL) => self.end_smb2(),
            Err(error) => context.fatal(alloc::format!("{error}")),
        }
    }

    /// What the client said of itself.
    pub fn client(&self) -> &Client {
        &self.context.client
    }

    /// Runs parked requests that other connections' doings may have freed, and sends breaks and notifications.
    pub fn handle_wake(&mut self, now: Time) {
        self.context.handle_wake(now);
    }

    /// Ends what has waited too long, on this connection or another, and runs what that frees.
    pub fn handle_timeout(&mut self, now: Time) {
        self.context.handle_timeout(now);
    }

    /// The next message to send, in order. Call until `None` after every `handle_*`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.context.poll_transmit()
    }

    /// Takes back the bytes of a [`Tail::Bytes`] that were sent: the next read uses them again, which spares it clearing and
    /// the allocator. Optional.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.context.recycle(buffer);
    }

    /// The client has nothing to ask for the moment: frees what was kept for speed alone.
    pub fn rest(&mut self) {
        self.context.rest();
    }

    /// The next thing to report.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.context.poll_event()
    }

    /// When [`Self::handle_timeout`] wants to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.context.poll_timeout()
    }

    /// Whether the driver should find out, by a TCP keep-alive probe for instance, if the peer is still there: what it
    /// holds keeps another connection of the same client from its files. Says so once.
    pub fn take_probe(&mut self) -> bool {
        self.context.take_probe()
    }

    /// Whether the driver should close the connection once everything is sent.
    pub fn is_closing(&self) -> bool {
        self.context.is_closing()
    }

    /// Whether the client holds anything open: an idle connection may be dropped after `deadtime`.
    pub fn is_idle(&self) -> bool {
        self.context.is_idle()
    }

    /// [`Self::handle_disconnect`] did not come to its end: gives up what the connection has in the shared tables, so that it
    /// is in nobody's way. Files that were to be deleted stay.
    pub fn abandon(&mut self) {
        self.context.abandon();
    }

    /// What serving `message` may touch. Parked requests may run again by it, so they count.
    pub fn reach(&self, message: &[u8]) -> Reach {
        self.context.reach(message)
    }

    /// What delivering wakes and time-outs may touch.
    pub fn wake_reach(&self) -> Reach {
        self.context.wake_reach()
    }

    /// The shares on which something is open.
    pub fn shares_held(&self) -> Vec<ShareId> {
        self.context.shares_held()
    }

    /// The connection is gone: no request is served any more, and none that waits is answered. [`Self::close_share`] and
    /// then [`Self::handle_disconnect`] close what it holds.
    pub fn hang_up(&mut self) {
        self.context.hang_up();
    }

    /// What the connection holds now.
    pub fn held(&self) -> Held {
        self.context.held()
    }

    /// Where what is held for the client is reserved.
    pub fn account(&self) -> &Arc<Account> {
        &self.context.account
    }

    /// Closes what the connection holds on one share, after [`Self::hang_up`].
    pub fn close_share(&mut self, now: Time, share: ShareId) {
        let context = &mut self.context;
        for fid in context.files.fids_where(|file| file.share.id == share) {
            // There is nobody to tell.
            let _ = ops::close::close(context, fid, None, now);
        }
    }

    /// The connection is gone: closes what it held, deletes what was to be deleted, undoes nothing that was
    /// acknowledged.
    pub fn handle_disconnect(&mut self, now: Time) {
        let context = &mut self.context;
        context.hang_up();
        ops::close::close_everything(context, now);
        let doomed = context
            .server
            .locked(|tables| tables.drop_connection(context.id));
        debug_assert!(doomed.is_empty(), "everything was closed before");
    }

    /// A client begins with a header of SMB2.
    fn end_smb2(&mut self) {
        let context = &mut self.context;
        if context.client.dialect.is_none() {
            let offered = alloc::vec![String::from("SMB2 or later")];
            let chosen = None;
            context
                .events
                .push_back(Event::Negotiated { offered, chosen });
        }
        negotiate::refuse_smb2(context);
        context.fatal(String::from("it speaks only SMB2 or later"));
    }
}
