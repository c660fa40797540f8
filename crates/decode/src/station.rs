//! Frames of stations without IP in a capture: messages that several of them carry are put together.

use coax_capture::{Ipx, LinkType, NetBeui, Packet};
use coax_wire::{
    ether::Mac,
    ipx::{Host, nbipx::stream, socket},
    llc::{Control, MODULUS, Unnumbered},
};

use crate::{
    Context, Decoded, frame, ipx, message::Message, piece::Piece, recent::Recent, session,
    walk::Walk,
};

/// Links and sessions that are followed at a time; the one without frames for longest is forgotten.
const MAX_LINKS: usize = 4096;
/// Messages that are collected from several frames, bytes.
const MAX_COLLECTED: usize = 1 << 17;

/// A host, and its number of a session or its socket.
type End = (Host, u16);

/// All of them.
#[derive(Debug)]
pub(crate) struct Stations {
    links: Recent<(Mac, Mac), Link>,
    circuits: Recent<(End, End), Link>,
}

impl Default for Stations {
    fn default() -> Self {
        Self {
            links: Recent::new(MAX_LINKS),
            circuits: Recent::new(MAX_LINKS),
        }
    }
}

impl Stations {
    pub(crate) fn netbeui(
        &mut self,
        packet: &Packet<'_>,
        frame: &NetBeui<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let ends = [frame.from, frame.to];
        let link = self
            .links
            .of((ends[0].min(ends[1]), ends[0].max(ends[1])), Link::default);
        let side = usize::from(frame.from > frame.to);
        let is_new = link.control(side, frame.control);
        let start = start(packet, frame.start);
        let mut shown = Shown::new(packet, start, ends.map(|end| end.to_string()));
        shown.is_datagram = matches!(frame.control, Control::Unnumbered { .. });
        let mut walk = Walk::new(shown.bytes, 0, &mut shown.decoded);
        let piece = match start {
            0 => frame::ethernet(&mut walk, &mut link.context),
            _ => frame::llc(&mut walk, &mut link.context),
        };
        // what is missing has been noted
        link.piece(side, shown, piece.unwrap_or(None), is_new, each);
    }

    pub(crate) fn ipx(
        &mut self,
        packet: &Packet<'_>,
        found: &Ipx<'_>,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let [from, to] = ends(found);
        let link = self
            .circuits
            .of((from.min(to), from.max(to)), Link::default);
        let start = start(packet, found.start);
        let hosts = [found.from.host, found.to.host];
        let mut shown = Shown::new(packet, start, hosts.map(|host| host.to_string()));
        let mut walk = Walk::new(shown.bytes, 0, &mut shown.decoded);
        let piece = match start {
            0 => frame::ethernet(&mut walk, &mut link.context),
            _ => ipx::packet(&mut walk, &mut link.context),
        };
        let piece = piece.unwrap_or(None);
        let sockets = [found.from.socket, found.to.socket];
        shown.is_datagram = piece.is_none() && !sockets.contains(&socket::SMB_SERVER);
        let side = usize::from(from > to);
        let is_new = link.is_next(side, piece);
        link.piece(side, shown, piece, is_new, each);
    }

    /// A frame whose headers are damaged: all that can be told of it.
    pub(crate) fn damaged(&mut self, packet: &Packet<'_>, each: &mut impl FnMut(&Message<'_>)) {
        let address = |at: usize| packet.bytes.get(at..)?.first_chunk().copied().map(Mac);
        let (LinkType::Ethernet, Some(to), Some(from)) = (packet.link, address(0), address(6))
        else {
            return;
        };
        let mut shown = Shown::new(packet, 0, [from, to].map(|end| end.to_string()));
        shown.decoded = crate::ethernet_frame(packet.bytes, &mut Context::default());
        shown.is_datagram = true;
        shown.give(each);
    }
}

/// Where the bytes that are shown begin: an Ethernet frame is shown as a whole.
fn start(packet: &Packet<'_>, protocol: usize) -> usize {
    match packet.link {
        LinkType::Ethernet => 0,
        _ => protocol,
    }
}

/// Sender and receiver.
fn ends(packet: &Ipx<'_>) -> [End; 2] {
    let (from, to) = (packet.from, packet.to);
    let session = match packet.data {
        [_, kind, a, b, c, d, ..]
            if from.socket == socket::NETBIOS
                && (stream::SESSION_DATA..=stream::SESSION_END_ACK).contains(kind) =>
        {
            [u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])]
        }
        _ => [from.socket, to.socket],
    };
    [(from.host, session[0]), (to.host, session[1])]
}

/// A frame before it is handed on.
struct Shown<'a> {
    frame: u64,
    at: coax_wire::time::Time,
    ends: [String; 2],
    bytes: &'a [u8],
    len: usize,
    decoded: Decoded,
    is_datagram: bool,
}

