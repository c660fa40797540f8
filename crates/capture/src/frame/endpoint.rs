//! The ends of connections.

use core::fmt;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use coax_wire::{
    ether::Mac,
    ipx::{Host, Network},
};

/// What carries the messages of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Transport {
    /// TCP.
    #[default]
    Tcp,
    /// NetBEUI: NetBIOS frames on LLC type 2.
    NetBeui,
    /// NetBIOS over IPX.
    Nbipx,
    /// SMB directly on IPX.
    DirectIpx,
}

impl Transport {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::NetBeui => "netbeui",
            Self::Nbipx => "nbipx",
            Self::DirectIpx => "direct-ipx",
        }
    }

    /// Its name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::NetBeui => "NetBEUI",
            Self::Nbipx => "NetBIOS over IPX",
            Self::DirectIpx => "direct hosting over IPX",
        }
    }

    /// What Ethernet and the headers of the transport add to the data of a frame, bytes, with preamble and gap: 38 of
    /// Ethernet; IP and TCP without options 40; LLC 4 and NBF 14; LLC 3, IPX 30 and NBIPX 18.
    pub const fn overhead(self) -> u64 {
        match self {
            Self::Tcp => 78,
            Self::NetBeui => 56,
            Self::Nbipx => 89,
            Self::DirectIpx => 71,
        }
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Endpoint {
    /// The address: IPv4 mapped into IPv6; a station's; network and node of IPX.
    address: u128,
    /// The port of TCP and UDP; the number of a NetBIOS session; the socket of direct hosting.
    pub port: u16,
    transport: Transport,
}

impl Endpoint {
    /// An address, IPv4 mapped into IPv6, and a port.
    pub(super) const fn new(address: u128, port: u16) -> Self {
        Self {
            address,
            port,
            transport: Transport::Tcp,
        }
    }

    /// A station and the number of its NetBIOS session.
    pub fn netbeui(station: Mac, session: u8) -> Self {
        Self {
            address: bits(station),
            port: u16::from(session),
            transport: Transport::NetBeui,
        }
    }

    /// A host on IPX and a session's number or a socket.
    pub fn ipx(host: Host, port: u16, transport: Transport) -> Self {
        Self {
            address: (u128::from(host.network.0) << 48) | bits(host.node),
            port,
            transport,
        }
    }

    /// What carries its connection.
    pub const fn transport(self) -> Transport {
        self.transport
    }

    /// The IP address, if it has one.
    pub fn ip(self) -> Option<IpAddr> {
        (self.transport == Transport::Tcp).then(|| self.machine())
    }

    /// The machine, to tell it from others: an IP address, or a station's address written as one.
    pub fn machine(self) -> IpAddr {
        Ipv6Addr::from_bits(self.address).to_canonical()
    }

    /// Whether both are on the same machine, as far as addresses show.
    pub fn is_same_machine(self, other: Self) -> bool {
        (self.address, self.transport) == (other.address, other.transport)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [.., a, b, c, d, e, g] = self.address.to_be_bytes();
        let node = Mac([a, b, c, d, e, g]);
        let network = Network((self.address >> 48) as u32);
        match (self.transport, self.ip()) {
            (Transport::NetBeui, _) => node.fmt(f),
            (_, Some(ip)) => SocketAddr::new(ip, self.port).fmt(f),
            (_, None) => Host { network, node }.fmt(f),
        }
    }
}

fn bits(station: Mac) -> u128 {
    let [a, b, c, d, e, f] = station.0;
    u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn ends_are_written_as_their_networks_write_addresses() {
        let node = Mac([0, 0x0c, 0x29, 0xd4, 0x79, 0xb2]);
        let host = Host {
            network: Network(0x17_a2c0),
            node,
        };
        let mapped = 0xffff_0a00_0001;
        for (end, wanted) in [
            (Endpoint::new(mapped, 139), "10.0.0.1:139"),
            (Endpoint::netbeui(node, 3), "00:0c:29:d4:79:b2"),
            (
                Endpoint::ipx(host, 0x550, Transport::DirectIpx),
                "0017A2C0.00:0c:29:d4:79:b2",
            ),
        ] {
            assert_eq!(end.to_string(), wanted);
            assert_eq!(end.ip().is_some(), end.transport() == Transport::Tcp);
        }
    }
}
