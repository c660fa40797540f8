//! Sessions of NetBIOS over IPX: docs/ipx.md has their packets and where that is known from.

use std::collections::{HashMap, VecDeque};

use super::{
    ended::Ended,
    marks,
    numbers::{Numbered, Numbers, Place},
    room,
    session::Session,
    stream::{Out, UNTOLD_WINDOW, WINDOW_SHIFT},
};
use crate::session::Moment;
use coax_capture::{Endpoint, Ipx, Transport};
use coax_wire::ipx::{
    Host,
    nbipx::{SESSION_HEADER_LEN, SessionHeader, SessionOpen, control, stream},
};
use coax_wire::time::Time;

/// Sessions that are followed at a time, and requests for one that were not answered.
const MOST_CIRCUITS: usize = 1024;
const MOST_OPENING: usize = 64;
/// Numbers have 16 bits.
const MODULUS: u64 = 1 << 16;
/// The most data of a packet, bytes, as long as no packet was longer.
const USUAL_DATA: u16 = 1452;

/// A host and its number of a session.
type End = (Host, u16);

/// A request for a session.
#[derive(Debug)]
struct Opening {
    client: End,
    server: Host,
    moment: Moment,
    header: SessionHeader,
    open: Option<SessionOpen>,
}

/// The sessions of a capture.
#[derive(Debug, Default)]
pub(super) struct Circuits {
    circuits: HashMap<(End, End), Circuit>,
    opening: VecDeque<Opening>,
}

impl Circuits {
    pub(super) fn packet(
        &mut self,
        packet: &Ipx<'_>,
        moment: Moment,
        ended: &mut Ended,
        out: Out<'_>,
    ) {
        let Some((header, data)) = split(packet.data) else {
            // names and datagrams, or a header that was cut off
            return;
        };
        let (from, to) = (packet.from.host, packet.to.host);
        let is_first = header.destination == SessionHeader::UNASSIGNED;
        let is_system = header.has(control::SYSTEM);
        if is_first && header.has(control::CONFIRM) && !is_system {
            return self.open((from, header.source), to, (moment, header, data));
        }
        let ends = ((from, header.source), (to, header.destination));
        if header.has(control::SYSTEM | control::CONFIRM) && header.stream == stream::SESSION_DATA {
            self.accept(ends, packet, (moment, header), ended, &mut *out);
        }
        let key = ordered(ends);
        if !self.circuits.contains_key(&key) {
            // one that the capture begins in shows its client by its messages
            if is_first || is_system || header.stream != stream::SESSION_DATA {
                return;
            }
            self.add(key, Circuit::new(key, packet, moment, ended), ended);
        }
        let Some(circuit) = self.circuits.get_mut(&key) else {
            return;
        };
        let len = u32::from(header.len);
        circuit.packet(
            usize::from(key.0 != ends.0),
            &header,
            (data, len),
            moment,
            out,
        );
        if header.stream == stream::SESSION_END_ACK
            && let Some(circuit) = self.circuits.remove(&key)
        {
            ended.add(circuit.session);
        }
    }

    pub(super) fn finish(&mut self, ended: &mut Ended) {
        for (_, circuit) in self.circuits.drain() {
            ended.add(circuit.session);
        }
    }

    /// A request for a session, perhaps not the first: it begins with that.
    fn open(&mut self, client: End, server: Host, asked: (Moment, SessionHeader, &[u8])) {
        let mut known = self.opening.iter();
        if known.any(|opening| (opening.client, opening.server) == (client, server)) {
            return;
        }
        if self.opening.len() >= MOST_OPENING {
            self.opening.pop_front();
        }
        let (moment, header, data) = asked;
        self.opening.push_back(Opening {
            client,
            server,
            moment,
            header,
            open: SessionOpen::parse(data).ok(),
        });
    }

