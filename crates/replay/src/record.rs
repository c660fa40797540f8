//! The connections of a capture.

use std::collections::HashMap;

use coax_capture::Reader;
use coax_decode::{Message, messages};
use coax_wire::{
    header::{Flags, Header, PROTOCOL},
    smb::transaction::Kind,
};

/// Bytes of messages that are kept of a capture.
const MAX_BYTES: usize = 512 << 20;

/// Why a capture cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It cannot be read.
    #[error(transparent)]
    Capture(#[from] coax_capture::Error),
    /// Too long.
    #[error(
        "it has more than 512 MiB of SMB messages: cut a part out of it, for example with editcap"
    )]
    TooLong,
}

/// A message of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The frame that completed it.
    pub frame: u64,
    /// The client sent it.
    pub from_client: bool,
    /// The message without the session layer's header, as far as it was captured.
    pub bytes: Vec<u8>,
    /// Bytes that it had on the wire.
    pub len: usize,
}

impl Packet {
    /// The header, unless it is data of raw mode.
    pub fn header(&self) -> Option<Header> {
        Header::parse(&self.bytes).ok()
    }
}

/// The messages between a client and a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The client's address.
    pub client: String,
    /// The server's address.
    pub server: String,
    /// Its messages, in the order of the capture.
    pub packets: Vec<Packet>,
}

impl Conversation {
    /// Its first and last frame.
    pub fn frames(&self) -> (u64, u64) {
        let frame = |packet: Option<&Packet>| packet.map_or(0, |packet| packet.frame);
        (frame(self.packets.first()), frame(self.packets.last()))
    }

    /// How many requests it has.
    pub fn requests(&self) -> usize {
        let is_request = |packet: &&Packet| packet.from_client && packet.header().is_some();
        self.packets.iter().filter(is_request).count()
    }
}

/// A message before it is known who the client is.
struct Raw {
    frame: u64,
    from: String,
    to: String,
    bytes: Vec<u8>,
    len: usize,
}

/// The connections of a capture that contain requests, in the order of their beginning.
///
/// # Errors
/// The capture cannot be read.
pub fn conversations<R: std::io::Read>(
    reader: &mut Reader<R>,
) -> Result<Vec<Conversation>, RecordError> {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut found: HashMap<(String, String), Vec<Raw>> = HashMap::new();
    let mut total = 0;
    messages(reader, |message| {
        let Some(raw) = raw(message).filter(|_| total <= MAX_BYTES) else {
            return;
        };
        total += raw.bytes.len();
        let key = match raw.from <= raw.to {
            true => (raw.from.clone(), raw.to.clone()),
            false => (raw.to.clone(), raw.from.clone()),
        };
        found
            .entry(key.clone())
            .or_insert_with(|| {
                order.push(key);
                Vec::new()
            })
            .push(raw);
    })?;
    if total > MAX_BYTES {
        return Err(RecordError::TooLong);
    }
    let mut of = |key| found.remove(&key).and_then(conversation);
    Ok(order.into_iter().filter_map(&mut of).collect())
}

/// The message without its session header; `None` if it is none of a session.
fn raw(message: &Message<'_>) -> Option<Raw> {
    if message.is_datagram {
        return None;
    }
    let fields = &message.decoded.fields;
    let is_framed = |name| fields.first().is_some_and(|first| first.name == name);
    let smb = message.decoded.field("Protocol").map(|field| field.at);
    let start = match (smb, is_framed("NetBIOS session packet"), message.bytes) {
        (Some(at), ..) => at,
        // raw data over TCP; over other transports it cannot be told from other frames
        (None, true, [0, _, _, _, _, ..]) => 4,
        _ => return None,
    };
    Some(Raw {
        frame: message.frame,
        from: message.from.clone(),
        to: message.to.clone(),
        bytes: message.bytes.get(start..)?.to_vec(),
        len: message.len.saturating_sub(start),
    })
}

fn conversation(raw: Vec<Raw>) -> Option<Conversation> {
    let client = raw.iter().find_map(|message| {
        let header = Header::parse(&message.bytes).ok()?;
        let is_reply = header.flags.has(Flags::REPLY);
        // a server's own request is the break of an oplock
        let is_break = header.command == coax_wire::command::LOCKING_ANDX && header.mid.0 == 0xffff;
        match (is_reply, is_break) {
            (true, _) | (false, true) => Some(message.to.clone()),
            (false, false) => Some(message.from.clone()),
        }
    })?;
    let first = raw.first()?;
    let server = match first.from == client {
        true => first.to.clone(),
        false => first.from.clone(),
    };
    let packets = raw.into_iter().map(|message| Packet {
        frame: message.frame,
        from_client: message.from == client,
        bytes: message.bytes,
        len: message.len,
    });
    let found = Conversation {
        client: client.clone(),
        server,
        packets: packets.collect(),
    };
    (found.requests() > 0).then_some(found)
}

/// Whether bytes begin with an SMB header.
pub(crate) fn is_smb(bytes: &[u8]) -> bool {
    bytes.starts_with(&PROTOCOL)
}

/// Whether a request of this command can be continued by secondary ones.
pub(crate) fn is_transaction(command: u8) -> bool {
    Kind::of(command).is_some()
}
