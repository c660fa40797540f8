//! The addresses that a running server listens on.

use std::net::SocketAddr;

/// The addresses that the sockets are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// NetBIOS sessions.
    pub nbt: Vec<SocketAddr>,
    /// SMB directly over TCP.
    pub direct: Vec<SocketAddr>,
    /// Whether the name service answers at UDP port 137.
    pub names: bool,
    /// Interfaces with NetBIOS sessions without TCP/IP (NetBEUI).
    pub netbeui: Vec<String>,
    /// Interfaces with IPX.
    pub ipx: Vec<String>,
    /// The web page.
    pub web: Option<SocketAddr>,
}
