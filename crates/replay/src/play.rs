//! Plays a connection.

use std::{
    collections::{HashSet, VecDeque},
    time::{Duration, Instant},
};

use coax_decode::{Context, Identifier};
use coax_wire::{
    command as code,
    header::{Flags, HEADER_LEN, Header, Mid, Pid},
    io::Writer,
    status::{Status, reply::ReplyStatus},
};

use crate::{
    compare::{Class, Difference, Reply, compare},
    fields::{has, ids},
    logon::{Identity, Negotiated},
    mapping::Mapping,
    record::{Conversation, Packet, is_smb, is_transaction},
    rewrite::{decode, rewrite},
};

/// A connection to the server.
pub trait Wire {
    /// Sends a message.
    ///
    /// # Errors
    /// The connection has ended.
    fn send(&mut self, message: &[u8]) -> Result<(), String>;

    /// The next message; `None` if none comes within the time.
    ///
    /// # Errors
    /// The connection has ended.
    fn receive(&mut self, limit: Duration) -> Result<Option<Vec<u8>>, String>;
}

/// A recorded request that was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its frame.
    pub frame: u64,
    /// What it is.
    pub message: String,
    /// Why not.
    pub why: String,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Requests that were sent.
    pub sent: usize,
    /// Replies that were compared.
    pub compared: usize,
    /// Fields that are the same.
    pub same_fields: usize,
    /// Fields that are not.
    pub differences: Vec<Difference>,
    /// Requests that were not sent.
    pub skipped: Vec<Skipped>,
    /// Why it ended before the end of the recorded connection: frame and reason.
    pub stopped: Option<(u64, String)>,
}

impl Outcome {
    /// Fields in which the servers differ.
    pub fn real(&self) -> impl Iterator<Item = &Difference> {
        let real = |difference: &&Difference| difference.class == Class::Differs;
        self.differences.iter().filter(real)
    }
}

/// Replies that came before they are due, and are kept.
const MAX_EARLY: usize = 4096;
/// Oplock breaks for each request sent: a request opens at most one file, whose oplock the server breaks to level II and then to none.
const MAX_BREAKS: usize = 2;
/// Differences that are kept.
const MAX_DIFFERENCES: usize = 10_000;

/// Offset of the flags in the header.
const FLAGS: usize = 9;

type Key = (Pid, Mid);

/// Plays a connection. It ends at the recorded end, when the server ends it, or when an answer takes longer than `limit`.
pub fn play(
    conversation: &Conversation,
    identity: &Identity,
    wire: &mut dyn Wire,
    limit: Duration,
) -> Outcome {
    let mut player = Player {
        identity,
        wire,
        limit,
        mapping: Mapping::default(),
        negotiated: Negotiated::default(),
        old: Context::default(),
        new: Context::default(),
        asked: HashSet::new(),
        left_out: HashSet::new(),
        early: VecDeque::new(),
        breaks: 0,
        raw_reads: 0,
        raw_write: RawWrite::None,
        outcome: Outcome::default(),
    };
    for (index, packet) in conversation.packets.iter().enumerate() {
        let done = match packet.from_client {
            true => player.request(
                packet,
                conversation.packets.get(index + 1..).unwrap_or_default(),
            ),
            false => player.expected(packet),
        };
        if let Err(why) = done {
            player.outcome.stopped = Some((packet.frame, why));
            break;
        }
    }
    player.outcome
}

/// What the last WRITE_RAW led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RawWrite {
    None,
    /// The server here asks for its data.
    Wanted,
    /// The server here refused it.
    Refused,
}

struct Player<'a> {
    identity: &'a Identity,
    wire: &'a mut dyn Wire,
    limit: Duration,
    mapping: Mapping,
    negotiated: Negotiated,
    /// The contexts of the recorded connection and of this one.
    old: Context,
    new: Context,
    /// Requests that were sent.
    asked: HashSet<Key>,
    /// Requests that were not.
    left_out: HashSet<Key>,
    early: VecDeque<Vec<u8>>,
    /// Oplock breaks of the server here.
    breaks: usize,
    raw_reads: usize,
    raw_write: RawWrite,
    outcome: Outcome,
}

