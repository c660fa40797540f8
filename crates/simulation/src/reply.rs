//! Decodes replies, independently of the server's codec.

use crate::op::{Carrier, Op, OpenArgs, Oplock, Request, Verb};

/// A message from the server.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "fields are named after those of the messages")]
pub enum Message {
    /// Raw data, or the empty message that stands for an error.
    Raw(Vec<u8>),
    /// An oplock breaks to level II or none.
    Break { fid: u16, to: Oplock },
    /// An answer.
    Answer { mid: u16, reply: Reply },
}

/// The result of an open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// FID.
    pub fid: u16,
    /// The action: 1 opened, 2 created, 3 overwritten; `None` if the command does not report it.
    pub action: Option<u16>,
    /// The length, if the command reports it.
    pub size: Option<u64>,
    /// The granted oplock.
    pub oplock: Oplock,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The status in wire format.
    pub status: u32,
    /// Command of the header.
    pub command: u8,
    /// UID and TID of the header, which log-ons and tree connects set.
    pub uid: u16,
    /// TID.
    pub tid: u16,
    /// Number of words of the first block.
    pub words: usize,
    /// The result of an open.
    pub opened: Option<Opened>,
    /// The result of a read.
    pub data: Option<Vec<u8>>,
    /// The number of bytes written.
    pub written: usize,
    /// Changes: action, and path in upper case, separated by `\`.
    pub changes: Vec<(u32, String)>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Decodes a message of the server; `None` if it is malformed.
#[must_use]
pub fn parse(message: &[u8], is_raw: bool) -> Option<Message> {
    const REPLY: u8 = 0x80;
    if is_raw {
        return Some(Message::Raw(message.to_vec()));
    }
    if message.get(..4)? != b"\xffSMB" {
        return None;
    }
    let words = usize::from(*message.get(32)?);
    if message.get(9)? & REPLY == 0 {
        let fid = u16_at(message, 33 + 4)?;
        let level = message.get(33 + 7)?;
        let to = if *level == 1 {
            Oplock::LevelII
        } else {
            Oplock::None
        };
        return Some(Message::Break { fid, to });
    }
    let reply = Reply {
        status: u32_at(message, 5)?,
        command: *message.get(4)?,
        uid: u16_at(message, 28)?,
        tid: u16_at(message, 24)?,
        words,
        ..Reply::default()
    };
    Some(Message::Answer {
        mid: u16_at(message, 30)?,
        reply,
    })
}

impl Reply {
    /// Whether the status is success.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.status == 0
    }

    /// Decodes the part of the answer that depends on `request`; `false` if it is malformed.
    #[must_use]
    pub fn complete(&mut self, request: &Request, message: &[u8]) -> bool {
        let filled = match &request.op {
            Op::Open(args) if self.words > 0 => self.opened(args, message),
            Op::Read { by, .. } if self.is_ok() => self.read(*by, message),
            Op::Write { by, .. } if self.words > 0 => {
                let word = if *by == Carrier::AndX { 2 } else { 0 };
                u16_at(message, 33 + 2 * word).map(|count| self.written = usize::from(count))
            }
            Op::Notify { .. } if self.is_ok() && self.words > 0 => self.changes(message),
            _ => Some(()),
        };
        filled.is_some()
    }

    fn opened(&mut self, args: &OpenArgs, message: &[u8]) -> Option<()> {
        self.opened = Some(match args.verb {
            Verb::Open => Opened {
                size: Some(u32_at(message, 33 + 8)?.into()),
                ..Opened::of_core_command(message)?
            },
            Verb::Create | Verb::CreateNew => Opened::of_core_command(message)?,
            Verb::OpenAndX => Opened::of_open_andx(message, args.oplock)?,
            Verb::Trans2Open => Opened::of_trans2_open(message, args.oplock)?,
            Verb::NtCreate => Opened::of_nt_create(message)?,
        });
        if args.read.is_some() && self.is_ok() {
            let next = usize::from(u16_at(message, 33 + 2)?);
            self.data = Some(read_andx(message, next)?);
        }
        Some(())
    }

    fn read(&mut self, by: Carrier, message: &[u8]) -> Option<()> {
        self.data = Some(match by {
            Carrier::AndX => read_andx(message, 32)?,
            _ => {
                let len = usize::from(u16_at(message, 33)?);
                let start = 33 + 10 + 2 + 3;
                message.get(start..start + len)?.to_vec()
            }
        });
        Some(())
    }

    fn changes(&mut self, message: &[u8]) -> Option<()> {
        // After three reserved bytes: total and own counts of parameters and data, each with offset and displacement.
        let words = 33 + 3;
        let (len, mut at) = (
            u32_at(message, words + 8)? as usize,
            u32_at(message, words + 12)? as usize,
        );
        if len == 0 {
            return Some(());
        }
        loop {
            let next = u32_at(message, at)? as usize;
            let name = message.get(at + 12..at + 12 + u32_at(message, at + 8)? as usize)?;
            let units: Vec<u16> = name
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            let path = String::from_utf16_lossy(&units).to_uppercase();
            self.changes.push((u32_at(message, at + 4)?, path));
            if next == 0 {
                return Some(());
            }
            at += next;
        }
    }
}

