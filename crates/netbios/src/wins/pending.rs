//! A challenge of a name's old owner.

use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::time::Time;

use super::request::Request;

/// A challenge under way.
#[derive(Debug)]
pub(super) struct Challenge {
    pub(super) claimant: SocketAddrV4,
    pub(super) claim: Request,
    /// The old owner's addresses that have not denied the name.
    pub(super) owners: Vec<Ipv4Addr>,
    pub(super) id: u16,
    pub(super) sent: u8,
    pub(super) due: Time,
}

impl Challenge {
    /// When the next query is due, or the claim is granted.
    pub(super) fn due(&self) -> Time {
        self.due
    }
}
