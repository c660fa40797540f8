//! The messages of a capture file.

use std::collections::HashMap;

use coax_capture::{Content, Dissector, Endpoint, Flags, LinkType, Packet, Reader, Segment};
use coax_wire::{
    ether::{Frame, Payload},
    llc::{Control, Pdu, SAP_NETBIOS, Unnumbered},
    nbt::session::Framing,
    time::Time,
};

use crate::{Context, Decoded, nbf, netbios, stream::Stream};

/// Connections that are followed at a time.
const MAX_CONNECTIONS: usize = 4096;
/// Messages over NetBEUI that are collected from several frames, bytes.
const MAX_COLLECTED: usize = 1 << 17;

/// A message and where it is in the capture.
#[derive(Debug)]
pub struct Message<'a> {
    /// The frame that completed it, from 1.
    pub frame: u64,
    /// When that frame was captured.
    pub at: Time,
    /// Who sent it.
    pub from: String,
    /// Who received it.
    pub to: String,
    /// Its bytes, as far as they were captured.
    pub bytes: &'a [u8],
    /// Bytes that it had on the wire.
    pub len: usize,
    /// Its fields.
    pub decoded: Decoded,
}

/// Calls `each` with every NetBIOS and SMB1 message of a capture, in the order in which they were complete.
///
/// # Errors
/// The file cannot be read or is no capture. [`Reader::damage`] of the reader says whether it ended early.
pub fn messages<R: std::io::Read>(
    reader: &mut Reader<R>,
    mut each: impl FnMut(&Message<'_>),
) -> Result<(), coax_capture::Error> {
    let mut dissector = Dissector::default();
    let mut connections = Connections::default();
    while let Some(packet) = reader.next_packet()? {
        if let Some(frame) = netbeui(&packet) {
            connections.netbeui(&packet, &frame, &mut each);
            continue;
        }
        match dissector.dissect(&packet) {
            Content::Tcp(segment) => {
                connections.segment((packet.number, packet.at), &segment, &mut each)
            }
            Content::Udp { ports, payload } => udp(&packet, ports, payload, &mut each),
            _ => {}
        }
    }
    Ok(())
}

/// A frame of NetBEUI: link addresses, control field, and the NetBIOS frame in it.
struct Netbeui<'a> {
    from: [u8; 6],
    to: [u8; 6],
    number: Option<u8>,
    bytes: &'a [u8],
}

fn netbeui<'a>(packet: &Packet<'a>) -> Option<Netbeui<'a>> {
    if packet.link != LinkType::Ethernet {
        return None;
    }
    let frame = Frame::parse(packet.bytes).ok()?;
    let Payload::Length(payload) = frame.payload else {
        return None;
    };
    let pdu = Pdu::parse(payload)
        .ok()
        .filter(|pdu| pdu.dsap == SAP_NETBIOS && !pdu.info.is_empty())?;
    let number = match pdu.control {
        Control::Information { ns, .. } => Some(ns),
        Control::Unnumbered {
            kind: Unnumbered::Ui,
            ..
        } => None,
        _ => return None,
    };
    Some(Netbeui {
        from: frame.source.0,
        to: frame.destination.0,
        number,
        bytes: pdu.info,
    })
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

