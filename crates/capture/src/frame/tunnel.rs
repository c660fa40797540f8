//! Frames inside IP packets: GRE (RFC 2784, RFC 2890), PPTP's version of it (RFC 2637), ERSPAN, VXLAN (RFC 7348), IP in IP
//! (RFC 2003, RFC 4213).

use super::{
    bytes::u16_at,
    ethertype::{IPV4, IPV6, MPLS, MPLS_MULTICAST, labels_end},
    ip::IpPacket,
};
use crate::{LinkType, Packet};

/// Tunnels inside each other that are followed.
pub(super) const MAX_TUNNELS: usize = 4;

/// IP protocol numbers.
const IPV4_IN_IP: u8 = 4;
const UDP: u8 = 17;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
/// The port of VXLAN by RFC 7348, and that of Linux kernels before the RFC.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];

/// Whether fragments of this protocol are reassembled, because a tunnel carries frames longer than the path allows.
pub(super) const fn is_tunnel(protocol: u8) -> bool {
    matches!(protocol, IPV4_IN_IP | IPV6_IN_IP | GRE)
}

/// The frame inside `ip`, if that is a tunnel's packet; time and number are those of `outer`.
pub(super) fn inner<'a>(ip: &IpPacket<'a>, outer: &Packet<'_>) -> Option<Packet<'a>> {
    let (link, start) = match ip.protocol {
        IPV4_IN_IP | IPV6_IN_IP => (LinkType::Ip, 0),
        GRE => gre(ip.payload)?,
        UDP => (LinkType::Ethernet, vxlan(ip.payload)?),
        _ => return None,
    };
    let wire_len = ip.payload_len.checked_sub(start)?;
    Some(Packet {
        number: outer.number,
        at: outer.at,
        link,
        bytes: ip.payload.get(start..)?,
        wire_len: u32::try_from(wire_len).ok()?,
    })
}

/// What follows a GRE header, and where.
fn gre(bytes: &[u8]) -> Option<(LinkType, usize)> {
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGMENT: u16 = 0x0080;
    let (flags, protocol) = (u16_at(bytes, 0)?, u16_at(bytes, 2)?);
    let optional = |bit: u16| usize::from(flags & bit != 0) * 4;
    let start = 4 + optional(CHECKSUM) + optional(KEY) + optional(SEQUENCE);
    match (flags & 7, protocol) {
        (1, 0x880b) => Some((LinkType::Ppp, start + optional(ACKNOWLEDGMENT))),
        (0, IPV4 | IPV6) => Some((LinkType::Ip, start)),
        (0, 0x6558) => Some((LinkType::Ethernet, start)),
        (0, MPLS | MPLS_MULTICAST) => Some((LinkType::Ip, labels_end(bytes, start)?)),
        // ERSPAN: type I has no header of its own, type II 8 bytes, type III 12 and perhaps 8 more
        (0, 0x88be) => Some((LinkType::Ethernet, start + optional(SEQUENCE) * 2)),
        (0, 0x22eb) => {
            let has_more = u16_at(bytes, start + 10)? & 1 != 0;
            Some((LinkType::Ethernet, start + 12 + usize::from(has_more) * 8))
        }
        _ => None,
    }
}

fn vxlan(datagram: &[u8]) -> Option<usize> {
    const UDP_HEADER: usize = 8;
    const HEADER: usize = 8;
    let port = u16_at(datagram, 2)?;
    let has_network = *datagram.get(UDP_HEADER)? & 0x08 != 0;
    (VXLAN_PORTS.contains(&port) && has_network).then_some(UDP_HEADER + HEADER)
}
