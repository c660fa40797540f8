//! The name service's packets on UDP port 137 (RFC 1002 §4.2): a view that decodes anything, and the legal
//! forms.

mod repr;
#[cfg(test)]
mod tests;

pub use repr::{
    Claim, ClaimOp, ClaimReply, NodeStatus, Owners, Query, QueryKind, QueryReply, Repr, Wack,
};

use core::fmt;
use core::net::Ipv4Addr;

use super::name::{self, NbName, ScopedName};
use super::{Malformed, array_at, u16_at};

/// The UDP port of the name service (RFC 1002 §6).
pub const PORT: u16 = 137;

/// The longest datagram a node may send (RFC 1002 §6, MAX_DATAGRAM_LENGTH), in bytes.
pub const MAX_DATAGRAM_LEN: usize = 576;

/// Bytes of the header (RFC 1002 §4.2.1.1).
pub const HEADER_LEN: usize = 12;

/// Resource record type: an address to retarget to (RFC 1002 §4.2.1.3).
pub const TYPE_A: u16 = 0x0001;
/// Resource record type: a name server (RFC 1002 §4.2.1.3).
pub const TYPE_NS: u16 = 0x0002;
/// Resource record type: nothing (RFC 1002 §4.2.1.3).
pub const TYPE_NULL: u16 = 0x000a;
/// Question and resource record type: name to addresses (RFC 1002 §4.2.1.2).
pub const TYPE_NB: u16 = 0x0020;
/// Question and resource record type: node status (RFC 1002 §4.2.1.2).
pub const TYPE_NBSTAT: u16 = 0x0021;
/// The Internet class (RFC 1002 §4.2.1.2).
pub const CLASS_IN: u16 = 0x0001;

/// Result code: the request was not understood (RFC 1002 §4.2.6).
pub const RCODE_FORMAT: u8 = 1;
/// Result code: the name server failed.
pub const RCODE_SERVER: u8 = 2;
/// Result code: no such name (RFC 1002 §4.2.14).
pub const RCODE_NAME: u8 = 3;
/// Result code: the request is not supported.
pub const RCODE_UNSUPPORTED: u8 = 4;
/// Result code: refused by policy.
pub const RCODE_REFUSED: u8 = 5;
/// Result code: the name is owned by another node.
pub const RCODE_ACTIVE: u8 = 6;
/// Result code: the name is in conflict; makes a registration response the NAME CONFLICT DEMAND (§4.2.8).
pub const RCODE_CONFLICT: u8 = 7;

/// The header's second word: response bit, operation, flags, result (RFC 1002 §4.2.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// R: this is a response.
    pub const RESPONSE: u16 = 0x8000;
    /// AA: the responding node is an authority for the name.
    pub const AUTHORITATIVE: u16 = 0x0400;
    /// TC: the message was cut to fit its datagram.
    pub const TRUNCATED: u16 = 0x0200;
    /// RD: set in requests to a name server; distinguishes a registration request from an overwrite demand.
    pub const RECURSION_DESIRED: u16 = 0x0100;
    /// RA: the responder is a name server.
    pub const RECURSION_AVAILABLE: u16 = 0x0080;
    /// B: the packet was broadcast.
    pub const BROADCAST: u16 = 0x0010;

    /// Flags of an operation (0 to 15) with the given bits and no result.
    pub const fn new(opcode: u8, bits: u16) -> Self {
        Self(u16::from_be_bytes([(opcode & 15) << 3, 0]) | bits)
    }

    /// The same with one bit set or not.
    #[must_use]
    pub const fn with(self, bit: u16, set: bool) -> Self {
        if set { Self(self.0 | bit) } else { self }
    }

    /// The same with a result code (0 to 15).
    #[must_use]
    pub const fn with_rcode(self, rcode: u8) -> Self {
        Self(self.0 | u16::from_be_bytes([0, rcode & 15]))
    }

    /// Whether a bit is set.
    pub const fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    /// The operation, 0 to 15.
    pub const fn opcode(self) -> u8 {
        let [high, _] = self.0.to_be_bytes();
        (high >> 3) & 15
    }

    /// The result code, 0 to 15.
    pub const fn rcode(self) -> u8 {
        let [_, low] = self.0.to_be_bytes();
        low & 15
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({:#06x})", self.0)
    }
}

/// NB_FLAGS of an address entry (RFC 1002 §4.2.1.3), and, with more bits, NAME_FLAGS of a node status
/// (§4.2.18).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct NameFlags(pub u16);

impl NameFlags {
    /// G: the name is a group's.
    pub const GROUP: u16 = 0x8000;
    /// ONT: the owner is a P node (both bits: a hybrid node, as Windows uses the reserved value).
    pub const POINT_TO_POINT: u16 = 0x2000;
    /// ONT: the owner is an M node.
    pub const MIXED: u16 = 0x4000;
    /// DRG: the name is being deleted.
    pub const DEREGISTERING: u16 = 0x1000;
    /// CNF: the name is in conflict.
    pub const CONFLICT: u16 = 0x0800;
    /// ACT: the name is active; every entry of a node status has it.
    pub const ACTIVE: u16 = 0x0400;
    /// PRM: the node's permanent name.
    pub const PERMANENT: u16 = 0x0200;

    /// Whether the name is a group's.
    pub const fn is_group(self) -> bool {
        self.0 & Self::GROUP != 0
    }
}

impl fmt::Debug for NameFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NameFlags({:#06x})", self.0)
    }
}

/// One owner of a name: ADDR_ENTRY (RFC 1002 §4.2.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddrEntry {
    /// Group or unique, and the owner's node type.
    pub flags: NameFlags,
    /// The owner's address.
    pub address: Ipv4Addr,
}

