//! SMB directly on IPX ([MS-CIFS] 2.1.2.1): each packet is a message. The client repeats a request until it is answered; the
//! server repeats an answer when it is asked again.

use std::collections::{HashMap, VecDeque};

use super::{ended::Ended, marks, room, session::Session, stream::Out};
use crate::session::Moment;
use coax_capture::{Endpoint, Ipx, Transport};
use coax_wire::{
    block::Block,
    command,
    header::{Flags, Header},
    ipx::Address,
    nbt::name::NbName,
    time::Time,
};

/// Connections that are followed at a time; requests of one that are not answered, and answers that may come again.
const MOST_CONNECTIONS: usize = 1024;
const MOST_WAITING: usize = 64;
const MOST_ANSWERED: usize = 64;
/// The longest message, bytes, if nothing tells of it.
const USUAL_MESSAGE: u16 = 1470;
/// ERRSRV/ERRworking: the server has not answered yet ([MS-CIFS] 2.1.2.1).
const WORKING: u32 = 0x0011_0002;

const CLIENT: usize = 0;
const SERVER: usize = 1;

/// What tells a request from others: process, multiplex ID, and its number.
type Name = (u32, u16, u16);

/// A request, or an answer to one, and where it is in its stream.
#[derive(Clone, Copy, Debug)]
struct Message {
    name: Name,
    command: u8,
    start: u64,
    len: u32,
    /// What was kept of it, in short.
    digest: u64,
}

/// The connections of a capture.
#[derive(Debug, Default)]
pub(super) struct DirectHosting {
    connections: HashMap<(Address, Address), Connection>,
}

impl DirectHosting {
    pub(super) fn packet(
        &mut self,
        packet: &Ipx<'_>,
        moment: Moment,
        ended: &mut Ended,
        out: Out<'_>,
    ) {
        let Ok(header) = Header::parse(packet.data) else {
            ended.damaged += 1;
            return;
        };
        let is_reply = header.flags.has(Flags::REPLY);
        let key = match is_reply {
            true => (packet.to, packet.from),
            false => (packet.from, packet.to),
        };
        let [.., c, d, s, t] = header.signature;
        let connection = u16::from_le_bytes([c, d]);
        let message = Message {
            name: (header.pid.0, header.mid.0, u16::from_le_bytes([s, t])),
            command: header.command,
            start: 0,
            len: packet.len,
            digest: digest(packet.data),
        };
        let begins = header.command == command::NEGOTIATE && connection == 0;
        let known = self.connections.get(&key);
        if !is_reply && begins && known.is_some_and(|known| !known.has_asked(&message)) {
            let old = self.connections.remove(&key);
            old.into_iter().for_each(|old| ended.add(old.session));
        }
        if !self.connections.contains_key(&key) {
            let last = |connection: &Connection| connection.last;
            let oldest = room::make(&mut self.connections, MOST_CONNECTIONS, last);
            oldest.into_iter().for_each(|old| ended.add(old.session));
            let mut new = Connection::new(key, packet, moment, ended);
            if begins && !is_reply {
                new.begin(packet.data, moment, &mut *out);
            }
            self.connections.insert(key, new);
        }
        let Some(connection) = self.connections.get_mut(&key) else {
            return;
        };
        connection.last = moment.at;
        match is_reply {
            true if header.status == WORKING => connection.session.told.still_working += 1,
            true => connection.answer(message, packet.data, moment, out),
            false => connection.request(message, packet.data, moment, out),
        }
    }

    pub(super) fn finish(&mut self, ended: &mut Ended) {
        for (_, connection) in self.connections.drain() {
            ended.add(connection.session);
        }
    }
}

/// A client and a server.
#[derive(Debug)]
struct Connection {
    session: Session,
    waiting: Vec<Message>,
    answered: VecDeque<(Message, Message)>,
    /// Bytes of the client's requests, and of the server's answers.
    sent: [u64; 2],
    /// The server's first answer opens its side.
    is_opening: bool,
    last: Time,
}

impl Connection {
    fn new(
        (client, server): (Address, Address),
        packet: &Ipx<'_>,
        moment: Moment,
        ended: &mut Ended,
    ) -> Self {
        let end = |at: Address| Endpoint::ipx(at.host, at.socket, Transport::DirectIpx);
        let mut session = Session::new(ended.next_id(), [end(client), end(server)]);
        session.told.frame_type = Some(packet.frame_type.name());
        session.opened_by(CLIENT);
        Self {
            session,
            waiting: Vec::new(),
            answered: VecDeque::new(),
            sent: [0; 2],
            is_opening: false,
            last: moment.at,
        }
    }

