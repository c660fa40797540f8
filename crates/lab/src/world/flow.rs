//! The state of a connection.

use super::host::Socket;
use crate::{
    cause::{Cause, Epoch, Provenance},
    side::Side,
};

/// A client's connection, and its account.
#[derive(Debug)]
pub(super) struct Flow {
    client: Socket,
    server: Socket,
    pub(super) epoch: Epoch,
    /// The cause of a message's transit time.
    pub(super) exchange: Cause,
    /// The account at the end of its applications' work.
    pub(super) ended: Option<Provenance>,
}

impl Flow {
    /// A connection whose server listens.
    pub(super) fn new(epoch: Epoch, client: Socket, mut server: Socket) -> Self {
        server.tcp.listen();
        Self {
            client,
            server,
            epoch,
            exchange: Cause::RoundTrips,
            ended: None,
        }
    }

    pub(super) const fn socket(&self, side: Side) -> &Socket {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    pub(super) const fn socket_mut(&mut self, side: Side) -> &mut Socket {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// The account at its end, or the current one.
    pub(super) fn account<'a>(&'a self, current: &'a Provenance) -> &'a Provenance {
        self.ended.as_ref().unwrap_or(current)
    }
}
