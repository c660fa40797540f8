//! Directions of data.

/// Which way a file's bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Read from the server.
    ToClient,
    /// Written to the server.
    ToServer,
}

impl Direction {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToClient => "to-client",
            Self::ToServer => "to-server",
        }
    }
}
