//! NetBIOS frames (NBF): NetBIOS over logical link control, called NetBEUI by users (IBM SC30-3587 §5.5 and §5.6).
//!
//! All numbers are little-endian. Frames with names travel as datagrams (LLC UI), frames of sessions as LLC I frames.

mod header;
mod session;
mod status;
#[cfg(test)]
mod tests;

pub use header::{SESSION_HEADER_LEN, SIGNATURE};
pub use session::{SessionCommand, SessionFrame, flags};
pub use status::{AdapterStatus, NAME_ENTRY_LEN, STATUS_LEN};

use alloc::vec::Vec;

use crate::error::{Error, Result};
use crate::ether::Mac;
use crate::io::{Reader, Writer};
use crate::nbt::name::NbName;

/// Bytes of the header of a frame with names.
pub const NAME_HEADER_LEN: usize = 44;

/// The command of a frame with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameCommand {
    /// Is the name free for a group?
    AddGroupNameQuery,
    /// Is the name free for one station?
    AddNameQuery,
    /// Two stations have the name.
    NameInConflict,
    /// What is the station's status?
    StatusQuery,
    /// End a trace. Ignored.
    TerminateTrace,
    /// A datagram to a name.
    Datagram,
    /// A datagram to every station.
    DatagramBroadcast,
    /// Who has this name, and, with a session number, may I have a session?
    NameQuery,
    /// The name is taken.
    AddNameResponse,
    /// I have the name.
    NameRecognized,
    /// The station's status.
    StatusResponse,
    /// End a trace here and there. Ignored.
    TerminateTraceBoth,
}

impl NameCommand {
    const CODES: [(Self, u8); 12] = [
        (Self::AddGroupNameQuery, 0x00),
        (Self::AddNameQuery, 0x01),
        (Self::NameInConflict, 0x02),
        (Self::StatusQuery, 0x03),
        (Self::TerminateTrace, 0x07),
        (Self::Datagram, 0x08),
        (Self::DatagramBroadcast, 0x09),
        (Self::NameQuery, 0x0a),
        (Self::AddNameResponse, 0x0d),
        (Self::NameRecognized, 0x0e),
        (Self::StatusResponse, 0x0f),
        (Self::TerminateTraceBoth, 0x13),
    ];

    /// Its byte.
    pub fn code(self) -> u8 {
        let mut known = Self::CODES.iter();
        known
            .find(|(kind, _)| *kind == self)
            .map_or(0, |(_, code)| *code)
    }
}

/// A frame with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameFrame<'a> {
    /// What it asks or says.
    pub command: NameCommand,
    /// Depends on the command.
    pub data1: u8,
    /// Depends on the command; of NAME_QUERY and NAME_RECOGNIZED the session number (low byte) and the type of name.
    pub data2: u16,
    /// Transmit correlator: of an answer, the query's response correlator.
    pub transmit: u16,
    /// Response correlator: what the answer shall repeat.
    pub response: u16,
    /// Destination name.
    pub destination: NbName,
    /// Source name.
    pub source: NbName,
    /// User data, or a status.
    pub data: &'a [u8],
}

impl<'a> NameFrame<'a> {
    /// A frame whose other fields are zero.
    pub const fn new(command: NameCommand, destination: NbName, source: NbName) -> Self {
        Self {
            command,
            data1: 0,
            data2: 0,
            transmit: 0,
            response: 0,
            destination,
            source,
            data: &[],
        }
    }

    /// The session number of NAME_QUERY and NAME_RECOGNIZED.
    pub const fn session(&self) -> u8 {
        self.data2.to_le_bytes()[0]
    }

    /// Whether NAME_QUERY or NAME_RECOGNIZED is about a group name.
    pub const fn is_group(&self) -> bool {
        self.data2.to_le_bytes()[1] == 1
    }

    /// All bytes.
    pub fn emit(&self) -> Vec<u8> {
        let mut writer = Writer::with_capacity(NAME_HEADER_LEN.saturating_add(self.data.len()));
        writer
            .u16(NAME_HEADER_LEN as u16)
            .u16(SIGNATURE)
            .u8(self.command.code())
            .u8(self.data1)
            .u16(self.data2)
            .u16(self.transmit)
            .u16(self.response)
            .bytes(&self.destination.0)
            .bytes(&self.source.0)
            .bytes(self.data);
        writer.into_vec()
    }

    fn parse(command: NameCommand, mut reader: Reader<'a>) -> Result<Self> {
        Ok(Self {
            command,
            data1: reader.u8("data 1")?,
            data2: reader.u16("data 2")?,
            transmit: reader.u16("transmit correlator")?,
            response: reader.u16("response correlator")?,
            destination: NbName(reader.array("destination name")?),
            source: NbName(reader.array("source name")?),
            data: reader.rest(),
        })
    }
}

/// A frame of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// With names.
    Name(NameFrame<'a>),
    /// Of a session.
    Session(SessionFrame<'a>),
}

impl<'a> Frame<'a> {
    /// Reads the information of a UI or I frame.
    ///
    /// The length field must cover the header; Windows 98 takes larger values, too, and so does this.
    ///
    /// # Errors
    /// When the frame ends in its header, when its signature is missing or when the command is unknown.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let len = reader.u16("NBF header length")?;
        if reader.u16("NBF signature")? != SIGNATURE {
            return Err(Error::Value {
                what: "NBF signature",
            });
        }
        let code = reader.u8("NBF command")?;
        let bad_length = Error::Value {
            what: "NBF header length",
        };
        if let Some(command) = SessionCommand::from_code(code) {
            return match usize::from(len) >= SESSION_HEADER_LEN {
                true => SessionFrame::parse(command, reader).map(Self::Session),
                false => Err(bad_length),
            };
        }
        let mut known = NameCommand::CODES.iter();
        let command = known
            .find(|(_, known)| *known == code)
            .map(|(kind, _)| *kind);
        let command = command.ok_or(Error::Value {
            what: "NBF command",
        })?;
        match usize::from(len) >= NAME_HEADER_LEN {
            true => NameFrame::parse(command, reader).map(Self::Name),
            false => Err(bad_length),
        }
    }
}

/// The name that a station has from its address: ten zeros and the address (NAME_NUMBER_1).
pub const fn name_number_1(mac: Mac) -> NbName {
    let [a, b, c, d, e, f] = mac.0;
    NbName([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d, e, f])
}
