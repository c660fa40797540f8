//! The two hosts of a run.

use crate::cause::Cause;

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that connects.
    Client,
    /// The one that listens.
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

    /// What its work is charged to.
    pub(crate) const fn think(self) -> Cause {
        match self {
            Self::Client => Cause::ClientThink,
            Self::Server => Cause::ServerThink,
        }
    }
}
