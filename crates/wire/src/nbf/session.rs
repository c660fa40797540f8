//! Frames of a session.

use crate::error::Result;
use crate::io::Reader;

use super::header::{SESSION_HEADER_LEN, SIGNATURE};

/// The command of a session's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SessionCommand {
    /// The message of DATA ONLY LAST arrived.
    DataAck = 0x14,
    /// A piece of a message that goes on.
    DataFirstMiddle = 0x15,
    /// The last or only piece of a message.
    DataOnlyLast = 0x16,
    /// The session is open.
    SessionConfirm = 0x17,
    /// The session ends.
    SessionEnd = 0x18,
    /// Open the session.
    SessionInitialize = 0x19,
    /// There is no room for the message.
    NoReceive = 0x1a,
    /// There is room again.
    ReceiveOutstanding = 0x1b,
    /// Go on after the first piece.
    ReceiveContinue = 0x1c,
    /// Is the link alive?
    SessionAlive = 0x1f,
}

impl SessionCommand {
    /// The command of this byte.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x14 => Self::DataAck,
            0x15 => Self::DataFirstMiddle,
            0x16 => Self::DataOnlyLast,
            0x17 => Self::SessionConfirm,
            0x18 => Self::SessionEnd,
            0x19 => Self::SessionInitialize,
            0x1a => Self::NoReceive,
            0x1b => Self::ReceiveOutstanding,
            0x1c => Self::ReceiveContinue,
            0x1f => Self::SessionAlive,
            _ => return None,
        })
    }
}

/// Bits of `data1`.
pub mod flags {
    /// DATA FIRST MIDDLE: answer RECEIVE CONTINUE.
    pub const RECEIVE_CONTINUE: u8 = 0x01;
    /// Data and NO RECEIVE: sent without acknowledgment of the message.
    pub const NO_ACK: u8 = 0x02;
    /// DATA ONLY LAST: the acknowledgment may travel with data.
    pub const ACK_WITH_DATA_ALLOWED: u8 = 0x04;
    /// Data: the transmit correlator acknowledges the peer's message.
    pub const ACK_INCLUDED: u8 = 0x08;
    /// SESSION INITIALIZE and CONFIRM: version 2.0 or later.
    pub const VERSION_2: u8 = 0x01;
    /// SESSION INITIALIZE and CONFIRM: understands messages without acknowledgment.
    pub const HANDLES_NO_ACK: u8 = 0x80;
    /// SESSION INITIALIZE: the largest frame that the medium carries is unlimited (code 7).
    pub const LARGEST_FRAME: u8 = 0x0e;
}

/// A frame of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionFrame<'a> {
    /// What it does.
    pub command: SessionCommand,
    /// Flags, see [`flags`].
    pub data1: u8,
    /// Depends on the command: bytes, or 1 for re-synchronisation.
    pub data2: u16,
    /// Transmit correlator: what is acknowledged.
    pub transmit: u16,
    /// Response correlator: what the answer shall repeat.
    pub response: u16,
    /// The receiver's number of the session.
    pub destination: u8,
    /// The sender's number of the session.
    pub source: u8,
    /// A piece of a message.
    pub data: &'a [u8],
}

impl<'a> SessionFrame<'a> {
    /// A frame whose other fields are zero.
    pub const fn new(command: SessionCommand, destination: u8, source: u8) -> Self {
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

    /// Whether a flag of `data1` is set.
    pub const fn has(&self, flag: u8) -> bool {
        self.data1 & flag != 0
    }

    /// The header's bytes.
    pub const fn header(&self) -> [u8; SESSION_HEADER_LEN] {
        let [len, len2] = (SESSION_HEADER_LEN as u16).to_le_bytes();
        let [sign, sign2] = SIGNATURE.to_le_bytes();
        let [data2, data2_high] = self.data2.to_le_bytes();
        let [transmit, transmit2] = self.transmit.to_le_bytes();
        let [response, response2] = self.response.to_le_bytes();
        [
            len,
            len2,
            sign,
            sign2,
            self.command as u8,
            self.data1,
            data2,
            data2_high,
            transmit,
            transmit2,
            response,
            response2,
            self.destination,
            self.source,
        ]
    }

    pub(super) fn parse(command: SessionCommand, mut reader: Reader<'a>) -> Result<Self> {
        Ok(Self {
            command,
            data1: reader.u8("data 1")?,
            data2: reader.u16("data 2")?,
            transmit: reader.u16("transmit correlator")?,
            response: reader.u16("response correlator")?,
            destination: reader.u8("destination session")?,
            source: reader.u8("source session")?,
            data: reader.rest(),
        })
    }
}
