//! The fields of the SMB header on connectionless transports ([MS-CIFS] 2.2.3.1), and the names behind a NEGOTIATE.

use alloc::vec::Vec;

use coax_wire::block::{Block, put_empty};
use coax_wire::header::{Flags, Header};
use coax_wire::io::Writer;
use coax_wire::nbt::name::NbName;

use super::HEADER_LEN;

/// Where the fields are: a key, which is always zero, the connection and the number of the request.
const FIELDS: core::ops::Range<usize> = 14..22;

/// What a connectionless message says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) command: u8,
    /// The status as on the wire.
    pub(crate) status: u32,
    pub(crate) is_reply: bool,
    pub(crate) connection: u16,
    pub(crate) sequence: u16,
    /// Process and request.
    pub(crate) request: (u32, u16),
}

impl Fields {
    pub(crate) fn of(message: &[u8]) -> Option<Self> {
        let header = Header::parse(message).ok()?;
        let [_, _, _, _, c, d, s, t] = header.signature;
        Some(Self {
            command: header.command,
            status: header.status,
            is_reply: header.flags.has(Flags::REPLY),
            connection: u16::from_le_bytes([c, d]),
            sequence: u16::from_le_bytes([s, t]),
            request: (header.pid.0, header.mid.0),
        })
    }
}

/// Sets the connectionless fields of a message.
pub(super) fn stamp(message: &mut [u8], connection: u16, sequence: u16) {
    let [c, d] = connection.to_le_bytes();
    let [s, t] = sequence.to_le_bytes();
    let fields = [0, 0, 0, 0, c, d, s, t];
    if let Some(place) = message.get_mut(FIELDS) {
        place.copy_from_slice(&fields);
    }
}

/// A reply without words and data to a request, with this status.
pub(crate) fn refusal(request: &[u8], status: u32) -> Option<Vec<u8>> {
    let mut header = Header::parse(request).ok()?;
    header.status = status;
    header.flags = Flags(header.flags.0 | Flags::REPLY);
    let mut out = Writer::with_capacity(HEADER_LEN.saturating_add(3));
    header.emit(&mut out);
    put_empty(&mut out);
    Some(out.into_vec())
}

/// The names that Windows appends to a NEGOTIATE, outside of its byte count: its own and the server's (docs/ipx.md).
/// Without them Windows 98 as a server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameTrailer {
    pub(crate) source: NbName,
    pub(crate) destination: NbName,
}

impl NameTrailer {
    /// Takes the names off a message.
    pub(crate) fn split(message: &[u8]) -> (&[u8], Option<Self>) {
        let Ok(block) = Block::first(message) else {
            return (message, None);
        };
        let end = block.bytes_offset.saturating_add(block.bytes.len());
        let (whole, rest) = message.split_at_checked(end).unwrap_or((message, &[]));
        let name = |at: usize| {
            let bytes = rest.get(at..at.checked_add(16)?)?;
            Some(NbName(bytes.try_into().ok()?))
        };
        match (name(0), name(16)) {
            (Some(source), Some(destination)) => (
                whole,
                Some(Self {
                    source,
                    destination,
                }),
            ),
            _ => (message, None),
        }
    }

    /// Appends the names to a message.
    pub(crate) fn append(&self, message: &mut Vec<u8>) {
        message.extend_from_slice(&self.source.0);
        message.extend_from_slice(&self.destination.0);
    }
}
