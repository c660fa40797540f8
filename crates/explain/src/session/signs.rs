//! What the first bytes of a connection's messages show of its protocol: SMB1, SMB2 or SMB3, or nothing, because the snap
//! length cut the headers off.

use super::framer::{Chunk, Message};
use crate::timeline::Side;
use coax_wire::{
    header::{HEADER_LEN as SMB_HEADER_LEN, PROTOCOL},
    nbt::session::HEADER_LEN,
};

/// Pieces of a stream that are looked at, of each connection.
const MAX_SNIFFED: u32 = 64;
/// The first bytes of SMB2 messages: plain, encrypted, compressed ([MS-SMB2] 2.2.1, 2.2.41, 2.2.42).
const SMB2: &[u8] = b"\xfeSMB";
const SMB2_OTHER: [&[u8]; 2] = [b"\xfdSMB", b"\xfcSMB"];
/// The dialect that only says "negotiate again with SMB2" ([MS-SMB2] 2.2.4).
const WILDCARD: u16 = 0x02ff;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ProtocolSigns {
    sniffed: u32,
    /// The server answered with a whole SMB1 header.
    is_smb1: bool,
    is_smb2: bool,
    dialect: Option<u16>,
    /// An SMB1 message without its whole header.
    has_cut_header: bool,
    /// Pieces of which fewer bytes were kept than an SMB header has.
    cut: u32,
}

impl ProtocolSigns {
    /// Looks at bytes that follow each other in one direction. Whether they show SMB2 for the first time.
    pub(crate) fn sniff(&mut self, side: Side, chunk: &Chunk<'_>) -> bool {
        if self.is_smb1 || self.sniffed >= MAX_SNIFFED {
            return false;
        }
        self.sniffed += 1;
        let kept = chunk.bytes.len();
        self.cut += u32::from((kept as u64) < chunk.len && kept < HEADER_LEN + SMB_HEADER_LEN);
        let Some((_, message)) = chunk.bytes.split_at_checked(HEADER_LEN) else {
            return false;
        };
        let is_first = !self.is_smb2;
        self.is_smb2 |=
            message.starts_with(SMB2) || SMB2_OTHER.iter().any(|magic| message.starts_with(magic));
        if side == Side::Server {
            self.dialect = dialect(message).or(self.dialect);
        }
        is_first && self.is_smb2
    }

    /// A message of SMB1's framing ended.
    pub(crate) fn message(&mut self, side: Side, message: &Message<'_>) {
        let begins_so = !message.head.is_empty()
            && message
                .head
                .iter()
                .zip(PROTOCOL)
                .all(|(byte, wanted)| *byte == wanted);
        if !begins_so || self.is_smb1 || message.len < SMB_HEADER_LEN as u64 {
            return;
        }
        let is_whole = message.head.len() >= SMB_HEADER_LEN;
        self.is_smb1 |= is_whole && side == Side::Server;
        self.has_cut_header |= !is_whole;
    }

    /// Whether the server speaks SMB1.
    pub(crate) fn is_smb1(&self) -> bool {
        self.is_smb1
    }

    /// Whether SMB1 cannot be followed here: another protocol, or headers that were cut off.
    pub(crate) fn is_foreign(&self) -> bool {
        !self.is_smb1 && (self.is_smb2 || self.has_cut_header)
    }

    /// Whether the connection became one of SMB2 or SMB3, and its dialect, if that was captured.
    pub(crate) fn smb2(&self) -> Option<Option<u16>> {
        (self.is_smb2 && !self.is_smb1).then_some(self.dialect)
    }

    /// Whether the snap length cut the headers of the first messages off.
    pub(crate) fn is_cut(&self) -> bool {
        !self.is_smb1 && !self.is_smb2 && (self.has_cut_header || self.cut * 2 > self.sniffed)
    }
}

/// The dialect in a NEGOTIATE response ([MS-SMB2] 2.2.4), unless it says to negotiate again.
fn dialect(message: &[u8]) -> Option<u16> {
    const COMMAND: usize = 12;
    const DIALECT: usize = 68;
    let half = |at: usize| {
        let bytes = message.get(at..)?.first_chunk()?;
        Some(u16::from_le_bytes(*bytes))
    };
    let is_negotiate = message.starts_with(SMB2) && half(COMMAND)? == 0;
    half(DIALECT).filter(|dialect| is_negotiate && *dialect != WILDCARD)
}