impl AddrEntry {
    /// Bytes on the wire.
    pub const LEN: usize = 6;
}

/// One name of a node: NODE_NAME (RFC 1002 §4.2.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeName {
    /// The name.
    pub name: NbName,
    /// The name's type and state.
    pub flags: NameFlags,
}

impl NodeName {
    /// Bytes on the wire.
    pub const LEN: usize = 18;
}

/// The STATISTICS field of a node status (RFC 1002 §4.2.18): the unit's identifier, then counters of the first NetBIOS
/// adapters, which present-day nodes set to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics(pub [u8; Self::LEN]);

impl Statistics {
    /// Bytes on the wire.
    pub const LEN: usize = 46;

    /// Statistics of the unit with this MAC address, all counters zero.
    pub fn of_unit(unit_id: [u8; 6]) -> Self {
        let mut bytes = [0; Self::LEN];
        for (slot, byte) in bytes.iter_mut().zip(unit_id) {
            *slot = byte;
        }
        Self(bytes)
    }

    /// UNIT_ID, the MAC address.
    pub const fn unit_id(&self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.0;
        [a, b, c, d, e, f]
    }
}

/// A view of a name service packet: decodes the fields without validating them.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    bytes: &'a [u8],
}

impl<'a> Packet<'a> {
    /// A view of a datagram.
    ///
    /// # Errors
    /// [`Malformed::Truncated`] when it is shorter than a header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        array_at::<HEADER_LEN>(bytes, 0, "the header").map(|_| Self { bytes })
    }

    /// NAME_TRN_ID: matches responses with requests.
    pub fn id(self) -> u16 {
        self.word(0)
    }

    /// Operation, flags and result.
    pub fn flags(self) -> Flags {
        Flags(self.word(2))
    }

    /// The question count of the header.
    pub fn question_count(self) -> u16 {
        self.word(4)
    }

    /// The counts of answers, authorities and additional records in the header.
    pub fn record_counts(self) -> [u16; 3] {
        [self.word(6), self.word(8), self.word(10)]
    }

    /// The questions, in order; ends after the first that is malformed.
    pub fn questions(self) -> impl Iterator<Item = Result<Question<'a>, Malformed>> {
        let mut cursor = Cursor::new(self.bytes, u32::from(self.question_count()));
        core::iter::from_fn(move || cursor.next(Question::decode))
    }

    /// The records of all three sections, in order; ends after the first that is malformed.
    pub fn records(self) -> impl Iterator<Item = Result<Record<'a>, Malformed>> {
        let mut questions = Cursor::new(self.bytes, u32::from(self.question_count()));
        let mut broken = None;
        while let Some(question) = questions.next(Question::decode) {
            broken = question.err().or(broken);
        }
        let [answers, authorities, additional] = self.record_counts().map(u32::from);
        let total = answers
            .saturating_add(authorities)
            .saturating_add(additional);
        let mut cursor = Cursor {
            bytes: self.bytes,
            at: questions.at,
            left: if broken.is_some() { 0 } else { total },
        };
        core::iter::from_fn(move || match broken.take() {
            Some(error) => Some(Err(error)),
            None => cursor.next(Record::decode),
        })
    }

    /// The first name, which is the subject of every packet.
    ///
    /// # Errors
    /// See [`ScopedName::decode`].
    pub fn subject(self) -> Result<Option<ScopedName>, Malformed> {
        ScopedName::decode(self.bytes, HEADER_LEN).map(|(name, _)| name)
    }

    /// A word of the header; `new` has checked the length.
    fn word(self, at: usize) -> u16 {
        u16_at(self.bytes, at, "the header").unwrap_or_default()
    }
}

/// A question: QUESTION_NAME, QUESTION_TYPE, QUESTION_CLASS (RFC 1002 §4.2.1.2).
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    packet: &'a [u8],
    name_at: usize,
    /// QUESTION_TYPE, such as [`TYPE_NB`].
    pub question_type: u16,
    /// QUESTION_CLASS, [`CLASS_IN`].
    pub class: u16,
}

