//! The two sides of a connection.

use coax_cause::Cause;

/// Which side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Client, Self::Server];

    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    pub(crate) const fn think(self) -> Cause {
        match self {
            Self::Client => Cause::ClientThink,
            Self::Server => Cause::ServerThink,
        }
    }
}

pub(crate) fn of<T>(both: &[T; 2], side: Side) -> &T {
    match side {
        Side::Client => &both[0],
        Side::Server => &both[1],
    }
}

pub(crate) fn of_mut<T>(both: &mut [T; 2], side: Side) -> &mut T {
    match side {
        Side::Client => &mut both[0],
        Side::Server => &mut both[1],
    }
}
