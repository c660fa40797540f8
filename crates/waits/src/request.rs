//! What a message of the client is for.

use coax_wire::command;

use crate::family::Family;

/// The way that file data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client reads.
    ToClient,
    /// The client writes.
    ToServer,
}

/// Why a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It moves file data.
    Data {
        /// Which way.
        direction: Direction,
        /// How.
        family: Family,
        /// The file, as the client numbers it.
        fid: u16,
        /// How many bytes it asks for or brings.
        bytes: u32,
    },
    /// It closes a file.
    Close {
        /// The file.
        fid: u16,
    },
    /// It makes the server write a file to the disk.
    Flush,
    /// The data of a raw write, which has no header ([MS-CIFS] 2.2.4.25).
    RawData,
    /// Anything else.
    Metadata,
}

/// A message of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Why it travels.
    pub purpose: Purpose,
}

/// Where the words of a request begin, and where its command is ([MS-CIFS] 2.2.3.1).
const WORDS: usize = 33;
const COMMAND: usize = 4;

/// Place of the FID and of the count among a request's words ([MS-CIFS] 2.2.4.11 to 2.2.4.43), for each command that moves
/// file data.
const DATA: [(u8, Direction, Family, usize, usize); 11] = {
    use Direction::{ToClient, ToServer};
    use Family::{Andx, Core, Mpx, Raw};
    [
        (command::READ, ToClient, Core, 0, 1),
        (command::LOCK_AND_READ, ToClient, Core, 0, 1),
        (command::READ_ANDX, ToClient, Andx, 2, 5),
        (command::READ_RAW, ToClient, Raw, 0, 3),
        (command::READ_MPX, ToClient, Mpx, 0, 3),
        (command::WRITE, ToServer, Core, 0, 1),
        (command::WRITE_AND_UNLOCK, ToServer, Core, 0, 1),
        (command::WRITE_AND_CLOSE, ToServer, Core, 0, 1),
        (command::WRITE_ANDX, ToServer, Andx, 2, 10),
        (command::WRITE_RAW, ToServer, Raw, 0, 1),
        (command::WRITE_MPX, ToServer, Mpx, 0, 1),
    ]
};

impl Request {
    /// What a message is for. Any bytes have an answer.
    pub fn of(message: &[u8]) -> Self {
        let purpose = if message.starts_with(b"\xffSMB") {
            purpose(message)
        } else {
            Purpose::RawData
        };
        Self { purpose }
    }

    /// Whether it moves file data.
    pub fn moves_data(&self) -> bool {
        matches!(self.purpose, Purpose::Data { .. } | Purpose::RawData)
    }
}

fn purpose(message: &[u8]) -> Purpose {
    let code = message.get(COMMAND).copied().unwrap_or_default();
    let fid = |place| word(message, place).unwrap_or_default();
    match code {
        command::CLOSE => return Purpose::Close { fid: fid(0) },
        command::FLUSH => return Purpose::Flush,
        _ => {}
    }
    let row = DATA.iter().find(|row| row.0 == code);
    match row {
        Some(&(_, direction, family, at, count)) if word(message, at).is_some() => Purpose::Data {
            direction,
            family,
            fid: fid(at),
            bytes: u32::from(word(message, count).unwrap_or_default()) | high(message, code),
        },
        _ => Purpose::Metadata,
    }
}

/// The high half of the count: MaxCountHigh, which shares its place with a time-out ([MS-CIFS] 2.2.4.42.1), and
/// DataLengthHigh ([MS-SMB] 2.2.4.3.1).
fn high(message: &[u8], code: u8) -> u32 {
    let place = match code {
        command::READ_ANDX => 7,
        command::WRITE_ANDX => 9,
        _ => return 0,
    };
    let high = word(message, place).filter(|high| *high != u16::MAX);
    u32::from(high.unwrap_or_default()) << 16
}

fn word(message: &[u8], place: usize) -> Option<u16> {
    let count = usize::from(*message.get(WORDS.wrapping_sub(1))?);
    if place >= count {
        return None;
    }
    let at = WORDS.checked_add(place.checked_mul(2)?)?;
    let bytes = message.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_le_bytes(*bytes))
}
