//! The messages of a capture file.

use coax_capture::{Content, Dissector, Endpoint, Flags, Packet, Reader, Segment};
use coax_wire::{
    nbt::{dgm, ns, session::Framing},
    time::Time,
};

use crate::{
    Context, Decoded, message::Message, netbios, recent::Recent, station::Stations, stream::Stream,
};

/// Connections that are followed at a time; the one without packets for longest is forgotten.
const MAX_CONNECTIONS: usize = 4096;

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
    let mut stations = Stations::default();
    while let Some(packet) = reader.next_packet()? {
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
            Content::NetBeui(frame) => stations.netbeui(&packet, &frame, &mut each),
            Content::Ipx(ipx) => stations.ipx(&packet, &ipx, &mut each),
            Content::DamagedFrame(_) => stations.damaged(&packet, &mut each),
            _ => {}
        }
    }
    Ok(())
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
        is_datagram: true,
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
                is_datagram: false,
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
