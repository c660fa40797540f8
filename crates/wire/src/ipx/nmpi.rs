//! The name management protocol over IPX (NMPI): names and mailslots of machines that host SMB directly, sockets 0551
//! and 0553.
//!
//! Sources: Wireshark's dissector (facts) and the announcements in tests/captures/tcpdump-ipx.pcap.

use alloc::vec::Vec;

use super::nbipx::ROUTES_LEN;
use crate::error::{Error, Result};
use crate::io::{Reader, Writer};
use crate::nbt::name::NbName;

/// Bytes of the header.
pub const HEADER_LEN: usize = 68;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Is the name free?
    Claim,
    /// The name is given up.
    Delete,
    /// Who has this name?
    Query,
    /// I have the name.
    Found,
    /// A message is cancelled.
    Hangup,
    /// A message to a mailslot.
    MailslotWrite,
    /// Who has this mailslot?
    MailslotFind,
    /// I have the mailslot.
    MailslotFound,
}

impl Operation {
    const CODES: [(Self, u8); 8] = [
        (Self::Claim, 0xf1),
        (Self::Delete, 0xf2),
        (Self::Query, 0xf3),
        (Self::Found, 0xf4),
        (Self::Hangup, 0xf5),
        (Self::MailslotWrite, 0xfc),
        (Self::MailslotFind, 0xfd),
        (Self::MailslotFound, 0xfe),
    ];

    fn code(self) -> u8 {
        let mut codes = Self::CODES.iter();
        codes
            .find(|(known, _)| *known == self)
            .map_or(0, |(_, code)| *code)
    }
}

/// Types of names.
pub mod name_type {
    /// A machine.
    pub const MACHINE: u8 = 1;
    /// A workgroup.
    pub const WORKGROUP: u8 = 2;
    /// The browsers of a workgroup.
    pub const BROWSER: u8 = 3;
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What it is for.
    pub operation: Operation,
    /// [`name_type`].
    pub name_type: u8,
    /// An answer has the number of its question.
    pub message: u16,
    /// The name that it is about or for.
    pub requested: NbName,
    /// The sender's name.
    pub source: NbName,
    /// A mailslot's message.
    pub data: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// When it is too short or its operation is not known.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        reader.take(ROUTES_LEN, "networks")?;
        let code = reader.u8("operation")?;
        let mut codes = Operation::CODES.iter();
        let operation = codes
            .find(|(_, known)| *known == code)
            .map(|(operation, _)| *operation);
        Ok(Self {
            operation: operation.ok_or(Error::Value { what: "operation" })?,
            name_type: reader.u8("name type")?,
            message: reader.u16("message number")?,
            requested: NbName(reader.array("requested name")?),
            source: NbName(reader.array("source name")?),
            data: reader.rest(),
        })
    }

    /// Writes what stands before its data.
    pub fn header(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(HEADER_LEN);
        out.zeros(ROUTES_LEN);
        out.u8(self.operation.code()).u8(self.name_type);
        out.u16(self.message);
        out.bytes(&self.requested.0).bytes(&self.source.0);
        out.into_vec()
    }
}
