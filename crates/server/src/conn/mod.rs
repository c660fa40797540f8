//! One client's connection: takes messages and time, produces messages, events and the next deadline.
//!
//! A driver passes whole SMB messages (framed by the NetBIOS session layer) to [`Connection::handle_message`]. Then it
//! drains [`Connection::poll_transmit`] and [`Connection::poll_event`]. When another connection's requests affect this
//! one, the server calls its [`crate::table::Wake`], and the driver calls [`Connection::handle_wake`]. At the time of
//! [`Connection::poll_timeout`], the driver calls [`Connection::handle_timeout`].

mod change_over;
mod dispatch;

#[cfg(test)]
mod authorization_tests;
#[cfg(test)]
mod change_over_tests;

use crate::{
    act::{Act, Moved},
    budget::Account,
    context::{Client, Context, Dispatch, Held, Peer, Reach, Transmit},
    event::Event,
    handlers::{negotiate, raw},
    ops,
    server::Server,
    table::{OpenId, ShareId, Wake},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::{
    header::{Fid, Header, SMB2_PROTOCOL},
    time::Time,
};

/// A client's connection.
#[derive(Debug)]
pub struct Connection {
    pub(crate) context: Context,
}

impl Connection {
    /// A new connection. The server calls `wake` when another connection's requests affect it; `challenge` is eight
    /// random bytes.
    pub fn new(server: Arc<Server>, wake: Arc<dyn Wake>, peer: Peer, challenge: [u8; 8]) -> Self {
        let dispatch = Dispatch(dispatch::serve);
        Self {
            context: Context::new(server, wake, peer, challenge, dispatch),
        }
    }

    /// Takes one whole message. [`Self::poll_transmit`] returns the replies, if there are any.
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

    /// The client's properties from negotiate and set-up.
    pub fn client(&self) -> &Client {
        &self.context.client
    }

    /// Runs parked requests that other connections have unblocked, and sends breaks and notifications.
    pub fn handle_wake(&mut self, now: Time) {
        self.context.handle_wake(now);
    }

    /// Ends expired waits, on this connection or another, and runs the requests that this unblocks.
    pub fn handle_timeout(&mut self, now: Time) {
        self.context.handle_timeout(now);
    }

    /// The next message to send, in order. Call until `None` after every `handle_*`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.context.poll_transmit()
    }

    /// Takes back the buffer of a sent `Tail::Bytes` for the next read, which saves an allocation and clearing.
    /// Optional.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.context.recycle(buffer);
    }

    /// The client is idle: frees memory that only serves speed.
    pub fn rest(&mut self) {
        self.context.rest();
    }

    /// The next event to report.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.context.poll_event()
    }

    /// The operations on files since the last call, in order; none unless [`crate::config::Config::audit`] is set.
    pub fn take_acts(&mut self) -> Vec<Act> {
        self.context.take_acts()
    }

    /// The bytes of files that were read and written on each share since the last call.
    pub fn take_moved(&mut self) -> Vec<(String, Moved)> {
        self.context.take_moved()
    }

    /// The time at which the driver must call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.context.poll_timeout()
    }

    /// Whether the driver should check that the peer still exists, for instance by a TCP keep-alive probe: its open
    /// files block another connection of the same client. Returns true once.
    pub fn take_probe(&mut self) -> bool {
        self.context.take_probe()
    }

    /// Whether the driver should close the connection after it has sent everything.
    pub fn is_closing(&self) -> bool {
        self.context.is_closing()
    }

    /// Whether a request waits for another client: for a lock, an oplock or a file that is open. Change notifications, which
    /// may wait for ever, do not count.
    pub fn has_parked(&self) -> bool {
        self.context.has_parked()
    }

    /// Whether the client has open files: otherwise an idle connection may be dropped after `deadtime`.
    pub fn is_idle(&self) -> bool {
        self.context.is_idle()
    }

    /// Cleans up if [`Self::handle_disconnect`] did not complete: removes the connection's rows from the shared tables,
    /// so that they do not block other clients. Files marked for deletion stay.
    pub fn abandon(&mut self) {
        self.context.abandon();
    }

    /// The shares that serving `message` may touch. It may unblock parked requests, so they count too.
    pub fn reach(&self, message: &[u8]) -> Reach {
        self.context.reach(message)
    }

    /// The shares that handling wakes and timeouts may touch.
    pub fn wake_reach(&self) -> Reach {
        self.context.wake_reach()
    }

    /// The shares with open files.
    pub fn shares_held(&self) -> Vec<ShareId> {
        self.context.shares_held()
    }

    /// The connection is gone: no more requests are served, and waiting ones get no answer. [`Self::close_share`] and
    /// then [`Self::handle_disconnect`] close its open files.
    pub fn hang_up(&mut self) {
        self.context.hang_up();
    }

    /// Counts of the connection's current resources.
    pub fn held(&self) -> Held {
        self.context.held()
    }

    /// An open file, as SHARE/PATH. The path is that of the open.
    pub fn path_of(&self, fid: Fid) -> Option<String> {
        let file = self.context.files.iter().find(|file| file.fid == fid)?;
        Some(alloc::format!("{}/{}", file.share.name, file.path))
    }

    /// The account that reserves the client's resources.
    pub fn account(&self) -> &Arc<Account> {
        &self.context.account
    }

    /// Closes the connection's open files on one share, after [`Self::hang_up`].
    pub fn close_share(&mut self, now: Time, share: ShareId) {
        let context = &mut self.context;
        for fid in context.files.fids_where(|file| file.share.id == share) {
            // There is no client to report an error to.
            let _ = ops::close::close(context, fid, None, now);
        }
    }

    /// Closes one open, as if its file were closed on the client; the client's next request on it fails. Returns whether the
    /// connection has it. It may touch [`Self::change_over_reach`].
    pub fn close_open(&mut self, now: Time, open: OpenId) -> bool {
        let context = &mut self.context;
        let Some(fid) = context.files.by_open(open).map(|file| file.fid) else {
            return false;
        };
        ops::close::close_unasked(context, [fid].into(), now);
        true
    }

    /// The connection is gone: closes its open files and deletes those marked for deletion. Acknowledged changes stay.
    pub fn handle_disconnect(&mut self, now: Time) {
        let context = &mut self.context;
        context.hang_up();
        ops::close::close_everything(context, now);
        let doomed = context
            .server
            .locked(|tables| tables.drop_connection(context.id));
        debug_assert!(doomed.is_empty(), "everything was closed before");
    }

    /// A client begins with an SMB2 header.
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