    /// The NEGOTIATE request opens the connection; behind it stand the names of both ends.
    fn begin(&mut self, request: &[u8], moment: Moment, out: Out<'_>) {
        self.is_opening = true;
        if let Some(names) = names_behind(request) {
            self.session.told.names = names.map(|name| Some(name.to_string()));
        }
        self.open(CLIENT, moment, out);
    }

    fn open(&mut self, station: usize, moment: Moment, out: Out<'_>) {
        if let (Some(side), Some(stream)) = (self.session.side(station), self.session.stream()) {
            stream.opens(side, USUAL_MESSAGE, moment, out);
        }
    }

    fn has_asked(&self, message: &Message) -> bool {
        self.waiting.iter().any(|it| it.name == message.name)
    }

    fn request(&mut self, message: Message, data: &[u8], moment: Moment, out: Out<'_>) {
        let is_same = |it: &Message| (it.name, it.command) == (message.name, message.command);
        let waiting = self.waiting.iter().find(|it| is_same(it));
        let mut done = self.answered.iter().rev().map(|(request, _)| request);
        // without a number, a request that was answered is repeated if all of it is the same
        let is_repeat =
            |it: &&Message| is_same(it) && (message.name.2 != 0 || it.digest == message.digest);
        // an answer that was captured was lost behind the capture: who asks again has waited for a timer
        let marks = if waiting.is_none() {
            marks::BY_TIMER
        } else {
            0
        };
        let old = waiting.or_else(|| done.find(is_repeat));
        if let Some(old) = old.copied() {
            self.count(CLIENT, true);
            let piece = (data, old.len);
            let start = old.start;
            return self
                .session
                .again(CLIENT, start, piece, marks::END | marks, (moment, out));
        }
        self.count(CLIENT, false);
        // a new request acknowledges the answers before it; one that is repeated says that its answer has not come
        let [_, answered] = self.sent;
        self.session.acknowledged(SERVER, answered);
        let start = self.data(CLIENT, (data, message.len), moment, out);
        if self.waiting.len() >= MOST_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push(Message { start, ..message });
        let most = self.waiting.len() as u64;
        if let Some(side) = self.session.counts(CLIENT) {
            side.most_unacknowledged = side.most_unacknowledged.max(most);
        }
    }

    fn answer(&mut self, message: Message, data: &[u8], moment: Moment, out: Out<'_>) {
        if std::mem::take(&mut self.is_opening) {
            let [asked, _] = self.sent;
            self.session.acknowledged(CLIENT, asked);
            self.open(SERVER, moment, &mut *out);
        }
        let place = self.waiting.iter().position(|it| it.name == message.name);
        let mut answered = self.answered.iter().rev();
        let is_same = |(request, answer): &&(Message, Message)| {
            request.name == message.name && answer.len == message.len
        };
        let old = answered.find(is_same).copied();
        if let Some((_, old)) = old.filter(|_| place.is_none()) {
            self.count(SERVER, true);
            let piece = (data, old.len);
            return self
                .session
                .again(SERVER, old.start, piece, marks::END, (moment, out));
        }
        self.count(SERVER, false);
        let request = place.map(|place| self.waiting.remove(place));
        // an answer acknowledges its request, if all before it are answered
        let oldest = self.waiting.iter().map(|it| it.start).min();
        let [asked, _] = self.sent;
        self.session.acknowledged(CLIENT, oldest.unwrap_or(asked));
        let start = self.data(SERVER, (data, message.len), moment, out);
        if self.answered.len() >= MOST_ANSWERED {
            self.answered.pop_front();
        }
        let answer = Message { start, ..message };
        self.answered
            .extend(request.map(|request| (request, answer)));
    }

    fn data(&mut self, station: usize, piece: (&[u8], u32), moment: Moment, out: Out<'_>) -> u64 {
        if let Some(sent) = self.sent.get_mut(station) {
            *sent = sent.saturating_add(u64::from(piece.1));
        }
        self.session.data(station, piece, marks::END, (moment, out))
    }

    fn count(&mut self, station: usize, is_again: bool) {
        if let Some(side) = self.session.counts(station) {
            side.frames += u64::from(!is_again);
            side.again += u64::from(is_again);
        }
    }
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}

/// The names of client and server that stand behind a NEGOTIATE request, outside of its byte count (docs/ipx.md).
fn names_behind(request: &[u8]) -> Option<[NbName; 2]> {
    let block = Block::first(request).ok()?;
    let end = block.bytes_offset.checked_add(block.bytes.len())?;
    let (client, rest) = request.get(end..)?.split_first_chunk::<16>()?;
    let (server, _) = rest.split_first_chunk::<16>()?;
    Some([NbName(*client), NbName(*server)])
}
