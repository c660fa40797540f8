//! IPX, Novell's internetwork packet exchange: the header, and its four encapsulations on Ethernet.
//!
//! Numbers of the header are big-endian. Sources: Novell, *IPX Router Specification* (107-000029-001); frames of Windows
//! 2000 and XP in tests/captures/tcpdump-ipx.pcap.

mod frame;
pub mod nbipx;
pub mod nmpi;
pub mod rip;
pub mod sap;
#[cfg(test)]
mod tests;

pub use frame::{BadFrameType, FrameType};

use alloc::vec::Vec;
use core::fmt;

use crate::error::{Error, Result};
use crate::ether::{MAX_PAYLOAD_LEN, Mac};
use crate::io::Reader;

/// Bytes of the header.
pub const HEADER_LEN: usize = 30;
/// Hops after which a packet of type 20 is not passed on, and more than which no packet has.
pub const MAX_HOPS: u8 = 16;

/// Well-known sockets.
pub mod socket {
    /// Service advertising.
    pub const SAP: u16 = 0x0452;
    /// Routing information.
    pub const RIP: u16 = 0x0453;
    /// NetBIOS.
    pub const NETBIOS: u16 = 0x0455;
    /// SMB servers without NetBIOS (direct hosting).
    pub const SMB_SERVER: u16 = 0x0550;
    /// Names of machines without NetBIOS.
    pub const NMPI_NAMES: u16 = 0x0551;
    /// SMB clients without NetBIOS.
    pub const SMB_CLIENT: u16 = 0x0552;
    /// Mailslots.
    pub const NMPI_MAILSLOTS: u16 = 0x0553;
}

/// Packet types.
pub mod kind {
    /// Anything.
    pub const UNKNOWN: u8 = 0;
    /// Routing information.
    pub const RIP: u8 = 1;
    /// Packet exchange: what most packets are.
    pub const PACKET_EXCHANGE: u8 = 4;
    /// NetBIOS broadcasts, which routers pass on to all networks.
    pub const PROPAGATED: u8 = 20;
}

/// The number of a network; 0 is the sender's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(pub u32);

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}", self.0)
    }
}

/// A network and a station in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host {
    /// The network.
    pub network: Network,
    /// The station, which on Ethernet has its hardware address as its node number.
    pub node: Mac,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.network, self.node)
    }
}

/// A host and a socket on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The host.
    pub host: Host,
    /// The socket.
    pub socket: u16,
}

impl Address {
    /// A socket of a node in a network.
    pub const fn new(network: Network, node: Mac, socket: u16) -> Self {
        Self {
            host: Host { network, node },
            socket,
        }
    }
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Routers that it has passed.
    pub hops: u8,
    /// Its type ([`kind`]).
    pub kind: u8,
    /// The receiver.
    pub destination: Address,
    /// The sender.
    pub source: Address,
    /// Its data.
    pub data: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads a packet. What follows its length is padding.
    ///
    /// # Errors
    /// When the bytes end before the packet, or when it has a checksum: stations that check it negotiate that first, and
    /// 802.3 without LLC cannot have one.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let word = |bytes: [u8; 2]| u16::from_be_bytes(bytes);
        if word(reader.array("checksum")?) != 0xffff {
            return Err(Error::Value { what: "checksum" });
        }
        let len = usize::from(word(reader.array("length")?));
        let hops = reader.u8("transport control")?;
        let kind = reader.u8("packet type")?;
        let mut address = || -> Result<Address> {
            Ok(Address::new(
                Network(u32::from_be_bytes(reader.array("network")?)),
                Mac(reader.array("node")?),
                u16::from_be_bytes(reader.array("socket")?),
            ))
        };
        let (destination, source) = (address()?, address()?);
        let len = len
            .checked_sub(HEADER_LEN)
            .ok_or(Error::Value { what: "length" })?;
        Ok(Self {
            hops,
            kind,
            destination,
            source,
            data: reader.take(len, "data")?,
        })
    }

    /// The header in front of `len` bytes of data.
    ///
    /// # Errors
    /// [`Error::Value`] when they do not fit into an Ethernet frame.
    pub fn header(&self, len: usize) -> Result<Vec<u8>> {
        let total = HEADER_LEN.saturating_add(len);
        if total > MAX_PAYLOAD_LEN {
            return Err(Error::Value { what: "length" });
        }
        let mut out = Vec::with_capacity(HEADER_LEN);
        out.extend_from_slice(&[0xff, 0xff]);
        // At most 1500: it fits.
        out.extend_from_slice(&(total as u16).to_be_bytes());
        out.extend_from_slice(&[self.hops, self.kind]);
        for address in [self.destination, self.source] {
            out.extend_from_slice(&address.host.network.0.to_be_bytes());
            out.extend_from_slice(&address.host.node.0);
            out.extend_from_slice(&address.socket.to_be_bytes());
        }
        Ok(out)
    }
}
