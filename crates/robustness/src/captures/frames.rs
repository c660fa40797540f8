//! Frames of a capture file, and what they carry.

use pcap_parser::{
    Block, Linktype, PcapBlockOwned, PcapError, create_reader, traits::PcapNGPacketBlock,
};
use std::io::Read;

/// One frame and the link it was seen on.
#[derive(Clone, Debug)]
pub struct Frame {
    link: Linktype,
    bytes: Vec<u8>,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug)]
pub enum Datagram<'a> {
    /// A TCP segment.
    Tcp(Segment<'a>),
    /// A UDP datagram; the lower of its ports.
    Udp { port: u16, payload: &'a [u8] },
    /// Anything else: all behind the link header, as far as that gives a length.
    Other(&'a [u8]),
}

/// A TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Addresses and ports, sender first.
    pub flow: ([u8; 4], u16, [u8; 4], u16),
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// SYN is set.
    pub syn: bool,
    /// Data.
    pub data: &'a [u8],
}

/// All frames of a file, pcap or pcapng.
pub fn read(file: impl Read + Send + 'static) -> Vec<Frame> {
    let mut reader = create_reader(1 << 20, file).expect("a capture");
    let mut link = Linktype::ETHERNET;
    let mut frames = Vec::new();
    loop {
        match reader.next() {
            Ok((consumed, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => link = header.network,
                    PcapBlockOwned::Legacy(packet) => frames.push(frame(link, packet.data)),
                    PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                        link = interface.linktype
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        frames.push(frame(link, packet.packet_data()))
                    }
                    PcapBlockOwned::NG(_) => {}
                }
                reader.consume(consumed);
            }
            Err(PcapError::Incomplete(_)) => reader.refill().expect("a readable capture"),
            Err(_) => return frames,
        }
    }
}

fn frame(link: Linktype, bytes: &[u8]) -> Frame {
    Frame {
        link,
        bytes: bytes.to_vec(),
    }
}

impl Frame {
    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it carries.
    pub fn datagram(&self) -> Datagram<'_> {
        // where the type of what follows stands: Ethernet, and Linux cooked mode
        let kind_at = if self.link == Linktype::LINUX_SLL {
            14
        } else {
            12
        };
        of_kind(&self.bytes, kind_at)
    }
}

fn of_kind(frame: &[u8], kind_at: usize) -> Datagram<'_> {
    let Some(kind) = u16_at(frame, kind_at) else {
        return Datagram::Other(frame);
    };
    const VLAN: u16 = 0x8100;
    if kind == VLAN {
        return of_kind(frame, kind_at + 4);
    }
    let payload = frame.get(kind_at + 2..).unwrap_or_default();
    if kind == 0x0800 {
        return ipv4(payload).unwrap_or(Datagram::Other(payload));
    }
    let len = if kind <= 1500 {
        usize::from(kind)
    } else {
        payload.len()
    };
    Datagram::Other(payload.get(..len).unwrap_or(payload))
}

fn ipv4(packet: &[u8]) -> Option<Datagram<'_>> {
    let header = usize::from(packet.first()? & 15) * 4;
    let total = usize::from(u16_at(packet, 2)?);
    let body = packet.get(header..total.min(packet.len()))?;
    let (from, to) = (
        packet.get(12..16)?.try_into().ok()?,
        packet.get(16..20)?.try_into().ok()?,
    );
    let (source, target) = (u16_at(body, 0)?, u16_at(body, 2)?);
    match packet.get(9)? {
        6 => {
            let offset = usize::from(body.get(12)? >> 4) * 4;
            Some(Datagram::Tcp(Segment {
                flow: (from, source, to, target),
                sequence: u32::from_be_bytes(body.get(4..8)?.try_into().ok()?),
                syn: body.get(13)? & 2 != 0,
                data: body.get(offset..)?,
            }))
        }
        17 => Some(Datagram::Udp {
            port: source.min(target),
            payload: body.get(8..)?,
        }),
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