impl Opened {
    /// From the reply to OPEN, CREATE or CREATE_NEW; the flags of the header tell the oplock.
    fn of_core_command(message: &[u8]) -> Option<Self> {
        let flags = *message.get(9)?;
        let oplock = match (flags & 0x20 != 0, flags & 0x40 != 0) {
            (true, true) => Oplock::Batch,
            (true, false) => Oplock::Exclusive,
            _ => Oplock::None,
        };
        Some(Self {
            fid: u16_at(message, 33)?,
            action: None,
            size: None,
            oplock,
        })
    }

    fn of_open_andx(message: &[u8], asked: Oplock) -> Option<Self> {
        let action = u16_at(message, 33 + 22)?;
        Some(Self {
            fid: u16_at(message, 33 + 4)?,
            action: Some(action & 3),
            size: Some(u32_at(message, 33 + 12)?.into()),
            oplock: granted(action, asked),
        })
    }

    fn of_trans2_open(message: &[u8], asked: Oplock) -> Option<Self> {
        let parameters = usize::from(u16_at(message, 33 + 8)?);
        let action = u16_at(message, parameters + 18)?;
        Some(Self {
            fid: u16_at(message, parameters)?,
            action: Some(action & 3),
            size: Some(u32_at(message, parameters + 8)?.into()),
            oplock: granted(action, asked),
        })
    }

    fn of_nt_create(message: &[u8]) -> Option<Self> {
        let oplock = match message.get(33 + 4)? {
            1 => Oplock::Exclusive,
            2 => Oplock::Batch,
            3 => Oplock::LevelII,
            _ => Oplock::None,
        };
        Some(Self {
            fid: u16_at(message, 33 + 5)?,
            action: Some(u32_at(message, 33 + 7)? as u16),
            size: Some(u32_at(message, 33 + 55)?.into()),
            oplock,
        })
    }
}

/// The oplock of an open whose `action` says whether the one that it asked for was granted.
fn granted(action: u16, asked: Oplock) -> Oplock {
    match action & 0x8000 {
        0 => Oplock::None,
        _ => asked,
    }
}

/// The data of the READ_ANDX reply whose block begins at `at`.
fn read_andx(message: &[u8], at: usize) -> Option<Vec<u8>> {
    let words = at + 1;
    let len =
        usize::from(u16_at(message, words + 10)?) | usize::from(u16_at(message, words + 14)?) << 16;
    let start = usize::from(u16_at(message, words + 12)?);
    Some(message.get(start..start + len)?.to_vec())
}
