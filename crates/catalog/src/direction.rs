//! The direction of a copy.

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server.
    ToClient,
    /// To the server.
    ToServer,
}
