//! The four ways of IPX into an Ethernet frame.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::{HEADER_LEN, Packet};
use crate::error::{Error, Result};
use crate::ether::{self, Frame, MAX_PAYLOAD_LEN, Mac, Payload};
use crate::llc::{SAP_IPX, SAP_SNAP};

/// The type of IPX in Ethernet II and SNAP.
const TYPE: u16 = 0x8137;
/// The header of 802.2: both access points, unnumbered information.
const LLC: [u8; 3] = [SAP_IPX, SAP_IPX, 0x03];
/// The header of SNAP: both access points, unnumbered information, organisation 0, the type.
const SNAP: [u8; 8] = [SAP_SNAP, SAP_SNAP, 0x03, 0, 0, 0, 0x81, 0x37];

/// How IPX travels in Ethernet frames. Stations with different types do not hear each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameType {
    /// Ethernet II with type 8137.
    EthernetII,
    /// IEEE 802.3 and 802.2: what Windows and NetWare since 3.12 use if not told otherwise.
    Ieee802_2,
    /// IEEE 802.3 without LLC, "raw": what NetWare before 3.12 uses.
    Raw802_3,
    /// IEEE 802.3, 802.2 and SNAP.
    Snap,
}

impl FrameType {
    /// All of them; the first is what Windows uses if it hears no other station.
    pub const ALL: [Self; 4] = [
        Self::Ieee802_2,
        Self::EthernetII,
        Self::Raw802_3,
        Self::Snap,
    ];

    /// Its name in options and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EthernetII => "ethernet-ii",
            Self::Ieee802_2 => "802.2",
            Self::Raw802_3 => "802.3",
            Self::Snap => "snap",
        }
    }

    /// The header between Ethernet's and IPX's.
    const fn header(self) -> &'static [u8] {
        match self {
            Self::EthernetII | Self::Raw802_3 => &[],
            Self::Ieee802_2 => &LLC,
            Self::Snap => &SNAP,
        }
    }

    /// The most data of a packet, in bytes.
    pub const fn max_data(self) -> usize {
        MAX_PAYLOAD_LEN - HEADER_LEN - self.header().len()
    }

    /// Finds IPX in a frame.
    ///
    /// # Errors
    /// When the frame carries something else, or a damaged packet.
    pub fn parse<'a>(frame: &Frame<'a>) -> Result<(Self, Packet<'a>)> {
        let (kind, bytes) = match frame.payload {
            Payload::Type(TYPE, bytes) => (Self::EthernetII, bytes),
            Payload::Type(..) => return Err(Error::Value { what: "type" }),
            Payload::Length(bytes) => {
                let raw = bytes.starts_with(&[0xff, 0xff]);
                let of = |kind: Self| bytes.strip_prefix(kind.header()).map(|rest| (kind, rest));
                match raw {
                    true => (Self::Raw802_3, bytes),
                    false => of(Self::Ieee802_2)
                        .or_else(|| of(Self::Snap))
                        .ok_or(Error::Value { what: "LLC" })?,
                }
            }
        };
        Ok((kind, Packet::parse(bytes)?))
    }

    /// Writes a frame with a packet whose data is `parts`. An 802.3 payload is padded to an even length, as Novell's and
    /// Microsoft's stations do (all frames of tests/captures/tcpdump-ipx.pcap).
    ///
    /// # Errors
    /// [`Error::Value`] when the data exceeds [`max_data`](Self::max_data).
    pub fn emit(
        self,
        destination: Mac,
        source: Mac,
        packet: &Packet<'_>,
        parts: &[&[u8]],
    ) -> Result<Vec<u8>> {
        let len = parts
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.len()));
        if len > self.max_data() {
            return Err(Error::Value { what: "length" });
        }
        let header = packet.header(len)?;
        let mut all: Vec<&[u8]> = Vec::with_capacity(parts.len().saturating_add(3));
        all.push(self.header());
        all.push(&header);
        all.extend_from_slice(parts);
        if self == Self::EthernetII {
            return Ok(ether::emit_type(destination, source, TYPE, &all));
        }
        let payload = all
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.len()));
        if payload % 2 == 1 && payload < MAX_PAYLOAD_LEN {
            all.push(&[0]);
        }
        ether::emit_802_3(destination, source, &all)
    }
}

impl fmt::Display for FrameType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a text is no frame type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame type is 802.2, 802.3, ethernet-ii or snap")]
pub struct BadFrameType;

impl FromStr for FrameType {
    type Err = BadFrameType;

    /// Reads our names, and those of NET.CFG, such as `ETHERNET_802.2`.
    fn from_str(text: &str) -> core::result::Result<Self, BadFrameType> {
        let short = match text.get(..9) {
            Some(prefix) if prefix.eq_ignore_ascii_case("ethernet_") => text.get(9..),
            _ => None,
        };
        let is = |name: &str| short.unwrap_or(text).eq_ignore_ascii_case(name);
        match () {
            () if is("802.2") => Ok(Self::Ieee802_2),
            () if is("802.3") || is("raw") => Ok(Self::Raw802_3),
            () if is("ethernet-ii") || is("ii") => Ok(Self::EthernetII),
            () if is("snap") => Ok(Self::Snap),
            () => Err(BadFrameType),
        }
    }
}
