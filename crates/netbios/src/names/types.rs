//! What goes in and out of a name service.

use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::NbName;

/// A datagram to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The destination.
    pub to: Destination,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// The destination of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// To the network's broadcast address, port 137.
    Broadcast,
    /// To one node.
    Addr(SocketAddrV4),
}

/// An event of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The name is registered.
    Registered(NbName),
    /// Another node owns the name; it may be claimed again later.
    Refused {
        /// The name.
        name: NbName,
        /// The node that refused it or won the simultaneous claim.
        by: Ipv4Addr,
    },
    /// The name was lost in a conflict with another node. The service no longer answers for it.
    Conflict {
        /// The name.
        name: NbName,
        /// The node that reported the conflict.
        by: Ipv4Addr,
    },
    /// Another node claimed our name, and we refused.
    Defended {
        /// The name.
        name: NbName,
        /// The node that claimed it.
        claimant: Ipv4Addr,
    },
    /// Somebody reported that our name is used twice, and no other owner answered: the name stays ours.
    FalseConflict {
        /// The name.
        name: NbName,
        /// Who said so.
        by: Ipv4Addr,
    },
    /// The name was released after [`shutdown`](crate::NameService::shutdown) or [`remove`](crate::NameService::remove).
    Released(NbName),
    /// No WINS server answers. Told once until one answers again.
    WinsUnreachable,
}

/// Counters of received and sent packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Datagrams received.
    pub received: u64,
    /// Undecodable datagrams, and packets of unknown kinds.
    pub malformed: u64,
    /// Packets of another scope.
    pub foreign_scope: u64,
    /// Packets from outside the network.
    pub foreign_network: u64,
    /// Replies sent.
    pub replied: u64,
    /// Replies and events dropped by the reply limit or the queue limit.
    pub dropped: u64,
}