    fn accept(
        &mut self,
        (server, client): (End, End),
        packet: &Ipx<'_>,
        (moment, header): (Moment, SessionHeader),
        ended: &mut Ended,
        out: Out<'_>,
    ) {
        let is_asked = |opening: &Opening| (opening.client, opening.server) == (client, server.0);
        let place = self.opening.iter().position(is_asked);
        let Some(opening) = place.and_then(|place| self.opening.remove(place)) else {
            return;
        };
        let key = ordered((client, server));
        if let Some(old) = self.circuits.remove(&key) {
            ended.add(old.session);
        }
        let mut circuit = Circuit::new(key, packet, moment, ended);
        circuit.open(
            usize::from(key.0 != client),
            &opening,
            (moment, &header),
            out,
        );
        self.add(key, circuit, ended);
    }

    fn add(&mut self, key: (End, End), circuit: Circuit, ended: &mut Ended) {
        let last = |circuit: &Circuit| circuit.last;
        if let Some(oldest) = room::make(&mut self.circuits, MOST_CIRCUITS, last) {
            ended.add(oldest.session);
        }
        self.circuits.insert(key, circuit);
    }
}

/// A session.
#[derive(Debug)]
struct Circuit {
    session: Session,
    numbers: [Numbers; 2],
    /// The longest data of each station's packets: its window counts packets.
    longest: [u16; 2],
    last: Time,
}

impl Circuit {
    fn new(
        ((one, first), (other, second)): (End, End),
        packet: &Ipx<'_>,
        moment: Moment,
        ended: &mut Ended,
    ) -> Self {
        let ends = [
            Endpoint::ipx(one, first, Transport::Nbipx),
            Endpoint::ipx(other, second, Transport::Nbipx),
        ];
        let mut session = Session::new(ended.next_id(), ends);
        session.told.frame_type = Some(packet.frame_type.name());
        Self {
            session,
            numbers: [Numbers::new(MODULUS), Numbers::new(MODULUS)],
            longest: [0; 2],
            last: moment.at,
        }
    }

    /// A request for it was answered. What opens it has a number, the answer has none.
    fn open(
        &mut self,
        client: usize,
        opening: &Opening,
        (moment, accepted): (Moment, &SessionHeader),
        out: Out<'_>,
    ) {
        let first = [opening.header.sequence.wrapping_add(1), accepted.sequence];
        let by_station = if client == 0 {
            first
        } else {
            [first[1], first[0]]
        };
        for (numbers, first) in self.numbers.iter_mut().zip(by_station) {
            numbers.begin(u64::from(first));
        }
        self.session.opened_by(client);
        if let Some(open) = &opening.open {
            self.session.told.names = [
                Some(open.source.to_string()),
                Some(open.destination.to_string()),
            ];
        }
        let most = opening.open.map_or(USUAL_DATA, |open| open.max_data);
        if let Some(side) = self.session.counts(client) {
            side.receive_bytes = Some(most);
        }
        for (station, moment) in [(client, opening.moment), (1 - client, moment)] {
            if let (Some(side), Some(stream)) = (self.session.side(station), self.session.stream())
            {
                stream.opens(side, most, moment, &mut *out);
            }
        }
    }

    fn packet(
        &mut self,
        station: usize,
        header: &SessionHeader,
        (data, len): (&[u8], u32),
        moment: Moment,
        out: Out<'_>,
    ) {
        self.last = moment.at;
        self.heard(station, header);
        let answers = if header.has(control::ACK_REQUIRED) {
            marks::POLL
        } else {
            marks::FINAL
        };
        let resend = if header.has(control::RESEND) {
            marks::REJECTS
        } else {
            0
        };
        match header.stream {
            stream::SESSION_END => {
                self.number(station, header);
                self.session.ends(station, moment, out);
            }
            _ if header.has(control::SYSTEM) => {
                let marks = answers | resend;
                if let Some(side) = self.session.counts(station) {
                    side.rejects += u64::from(resend != 0);
                    side.polls += u64::from(answers == marks::POLL);
                }
                self.session.says(station, marks, moment, out);
            }
            stream::SESSION_DATA => self.data(station, header, (data, len), moment, out),
            _ => {}
        }
    }

