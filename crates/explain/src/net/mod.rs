//! From a frame to the TCP segment in it: link headers, IP, fragments, TCP.

mod fragments;
mod greeting;
mod ip;
mod link;
mod segment;

pub use greeting::{Greeting, Layout};
pub use segment::{Endpoint, Flags, Segment};

use crate::capture::Packet;
use fragments::Fragments;

/// What a frame carries.
#[derive(Debug)]
pub(crate) enum Carried<'a> {
    /// A TCP segment, whole as far as it was captured.
    Tcp(Segment<'a>),
    /// A piece of a packet whose other pieces are still missing.
    Fragment,
    /// A link type that is not understood, by its number.
    UnknownLink(u16),
    /// The capture kept too little of it to say.
    Cut,
    /// NetBEUI.
    NetBeui,
    /// IPX.
    Ipx,
    /// Anything else: UDP, ARP …
    Other,
}

/// An IP packet's payload, and what of its header matters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpPacket<'a> {
    from: u128,
    to: u128,
    protocol: u8,
    /// Time to live; IPv6's hop limit.
    ttl: u8,
    identification: u32,
    /// What of the payload was kept.
    payload: &'a [u8],
    /// How long the payload was.
    payload_len: usize,
    /// Offset and "more follow", of a fragment.
    fragment: Option<(usize, bool)>,
}

/// Looks into frames; remembers fragments.
#[derive(Debug, Default)]
pub(crate) struct Dissector {
    fragments: Fragments,
}

const TCP: u8 = 6;

impl Dissector {
    /// What `packet` carries.
    #[inline]
    pub(crate) fn dissect<'a>(&'a mut self, packet: &Packet<'a>) -> Carried<'a> {
        let outer = match link::network_layer(packet) {
            Ok(outer) => outer,
            Err(link::Nothing::UnknownLink(number)) => return Carried::UnknownLink(number),
            Err(link::Nothing::Cut) => return Carried::Cut,
            Err(link::Nothing::NetBeui) => return Carried::NetBeui,
            Err(link::Nothing::Ipx) => return Carried::Ipx,
            Err(link::Nothing::Other) => return Carried::Other,
        };
        let parsed = ip::parse(outer.bytes, outer.wire_len);
        let Some(ip) = &parsed else {
            return if outer.bytes.len() < 40 && outer.bytes.len() < outer.wire_len {
                Carried::Cut
            } else {
                Carried::Other
            };
        };
        if ip.protocol != TCP {
            return Carried::Other;
        }
        if ip.fragment.is_none() {
            return Segment::parse(ip);
        }
        let whole = self.fragments.add(ip, packet.at);
        whole.map_or(Carried::Fragment, |whole| Segment::parse(&whole))
    }

    /// Packets of which pieces never came, now that no more do.
    pub(crate) fn incomplete_fragments(&self) -> u64 {
        self.fragments.incomplete()
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
