//! Link headers, down to the network layer.

use super::{
    bytes::u16_at,
    ethertype::{IPV4, IPV6, IPX, MPLS, MPLS_MULTICAST, labels_end},
};
use crate::{LinkType, Packet};
use coax_wire::ipx::FrameType;

/// A network layer packet as captured, and its length on the wire including link padding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) wire_len: usize,
}

/// Why there is no IP packet in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoIp {
    UnknownLink(u16),
    Truncated,
    /// LLC of NetBEUI, from its destination access point on.
    NetBeui(Place),
    /// An IPX header.
    Ipx(FrameType, Place),
    Other,
}

/// Where a protocol without IP begins in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Where the destination's address is; the source's follows it.
    pub(super) stations: usize,
    /// The source's highest bit says whether a route follows (Token Ring).
    pub(super) may_have_route: bool,
    /// Where the protocol's header is.
    pub(super) start: usize,
    /// Bytes from there on that the frame has on the wire.
    pub(super) len: usize,
}

/// The IP packet in a frame.
#[inline]
pub(super) fn network_layer<'a>(packet: &Packet<'a>) -> Result<Outer<'a>, NoIp> {
    let bytes = packet.bytes;
    let start = match packet.link {
        LinkType::Ip => Some(0),
        LinkType::Ethernet => behind_type(bytes, 12),
        LinkType::LinuxSll => behind_type(bytes, 14),
        LinkType::LinuxSll2 => linux_sll2(bytes),
        LinkType::Null => null(bytes),
        LinkType::Ppp => ppp(bytes),
        LinkType::Fddi => llc(bytes, 13),
        LinkType::TokenRing => token_ring(bytes),
        LinkType::Other(number) => return Err(NoIp::UnknownLink(number)),
    };
    let start = start.ok_or_else(|| other_protocol(packet))?;
    Ok(Outer {
        bytes: bytes.get(start..).ok_or(NoIp::Truncated)?,
        wire_len: (packet.wire_len as usize).max(bytes.len()) - start,
    })
}

/// Detects the other carriers of SMB: by LLC address (IEEE 802.2: F0 NetBEUI, E0 IPX), by EtherType (also in SNAP), or IPX
/// in a raw 802.3 frame.
fn other_protocol(packet: &Packet<'_>) -> NoIp {
    const SNAP_IPX: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 0x81, 0x37];
    let bytes = packet.bytes;
    let wire_len = (packet.wire_len as usize).max(bytes.len());
    let (stations, llc, end) = match packet.link {
        LinkType::Ethernet => match untagged(bytes) {
            Some((IPX, start)) => {
                let len = wire_len.saturating_sub(start);
                let place = Place {
                    stations: 0,
                    may_have_route: false,
                    start,
                    len,
                };
                return NoIp::Ipx(FrameType::EthernetII, place);
            }
            Some((length, start)) if length <= 1500 => {
                (0, start, wire_len.min(start + usize::from(length)))
            }
            _ => return NoIp::Other,
        },
        LinkType::Fddi => (1, 13, wire_len),
        LinkType::TokenRing => (2, token_ring_llc(bytes), wire_len),
        _ => return NoIp::Other,
    };
    let behind = |header: usize| Place {
        stations,
        may_have_route: packet.link == LinkType::TokenRing,
        start: llc + header,
        len: end.saturating_sub(llc + header),
    };
    let payload = bytes.get(llc..).unwrap_or_default();
    match payload {
        [0xf0, 0xf0 | 0xf1, ..] => NoIp::NetBeui(behind(0)),
        [0xe0, 0xe0 | 0xe1, ..] => NoIp::Ipx(FrameType::Ieee802_2, behind(3)),
        [0xff, 0xff, ..] => NoIp::Ipx(FrameType::Raw802_3, behind(0)),
        _ if payload.starts_with(&SNAP_IPX) => NoIp::Ipx(FrameType::Snap, behind(SNAP_IPX.len())),
        _ => NoIp::Other,
    }
}

/// The EtherType or 802.3 length behind VLAN tags, and the offset after it.
fn untagged(bytes: &[u8]) -> Option<(u16, usize)> {
    let places = (0..=MAX_TAGS).map(|tags| 12 + tags * 4);
    let types = places.map_while(|at| Some((u16_at(bytes, at)?, at + 2)));
    types
        .into_iter()
        .find(|(kind, _)| !matches!(kind, 0x8100 | 0x88a8 | 0x9100))
}

