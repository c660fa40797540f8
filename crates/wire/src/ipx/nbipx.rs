//! NetBIOS over IPX (NBIPX), socket 0455: names, datagrams and sessions.
//!
//! Novell published no specification. Sources: Wireshark's dissector (facts), Microsoft KB Q128335 and Q203051, the name
//! queries and datagrams in tests/captures/tcpdump-ipx.pcap, and the observations of Windows for Workgroups, 98 and NT
//! that docs/ipx.md lists. Numbers are little-endian.

use alloc::vec::Vec;

use crate::error::{Error, Result};
use crate::io::{Reader, Writer};
use crate::nbt::name::NbName;

/// Networks that a broadcast has passed, in front of a name: eight numbers.
pub const ROUTES_LEN: usize = 32;
/// Bytes of a packet with a name.
pub const NAME_LEN: usize = ROUTES_LEN + 2 + 16;
/// Bytes of a datagram's header.
pub const DATAGRAM_HEADER_LEN: usize = 34;
/// Bytes of a session packet's header.
pub const SESSION_HEADER_LEN: usize = 18;

/// What a packet is: its second byte, or the byte after the networks and the flags.
pub mod stream {
    /// Who has this name?
    pub const FIND_NAME: u8 = 1;
    /// I have the name.
    pub const NAME_RECOGNIZED: u8 = 2;
    /// Is the name free?
    pub const CHECK_NAME: u8 = 3;
    /// The name is taken.
    pub const NAME_IN_USE: u8 = 4;
    /// The name is given up.
    pub const DEREGISTER_NAME: u8 = 5;
    /// A session's data.
    pub const SESSION_DATA: u8 = 6;
    /// The session ends.
    pub const SESSION_END: u8 = 7;
    /// The session has ended.
    pub const SESSION_END_ACK: u8 = 8;
    /// What is the station's status?
    pub const STATUS_QUERY: u8 = 9;
    /// The station's status.
    pub const STATUS_RESPONSE: u8 = 10;
    /// A datagram to a name.
    pub const DATAGRAM: u8 = 11;
}

/// Flags of a name.
pub mod name_flags {
    /// Several stations may have it.
    pub const GROUP: u8 = 0x80;
    /// It is in use.
    pub const IN_USE: u8 = 0x40;
    /// It is registered.
    pub const REGISTERED: u8 = 0x04;
}

/// Flags of a session packet.
pub mod control {
    /// Without data for the program; takes no sequence number.
    pub const SYSTEM: u8 = 0x80;
    /// The sender wants an acknowledgment.
    pub const ACK_REQUIRED: u8 = 0x40;
    /// The last packet of a message.
    pub const END_OF_MESSAGE: u8 = 0x10;
    /// Send again from the number that is acknowledged.
    pub const RESEND: u8 = 0x08;
    /// Opens a session, or confirms that.
    pub const CONFIRM: u8 = 0x01;
}

/// A packet about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamePacket {
    /// The networks that it has passed; in an answer of Windows something else.
    pub routes: [u8; ROUTES_LEN],
    /// [`name_flags`].
    pub flags: u8,
    /// [`stream`].
    pub stream: u8,
    /// The name.
    pub name: NbName,
}

impl NamePacket {
    /// A packet that has passed no network.
    pub const fn new(stream: u8, flags: u8, name: NbName) -> Self {
        Self {
            routes: [0; ROUTES_LEN],
            flags,
            stream,
            name,
        }
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When it is too short or not about a name.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let routes = reader.array("networks")?;
        let flags = reader.u8("name flags")?;
        let stream = reader.u8("stream type")?;
        let known = matches!(
            stream,
            stream::FIND_NAME
                ..=stream::DEREGISTER_NAME | stream::STATUS_QUERY | stream::STATUS_RESPONSE
        );
        if !known {
            return Err(Error::Value {
                what: "stream type",
            });
        }
        Ok(Self {
            routes,
            flags,
            stream,
            name: NbName(reader.array("name")?),
        })
    }

    /// Writes it.
    pub fn emit(&self) -> [u8; NAME_LEN] {
        let mut out = [0; NAME_LEN];
        let parts = [
            &self.routes[..],
            &[self.flags, self.stream],
            &self.name.0[..],
        ];
        out.iter_mut()
            .zip(parts.into_iter().flatten())
            .for_each(|(to, from)| *to = *from);
        out
    }
}