fn udp(
    packet: &Packet<'_>,
    ports: (u16, u16),
    payload: &[u8],
    each: &mut impl FnMut(&Message<'_>),
) {
    let mut decoded = Decoded::default();
    if ports.0 == 137 || ports.1 == 137 {
        netbios::name_service(payload, &mut decoded);
    } else if ports.0 == 138 || ports.1 == 138 {
        netbios::datagram(payload, &mut Context::default(), &mut decoded);
    } else {
        return;
    }
    each(&Message {
        frame: packet.number,
        at: packet.at,
        from: format!("UDP port {}", ports.0),
        to: format!("UDP port {}", ports.1),
        bytes: payload,
        len: payload.len(),
        decoded,
    });
}

/// A connection's two directions and its requests.
#[derive(Debug)]
struct Connection {
    directions: [Stream; 2],
    context: Context,
}

/// A message of NetBEUI that is being collected.
#[derive(Debug, Default)]
struct Collected {
    bytes: Vec<u8>,
    last_number: Option<u8>,
}

#[derive(Debug, Default)]
struct Connections {
    tcp: HashMap<(Endpoint, Endpoint), Connection>,
    netbeui: HashMap<([u8; 6], [u8; 6]), Collected>,
    contexts: HashMap<([u8; 6], [u8; 6]), Context>,
}

fn ordered<T: Ord>(a: T, b: T) -> (T, T) {
    if a <= b { (a, b) } else { (b, a) }
}

impl Connections {
    fn segment(
        &mut self,
        (frame, at): (u64, Time),
        segment: &Segment<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let key = ordered(segment.from, segment.to);
        if self.tcp.len() >= MAX_CONNECTIONS && !self.tcp.contains_key(&key) {
            return;
        }
        let framing = match [segment.from.port, segment.to.port].contains(&445) {
            true => Framing::Direct,
            false => Framing::Nbt,
        };
        let connection = self.tcp.entry(key).or_insert_with(|| Connection {
            directions: [Stream::new(framing), Stream::new(framing)],
            context: Context::default(),
        });
        let [first, second] = &mut connection.directions;
        let stream = if segment.from == key.0 { first } else { second };
        if segment.flags.has(Flags::SYN) {
            stream.begin(segment.seq.wrapping_add(1));
        }
        let mut packets = Vec::new();
        let len = usize::try_from(segment.len).unwrap_or(0);
        let data = segment
            .data
            .get(..len.min(segment.data.len()))
            .unwrap_or_default();
        stream.segment(segment.seq, data, len, &mut packets);
        if segment.flags.has(Flags::FIN | Flags::RST) {
            stream.give_up(&mut packets);
        }
        for packet in packets {
            let mut decoded = Decoded::default();
            netbios::session(&packet.bytes, &mut connection.context, &mut decoded);
            each(&Message {
                frame,
                at,
                from: segment.from.to_string(),
                to: segment.to.to_string(),
                bytes: &packet.bytes,
                len: packet.len,
                decoded,
            });
        }
    }

    fn netbeui(
        &mut self,
        packet: &Packet<'_>,
        frame: &Netbeui<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let (from, to) = (frame.from, frame.to);
        if self.netbeui.len() >= MAX_CONNECTIONS && !self.netbeui.contains_key(&(from, to)) {
            return;
        }
        let context = self.contexts.entry(ordered(from, to)).or_default();
        let mut decoded = Decoded::default();
        let piece = nbf::frame(frame.bytes, context, &mut decoded);
        let collected = self.netbeui.entry((from, to)).or_default();
        if frame.number.is_some() && collected.last_number == frame.number {
            // the link sent it again
            return;
        }
        collected.last_number = frame.number.or(collected.last_number);
        let Some(piece) = piece else {
            each(&message(
                packet,
                frame,
                (frame.bytes, frame.bytes.len()),
                decoded,
            ));
            return;
        };
        let part = frame.bytes.get(piece.at..).unwrap_or_default();
        if collected.bytes.len() + part.len() > MAX_COLLECTED {
            collected.bytes.clear();
        }
        let before = collected.bytes.len();
        collected.bytes.extend_from_slice(part);
        if !piece.last {
            return;
        }
        let whole = std::mem::take(&mut collected.bytes);
        if before == 0 {
            nbf::session_message(part, piece.at, context, &mut decoded);
            each(&message(
                packet,
                frame,
                (frame.bytes, frame.bytes.len()),
                decoded,
            ));
        } else {
            let mut decoded = Decoded::default();
            nbf::session_message(&whole, 0, context, &mut decoded);
            each(&message(packet, frame, (&whole, whole.len()), decoded));
        }
    }
}

fn message<'a>(
    packet: &Packet<'_>,
    frame: &Netbeui<'_>,
    (bytes, len): (&'a [u8], usize),
    decoded: Decoded,
) -> Message<'a> {
    Message {
        frame: packet.number,
        at: packet.at,
        from: mac(frame.from),
        to: mac(frame.to),
        bytes,
        len,
        decoded,
    }
}
