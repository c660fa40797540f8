//! From a frame to its TCP segment: link headers, IP, fragments, TCP. Frames of NetBEUI and packets of IPX are decoded too.

mod bytes;
mod endpoint;
mod ethertype;
mod fingerprint;
mod fragments;
mod ip;
mod link;
mod segment;
mod station;
mod tunnel;

pub use endpoint::{Endpoint, Transport};
pub use fingerprint::{OptionLayout, SynFingerprint};
pub use segment::{Flags, Segment, SynOptions};
pub use station::{Ipx, NetBeui};

use crate::Packet;
use bytes::u16_at;
use fragments::Fragments;
use ip::{IpPacket, TCP, UDP};

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
    /// A frame of NetBEUI.
    NetBeui(NetBeui<'a>),
    /// A packet of IPX.
    Ipx(Ipx<'a>),
    /// A frame of NetBEUI ([`Transport::NetBeui`]) or IPX whose headers are damaged or were cut off.
    DamagedFrame(Transport),
    /// A UDP datagram.
    Udp {
        /// Who sent it.
        from: Endpoint,
        /// To whom.
        to: Endpoint,
        /// The captured payload.
        payload: &'a [u8],
        /// Length of the payload on the wire, bytes.
        len: usize,
    },
    /// Anything else: ARP, ICMP, fragments of UDP …
    Other,
}

/// Decodes frames and reassembles IP fragments.
#[derive(Debug, Default)]
pub struct Dissector {
    fragments: Fragments,
}

impl Dissector {
    /// What `packet` carries.
    #[inline]
    pub fn dissect<'a>(&'a mut self, packet: &Packet<'a>) -> Content<'a> {
        let mut frame = *packet;
        for _ in 0..=tunnel::MAX_TUNNELS {
            match layer(&frame) {
                Layer::Last(content) => return content,
                Layer::Tunnel(inner) => frame = inner,
                Layer::Fragment(ip) => return self.reassemble(&ip, &frame),
            }
        }
        Content::Other
    }

    /// Of a tunnel's packet that was fragmented, no fragments inside are reassembled.
    fn reassemble<'a>(&'a mut self, ip: &IpPacket<'_>, packet: &Packet<'_>) -> Content<'a> {
        let Some(whole) = self.fragments.add(ip, packet.at) else {
            return Content::Fragment;
        };
        let mut next = inside(&whole, packet);
        for _ in 0..tunnel::MAX_TUNNELS {
            match next {
                Layer::Last(content) => return content,
                Layer::Tunnel(inner) => next = layer(&inner),
                Layer::Fragment(_) => return Content::Fragment,
            }
        }
        Content::Other
    }

    /// IP packets that were never completed. Call this after the last packet.
    pub fn incomplete_fragments(&self) -> u64 {
        self.fragments.incomplete()
    }
}

/// What a link header, an IP header and a tunnel's header lead to.
enum Layer<'a> {
    Last(Content<'a>),
    Fragment(IpPacket<'a>),
    Tunnel(Packet<'a>),
}

#[inline]
fn layer<'a>(packet: &Packet<'a>) -> Layer<'a> {
    let outer = match link::network_layer(packet) {
        Ok(outer) => outer,
        Err(no_ip) => return Layer::Last(without_ip(packet, &no_ip)),
    };
    let parsed = ip::parse(outer.bytes, outer.wire_len);
    let Some(ip) = &parsed else {
        let is_cut = outer.bytes.len() < 40 && outer.bytes.len() < outer.wire_len;
        return Layer::Last(if is_cut {
            Content::Truncated
        } else {
            Content::Other
        });
    };
    let is_reassembled = ip.protocol == TCP || tunnel::is_tunnel(ip.protocol);
    if ip.fragment.is_some() && is_reassembled {
        return Layer::Fragment(*ip);
    }
    inside(ip, packet)
}

/// What a whole IP packet carries.
#[inline]
fn inside<'a>(ip: &IpPacket<'a>, packet: &Packet<'_>) -> Layer<'a> {
    if ip.protocol == TCP {
        return Layer::Last(tcp(ip));
    }
    match tunnel::inner(ip, packet) {
        Some(inner) => Layer::Tunnel(inner),
        None => Layer::Last(udp(ip)),
    }
}

fn without_ip<'a>(packet: &Packet<'a>, reason: &link::NoIp) -> Content<'a> {
    match *reason {
        link::NoIp::UnknownLink(number) => Content::UnknownLink(number),
        link::NoIp::Truncated => Content::Truncated,
        link::NoIp::NetBeui(place) => NetBeui::parse(packet, place)
            .map_or(Content::DamagedFrame(Transport::NetBeui), Content::NetBeui),
        link::NoIp::Ipx(frame_type, place) => Ipx::parse(packet, frame_type, place)
            .map_or(Content::DamagedFrame(Transport::DirectIpx), Content::Ipx),
        link::NoIp::Other => Content::Other,
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
        (Some((from, to)), Some(payload)) if ip.protocol == UDP && ip.fragment.is_none() => {
            Content::Udp {
                from: Endpoint::new(ip.from, from),
                to: Endpoint::new(ip.to, to),
                payload,
                len: ip.payload_len.saturating_sub(HEADER),
            }
        }
        _ => Content::Other,
    }
}
