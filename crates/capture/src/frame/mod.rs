//! From a frame to its TCP segment: link headers, IP, fragments, TCP.

mod bytes;
mod fingerprint;
mod fragments;
mod ip;
mod link;
mod segment;

pub use fingerprint::{OptionLayout, SynFingerprint};
pub use segment::{Endpoint, Flags, Segment, SynOptions};

use crate::Packet;
use bytes::u16_at;
use fragments::Fragments;
use ip::IpPacket;

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
            return tcp(ip);
        }
        let whole = self.fragments.add(ip, packet.at);
        whole.map_or(Content::Fragment, |whole| tcp(&whole))
    }

    /// IP packets that were never completed. Call this after the last packet.
    pub fn incomplete_fragments(&self) -> u64 {
        self.fragments.incomplete()
    }
}

#[inline]
fn tcp<'a>(ip: &IpPacket<'a>) -> Content<'a> {
    Segment::parse(ip).map_or(Content::Truncated, Content::Tcp)
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