impl Player<'_> {
    fn request(&mut self, packet: &Packet, rest: &[Packet]) -> Result<(), String> {
        let Some(header) = packet.header() else {
            return self.raw_data(packet);
        };
        let decoded = decode(&packet.bytes, &mut self.old);
        let key = (header.pid, header.mid);
        let title = decoded.title.clone();
        let why = self.why_not(packet, &header, rest);
        let sent = match why {
            Some(why) => Err(why),
            None => rewrite(
                &packet.bytes,
                &decoded,
                &self.mapping,
                (self.identity, &self.negotiated),
            ),
        };
        let mut message = match sent {
            Ok(message) => message,
            Err(why) => {
                self.left_out.insert(key);
                self.asked.remove(&key);
                self.skip(packet, title, why);
                return Ok(());
            }
        };
        // what the capture has cut of the request was data
        let missing = packet.len.saturating_sub(packet.bytes.len()).min(1 << 17);
        if missing > 0 && header.command == code::NEGOTIATE {
            return Err("the capture cut the dialects that the client offers: capture with a larger snap length".into());
        }
        message.resize(message.len().saturating_add(missing), 0);
        decode(&message, &mut self.new);
        self.asked.insert(key);
        self.left_out.remove(&key);
        if header.command == code::READ_RAW {
            self.raw_reads += 1;
        }
        self.raw_write = RawWrite::None;
        self.outcome.sent += 1;
        self.wire.send(&message)
    }

    /// Why a request is not sent.
    fn why_not(&mut self, packet: &Packet, header: &Header, rest: &[Packet]) -> Option<String> {
        if header.flags.has(Flags::REPLY) {
            return Some("it is a reply".into());
        }
        if header.command == code::SESSION_SETUP_ANDX && is_first_leg(header, rest) {
            return Some("the log-on here needs one request".into());
        }
        if header.command == code::LOCKING_ANDX && is_release(&packet.bytes) {
            return Some(
                "it answers an oplock break, which is answered here when one comes".into(),
            );
        }
        if header.command == code::NT_CANCEL && !self.asked.contains(&(header.pid, header.mid)) {
            return Some("the request that it cancels was not sent".into());
        }
        None
    }

    fn skip(&mut self, packet: &Packet, message: String, why: String) {
        let frame = packet.frame;
        self.outcome.skipped.push(Skipped {
            frame,
            message,
            why,
        });
    }

    /// The data of a raw write.
    fn raw_data(&mut self, packet: &Packet) -> Result<(), String> {
        match self.raw_write {
            RawWrite::Wanted => {
                let mut data = packet.bytes.clone();
                data.resize(packet.len.clamp(packet.bytes.len(), 1 << 17), 0);
                self.raw_write = RawWrite::None;
                self.wire.send(&data)
            }
            RawWrite::Refused | RawWrite::None => {
                let why = "the server here did not ask for it";
                self.skip(packet, "data of a raw write".into(), why.into());
                Ok(())
            }
        }
    }

    /// A recorded message of the server: waits for what answers the same request.
    fn expected(&mut self, packet: &Packet) -> Result<(), String> {
        let Some(header) = packet
            .header()
            .filter(|_| self.raw_reads == 0 || is_smb(&packet.bytes))
        else {
            return self.raw_reply(packet);
        };
        if is_break(&header) {
            // a break of an oplock: it comes here at another time, or not at all
            return Ok(());
        }
        let key = (header.pid, header.mid);
        if self.left_out.contains(&key) || !self.asked.contains(&key) {
            return Ok(());
        }
        let is_interim = is_interim(&header, &packet.bytes);
        let Some(reply) = self.reply(key, header.command)? else {
            return Err(format!(
                "no answer within {} s to {}",
                self.limit.as_secs_f32(),
                code::name(header.command).unwrap_or("a request")
            ));
        };
        let reply = self.marked(packet, reply);
        self.judge(packet, &header, &reply, is_interim)
    }

    /// smbd's interim reply of a raw write is not marked as a reply.
    fn marked(&mut self, packet: &Packet, mut reply: Vec<u8>) -> Vec<u8> {
        let unmarked = reply
            .get_mut(FLAGS)
            .filter(|flags| **flags & Flags::REPLY == 0);
        let Some(flags) = unmarked else {
            return reply;
        };
        *flags |= Flags::REPLY;
        self.outcome.differences.push(Difference {
            frame: packet.frame,
            message: "reply".into(),
            field: "Flags".into(),
            recorded: Some("REPLY".into()),
            here: Some("without REPLY".into()),
            class: Class::Differs,
        });
        reply
    }

    fn judge(
        &mut self,
        packet: &Packet,
        header: &Header,
        reply: &[u8],
        was_interim: bool,
    ) -> Result<(), String> {
        let recorded = decode(&packet.bytes, &mut self.old);
        let here = decode(reply, &mut self.new);
        let old = Reply {
            bytes: &packet.bytes,
            decoded: &recorded,
            is_whole: packet.bytes.len() >= packet.len,
        };
        let new = Reply {
            bytes: reply,
            decoded: &here,
            is_whole: true,
        };
        let (mut differences, same) = compare(packet.frame, &old, &new);
        soften(&mut differences, &recorded.title);
        self.outcome.compared += 1;
        self.outcome.same_fields += same;
        if self.outcome.differences.len() < MAX_DIFFERENCES {
            self.outcome.differences.extend(differences);
        }
        let answer = Header::parse(reply).map_err(|error| error.to_string())?;
        let (was_ok, is_ok) = (is_success(header), is_success(&answer));
        if was_ok && is_ok {
            self.mapping
                .learn((&packet.bytes, &recorded), (reply, &here));
        }
        let is_interim = is_interim(&answer, reply);
        if header.command == code::WRITE_RAW || answer.command == code::WRITE_RAW {
            self.raw_write(packet, (was_interim, is_interim), (header.pid, header.mid))?;
        }
        if has(&recorded, "NEGOTIATE") {
            self.negotiated = Negotiated::of(reply, &here);
            return same_dialect(&packet.bytes, reply);
        }
        Ok(())
    }

    fn raw_write(
        &mut self,
        packet: &Packet,
        (was, is): (bool, bool),
        key: Key,
    ) -> Result<(), String> {
        self.raw_write = match (was, is) {
            (true, true) => RawWrite::Wanted,
            (true, false) => {
                // there is no further reply
                self.left_out.insert(key);
                RawWrite::Refused
            }
            (false, true) => {
                let why = "the server here asks for the data of a raw write that the recorded one refused";
                self.skip(packet, "data of a raw write".into(), why.into());
                return Err(why.into());
            }
            (false, false) => RawWrite::None,
        };
        Ok(())
    }

    /// The data that a raw read gives.
    fn raw_reply(&mut self, packet: &Packet) -> Result<(), String> {
        if self.raw_reads == 0 {
            return Ok(());
        }
        self.raw_reads -= 1;
        let Some(data) = self.raw()? else {
            return Err(format!(
                "no data of a raw read within {} s",
                self.limit.as_secs_f32()
            ));
        };
        self.outcome.compared += 1;
        let known = packet.bytes.len().min(data.len());
        let is_same = data.len() == packet.len && data.get(..known) == packet.bytes.get(..known);
        if is_same {
            self.outcome.same_fields += 1;
            return Ok(());
        }
        let at = packet
            .bytes
            .iter()
            .zip(&data)
            .position(|(old, new)| old != new);
        let place = at.map_or_else(String::new, |at| format!(", another byte at {at}"));
        self.outcome.differences.push(Difference {
            frame: packet.frame,
            message: "data of READ_RAW".into(),
            field: "Data".into(),
            recorded: Some(format!("{} bytes", packet.len)),
            here: Some(format!("{} bytes{place}", data.len())),
            class: Class::Differs,
        });
        Ok(())
    }

    /// The reply to a request. smbd's interim reply of a raw write does not have the request's MID.
    fn reply(&mut self, key: Key, command: u8) -> Result<Option<Vec<u8>>, String> {
        let raw_write = [code::WRITE_RAW, code::WRITE_COMPLETE];
        let is_its = |message: &Vec<u8>| {
            Header::parse(message).is_ok_and(|header| {
                let both = [command, header.command];
                (header.pid, header.mid) == key || both.iter().all(|one| raw_write.contains(one))
            })
        };
        self.awaited(is_its)
    }

    /// The next message that is no oplock break.
    fn raw(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.awaited(|message| Header::parse(message).is_err())
    }

    /// The first message that `is_it`; `None` if none comes within the limit, whatever else comes.
    fn awaited(&mut self, is_it: impl Fn(&Vec<u8>) -> bool) -> Result<Option<Vec<u8>>, String> {
        let begun = Instant::now();
        loop {
            if let Some(index) = self.early.iter().position(&is_it) {
                return Ok(self.early.remove(index));
            }
            let left = self.limit.saturating_sub(begun.elapsed());
            if !self.listen(left)? {
                return Ok(None);
            }
        }
    }

    /// Takes a message from the server; `false` if none came in time.
    fn listen(&mut self, limit: Duration) -> Result<bool, String> {
        let Some(message) = self.wire.receive(limit)? else {
            return Ok(false);
        };
        match Header::parse(&message) {
            Ok(header) if is_break(&header) => self.release(&header, &message)?,
            _ if self.early.len() < MAX_EARLY => self.early.push_back(message),
            _ => return Err("the server sends replies to no request".into()),
        }
        Ok(true)
    }

    /// Answers the break of an oplock, so that the server goes on.
    fn release(&mut self, header: &Header, message: &[u8]) -> Result<(), String> {
        let decoded = coax_decode::smb_message(message, &mut Context::default());
        let Some((_, fid)) = ids(&decoded, Identifier::Fid).next() else {
            return Ok(());
        };
        self.breaks += 1;
        if self.breaks > self.outcome.sent.saturating_mul(MAX_BREAKS) {
            return Err("the server breaks more oplocks than it can have granted".into());
        }
        let mut out = Writer::with_capacity(64);
        Header {
            flags: Flags(0),
            ..*header
        }
        .emit(&mut out);
        out.u8(8)
            .u8(0xff)
            .u8(0)
            .u16(0)
            .u16(fid)
            .u8(2)
            .u8(0)
            .u32(0)
            .u16(0)
            .u16(0)
            .u16(0);
        self.wire.send(out.as_slice())
    }
}

