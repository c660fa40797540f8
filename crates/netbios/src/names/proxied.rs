//! A query that a proxy passed on.

use core::net::SocketAddrV4;

use coax_wire::nbt::ns::Query;
use coax_wire::time::Time;

/// A broadcast query that was passed on to the WINS server.
#[derive(Debug)]
pub(super) struct ProxyQuery {
    pub(super) asker: SocketAddrV4,
    pub(super) query: Query,
    pub(super) id: u16,
    pub(super) due: Time,
}

impl ProxyQuery {
    /// When it is given up.
    pub(super) fn due(&self) -> Time {
        self.due
    }
}
