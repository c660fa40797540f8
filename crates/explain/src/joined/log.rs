//! The packets of one file, by connection: headers and message boundaries, without data.

use std::collections::HashMap;

use coax_capture::{Content, Dissector, Endpoint, Error, Flags, Reader, Segment, Transport};
use coax_cause::Account;
use coax_wire::{
    header::{Flags as SmbFlags, Header, PROTOCOL},
    nbt::session::{Framing, HEADER_LEN, PacketType},
    time::Time,
};

use crate::netbios::{NetbiosStage, marks};
use crate::session::{Boundaries, Chunk, Framer, Message, Moment, Sink, Verdict};
use crate::tcp::ends_of;

/// Packets of one file that are kept, about 48 bytes each.
pub(super) const MAX_PACKETS: usize = 4 << 20;
/// Connections of one file that are kept.
const MAX_CONNECTIONS: usize = 1 << 16;

/// A segment as it was captured: one of TCP, or what a frame of NetBEUI or IPX is read as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Nanoseconds of the file's clock.
    pub(super) at: i64,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) len: u32,
    /// That of IP. Frames without IP have a number made of their data instead: other sessions have the same numbers.
    pub(super) identification: u32,
    pub(super) window: u16,
    pub(super) flags: Flags,
}

/// A message of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Bytes of the direction up to its end, its session header included.
    pub(super) end: u64,
    /// Its bytes, with that header.
    pub(super) len: u64,
    pub(super) mid: Option<u16>,
    pub(super) command: Option<u8>,
    pub(super) is_reply: bool,
}

/// What one side sent, as far as it is in this file.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) packets: Vec<Packet>,
    /// Sequence number of the first byte that was framed.
    pub(super) origin: Option<u32>,
    pub(super) marks: Vec<Mark>,
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) has_syn: bool,
    framer: Framer,
    /// Bytes in front of each message.
    header_len: u64,
    /// Bytes of messages that ended.
    framed: u64,
    /// Sequence number of the next byte to frame.
    next: u32,
    latest_len: Option<u64>,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) ends: [Endpoint; 2],
    pub(super) first_frame: u64,
    pub(super) halves: [Half; 2],
}

/// All connections of a file, in the order of their first packets.
#[derive(Debug, Default)]
pub(super) struct FileLog {
    pub(super) connections: Vec<Log>,
    live: HashMap<(Endpoint, Endpoint), usize>,
    packets: usize,
}

impl FileLog {
    /// Reads a file.
    pub(super) fn read(file: impl std::io::Read) -> Result<Self, Error> {
        let mut log = Self::default();
        let mut reader = Reader::new(file)?;
        let mut dissector = Dissector::default();
        let mut netbios = NetbiosStage::default();
        while let Some(packet) = reader.next_packet()? {
            let moment = Moment {
                at: packet.at,
                frame: packet.number,
            };
            let mut outcome = Ok(());
            let mut add = |segment: &Segment<'_>, at: Moment| {
                if outcome.is_ok() {
                    outcome = log.add(segment, at);
                }
            };
            match dissector.dissect(&packet) {
                Content::Tcp(segment) => add(&segment, moment),
                Content::NetBeui(frame) => netbios.netbeui(&frame, moment, &mut add),
                Content::Ipx(packet) => netbios.ipx(&packet, moment, &mut add),
                _ => {}
            }
            outcome?;
        }
        for half in log.connections.iter_mut().flat_map(|log| &mut log.halves) {
            half.packets.sort_by_key(|packet| packet.at);
        }
        Ok(log)
    }

    fn add(&mut self, segment: &Segment<'_>, moment: Moment) -> Result<(), Error> {
        let key = (segment.from.min(segment.to), segment.from.max(segment.to));
        let known = self.live.get(&key).copied();
        let index = match known {
            Some(index) if !self.begins_anew(index, segment) => index,
            _ if self.connections.len() >= MAX_CONNECTIONS => return Ok(()),
            _ => {
                self.live.insert(key, self.connections.len());
                self.connections.push(Log::new(segment, moment));
                self.connections.len() - 1
            }
        };
        self.packets += 1;
        if self.packets > MAX_PACKETS {
            let why = format!(
                "more than {MAX_PACKETS} packets: cut a shorter part out with editcap -A and -B"
            );
            return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why).into());
        }
        if let Some(connection) = self.connections.get_mut(index) {
            connection.add(segment, moment);
        }
        Ok(())
    }

    fn begins_anew(&self, index: usize, segment: &Segment<'_>) -> bool {
        let is_first_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let connection = self.connections.get(index);
        let is_repeat = |log: &Log| {
            // each session without TCP begins with the same number
            let mut packets = log.halves.iter().flat_map(|half| &half.packets);
            let is_fresh = log.is_tcp() || !packets.any(|packet| packet.len > 0);
            let first = log.halves[0].packets.first();
            let is_same = |first: &Packet| first.seq == segment.seq && first.flags.has(Flags::SYN);
            is_fresh && first.is_some_and(is_same)
        };
        is_first_syn && connection.is_some_and(|log| !is_repeat(log))
    }
}