/// Whether the recorded reply to a log-on says that it goes on.
fn is_first_leg(header: &Header, rest: &[Packet]) -> bool {
    let reply = rest
        .iter()
        .filter(|packet| !packet.from_client)
        .find_map(|packet| {
            let reply = packet.header()?;
            ((reply.pid, reply.mid) == (header.pid, header.mid)).then_some(reply)
        });
    reply.is_some_and(|reply| ReplyStatus::of(&reply).status() == Status::MORE_PROCESSING_REQUIRED)
}

/// Whether a LOCKING_ANDX only answers an oplock break: bit 1 of its type, and nothing to lock or unlock.
fn is_release(message: &[u8]) -> bool {
    let at = HEADER_LEN + 1;
    let kind = message.get(at + 6).copied().unwrap_or(0);
    let counts = message.get(at + 12..at + 16).unwrap_or(&[1]);
    kind & 2 != 0 && counts.iter().all(|byte| *byte == 0)
}

/// Whether a message of a server breaks an oplock.
fn is_break(header: &Header) -> bool {
    !header.flags.has(Flags::REPLY) && header.command == code::LOCKING_ANDX
}

fn is_success(header: &Header) -> bool {
    let status = ReplyStatus::of(header).status();
    status.is_ok() || status == Status::BUFFER_OVERFLOW
}