/// VLAN tags of a frame that are looked behind.
const MAX_TAGS: usize = 4;

/// The offset after the EtherType at `at`, past VLAN tags (802.1Q, 802.1ad and the older 9100), or after the LLC header
/// that an 802.3 length there announces.
#[inline]
fn behind_type(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..=MAX_TAGS {
        match u16_at(bytes, at)? {
            IPV4 | IPV6 => return Some(at + 2),
            0x8100 | 0x88a8 | 0x9100 => at += 4,
            // PPPoE session (RFC 2516): six bytes, then PPP's protocol number
            0x8864 => return matches!(u16_at(bytes, at + 8)?, 0x21 | 0x57).then_some(at + 10),
            MPLS | MPLS_MULTICAST => match labelled(bytes, at + 2)? {
                Labelled::Ip(start) => return Some(start),
                Labelled::Ethernet(start) => at = start + 12,
            },
            length if length <= 1500 => return llc(bytes, at + 2),
            _ => return None,
        }
    }
    None
}

/// What MPLS labels stand before, and where: the labels do not say what, so its first four bits do (RFC 4928).
enum Labelled {
    Ip(usize),
    /// A pseudowire with a control word (RFC 4385, RFC 4448).
    Ethernet(usize),
}

fn labelled(bytes: &[u8], at: usize) -> Option<Labelled> {
    const CONTROL_WORD: usize = 4;
    let start = labels_end(bytes, at)?;
    match bytes.get(start)? >> 4 {
        4 | 6 => Some(Labelled::Ip(start)),
        0 => Some(Labelled::Ethernet(start + CONTROL_WORD)),
        _ => None,
    }
}

/// Linux cooked mode 2: the protocol stands first.
fn linux_sll2(bytes: &[u8]) -> Option<usize> {
    const HEADER: usize = 20;
    match u16_at(bytes, 0)? {
        IPV4 | IPV6 => Some(HEADER),
        MPLS | MPLS_MULTICAST => match labelled(bytes, HEADER)? {
            Labelled::Ip(start) => Some(start),
            Labelled::Ethernet(start) => behind_type(bytes, start + 12),
        },
        _ => None,
    }
}

/// The offset after an LLC and SNAP header (RFC 1042) at `at`.
fn llc(bytes: &[u8], at: usize) -> Option<usize> {
    let head = bytes.get(at..)?.first_chunk::<6>()?;
    let is_snap = head.starts_with(&[0xaa, 0xaa, 3]);
    let kind = u16_at(bytes, at + 6)?;
    (is_snap && matches!(kind, IPV4 | IPV6)).then_some(at + 8)
}

/// PPP (RFC 1661), with or without the address and control bytes of HDLC framing (RFC 1662); the protocol number may be
/// one byte.
fn ppp(bytes: &[u8]) -> Option<usize> {
    let start = if bytes.starts_with(&[0xff, 3]) { 2 } else { 0 };
    match bytes.get(start..)? {
        [0, 0x21 | 0x57, ..] => Some(start + 2),
        // MPLS, unicast and multicast (RFC 3032 §4)
        [2, 0x81 | 0x83, ..] => match labelled(bytes, start + 2)? {
            Labelled::Ip(start) => Some(start),
            Labelled::Ethernet(_) => None,
        },
        [0x21 | 0x57, ..] => Some(start + 1),
        _ => None,
    }
}

fn token_ring(bytes: &[u8]) -> Option<usize> {
    llc(bytes, token_ring_llc(bytes))
}

/// IEEE 802.5: access control, frame control, two addresses, and a route if the source's highest bit is set.
fn token_ring_llc(bytes: &[u8]) -> usize {
    const HEADER: usize = 14;
    let source_routed = bytes.get(8).is_some_and(|byte| byte & 0x80 != 0);
    let route = bytes.get(HEADER).filter(|_| source_routed);
    HEADER + route.map_or(0, |route| usize::from(route & 0x1f))
}

/// BSD loopback: an address family in either byte order; that of IPv6 differs between systems.
fn null(bytes: &[u8]) -> Option<usize> {
    let family: [u8; 4] = bytes.first_chunk().copied()?;
    let family = u32::from_le_bytes(family).min(u32::from_be_bytes(family));
    matches!(family, 2 | 10 | 24 | 28 | 30).then_some(4)
}