impl Log {
    fn new(segment: &Segment<'_>, moment: Moment) -> Self {
        let ends = ends_of(segment);
        let is_tcp = segment.from.transport() == Transport::Tcp;
        let (boundaries, header_len) = match ends[1].port {
            _ if !is_tcp => (Boundaries::Marked, 0),
            445 => (Boundaries::Headers(Framing::Direct), HEADER_LEN),
            _ => (Boundaries::Headers(Framing::Nbt), HEADER_LEN),
        };
        let is_partial = !segment.flags.has(Flags::SYN);
        let half = || Half {
            packets: Vec::new(),
            origin: None,
            marks: Vec::new(),
            mss: None,
            window_scale: None,
            has_syn: false,
            framer: Framer::new(boundaries, is_partial),
            header_len: header_len as u64,
            framed: 0,
            next: 0,
            latest_len: None,
        };
        Self {
            ends,
            first_frame: moment.frame,
            halves: [half(), half()],
        }
    }

    fn add(&mut self, segment: &Segment<'_>, moment: Moment) {
        let side = usize::from(segment.from != self.ends[0]);
        if let Some(half) = self.halves.get_mut(side) {
            half.add(segment, moment);
        }
    }

    /// Whether TCP carries it.
    pub(super) fn is_tcp(&self) -> bool {
        self.ends[0].transport() == Transport::Tcp
    }

    /// Whether messages of SMB1 were found in both directions.
    pub(super) fn is_smb(&self) -> bool {
        let mut halves = self.halves.iter();
        halves.all(|half| !half.marks.is_empty() && half.framer.verdict() == Verdict::Smb)
    }
}

impl Half {
    fn add(&mut self, segment: &Segment<'_>, moment: Moment) {
        if segment.flags.has(Flags::SYN) {
            let options = segment.syn_options();
            (self.mss, self.window_scale) = (options.mss, options.window_scale);
            self.has_syn = true;
            self.next = segment.seq.wrapping_add(1);
            self.origin.get_or_insert(self.next);
        }
        self.packets.push(Packet {
            at: i64::try_from(moment.at.0).unwrap_or(i64::MAX),
            seq: segment.seq,
            ack: segment.ack,
            len: segment.len,
            identification: match segment.from.transport() {
                Transport::Tcp => segment.identification,
                _ => fingerprint(segment.data),
            },
            window: segment.window,
            flags: segment.flags,
        });
        if segment.len > 0 {
            self.frame(segment, moment);
        }
    }

    /// Hands bytes that are in order to the framer.
    fn frame(&mut self, segment: &Segment<'_>, moment: Moment) {
        if self.origin.is_none() {
            (self.origin, self.next) = (Some(segment.seq), segment.seq);
        }
        let ahead = segment.seq.wrapping_sub(self.next) as i32;
        let before = self.marks.len();
        let is_tcp = segment.from.transport() == Transport::Tcp;
        let mut sink = Marks {
            header_len: self.header_len,
            marks: &mut self.marks,
            framed: &mut self.framed,
            latest_len: &mut self.latest_len,
        };
        let none = Account::default();
        if let Ok(missing @ 1..) = u64::try_from(ahead) {
            self.framer.gap(missing, moment, &none, &mut sink);
        }
        let known = u32::try_from(-i64::from(ahead)).unwrap_or(0);
        if known >= segment.len && ahead < 0 {
            return;
        }
        let chunk = Chunk {
            bytes: segment.data.get(known as usize..).unwrap_or_default(),
            len: u64::from(segment.len - known),
            moment,
            ends: !is_tcp && segment.flags.has(marks::END),
        };
        self.framer.push(chunk, &none, &mut sink);
        self.next = segment.seq.wrapping_add(segment.len);
        let skipped = self.framer.skipped();
        for mark in self.marks.iter_mut().skip(before) {
            mark.end = mark.end.saturating_add(skipped);
        }
    }
}

/// Notes where messages end.
struct Marks<'a> {
    header_len: u64,
    marks: &'a mut Vec<Mark>,
    framed: &'a mut u64,
    latest_len: &'a mut Option<u64>,
}

impl Sink for Marks<'_> {
    fn message(&mut self, message: Message<'_>) {
        let len = message.len.saturating_add(self.header_len);
        *self.framed = self.framed.saturating_add(len);
        if message.kind == PacketType::KeepAlive {
            return;
        }
        let is_smb = message.head.starts_with(&PROTOCOL);
        let header = Header::parse(message.head).ok().filter(|_| is_smb);
        if message.kind == PacketType::Message {
            *self.latest_len = Some(message.len);
        }
        self.marks.push(Mark {
            end: *self.framed,
            len,
            mid: header.map(|header| header.mid.0),
            command: header.map(|header| header.command),
            is_reply: header.is_some_and(|header| header.flags.has(SmbFlags::REPLY)),
        });
    }

    fn expected(&self) -> Option<u64> {
        *self.latest_len
    }
}

/// A number made of the first bytes, which both captures kept (FNV-1a).
fn fingerprint(data: &[u8]) -> u32 {
    const KEPT: usize = 48;
    let data = data.iter().take(KEPT);
    data.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// The time in nanoseconds as a [`Time`].
pub(super) fn time(at: i64) -> Time {
    Time(u64::try_from(at).unwrap_or(0))
}
