//! Ethernet frames with a TCP segment (IEEE 802.3, RFC 791, RFC 8200, RFC 9293), with checksums.

use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use crate::segment::Flags;

/// Maximum payload of a segment within IPv4's 65,535 bytes, with 40 bytes for options.
pub const MAX_PAYLOAD: usize = 65_435;

/// Fields of the IP header. If the address families differ, IPv4 addresses are mapped to IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Source.
    pub source: SocketAddr,
    /// Destination.
    pub target: SocketAddr,
    /// IPv4's identification.
    pub identification: u16,
    /// Time to live, or hop limit.
    pub ttl: u8,
}

/// Fields of the TCP header except ports and checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp<'a> {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window field, before scaling.
    pub window: u16,
    /// Options, padded to a multiple of four bytes.
    pub options: &'a [u8],
}

/// The Ethernet frame of a segment, from the destination address to the end of the payload (at most [`MAX_PAYLOAD`]
/// bytes).
pub fn tcp_frame(ip: &Ip, tcp: &Tcp<'_>, payload: &[u8]) -> Vec<u8> {
    let (source, target) = (ip.source.ip().to_canonical(), ip.target.ip().to_canonical());
    let len = payload
        .len()
        .saturating_add(tcp.options.len())
        .saturating_add(20);
    let mut frame = Vec::with_capacity(len.saturating_add(54));
    for address in [target, source] {
        frame.extend_from_slice(&[2, 0, 0, 0, 0, last_octet(address)]);
    }
    match (source, target) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            frame.extend_from_slice(&[8, 0]);
            let total = (len as u16).saturating_add(20);
            v4_header(&mut frame, ip, total, [from.octets(), to.octets()]);
            segment(
                &mut frame,
                ip,
                tcp,
                payload,
                &[&from.octets(), &to.octets()],
            );
        }
        _ => {
            let [from, to] = [source, target].map(|address| match address {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            });
            frame.extend_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend_from_slice(&(len as u16).to_be_bytes());
            frame.extend_from_slice(&[6, ip.ttl]);
            frame.extend_from_slice(&from);
            frame.extend_from_slice(&to);
            segment(&mut frame, ip, tcp, payload, &[&from, &to]);
        }
    }
    frame
}

fn last_octet(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    }
}

fn v4_header(frame: &mut Vec<u8>, ip: &Ip, total: u16, [source, target]: [[u8; 4]; 2]) {
    let mut header = Vec::with_capacity(20);
    header.extend_from_slice(&[0x45, 0]);
    header.extend_from_slice(&total.to_be_bytes());
    header.extend_from_slice(&ip.identification.to_be_bytes());
    // do not fragment; TCP
    header.extend_from_slice(&[0x40, 0, ip.ttl, 6, 0, 0]);
    header.extend_from_slice(&source);
    header.extend_from_slice(&target);
    let sum = checksum(&[&header]);
    if let Some(place) = header.get_mut(10..12) {
        place.copy_from_slice(&sum);
    }
    frame.extend_from_slice(&header);
}

/// Appends TCP header and payload; `addresses` are those of the pseudo-header.
fn segment(frame: &mut Vec<u8>, ip: &Ip, tcp: &Tcp<'_>, payload: &[u8], addresses: &[&[u8]; 2]) {
    let mut out = Vec::with_capacity(payload.len().saturating_add(60));
    for port in [ip.source.port(), ip.target.port()] {
        out.extend_from_slice(&port.to_be_bytes());
    }
    out.extend_from_slice(&tcp.seq.to_be_bytes());
    out.extend_from_slice(&tcp.ack.to_be_bytes());
    let words = (tcp.options.len() / 4).saturating_add(5) as u8;
    out.extend_from_slice(&[words << 4, tcp.flags.bits()]);
    out.extend_from_slice(&tcp.window.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(tcp.options);
    out.extend_from_slice(payload);
    let len = (out.len() as u16).to_be_bytes();
    let [source, target] = addresses;
    let sum = checksum(&[source, target, &[0, 6], &len, &out]);
    if let Some(place) = out.get_mut(16..18) {
        place.copy_from_slice(&sum);
    }
    frame.extend_from_slice(&out);
}

/// The Internet checksum (RFC 1071) over parts; every part except the last has an even length.
pub(super) fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let mut sum: u64 = 0;
    for part in parts {
        // eight bytes at once: RFC 1071 §2 (C). Each half is a sum of words that the folding below adds up
        let (eights, rest) = part.as_chunks::<8>();
        for eight in eights {
            let words = u64::from_be_bytes(*eight);
            sum = sum.wrapping_add((words >> 32) + (words & 0xffff_ffff));
        }
        for pair in rest.chunks(2) {
            let word = match pair {
                [high, low] => u16::from_be_bytes([*high, *low]),
                [high] => u16::from_be_bytes([*high, 0]),
                _ => 0,
            };
            sum = sum.wrapping_add(u64::from(word));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_between_ipv6_addresses_has_a_length_and_a_checksum_that_verify() {
        let ip = Ip {
            source: "[2001:db8::1]:445".parse().unwrap(),
            target: "[2001:db8::2]:1025".parse().unwrap(),
            identification: 0,
            ttl: 64,
        };
        let frame = tcp_frame(&ip, &Tcp::default(), b"abc");
        assert_eq!(frame[12..14], [0x86, 0xdd]);
        let (header, tcp) = (&frame[14..54], &frame[54..]);
        assert_eq!((header[4..6].to_vec(), tcp.len()), ([0, 23].to_vec(), 23));
        let sum = checksum(&[&header[8..40], &[0, 6, 0, 23], tcp]);
        assert_eq!(sum, [0, 0]);
    }

    #[test]
    fn a_checksum_of_any_length_is_the_sum_of_its_words() {
        let bytes: Vec<u8> = (0..100_u8).map(|n| n.wrapping_mul(151)).collect();
        for len in 0..bytes.len() {
            let mut sum = 0_u32;
            for (place, byte) in bytes[..len].iter().enumerate() {
                sum += u32::from(*byte) << (if place % 2 == 0 { 8 } else { 0 });
            }
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = !((folded & 0xffff) + (folded >> 16)) as u16;
            assert_eq!(checksum(&[&bytes[..len]]), folded.to_be_bytes(), "{len}");
        }
    }

    #[test]
    fn an_ipv4_client_of_an_ipv6_socket_stands_as_ipv4() {
        let ip = Ip {
            source: "[::ffff:10.0.0.1]:445".parse().unwrap(),
            target: "[::ffff:10.0.0.2]:1025".parse().unwrap(),
            identification: 7,
            ttl: 64,
        };
        let frame = tcp_frame(&ip, &Tcp::default(), &[]);
        assert_eq!(
            (frame.len(), frame[12..15].to_vec()),
            (54, [8, 0, 0x45].to_vec())
        );
        assert_eq!(frame[26..34], [10, 0, 0, 1, 10, 0, 0, 2]);
    }
}
