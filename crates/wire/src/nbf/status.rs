//! The adapter status of STATUS RESPONSE (SC30-3587 §5.5.15; layout of the control block's ADAPTER_STATUS).

use alloc::vec::Vec;

use crate::error::Result;
use crate::ether::Mac;
use crate::io::{Reader, Writer};
use crate::nbt::name::NbName;

/// Bytes in front of the names.
pub const STATUS_LEN: usize = 60;
/// Bytes of each name.
pub const NAME_ENTRY_LEN: usize = 18;

/// Flag of a name: a group.
const GROUP: u8 = 0x80;
/// Flag of a name: registered.
const REGISTERED: u8 = 0x04;

/// What a station tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterStatus {
    /// Its address.
    pub mac: Mac,
    /// Sessions now open or being opened.
    pub sessions: u16,
    /// The most sessions it allows.
    pub max_sessions: u16,
    /// Times that T1 ran out.
    pub t1_timeouts: u16,
    /// The longest piece of a message that it takes, in bytes.
    pub max_piece: u16,
    /// The longest datagram that it takes, in bytes.
    pub max_datagram: u16,
    /// Its registered names, and whether each is a group's.
    pub names: Vec<(NbName, bool)>,
}

impl AdapterStatus {
    /// All bytes; names beyond 65,535 are left out.
    pub fn emit(&self) -> Vec<u8> {
        let count = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        let mut writer = Writer::default();
        // Version 3.0 of the interface; adapter type FE: Ethernet.
        writer.bytes(&self.mac.0).bytes(&[3, 0, 0xfe, 0]);
        writer.zeros(10).zeros(8).zeros(4);
        writer.u16(self.t1_timeouts).u16(0).zeros(4);
        writer.u16(255).u16(255).u16(255).u16(0);
        writer.u16(self.max_datagram);
        writer.u16(self.sessions).u16(self.max_sessions);
        writer.u16(self.max_sessions).u16(self.max_piece).u16(count);
        for (number, (name, group)) in (1u8..).zip(self.names.iter().take(usize::from(count))) {
            let flags = REGISTERED | if *group { GROUP } else { 0 };
            writer.bytes(&name.0).u8(number).u8(flags);
        }
        writer.into_vec()
    }

    /// Reads the data of STATUS RESPONSE. Names beyond its end are left out.
    ///
    /// # Errors
    /// When it ends in front of the names.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let mac = Mac(reader.array("station address")?);
        reader.take(26, "adapter status")?;
        let t1_timeouts = reader.u16("T1 timeouts")?;
        reader.take(14, "adapter status")?;
        let max_datagram = reader.u16("datagram length")?;
        let sessions = reader.u16("sessions")?;
        reader.take(2, "configured sessions")?;
        let max_sessions = reader.u16("sessions")?;
        let max_piece = reader.u16("session packet length")?;
        let count = reader.u16("name count")?;
        let mut names = Vec::new();
        for _ in 0..count {
            let Ok(entry) = reader.array::<NAME_ENTRY_LEN>("name") else {
                break;
            };
            let [name @ .., _, flags] = entry;
            names.push((NbName(name), flags & GROUP != 0));
        }
        Ok(Self {
            mac,
            sessions,
            max_sessions,
            t1_timeouts,
            max_piece,
            max_datagram,
            names,
        })
    }
}
