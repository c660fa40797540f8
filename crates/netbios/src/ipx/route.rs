//! The way to a station.

use coax_wire::ether::Mac;
use coax_wire::ipx::{FrameType, Host};

/// A station and the way to it: the frame type and the next station on the way, which is another one behind a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route {
    /// The frame type that it uses.
    pub frame: FrameType,
    /// Where frames to it go.
    pub hop: Mac,
    /// The station.
    pub host: Host,
}

/// A socket of a station, for answers to datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The way to it.
    pub route: Route,
    /// The socket.
    pub socket: u16,
}