impl<'a> Shown<'a> {
    fn new(packet: &Packet<'a>, start: usize, ends: [String; 2]) -> Self {
        let bytes = packet.bytes.get(start..).unwrap_or_default();
        let wire = usize::try_from(packet.wire_len).unwrap_or(usize::MAX);
        Self {
            frame: packet.number,
            at: packet.at,
            ends,
            bytes,
            len: wire.saturating_sub(start).max(bytes.len()),
            decoded: Decoded::default(),
            is_datagram: false,
        }
    }

    fn give(self, each: &mut impl FnMut(&Message<'_>)) {
        let [from, to] = self.ends;
        each(&Message {
            frame: self.frame,
            at: self.at,
            from,
            to,
            bytes: self.bytes,
            len: self.len,
            decoded: self.decoded,
            is_datagram: self.is_datagram,
        });
    }
}

/// What one station sends of a message.
#[derive(Debug, Default)]
struct Collected {
    bytes: Vec<u8>,
    /// Bytes on the wire.
    len: usize,
    /// A part is missing.
    broken: bool,
    /// The next number that LLC's receiver takes.
    expected: Option<u8>,
}

/// Two stations, or a session between them.
#[derive(Debug, Default)]
struct Link {
    sides: [Collected; 2],
    context: Context,
}

impl Link {
    /// Takes LLC's numbers. Whether the receiver takes the frame.
    fn control(&mut self, side: usize, control: Control) -> bool {
        let [low, high] = &mut self.sides;
        let (own, other) = if side == 0 { (low, high) } else { (high, low) };
        match control {
            Control::Information { ns, nr, .. } => {
                other.acknowledged(nr);
                own.takes(ns)
            }
            Control::Supervisory { nr, .. } => {
                other.acknowledged(nr);
                false
            }
            Control::Unnumbered { kind, .. } => {
                if kind == Unnumbered::Sabme {
                    for side in [own, other] {
                        *side = Collected {
                            expected: Some(0),
                            ..Collected::default()
                        };
                    }
                }
                true
            }
        }
    }

    /// Whether a piece that says where it belongs is the next one.
    fn is_next(&mut self, side: usize, piece: Option<Piece>) -> bool {
        let offset = piece.and_then(|piece| piece.offset);
        let (Some(offset), Some(collected)) = (offset, self.sides.get_mut(side)) else {
            return true;
        };
        if offset == 0 {
            collected.begin();
        }
        offset == collected.len
    }

    fn piece(
        &mut self,
        side: usize,
        mut shown: Shown<'_>,
        piece: Option<Piece>,
        is_new: bool,
        each: &mut impl FnMut(&Message<'_>),
    ) {
        let (Some(piece), Some(collected)) = (piece, self.sides.get_mut(side)) else {
            return shown.give(each);
        };
        let part = piece.of(shown.bytes);
        let is_whole = collected.len == 0 && piece.last && is_new;
        if is_whole && !collected.broken {
            session::message(part, piece.at, &mut self.context, &mut shown.decoded);
            return shown.give(each);
        }
        session::part(part, piece.at, &mut shown.decoded);
        let whole = match is_new {
            true => collected.add(part, piece),
            false => None,
        };
        let (frame, at, ends) = (shown.frame, shown.at, shown.ends.clone());
        shown.give(each);
        let Some((bytes, len)) = whole else { return };
        let mut decoded = Decoded::default();
        session::message(&bytes, 0, &mut self.context, &mut decoded);
        Shown {
            frame,
            at,
            ends,
            bytes: &bytes,
            len,
            decoded,
            is_datagram: false,
        }
        .give(each);
    }
}

impl Collected {
    fn begin(&mut self) {
        self.bytes.clear();
        (self.len, self.broken) = (0, false);
    }

    /// Whether the receiver takes a frame with this number: not one that it has, and none behind one that is missing.
    fn takes(&mut self, ns: u8) -> bool {
        let takes = self.expected.is_none_or(|expected| expected == ns);
        if takes {
            self.expected = Some((ns + 1) % MODULUS);
        }
        takes
    }

    /// The other station has all before `nr`. What the capture lacks of that never comes.
    fn acknowledged(&mut self, nr: u8) {
        let Some(expected) = self.expected else {
            return;
        };
        let ahead = nr.wrapping_sub(expected) % MODULUS;
        if ahead > 0 && ahead < MODULUS / 2 {
            self.begin();
            self.broken = true;
            self.expected = Some(nr);
        }
    }

    /// Adds a part; the message and its length on the wire, if that was the last one.
    fn add(&mut self, part: &[u8], piece: Piece) -> Option<(Vec<u8>, usize)> {
        if part.starts_with(b"\xffSMB") && self.broken
            || self.bytes.len() + part.len() > MAX_COLLECTED
        {
            self.begin();
        }
        // a part that was cut by the capture ends what can be decoded
        if self.bytes.len() == self.len {
            self.bytes.extend_from_slice(part);
        }
        self.len = self.len.saturating_add(piece.len);
        if !piece.last {
            return None;
        }
        let whole = (core::mem::take(&mut self.bytes), self.len);
        let is_broken = self.broken;
        self.begin();
        (!is_broken).then_some(whole)
    }
}