/// Whether a reply asks for the rest of its request.
fn is_interim(header: &Header, message: &[u8]) -> bool {
    let is_empty = message.get(HEADER_LEN) == Some(&0);
    header.status == 0
        && (header.command == code::WRITE_RAW || (is_transaction(header.command) && is_empty))
}

/// Another dialect makes everything else different.
fn same_dialect(recorded: &[u8], here: &[u8]) -> Result<(), String> {
    let index = |message: &[u8]| {
        message
            .get(HEADER_LEN + 1..HEADER_LEN + 3)
            .map(<[u8]>::to_vec)
    };
    match index(recorded) == index(here) {
        true => Ok(()),
        false => {
            Err("the server here chose another dialect, so the rest cannot be compared".into())
        }
    }
}

/// Log-ons here are without extended security: what follows from that is expected.
fn soften(differences: &mut [Difference], title: &str) {
    let is_logon = title.contains("NEGOTIATE") || title.contains("SESSION_SETUP_ANDX");
    for difference in differences.iter_mut().filter(|_| is_logon) {
        let of_logon = [
            "WordCount",
            "Capabilities",
            "ChallengeLength",
            "Action",
            "SecurityMode",
        ];
        if of_logon.contains(&difference.field.as_str()) {
            difference.class = Class::Expected;
        }
    }
    for difference in differences.iter_mut().filter(|d| d.field == "Flags2") {
        difference.class = Class::Expected;
    }
}
