//! Which way a copy goes.

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server.
    ToClient,
    /// To the server.
    ToServer,
}
