//! The messages of a capture file.

use coax_capture::{Content, Dissector, Endpoint, Flags, Packet, Reader, Segment};
use coax_wire::nbt::{dgm, ns, session::Framing};

use crate::{
    Context, Decoded,
    message::Message,
    netbios,
    recent::Recent,
    station::Stations,
    stream::{Captured, Packet as SessionPacket, Place, Stream},
};

/// The port of NetBIOS, whose packets have shorter lengths and flags before them.
const NBT_PORT: u16 = 139;
/// Connections that are followed at a time; the one without packets for longest is forgotten.
const MAX_CONNECTIONS: usize = 4096;

/// Data of TCP connections with messages that the capture lacks though the receiver had it, or data behind it came.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Bytes.
    pub bytes: u64,
    /// Connections that lack some.
    pub connections: u64,
}

/// Calls `each` with every NetBIOS and SMB1 message of a capture, in the order in which they were complete. A message behind
/// data that the capture lacks follows when the receiver acknowledges that data, or the capture ends.
///
/// # Errors
/// The file cannot be read or is no capture. [`Reader::damage`] of the reader says whether it ended early.
pub fn messages<R: std::io::Read>(
    reader: &mut Reader<R>,
    mut each: impl FnMut(&Message<'_>),
) -> Result<Missing, coax_capture::Error> {
    let mut dissector = Dissector::default();
    let mut tcp = Tcp::default();
    let mut stations = Stations::default();
    while let Some(packet) = reader.next_packet()? {
        match dissector.dissect(&packet) {
            Content::Tcp(segment) => tcp.segment((packet.number, packet.at), &segment, &mut each),
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
    Ok(tcp.finish(&mut each))
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

/// All TCP connections.
#[derive(Debug)]
struct Tcp {
    connections: Recent<(Endpoint, Endpoint), Connection>,
    missing: Missing,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            connections: Recent::new(MAX_CONNECTIONS),
            missing: Missing::default(),
        }
    }
}

impl Tcp {
    fn segment(
        &mut self,
        place: Place,
        segment: &Segment<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let key = ordered(segment.from, segment.to);
        if let Some(forgotten) = self.connections.make_room(&key) {
            self.end(vec![forgotten], each);
        }
        let connection = self.connections.of(key, || Connection::new(key));
        connection.segment(place, segment, each);
    }

    fn finish(mut self, each: &mut impl FnMut(&Message<'_>)) -> Missing {
        let connections = self.connections.take_all();
        self.end(connections, each);
        self.missing
    }

    /// Gives what these connections still have, in the order of the frames.
    fn end(&mut self, mut connections: Vec<Connection>, each: &mut impl FnMut(&Message<'_>)) {
        let mut rest = Vec::new();
        for (number, connection) in connections.iter_mut().enumerate() {
            let packets = connection.end().into_iter();
            rest.extend(packets.map(|(side, packet)| (number, side, packet)));
        }
        rest.sort_by_key(|(_, _, packet)| packet.place.0);
        for (number, side, packet) in rest {
            if let Some(connection) = connections.get_mut(number) {
                connection.show(side, &packet, each);
            }
        }
        for missing in connections.iter().map(Connection::missing) {
            self.missing.bytes = self.missing.bytes.saturating_add(missing);
            self.missing.connections += u64::from(missing > 0);
        }
    }
}

/// A TCP connection: its two directions and its requests.
#[derive(Debug)]
struct Connection {
    ends: [Endpoint; 2],
    directions: [Stream; 2],
    context: Context,
    has_messages: bool,
}

impl Connection {
    /// RFC 1002 leaves the bits between type and length zero, so that the longer lengths of direct hosting do for
    /// NetBIOS on other ports too.
    fn new((first, second): (Endpoint, Endpoint)) -> Self {
        let framing = match [first.port, second.port].contains(&NBT_PORT) {
            true => Framing::Nbt,
            false => Framing::Direct,
        };
        Self {
            ends: [first, second],
            directions: [Stream::new(framing), Stream::new(framing)],
            context: Context::default(),
            has_messages: false,
        }
    }

    /// Takes a segment. What it acknowledges was sent before its data, and is given before it.
    fn segment(
        &mut self,
        place: Place,
        segment: &Segment<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let [first, _] = self.ends;
        let side = usize::from(segment.from != first);
        let [low, high] = &mut self.directions;
        let (own, other) = if side == 0 { (low, high) } else { (high, low) };
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        if segment.flags.has(Flags::SYN) {
            own.end(&mut sent);
            own.begin(segment.seq.wrapping_add(1));
        }
        if segment.flags.has(Flags::ACK) {
            other.acknowledged(segment.ack, &mut received);
        }
        own.segment(segment.seq, captured(segment, place), &mut sent);
        if segment.flags.has(Flags::RST) {
            other.end(&mut received);
            own.end(&mut sent);
        }
        for packet in received {
            self.show(1 - side, &packet, each);
        }
        for packet in sent {
            self.show(side, &packet, each);
        }
    }

    /// The connection is over or the capture ends: what is left of each side.
    fn end(&mut self) -> Vec<(usize, SessionPacket)> {
        let mut rest = Vec::new();
        for (side, stream) in self.directions.iter_mut().enumerate() {
            let mut packets = Vec::new();
            stream.end(&mut packets);
            rest.extend(packets.into_iter().map(|packet| (side, packet)));
        }
        rest
    }

    /// Bytes that the capture lacks, if it is a connection with messages.
    fn missing(&self) -> u64 {
        let missing = self.directions.iter().map(Stream::missing).sum();
        if self.has_messages { missing } else { 0 }
    }

    fn show(&mut self, side: usize, packet: &SessionPacket, each: &mut impl FnMut(&Message<'_>)) {
        let [first, second] = self.ends;
        let (from, to) = if side == 0 {
            (first, second)
        } else {
            (second, first)
        };
        let mut decoded = Decoded::default();
        netbios::session(&packet.bytes, &mut self.context, &mut decoded);
        self.has_messages = true;
        let (frame, at) = packet.place;
        each(&Message {
            frame,
            at,
            from: from.to_string(),
            to: to.to_string(),
            bytes: &packet.bytes,
            len: packet.len,
            decoded,
            is_datagram: false,
        });
    }
}

fn captured<'a>(segment: &Segment<'a>, place: Place) -> Captured<'a> {
    let len = usize::try_from(segment.len).unwrap_or(0);
    let kept = len.min(segment.data.len());
    Captured {
        data: segment.data.get(..kept).unwrap_or_default(),
        len,
        place,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use coax_wire::time::Time;

    use super::{Connection, Endpoint, Flags, Segment, ordered};

    fn end(port: u16) -> Endpoint {
        let mut end = Endpoint::default();
        end.port = port;
        end
    }

    /// Lengths of the messages in `data`, sent to `port` in a connection that the capture has from the beginning or not.
    fn lens(port: u16, data: &[u8], has_begin: bool) -> Vec<usize> {
        let [from, to] = [40_000, port].map(end);
        let mut connection = Connection::new(ordered(from, to));
        let mut found = Vec::new();
        let segment = |seq, flags, data| Segment {
            from,
            to,
            seq,
            ack: 0,
            flags: Flags(flags),
            window: 0,
            checksum: 0,
            identification: 0,
            ttl: 64,
            options: &[],
            has_all_options: true,
            data,
            len: u32::try_from(data.len()).unwrap(),
        };
        let mut seq = 1000_u32;
        let mut take = |seq, flags, data| {
            let place = (1, Time(0));
            connection.segment(place, &segment(seq, flags, data), &mut |message| {
                found.push(message.len);
            });
        };
        if has_begin {
            take(seq - 1, Flags::SYN, &[]);
        }
        for part in data.chunks(1460) {
            take(seq, Flags::ACK, part);
            seq += u32::try_from(part.len()).unwrap();
        }
        found
    }

    #[test]
    fn messages_over_128_kib_are_whole_on_every_port_but_that_of_netbios() {
        let message = |len: u32| {
            let mut bytes = len.to_be_bytes().to_vec();
            bytes.extend(b"\xffSMB");
            bytes.resize(4 + len as usize, 0);
            bytes
        };
        let data = [message(0x2_0010), message(40)].concat();
        for port in [445, 1445] {
            assert_eq!(lens(port, &data, true), [0x2_0014, 44], "{port}");
            assert_eq!(lens(port, &data, false), [0x2_0014, 44], "{port}");
        }
        // flags before the 17 bits
        let mut flagged = message(40);
        flagged.splice(1..2, [0xfe]);
        assert_eq!(lens(139, &flagged, true), [44]);
    }
}
