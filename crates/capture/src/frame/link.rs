//! Link headers, down to the network layer.

use super::{
    bytes::u16_at,
    ethertype::{IPV4, IPV6, MPLS, MPLS_MULTICAST, labels_end},
};
use crate::{LinkType, Packet};

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
    NetBeui,
    Ipx,
    Other,
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

/// Detects the other carriers of SMB: by LLC address (IEEE 802.2: F0 NetBEUI, E0 IPX), by EtherType, or IPX in a raw
/// 802.3 frame.
fn other_protocol(packet: &Packet<'_>) -> NoIp {
    const IPX: u16 = 0x8137;
    let bytes = packet.bytes;
    let llc = match packet.link {
        LinkType::Ethernet => match u16_at(bytes, 12) {
            Some(IPX) => return NoIp::Ipx,
            Some(length) if length <= 1500 => 14,
            _ => return NoIp::Other,
        },
        LinkType::Fddi => 13,
        LinkType::TokenRing => token_ring_llc(bytes),
        _ => return NoIp::Other,
    };
    match bytes.get(llc..).and_then(|rest| rest.first_chunk()) {
        Some([0xf0, 0xf0 | 0xf1]) => NoIp::NetBeui,
        Some([0xe0, 0xe0 | 0xe1] | [0xff, 0xff]) => NoIp::Ipx,
        _ => NoIp::Other,
    }
}

/// The offset after the EtherType at `at`, past VLAN tags (802.1Q, 802.1ad and the older 9100), or after the LLC header
/// that an 802.3 length there announces.
#[inline]
fn behind_type(bytes: &[u8], mut at: usize) -> Option<usize> {
    const MAX_TAGS: usize = 4;
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
