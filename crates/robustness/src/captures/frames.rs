//! Frames of a capture file, and what they carry.

use coax_capture::{Content, Dissector, LinkType, Packet, Reader, Segment};
use coax_wire::time::Time;
use std::io::Read;

/// One frame and the link it was captured on.
#[derive(Clone, Debug)]
pub struct Frame {
    link: LinkType,
    bytes: Vec<u8>,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug)]
pub enum Datagram<'a> {
    /// A TCP segment.
    Tcp(Segment<'a>),
    /// A UDP datagram; the lower of its ports.
    Udp { port: u16, payload: &'a [u8] },
    /// Anything else: the bytes that the frame's length field counts, or all behind its type.
    Other(&'a [u8]),
}

/// All frames of a file, up to where it is damaged.
pub fn read(file: impl Read) -> Vec<Frame> {
    let mut reader = Reader::new(file).expect("a capture");
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet().expect("a readable capture") {
        frames.push(Frame {
            link: packet.link,
            bytes: packet.bytes.to_vec(),
        });
    }
    frames
}

impl Frame {
    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it carries. `dissector` lives as long as the capture: it reassembles fragments.
    pub fn datagram<'a>(&'a self, dissector: &'a mut Dissector) -> Datagram<'a> {
        let packet = Packet {
            number: 1,
            at: Time(0),
            link: self.link,
            bytes: &self.bytes,
            wire_len: self.bytes.len() as u32,
        };
        match dissector.dissect(&packet) {
            Content::Tcp(segment) => Datagram::Tcp(segment),
            Content::Udp {
                from, to, payload, ..
            } => Datagram::Udp {
                port: from.port.min(to.port),
                payload,
            },
            _ => Datagram::Other(self.behind_type()),
        }
    }

    fn behind_type(&self) -> &[u8] {
        let type_at = match self.link {
            LinkType::LinuxSll => 14,
            _ => 12,
        };
        let Some((kind, rest)) = self
            .bytes
            .get(type_at..)
            .and_then(|rest| rest.split_first_chunk())
        else {
            return &self.bytes;
        };
        let kind = usize::from(u16::from_be_bytes(*kind));
        let len = if kind <= 1500 { kind } else { rest.len() };
        rest.get(..len).unwrap_or(rest)
    }
}
