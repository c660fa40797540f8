//! The two hosts of a run.

use crate::cause::Cause;

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The host that connects.
    Client,
    /// The host that listens.
    Server,
}

impl Side {
    /// The other host.
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