    fn data(
        &mut self,
        station: usize,
        header: &SessionHeader,
        piece: (&[u8], u32),
        moment: Moment,
        out: Out<'_>,
    ) {
        let Some(numbers) = self.numbers.get_mut(station) else {
            return;
        };
        let place = numbers.place(u64::from(header.sequence));
        let end = if header.has(control::END_OF_MESSAGE) {
            marks::END
        } else {
            0
        };
        let (is_again, fills) = match place {
            Place::Next { fills, .. } => (fills, if fills { marks::FILLS } else { 0 }),
            Place::Again(_) => (true, 0),
            Place::Early => (false, 0),
        };
        if let Some(side) = self.session.counts(station) {
            side.frames += u64::from(matches!(place, Place::Next { .. }));
            side.again += u64::from(is_again);
            side.most_unacknowledged = numbers.most_unacknowledged;
        }
        match place {
            Place::Next { number, .. } => {
                let start = self
                    .session
                    .data(station, piece, end | fills, (moment, out));
                numbers.take(Numbered {
                    number,
                    session: self.session.id,
                    start,
                    len: piece.1,
                });
            }
            Place::Again(Some(old)) if old.len > 0 => {
                let piece = (piece.0, old.len);
                self.session
                    .again(station, old.start, piece, end, (moment, out));
            }
            Place::Again(_) | Place::Early => self.session.says(station, 0, moment, out),
        }
        if let Some(longest) = self.longest.get_mut(station) {
            *longest = header.len.max(*longest);
        }
    }

    /// A packet without data that has a number.
    fn number(&mut self, station: usize, header: &SessionHeader) {
        let Some(numbers) = self.numbers.get_mut(station) else {
            return;
        };
        if let Place::Next { number, .. } = numbers.place(u64::from(header.sequence)) {
            numbers.take(Numbered {
                number,
                session: 0,
                start: 0,
                len: 0,
            });
        }
    }

    /// What a packet says of the other station's packets, and of the room for them.
    fn heard(&mut self, station: usize, header: &SessionHeader) {
        let other = 1 - station;
        let Some(numbers) = self.numbers.get_mut(other) else {
            return;
        };
        let acked = numbers.acknowledge(u64::from(header.acknowledged));
        if acked.missing > 0 {
            self.session.lacks(other, acked.missing);
        } else if let Some(offset) = numbers.acked_offset(self.session.id, acked.until) {
            self.session.acknowledged(other, offset);
        }
        let packets = header.window_end.wrapping_sub(header.acknowledged);
        let is_told = header.window_end != 0 && packets <= u16::MAX / 2;
        let longest = self.longest.get(other).copied().unwrap_or_default();
        let each = u32::from(longest.max(USUAL_DATA));
        let window = (u32::from(packets) * each) >> WINDOW_SHIFT;
        if let Some(place) = self.session.windows.get_mut(station) {
            *place = match is_told {
                true => u16::try_from(window).unwrap_or(UNTOLD_WINDOW),
                false => UNTOLD_WINDOW,
            };
        }
        if let Some(side) = self.session.counts(station).filter(|_| is_told) {
            let known = side.window_frames.get_or_insert(packets);
            *known = packets.max(*known);
        }
    }
}

fn ordered((one, other): (End, End)) -> (End, End) {
    if one <= other {
        (one, other)
    } else {
        (other, one)
    }
}

/// The header of a session's packet, and what was kept of its data.
fn split(packet: &[u8]) -> Option<(SessionHeader, &[u8])> {
    const LEN: core::ops::Range<usize> = 12..14;
    let (head, data) = packet.split_at_checked(SESSION_HEADER_LEN)?;
    let len: [u8; 2] = head.get(LEN)?.try_into().ok()?;
    // the codec refuses a header whose data was cut off
    let mut bare = [0; SESSION_HEADER_LEN];
    bare.copy_from_slice(head);
    bare.get_mut(LEN)?.fill(0);
    let (header, _) = SessionHeader::parse(&bare).ok()?;
    let len = u16::from_le_bytes(len);
    let data = data.get(..usize::from(len)).unwrap_or(data);
    Some((SessionHeader { len, ..header }, data))
}
