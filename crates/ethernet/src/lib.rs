//! Sessions on Ethernet without TCP/IP, over NetBEUI and IPX: packet sockets, threads and the clock around
//! `coax_netbios::nbf` and `coax_netbios::ipx`.
//!
//! [`Port`] is an interface's packet sockets. [`Station`] is a thread that runs the engine on it. To the server and the
//! client of this machine each session is a local stream socket that carries what a TCP connection to port 139 carries
//! (RFC 1002 §4.3): a session request with both names, its answer, and messages with four bytes of length. So both run
//! over it unchanged.

#![deny(missing_docs)]

mod ask;
mod bridge;
mod engine;
mod interface;
mod membership;
mod port;
mod station;

pub use ask::{Asker, Question, ask};
pub use engine::{Engine, Happening, IpxStation, NbfStation};
pub use interface::{Interface, InterfaceError, ethernet_interfaces};
pub use port::{OpenError, Port, Protocol};
pub use station::{Incoming, Notice, Station};