/// A datagram to a name. Wireshark exchanges the labels of its two names; tests/captures/tcpdump-ipx.pcap has a
/// server's own name first and the group of master browsers second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The name that sends it.
    pub source: NbName,
    /// The name that it is for.
    pub destination: NbName,
    /// Its data.
    pub data: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// When it is too short or none.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        reader.u8("flags")?;
        if reader.u8("stream type")? != stream::DATAGRAM {
            return Err(Error::Value {
                what: "stream type",
            });
        }
        Ok(Self {
            source: NbName(reader.array("source name")?),
            destination: NbName(reader.array("destination name")?),
            data: reader.rest(),
        })
    }

    /// Writes what stands before its data.
    pub fn header(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(DATAGRAM_HEADER_LEN);
        out.u8(0).u8(stream::DATAGRAM);
        out.bytes(&self.source.0).bytes(&self.destination.0);
        out.into_vec()
    }
}

/// A session packet without its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionHeader {
    /// [`control`].
    pub control: u8,
    /// [`stream`].
    pub stream: u8,
    /// The sender's number of the session.
    pub source: u16,
    /// The receiver's number of the session; [`SessionHeader::UNASSIGNED`] in the packet that opens it.
    pub destination: u16,
    /// Its number; a system packet has that of the next packet that will have one.
    pub sequence: u16,
    /// Bytes of the whole message.
    pub total: u16,
    /// Where in the message the data begins.
    pub offset: u16,
    /// Bytes of data.
    pub len: u16,
    /// The number that the sender expects next: all before it are acknowledged.
    pub acknowledged: u16,
    /// The first number that the sender does not take yet.
    pub window_end: u16,
}

impl SessionHeader {
    /// No session yet.
    pub const UNASSIGNED: u16 = 0xffff;

    /// Whether all of `bits` are set.
    pub const fn has(&self, bits: u8) -> bool {
        self.control & bits == bits
    }

    /// Reads a packet; its data follows.
    ///
    /// # Errors
    /// When it is too short or no packet of a session.
    pub fn parse(data: &[u8]) -> Result<(Self, &[u8])> {
        let mut reader = Reader::new(data);
        let header = Self {
            control: reader.u8("connection control")?,
            stream: reader.u8("stream type")?,
            source: reader.u16("source connection")?,
            destination: reader.u16("destination connection")?,
            sequence: reader.u16("send sequence")?,
            total: reader.u16("total length")?,
            offset: reader.u16("offset")?,
            len: reader.u16("length")?,
            acknowledged: reader.u16("receive sequence")?,
            window_end: reader.u16("window")?,
        };
        if !matches!(
            header.stream,
            stream::SESSION_DATA..=stream::SESSION_END_ACK
        ) {
            return Err(Error::Value {
                what: "stream type",
            });
        }
        let data = reader.take(usize::from(header.len), "session data")?;
        Ok((header, data))
    }

    /// Writes it.
    pub fn emit(&self) -> [u8; SESSION_HEADER_LEN] {
        let words = [
            self.source,
            self.destination,
            self.sequence,
            self.total,
            self.offset,
            self.len,
            self.acknowledged,
            self.window_end,
        ];
        let mut out = [0; SESSION_HEADER_LEN];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let all = [self.control, self.stream].into_iter().chain(bytes);
        out.iter_mut().zip(all).for_each(|(to, from)| *to = from);
        out
    }
}

/// The data of the packet that opens a session, and of its answer: names and limits. Windows 98 sends its own name
/// first (docs/ipx.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionOpen {
    /// The sender's name.
    pub source: NbName,
    /// The receiver's name.
    pub destination: NbName,
    /// The most data of a session packet that the sender takes, in bytes.
    pub max_data: u16,
    /// Two times of the sender, whose meaning is not known; a server returns them.
    pub times: [u16; 2],
}

impl SessionOpen {
    /// Reads it.
    ///
    /// # Errors
    /// When it is too short.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        Ok(Self {
            source: NbName(reader.array("source name")?),
            destination: NbName(reader.array("destination name")?),
            max_data: reader.u16("largest packet")?,
            times: [reader.u16("first time")?, reader.u16("second time")?],
        })
    }

    /// Writes it.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(38);
        out.bytes(&self.source.0).bytes(&self.destination.0);
        out.u16(self.max_data);
        self.times.iter().for_each(|time| {
            out.u16(*time);
        });
        out.into_vec()
    }
}
