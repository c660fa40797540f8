//! From a frame to its TCP segment: link headers, IP, fragments, TCP.

mod fingerprint;
mod fragments;
mod ip;
mod link;
mod segment;

pub use fingerprint::{OptionLayout, SynFingerprint};
pub use segment::{Endpoint, Flags, Segment, SynOptions};

use crate::Packet;
use fragments::Fragments;

/// What a frame carries.
#[derive(Debug)]
#[non_exhaustive]
pub enum Content<'a> {
    /// A TCP segment; its data may be truncated by the snap length.
    Tcp(Segment<'a>),
    /// A fragment of an IP packet that is still incomplete.
    Fragment,
    /// A frame of an unknown link type, by its number.
    UnknownLink(u16),
    /// The snap length cut the headers off.
    Truncated,
    /// NetBEUI.
    NetBeui,
    /// IPX.
    Ipx,
    /// A UDP datagram.
    Udp {
        /// Source and destination port.
        ports: (u16, u16),
        /// The captured payload.
        payload: &'a [u8],
    },
    /// Anything else: ARP, ICMP, fragments of UDP …
    Other,
}

/// An IP packet's payload and the header fields that matter here.
#[derive(Clone, Copy, Debug)]
struct IpPacket<'a> {
    from: u128,
    to: u128,
    protocol: u8,
    /// Time to live; IPv6's hop limit.
    ttl: u8,
    identification: u32,
    /// The captured payload.
    payload: &'a [u8],
    /// Length of the payload on the wire, bytes.
    payload_len: usize,
    /// Of a fragment: offset and the "more fragments" flag.
    fragment: Option<(usize, bool)>,
}

/// Decodes frames and reassembles IP fragments.
#[derive(Debug, Default)]
pub struct Dissector {
    fragments: Fragments,
}

/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;

impl Dissector {
    /// What `packet` carries.
    #[inline]
    pub fn dissect<'a>(&'a mut self, packet: &Packet<'a>) -> Content<'a> {
        let outer = match link::network_layer(packet) {
            Ok(outer) => outer,
            Err(link::NoIp::UnknownLink(number)) => return Content::UnknownLink(number),
            Err(link::NoIp::Truncated) => return Content::Truncated,
            Err(link::NoIp::NetBeui) => return Content::NetBeui,
            Err(link::NoIp::Ipx) => return Content::Ipx,
            Err(link::NoIp::Other) => return Content::Other,
        };
        let parsed = ip::parse(outer.bytes, outer.wire_len);
        let Some(ip) = &parsed else {
            return if outer.bytes.len() < 40 && outer.bytes.len() < outer.wire_len {
                Content::Truncated
            } else {
                Content::Other
            };
        };
        if ip.protocol != TCP {
            return udp(ip);
        }
        if ip.fragment.is_none() {
            return Segment::parse(ip);
        }
        let whole = self.fragments.add(ip, packet.at);
        whole.map_or(Content::Fragment, |whole| Segment::parse(&whole))
    }

    /// IP packets that were never completed. Call this after the last packet.
    pub fn incomplete_fragments(&self) -> u64 {
        self.fragments.incomplete()
    }
}

fn udp<'a>(ip: &IpPacket<'a>) -> Content<'a> {
    const HEADER: usize = 8;
    let ports = u16_at(ip.payload, 0).zip(u16_at(ip.payload, 2));
    match (ports, ip.payload.get(HEADER..)) {
        (Some(ports), Some(payload)) if ip.protocol == UDP && ip.fragment.is_none() => {
            Content::Udp { ports, payload }
        }
        _ => Content::Other,
    }
}

#[inline]
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*word))
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}
