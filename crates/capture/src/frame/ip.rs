//! IPv4 (RFC 791) and IPv6 with extension headers (RFC 8200).

use super::bytes::{u16_at, u32_at};

/// IP protocol numbers.
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;

/// An IP packet's payload and the header fields that matter here.
#[derive(Clone, Copy, Debug)]
pub(super) struct IpPacket<'a> {
    pub(super) from: u128,
    pub(super) to: u128,
    pub(super) protocol: u8,
    /// Time to live; IPv6's hop limit.
    pub(super) ttl: u8,
    pub(super) identification: u32,
    /// The captured payload.
    pub(super) payload: &'a [u8],
    /// Length of the payload on the wire, bytes.
    pub(super) payload_len: usize,
    /// Of a fragment: offset and the "more fragments" flag.
    pub(super) fragment: Option<(usize, bool)>,
}

/// The packet at the start of `bytes`. `wire_len` is its length on the wire including link padding.
#[inline]
pub(super) fn parse(bytes: &[u8], wire_len: usize) -> Option<IpPacket<'_>> {
    match bytes.first()? >> 4 {
        4 => ipv4(bytes, wire_len),
        6 => ipv6(bytes, wire_len),
        _ => None,
    }
}

/// The TCP packet at the start of `bytes`, if it is IPv4 without options and not fragmented: most packets of most captures.
/// `None`: another kind of packet, or one that [`parse`] has to judge.
#[inline]
pub(super) fn plain_tcp(bytes: &[u8]) -> Option<IpPacket<'_>> {
    const HEADER: usize = 20;
    let (fixed, rest) = bytes.split_first_chunk::<HEADER>()?;
    let half = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let is_fragment = half(fixed[6], fixed[7]) & 0x3fff != 0;
    if fixed[0] != 0x45 || fixed[9] != TCP || is_fragment {
        return None;
    }
    let payload_len = usize::from(half(fixed[2], fixed[3])).checked_sub(HEADER)?;
    Some(IpPacket {
        from: mapped(u32::from_be_bytes([
            fixed[12], fixed[13], fixed[14], fixed[15],
        ])),
        to: mapped(u32::from_be_bytes([
            fixed[16], fixed[17], fixed[18], fixed[19],
        ])),
        protocol: TCP,
        ttl: fixed[8],
        identification: u32::from(half(fixed[4], fixed[5])),
        payload: rest.get(..payload_len).unwrap_or(rest),
        payload_len,
        fragment: None,
    })
}

/// An IPv4 address mapped into IPv6 (RFC 4291 §2.5.5.2), so that there is one kind of address.
fn mapped(address: u32) -> u128 {
    0xffff_0000_0000 | u128::from(address)
}

#[inline]
fn ipv4(bytes: &[u8], wire_len: usize) -> Option<IpPacket<'_>> {
    let fixed = bytes.first_chunk::<20>()?;
    let header = usize::from(fixed[0] & 15) * 4;
    let total = match u16::from_be_bytes([fixed[2], fixed[3]]) {
        // with segmentation offload the network card fills in the length
        0 => wire_len,
        total => usize::from(total),
    };
    if header < 20 || total < header {
        return None;
    }
    let flags = u16::from_be_bytes([fixed[6], fixed[7]]);
    let fragment = (usize::from(flags & 0x1fff) * 8, flags & 0x2000 != 0);
    Some(IpPacket {
        from: mapped(u32_at(fixed, 12)?),
        to: mapped(u32_at(fixed, 16)?),
        protocol: fixed[9],
        ttl: fixed[8],
        identification: u32::from(u16::from_be_bytes([fixed[4], fixed[5]])),
        payload: bytes.get(header..total.min(bytes.len()))?,
        payload_len: total - header,
        fragment: (flags & 0x3fff != 0).then_some(fragment),
    })
}

fn ipv6(bytes: &[u8], wire_len: usize) -> Option<IpPacket<'_>> {
    const HEADER: usize = 40;
    let fixed = bytes.first_chunk::<HEADER>()?;
    let end = match u16::from_be_bytes([fixed[4], fixed[5]]) {
        0 => wire_len,
        len => HEADER + usize::from(len),
    };
    let address = |at: usize| -> Option<u128> {
        let found = fixed.get(at..)?.first_chunk()?;
        Some(u128::from_be_bytes(*found))
    };
    let mut packet = IpPacket {
        from: address(8)?,
        to: address(24)?,
        protocol: fixed[6],
        ttl: fixed[7],
        identification: 0,
        payload: &[],
        payload_len: 0,
        fragment: None,
    };
    let start = extensions(bytes, HEADER, &mut packet)?;
    packet.payload = bytes.get(start..end.min(bytes.len()))?;
    packet.payload_len = end.checked_sub(start)?;
    Some(packet)
}

/// Walks the extension headers from `at` and returns the payload's offset.
fn extensions(bytes: &[u8], mut at: usize, packet: &mut IpPacket<'_>) -> Option<usize> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    /// RFC 8200 §4.1 names six kinds, of which one may occur twice.
    const MAX_HEADERS: usize = 8;
    for _ in 0..MAX_HEADERS {
        let next = *bytes.get(at).unwrap_or(&0);
        let len = usize::from(*bytes.get(at + 1).unwrap_or(&0));
        match packet.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => at += (len + 1) * 8,
            AUTHENTICATION => at += (len + 2) * 4,
            FRAGMENT => {
                let offset = u16_at(bytes, at + 2)?;
                let (start, more) = (usize::from(offset & !7), offset & 1 != 0);
                packet.fragment = (start > 0 || more).then_some((start, more));
                packet.identification = u32_at(bytes, at + 4)?;
                packet.protocol = next;
                at += 8;
                if start > 0 {
                    return Some(at);
                }
                continue;
            }
            _ => return Some(at),
        }
        packet.protocol = next;
    }
    None
}
