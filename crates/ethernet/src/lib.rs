//! NetBIOS on Ethernet without TCP/IP (NetBEUI): packet sockets, threads and the clock around `coax_netbios::nbf`.
//!
//! [`Port`] is an interface's packet socket. [`Station`] is a thread that runs the engine on it. To the server and the
//! client of this machine each session is a local stream socket that carries what a TCP connection to port 139 carries
//! (RFC 1002 §4.3): a session request with both names, its answer, and messages with four bytes of length. So both run
//! over it unchanged.

#![deny(missing_docs)]

mod bridge;
mod interface;
mod membership;
mod port;
mod station;

pub use interface::{Interface, InterfaceError, ethernet_interfaces};
pub use port::{OpenError, Port};
pub use station::{Incoming, Notice, Station};