impl<'a> Question<'a> {
    /// The name asked about.
    ///
    /// # Errors
    /// See [`ScopedName::decode`].
    pub fn name(&self) -> Result<Option<ScopedName>, Malformed> {
        ScopedName::decode(self.packet, self.name_at).map(|(name, _)| name)
    }

    fn decode(packet: &'a [u8], name_at: usize) -> Result<(Self, usize), Malformed> {
        let at = name::skip(packet, name_at)?;
        let question = Self {
            packet,
            name_at,
            question_type: u16_at(packet, at, "a question's type")?,
            class: u16_at(packet, at.saturating_add(2), "a question's class")?,
        };
        Ok((question, at.saturating_add(4)))
    }
}

/// A resource record (RFC 1002 §4.2.1.3).
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    packet: &'a [u8],
    name_at: usize,
    /// RR_TYPE, such as [`TYPE_NB`].
    pub record_type: u16,
    /// RR_CLASS, [`CLASS_IN`].
    pub class: u16,
    /// TTL in seconds; 0 is for ever. In a WACK: how long to wait.
    pub ttl_s: u32,
    /// RDATA.
    pub data: &'a [u8],
}

impl<'a> Record<'a> {
    /// The name the record is about; `None` for the null name.
    ///
    /// # Errors
    /// See [`ScopedName::decode`].
    pub fn name(&self) -> Result<Option<ScopedName>, Malformed> {
        ScopedName::decode(self.packet, self.name_at).map(|(name, _)| name)
    }

    /// RDATA of a [`TYPE_NB`] record: the owners. A last entry that is cut short is passed over.
    pub fn entries(&self) -> impl Iterator<Item = AddrEntry> + 'a {
        let chunks = self.data.as_chunks::<{ AddrEntry::LEN }>().0;
        chunks.iter().map(|&[high, low, a, b, c, d]| AddrEntry {
            flags: NameFlags(u16::from_be_bytes([high, low])),
            address: Ipv4Addr::new(a, b, c, d),
        })
    }

    /// RDATA of a [`TYPE_NBSTAT`] record in a response: the node's names, up to the end of the data.
    pub fn node_names(&self) -> impl Iterator<Item = NodeName> + 'a {
        let (count, names) = self.data.split_first().unwrap_or((&0, &[]));
        let chunks = names.as_chunks::<{ NodeName::LEN }>().0;
        chunks.iter().take(usize::from(*count)).map(|chunk| {
            let [name @ .., high, low] = chunk;
            NodeName {
                name: NbName(*name),
                flags: NameFlags(u16::from_be_bytes([*high, *low])),
            }
        })
    }

    /// RDATA of a [`TYPE_NBSTAT`] record in a response: what follows the names, zeros where it is cut short.
    pub fn statistics(&self) -> Statistics {
        let count = usize::from(self.data.first().copied().unwrap_or_default());
        let at = count.saturating_mul(NodeName::LEN).saturating_add(1);
        let mut bytes = [0; Statistics::LEN];
        let there = self.data.get(at..).unwrap_or_default();
        for (slot, byte) in bytes.iter_mut().zip(there) {
            *slot = *byte;
        }
        Statistics(bytes)
    }

    fn decode(packet: &'a [u8], name_at: usize) -> Result<(Self, usize), Malformed> {
        let at = name::skip(packet, name_at)?;
        let [
            type_high,
            type_low,
            class_high,
            class_low,
            ttl @ ..,
            len_high,
            len_low,
        ] = array_at::<10>(packet, at, "a record's header")?;
        let start = at.saturating_add(10);
        let end = start.saturating_add(usize::from(u16::from_be_bytes([len_high, len_low])));
        let record = Self {
            packet,
            name_at,
            record_type: u16::from_be_bytes([type_high, type_low]),
            class: u16::from_be_bytes([class_high, class_low]),
            ttl_s: u32::from_be_bytes(ttl),
            data: packet
                .get(start..end)
                .ok_or(Malformed::Truncated("a record's data"))?,
        };
        Ok((record, end))
    }
}

/// A walk over `left` questions or records.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    left: u32,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8], left: u32) -> Self {
        Self {
            bytes,
            at: HEADER_LEN,
            left,
        }
    }

    fn next<T>(
        &mut self,
        decode: impl Fn(&'a [u8], usize) -> Result<(T, usize), Malformed>,
    ) -> Option<Result<T, Malformed>> {
        self.left = self.left.checked_sub(1)?;
        match decode(self.bytes, self.at) {
            Ok((item, next)) => {
                self.at = next;
                Some(Ok(item))
            }
            Err(error) => {
                self.left = 0;
                Some(Err(error))
            }
        }
    }
}
