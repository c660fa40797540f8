//! The datagram service's packets on UDP port 138 (RFC 1002 §4.4).

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use super::name::ScopedName;
use super::{Malformed, array_at, u16_at};

/// The UDP port of the datagram service (RFC 1002 §6).
pub const PORT: u16 = 138;

/// The most bytes of a datagram packet (RFC 1002 §6, MAX_DATAGRAM_LENGTH).
pub const MAX_PACKET_LEN: usize = 576;

/// The most bytes of user data in a datagram, whole or fragmented (RFC 1002 §4.4.1).
pub const MAX_DATA_LEN: usize = 512;

/// Bytes of the header up to the names.
const HEADER_LEN: usize = 14;

/// FLAGS: more fragments follow.
const MORE: u8 = 0x01;
/// FLAGS: the first fragment.
const FIRST: u8 = 0x02;

/// MSG_TYPE of a direct-unique datagram.
const DIRECT_UNIQUE: u8 = 0x10;
/// MSG_TYPE of a direct-group datagram.
const DIRECT_GROUP: u8 = 0x11;
/// MSG_TYPE of a broadcast datagram.
const BROADCAST: u8 = 0x12;
/// MSG_TYPE of an error.
const ERROR: u8 = 0x13;

/// Whom a datagram is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatagramKind {
    /// The owner of a unique name.
    Unique,
    /// The members of a group.
    Group,
    /// All stations.
    Broadcast,
}

/// A packet of the datagram service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatagramPacket {
    /// A datagram or a fragment of one.
    Data(Fragment),
    /// DATAGRAM ERROR PACKET (RFC 1002 §4.4.3): the source, and 82 for a destination name that is absent, 83 and 84
    /// for a source or destination name that is malformed.
    Error {
        /// DGM_ID of the datagram that could not be delivered.
        id: u16,
        /// Who says so.
        source: Ipv4Addr,
        /// ERROR_CODE.
        code: u8,
    },
}

/// DIRECT_UNIQUE, DIRECT_GROUP and BROADCAST DATAGRAM (RFC 1002 §4.4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Whom it is for.
    pub kind: DatagramKind,
    /// F: this is the first fragment.
    pub first: bool,
    /// M: more fragments follow.
    pub more: bool,
    /// SNT, the sender's node type: 0 B, 1 P, 2 M, 3 (Windows) H.
    pub node: u8,
    /// DGM_ID: the same in all fragments.
    pub id: u16,
    /// SOURCE_IP.
    pub source_ip: Ipv4Addr,
    /// SOURCE_PORT.
    pub source_port: u16,
    /// PACKET_OFFSET: where `data` belongs in the user data, bytes.
    pub offset: u16,
    /// SOURCE_NAME.
    pub source: ScopedName,
    /// DESTINATION_NAME.
    pub destination: ScopedName,
    /// The user data of this fragment.
    pub data: Vec<u8>,
}

impl DatagramPacket {
    /// Decodes a datagram of port 138.
    ///
    /// # Errors
    /// See [`Malformed`]; [`Malformed::Unsupported`] for queries to a datagram distribution server.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let [kind, flags, id @ .., a, b, c, d] = array_at::<8>(bytes, 0, "the header")?;
        let (id, source_ip) = (u16::from_be_bytes(id), Ipv4Addr::new(a, b, c, d));
        let kind = match kind {
            DIRECT_UNIQUE => DatagramKind::Unique,
            DIRECT_GROUP => DatagramKind::Group,
            BROADCAST => DatagramKind::Broadcast,
            ERROR => {
                let [code] = array_at::<1>(bytes, 10, "the error code")?;
                return Ok(Self::Error {
                    id,
                    source: source_ip,
                    code,
                });
            }
            _ => return Err(Malformed::Unsupported),
        };
        let len = usize::from(u16_at(bytes, 10, "the length")?);
        // A packet may be padded behind its length, never cut before it.
        let end = HEADER_LEN.saturating_add(len);
        let packet = bytes.get(..end).ok_or(Malformed::Truncated("the data"))?;
        let (source, at) = ScopedName::decode(packet, HEADER_LEN)?;
        let (destination, at) = ScopedName::decode(packet, at)?;
        Ok(Self::Data(Fragment {
            kind,
            first: flags & FIRST != 0,
            more: flags & MORE != 0,
            node: (flags >> 2) & 3,
            id,
            source_ip,
            source_port: u16_at(bytes, 8, "the source port")?,
            offset: u16_at(bytes, 12, "the offset")?,
            source: source.ok_or(Malformed::BadName)?,
            destination: destination.ok_or(Malformed::BadName)?,
            data: packet.get(at..).unwrap_or_default().to_vec(),
        }))
    }
}

