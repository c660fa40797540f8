//! Ethernet frames: Ethernet II with a type, IEEE 802.3 with a length (IEEE 802.3 §3.2).

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::error::{Error, Result};
use crate::io::Reader;

/// Bytes of the header: destination, source, type or length.
pub const HEADER_LEN: usize = 14;
/// The shortest frame without its check sequence; shorter ones are padded with zeros (IEEE 802.3 §3.2.8).
pub const MIN_FRAME_LEN: usize = 60;
/// The most bytes between header and check sequence.
pub const MAX_PAYLOAD_LEN: usize = 1500;

/// A station's address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Every station.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// Every NetBIOS station (SC30-3587 §5.4: the functional address of NetBIOS, as Ethernet writes it).
    pub const NETBIOS: Self = Self([3, 0, 0, 0, 0, 1]);

    /// Whether this addresses a group of stations.
    pub const fn is_group(self) -> bool {
        let [first, ..] = self.0;
        first & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for Mac {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = Error::Value {
            what: "station address",
        };
        let mut mac = [0; 6];
        let mut parts = text.split([':', '-']);
        for byte in &mut mac {
            let part = parts.next().filter(|part| part.len() == 2).ok_or(wrong)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| wrong)?;
        }
        match parts.next() {
            None => Ok(Self(mac)),
            Some(_) => Err(wrong),
        }
    }
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// IEEE 802.3: as many bytes as the length field says.
    Length(&'a [u8]),
    /// Ethernet II: the type, and all bytes, padding included.
    Type(u16, &'a [u8]),
}

/// A frame without preamble and check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The receiver, or a group.
    pub destination: Mac,
    /// The sender.
    pub source: Mac,
    /// What it carries.
    pub payload: Payload<'a>,
}

impl<'a> Frame<'a> {
    /// Reads a frame. Padding after an 802.3 payload is left out.
    ///
    /// # Errors
    /// When the frame ends in its header or before its length field says, or when that field is neither a length nor a
    /// type (1501 to 1535).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        let destination = Mac(reader.array("destination address")?);
        let source = Mac(reader.array("source address")?);
        let field = u16::from_be_bytes(reader.array("length or type")?);
        let payload = match usize::from(field) {
            len @ ..=MAX_PAYLOAD_LEN => Payload::Length(reader.take(len, "payload")?),
            0x600.. => Payload::Type(field, reader.rest()),
            _ => {
                return Err(Error::Value {
                    what: "length or type",
                });
            }
        };
        Ok(Self {
            destination,
            source,
            payload,
        })
    }
}

/// Writes an IEEE 802.3 frame whose payload is `parts`, padded to the minimum length.
///
/// # Errors
/// [`Error::Value`] when the payload exceeds [`MAX_PAYLOAD_LEN`].
pub fn emit_802_3(destination: Mac, source: Mac, parts: &[&[u8]]) -> Result<Vec<u8>> {
    let len = parts
        .iter()
        .map(|part| part.len())
        .fold(0, usize::saturating_add);
    if len > MAX_PAYLOAD_LEN {
        return Err(Error::Value {
            what: "payload length",
        });
    }
    // At most 1500: it fits.
    Ok(emit(destination, source, len as u16, parts))
}

/// Writes an Ethernet II frame whose payload is `parts`, padded to the minimum length.
pub fn emit_type(destination: Mac, source: Mac, kind: u16, parts: &[&[u8]]) -> Vec<u8> {
    emit(destination, source, kind, parts)
}

fn emit(destination: Mac, source: Mac, field: u16, parts: &[&[u8]]) -> Vec<u8> {
    let len = parts
        .iter()
        .map(|part| part.len())
        .fold(HEADER_LEN, usize::saturating_add);
    let mut frame = Vec::with_capacity(len.max(MIN_FRAME_LEN));
    frame.extend_from_slice(&destination.0);
    frame.extend_from_slice(&source.0);
    frame.extend_from_slice(&field.to_be_bytes());
    for part in parts {
        frame.extend_from_slice(part);
    }
    if frame.len() < MIN_FRAME_LEN {
        frame.resize(MIN_FRAME_LEN, 0);
    }
    frame
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const A: Mac = Mac([2, 0, 0, 0, 0, 0x0a]);
    const B: Mac = Mac([2, 0, 0, 0, 0, 0x0b]);

    #[test]
    fn a_short_payload_is_padded_and_the_length_field_removes_the_padding() {
        let bytes = emit_802_3(A, B, &[&[0xf0, 0xf0], &[0x7f]]).unwrap();
        assert_eq!(bytes.len(), MIN_FRAME_LEN);
        assert_eq!(bytes.get(12..17).unwrap(), [0, 3, 0xf0, 0xf0, 0x7f]);
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.destination, frame.source), (A, B));
        assert_eq!(frame.payload, Payload::Length(&[0xf0, 0xf0, 0x7f]));
    }

    #[test]
    fn a_type_field_keeps_every_byte() {
        let bytes = emit_type(Mac::BROADCAST, A, 0x8137, &[&[7; 50]]);
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!(frame.payload, Payload::Type(0x8137, &[7; 50]));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        assert!(emit_802_3(A, B, &[&[0; 1501]]).is_err());
        let mut bytes = emit_802_3(A, B, &[&[1; 50]]).unwrap();
        bytes.truncate(40);
        assert_eq!(Frame::parse(&bytes), Err(Error::Short { what: "payload" }));
        let mut bytes = emit_type(A, B, 0x05ff, &[]);
        assert!(Frame::parse(&bytes).is_err());
        bytes.truncate(13);
        assert!(Frame::parse(&bytes).is_err());
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let mac: Mac = "02-00-00-00-00-0B".parse().unwrap();
        assert_eq!(mac, B);
        assert_eq!(alloc::format!("{mac}"), "02:00:00:00:00:0b");
        for wrong in ["", "02:00:00:00:00", "02:00:00:00:00:0b:0c", "2:0:0:0:0:b"] {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
        assert!(Mac::NETBIOS.is_group() && !B.is_group());
    }
}
