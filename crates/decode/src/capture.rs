//! The messages of a capture file.

use coax_capture::{Content, Dissector, Endpoint, Flags, LinkType, Packet, Reader, Segment};
use coax_wire::{
    ether::{Frame, Payload},
    llc::{Control, Pdu, SAP_NETBIOS, Unnumbered},
    nbt::{dgm, ns, session::Framing},
    time::Time,
};

use crate::{Context, Decoded, nbf, netbios, recent::Recent, stream::Stream};

/// Connections that are followed at a time; the one without packets for longest is forgotten.
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
    let mut tcp = Recent::new(MAX_CONNECTIONS);
    let mut links = Recent::new(MAX_CONNECTIONS);
    while let Some(packet) = reader.next_packet()? {
        if let Some(frame) = netbeui(&packet) {
            let link: &mut Link = links.of(ordered(frame.from, frame.to), Link::default);
            link.frame(&packet, &frame, &mut each);
            continue;
        }
        match dissector.dissect(&packet) {
            Content::Tcp(segment) => {
                let key = ordered(segment.from, segment.to);
                let connection: &mut Connection = tcp.of(key, || Connection::new(key));
                connection.segment((packet.number, packet.at), &segment, &mut each);
            }
            Content::Udp {
                from,
                to,
                payload,
                len,
            } => udp(&packet, (from, to), (payload, len), &mut each),
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
    (from, to): (Endpoint, Endpoint),
    (payload, len): (&[u8], usize),
    each: &mut impl FnMut(&Message<'_>),
) {
    let is_port = |port| from.port == port || to.port == port;
    let mut decoded = Decoded::default();
    if is_port(ns::PORT) {
        netbios::name_service(payload, &mut decoded);
    } else if is_port(dgm::PORT) {
        netbios::datagram(payload, &mut Context::default(), &mut decoded);
    } else {
        return;
    }
    each(&Message {
        frame: packet.number,
        at: packet.at,
        from: from.to_string(),
        to: to.to_string(),
        bytes: payload,
        len: len.max(payload.len()),
        decoded,
    });
}

fn ordered<T: Ord>(a: T, b: T) -> (T, T) {
    if a <= b { (a, b) } else { (b, a) }
}

/// The port of direct hosting, whose packets have longer lengths.
const DIRECT_PORT: u16 = 445;

/// A TCP connection: its two directions and its requests.
#[derive(Debug)]
struct Connection {
    first: Endpoint,
    directions: [Stream; 2],
    context: Context,
}

impl Connection {
    fn new((first, second): (Endpoint, Endpoint)) -> Self {
        let framing = match [first.port, second.port].contains(&DIRECT_PORT) {
            true => Framing::Direct,
            false => Framing::Nbt,
        };
        Self {
            first,
            directions: [Stream::new(framing), Stream::new(framing)],
            context: Context::default(),
        }
    }

    fn segment(
        &mut self,
        (frame, at): (u64, Time),
        segment: &Segment<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        for packet in self.packets(segment) {
            let mut decoded = Decoded::default();
            netbios::session(&packet.bytes, &mut self.context, &mut decoded);
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

    /// The packets that a segment completes.
    fn packets(&mut self, segment: &Segment<'_>) -> Vec<crate::stream::Packet> {
        let [first, second] = &mut self.directions;
        let stream = if segment.from == self.first {
            first
        } else {
            second
        };
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
        packets
    }
}

/// What is collected of one station's message over NetBEUI.
#[derive(Debug, Default)]
struct Collected {
    bytes: Vec<u8>,
    last_number: Option<u8>,
}

/// Two NetBEUI stations.
#[derive(Debug, Default)]
struct Link {
    collected: [Collected; 2],
    context: Context,
}

impl Link {
    fn frame(
        &mut self,
        packet: &Packet<'_>,
        frame: &Netbeui<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let [low, high] = &mut self.collected;
        let collected = if frame.from <= frame.to { low } else { high };
        if frame.number.is_some() && collected.last_number == frame.number {
            // the link sent it again
            return;
        }
        collected.last_number = frame.number.or(collected.last_number);
        let mut decoded = Decoded::default();
        let piece = nbf::frame(frame.bytes, &mut self.context, &mut decoded);
        let Some(piece) = piece else {
            each(&message(packet, frame, frame.bytes, decoded));
            return;
        };
        let part = frame.bytes.get(piece.at..).unwrap_or_default();
        let is_whole = collected.bytes.is_empty();
        collected.add(part);
        if !piece.last {
            return;
        }
        let whole = std::mem::take(&mut collected.bytes);
        if is_whole {
            nbf::session_message(part, piece.at, &mut self.context, &mut decoded);
            each(&message(packet, frame, frame.bytes, decoded));
        } else {
            decoded = Decoded::default();
            nbf::session_message(&whole, 0, &mut self.context, &mut decoded);
            each(&message(packet, frame, &whole, decoded));
        }
    }
}

impl Collected {
    fn add(&mut self, part: &[u8]) {
        if self.bytes.len() + part.len() > MAX_COLLECTED {
            self.bytes.clear();
        }
        self.bytes.extend_from_slice(part);
    }
}

fn message<'a>(
    packet: &Packet<'_>,
    frame: &Netbeui<'_>,
    bytes: &'a [u8],
    decoded: Decoded,
) -> Message<'a> {
    Message {
        frame: packet.number,
        at: packet.at,
        from: mac(frame.from),
        to: mac(frame.to),
        bytes,
        len: bytes.len(),
        decoded,
    }
}
