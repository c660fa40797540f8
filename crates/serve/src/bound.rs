//! Addresses of a running server.

use std::net::SocketAddr;

/// Where the server really listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// NetBIOS sessions.
    pub nbt: Vec<SocketAddr>,
    /// SMB directly over TCP.
    pub direct: Vec<SocketAddr>,
    /// Whether the name service answers at UDP port 137.
    pub names: bool,
}