impl Fragment {
    /// The packet. `data` is cut to what its length field can tell.
    pub fn emit(&self) -> Vec<u8> {
        let kind = match self.kind {
            DatagramKind::Unique => DIRECT_UNIQUE,
            DatagramKind::Group => DIRECT_GROUP,
            DatagramKind::Broadcast => BROADCAST,
        };
        let mut flags = (self.node & 3) << 2;
        flags |= if self.first { FIRST } else { 0 };
        flags |= if self.more { MORE } else { 0 };
        let mut body = Vec::new();
        self.source.encode(&mut body);
        self.destination.encode(&mut body);
        body.extend_from_slice(&self.data);
        body.truncate(usize::from(u16::MAX));
        let len = u16::try_from(body.len()).unwrap_or(u16::MAX);
        let mut out = Vec::from([kind, flags]);
        out.extend_from_slice(&self.id.to_be_bytes());
        out.extend_from_slice(&self.source_ip.octets());
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend(body);
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::nbt::name::NbName;
    use proptest::prelude::*;

    fn fragment() -> Fragment {
        let name = |text: &str| ScopedName::from(text.parse::<NbName>().unwrap());
        Fragment {
            kind: DatagramKind::Group,
            first: true,
            more: false,
            node: 2,
            id: 0x1234,
            source_ip: Ipv4Addr::new(10, 0, 0, 1),
            source_port: 138,
            offset: 0,
            source: name("TOWER<00>"),
            destination: name("LAB<1e>"),
            data: b"hello".to_vec(),
        }
    }

    #[test]
    fn a_datagram_has_the_bytes_of_rfc_1002_section_4_4_2() {
        let bytes = fragment().emit();
        let expected = b"\x11\x0a\x12\x34\x0a\x00\x00\x01\x00\x8a\x00\x49\x00\x00\
            \x20FEEPFHEFFCCACACACACACACACACACAAA\x00\x20EMEBECCACACACACACACACACACACACABO\x00hello";
        assert_eq!(bytes, expected);
        assert_eq!(
            DatagramPacket::parse(&bytes),
            Ok(DatagramPacket::Data(fragment()))
        );
    }

    #[test]
    fn padding_is_passed_over_and_a_cut_packet_refused() {
        let mut bytes = fragment().emit();
        bytes.extend([0; 9]);
        assert_eq!(
            DatagramPacket::parse(&bytes),
            Ok(DatagramPacket::Data(fragment()))
        );
        let cut = &fragment().emit()[..40];
        assert!(DatagramPacket::parse(cut).is_err());
        let error = [0x13, 2, 0, 7, 10, 0, 0, 9, 0, 138, 0x82];
        let parsed = DatagramPacket::parse(&error).unwrap();
        assert!(matches!(
            parsed,
            DatagramPacket::Error {
                id: 7,
                code: 0x82,
                ..
            }
        ));
    }

    proptest! {
        #[test]
        fn what_parses_is_emitted_and_parsed_alike(bytes in any::<Vec<u8>>(), kind in 0x10u8..0x13) {
            let mut packet = fragment().emit();
            packet[0] = kind;
            packet.extend(&bytes);
            for bytes in [bytes, packet] {
                if let Ok(DatagramPacket::Data(parsed)) = DatagramPacket::parse(&bytes) {
                    let again = DatagramPacket::parse(&parsed.emit());
                    prop_assert_eq!(again, Ok(DatagramPacket::Data(parsed)));
                }
            }
        }
    }
}
