//! The hosts of a run, and the two ends of each connection between them.

use crate::cause::Cause;

/// One of the two kinds of host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A host that connects.
    Client,
    /// The host that listens.
    Server,
}

impl Side {
    /// The other one.
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// The cause of its processing time.
    pub(crate) const fn think(self) -> Cause {
        match self {
            Self::Client => Cause::ClientThink,
            Self::Server => Cause::ServerThink,
        }
    }
}

/// One end of a connection. Each client has one connection to the server, with its own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct End {
    /// Which end.
    pub side: Side,
    /// Number of the client, from 0.
    pub client: u16,
}

impl End {
    /// An end of a client's connection.
    pub const fn new(side: Side, client: u16) -> Self {
        Self { side, client }
    }

    /// The other end.
    pub const fn peer(self) -> Self {
        Self::new(self.side.peer(), self.client)
    }

    /// The cause of its host's processing time.
    pub(crate) const fn think(self) -> Cause {
        self.side.think()
    }
}

impl From<Side> for End {
    /// The end of the first client's connection.
    fn from(side: Side) -> Self {
        Self::new(side, 0)
    }
}
