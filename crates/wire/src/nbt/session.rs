//! The session service's packets: the four bytes before every SMB over TCP, and the handshake on port 139
//! (RFC 1002 §4.3).

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use super::name::{MAX_ENCODED_LEN, ScopedName};
use super::{Malformed, array_at, u16_at};

/// Bytes of a packet's header.
pub const HEADER_LEN: usize = 4;

/// The most bytes a control packet's body may need: the two names of a session request.
pub const MAX_CONTROL_LEN: usize = 2 * MAX_ENCODED_LEN;

/// The form of a packet's length field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// NetBIOS session service, TCP port 139: 17 bits, the highest in the flags (RFC 1002 §4.3.1).
    Nbt,
    /// Direct hosting, TCP port 445: 24 bits after a zero ([MS-SMB] 2.1, [MS-SMB2] 2.1).
    Direct,
}

impl Framing {
    /// The longest message that can be framed, in bytes.
    pub const fn max_len(self) -> usize {
        match self {
            Self::Nbt => 0x1_ffff,
            Self::Direct => 0xff_ffff,
        }
    }

    /// The header to send before a message of `len` bytes.
    ///
    /// # Errors
    /// [`TooLong`] when `len` does not fit in 17 or 24 bits.
    pub fn header(self, len: usize) -> Result<[u8; HEADER_LEN], TooLong> {
        if len > self.max_len() {
            return Err(TooLong {
                len,
                max: self.max_len(),
            });
        }
        // Below 2^24, so the first byte is 0, which is SESSION MESSAGE; on 139 bit 16 is the flags' bit 0.
        u32::try_from(len)
            .map(u32::to_be_bytes)
            .map_err(|_| TooLong { len, max: 0 })
    }
}

/// A message is too long for its framing. The sender erred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of {len} bytes cannot be framed: the most is {max}")]
pub struct TooLong {
    /// Bytes of the message.
    pub len: usize,
    /// The most bytes the framing allows.
    pub max: usize,
}

/// The type of a packet (RFC 1002 §4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketType {
    /// 00: SESSION MESSAGE.
    Message,
    /// 81: SESSION REQUEST.
    Request,
    /// 82: POSITIVE SESSION RESPONSE.
    Positive,
    /// 83: NEGATIVE SESSION RESPONSE.
    Negative,
    /// 84: RETARGET SESSION RESPONSE.
    Retarget,
    /// 85: SESSION KEEP ALIVE.
    KeepAlive,
    /// A type that RFC 1002 does not define.
    Other(u8),
}

impl From<u8> for PacketType {
    fn from(byte: u8) -> Self {
        match byte {
            0x00 => Self::Message,
            0x81 => Self::Request,
            0x82 => Self::Positive,
            0x83 => Self::Negative,
            0x84 => Self::Retarget,
            0x85 => Self::KeepAlive,
            other => Self::Other(other),
        }
    }
}

impl From<PacketType> for u8 {
    fn from(packet_type: PacketType) -> Self {
        match packet_type {
            PacketType::Message => 0x00,
            PacketType::Request => 0x81,
            PacketType::Positive => 0x82,
            PacketType::Negative => 0x83,
            PacketType::Retarget => 0x84,
            PacketType::KeepAlive => 0x85,
            PacketType::Other(other) => other,
        }
    }
}

/// A view of a packet's header: every four bytes are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub [u8; HEADER_LEN]);

impl Header {
    /// The header at the start of `bytes`, if there are at least four.
    pub fn first_of(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().copied().map(Self)
    }

    /// The packet type.
    pub fn packet_type(self) -> PacketType {
        let [packet_type, ..] = self.0;
        packet_type.into()
    }

    /// Bytes that follow the header.
    pub fn len(self, framing: Framing) -> usize {
        let [_, flags, high, low] = self.0;
        let top = match framing {
            Framing::Nbt => flags & 1,
            Framing::Direct => flags,
        };
        usize::try_from(u32::from_be_bytes([0, top, high, low])).unwrap_or(usize::MAX)
    }

    /// Whether nothing follows the header.
    pub fn is_empty(self, framing: Framing) -> bool {
        self.len(framing) == 0
    }

    /// The seven flag bits that must be zero on port 139; direct hosting has none.
    pub fn reserved_flags(self, framing: Framing) -> u8 {
        let [_, flags, ..] = self.0;
        match framing {
            Framing::Nbt => flags & 0xfe,
            Framing::Direct => 0,
        }
    }
}

/// Why a session was refused (RFC 1002 §4.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// 80: not listening on the called name.
    NotListeningOnCalledName,
    /// 81: not listening for the calling name.
    NotListeningForCallingName,
    /// 82: the called name is not present.
    CalledNameNotPresent,
    /// 83: the called name is present, but resources are short.
    InsufficientResources,
    /// 8F, or any other code.
    Other(u8),
}

impl Refusal {
    /// 8F: an unspecified error.
    pub const UNSPECIFIED: Self = Self::Other(0x8f);
}

impl From<u8> for Refusal {
    fn from(code: u8) -> Self {
        match code {
            0x80 => Self::NotListeningOnCalledName,
            0x81 => Self::NotListeningForCallingName,
            0x82 => Self::CalledNameNotPresent,
            0x83 => Self::InsufficientResources,
            other => Self::Other(other),
        }
    }
}

impl From<Refusal> for u8 {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotListeningOnCalledName => 0x80,
            Refusal::NotListeningForCallingName => 0x81,
            Refusal::CalledNameNotPresent => 0x82,
            Refusal::InsufficientResources => 0x83,
            Refusal::Other(other) => other,
        }
    }
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotListeningOnCalledName => f.write_str("not listening on the called name"),
            Self::NotListeningForCallingName => f.write_str("not listening for the calling name"),
            Self::CalledNameNotPresent => f.write_str("the called name is not present"),
            Self::InsufficientResources => f.write_str("insufficient resources"),
            Self::Other(code) => write!(f, "error {code:#04x}"),
        }
    }
}

/// A control packet in its legal form: everything but the SESSION MESSAGE, of which only the header is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// SESSION REQUEST (RFC 1002 §4.3.2).
    Request {
        /// The name by which the client calls the server.
        called: ScopedName,
        /// The client's own name.
        calling: ScopedName,
    },
    /// POSITIVE SESSION RESPONSE (RFC 1002 §4.3.3).
    Positive,
    /// NEGATIVE SESSION RESPONSE (RFC 1002 §4.3.4).
    Negative(Refusal),
    /// SESSION RETARGET RESPONSE (RFC 1002 §4.3.5): connect there instead.
    Retarget {
        /// Address of the called name's server.
        address: Ipv4Addr,
        /// Its TCP port.
        port: u16,
    },
    /// SESSION KEEP ALIVE (RFC 1002 §4.3.7).
    KeepAlive,
}

impl Control {
    /// Decodes what follows a header of the given type; bytes beyond the packet's own fields are passed over.
    ///
    /// # Errors
    /// See [`Malformed`]; [`Malformed::Unsupported`] for a SESSION MESSAGE and unknown types.
    pub fn parse(packet_type: PacketType, body: &[u8]) -> Result<Self, Malformed> {
        match packet_type {
            PacketType::Request => Self::parse_request(body),
            PacketType::Positive => Ok(Self::Positive),
            PacketType::Negative => array_at(body, 0, "the refusal's code")
                .map(|[code]: [u8; 1]| Self::Negative(code.into())),
            PacketType::Retarget => Ok(Self::Retarget {
                address: Ipv4Addr::from(array_at::<4>(body, 0, "the address to retarget to")?),
                port: u16_at(body, 4, "the port to retarget to")?,
            }),
            PacketType::KeepAlive => Ok(Self::KeepAlive),
            PacketType::Message | PacketType::Other(_) => Err(Malformed::Unsupported),
        }
    }

    /// The whole packet, header included.
    pub fn emit(&self) -> Vec<u8> {
        let mut packet = Vec::from([u8::from(self.packet_type()), 0, 0, 0]);
        match self {
            Self::Request { called, calling } => {
                called.encode(&mut packet);
                calling.encode(&mut packet);
            }
            Self::Negative(refusal) => packet.push((*refusal).into()),
            Self::Retarget { address, port } => {
                packet.extend_from_slice(&address.octets());
                packet.extend_from_slice(&port.to_be_bytes());
            }
            Self::Positive | Self::KeepAlive => {}
        }
        let len = packet.len().saturating_sub(HEADER_LEN);
        if let (Ok(len), Some([_, _, field @ ..])) =
            (u16::try_from(len), packet.first_chunk_mut::<HEADER_LEN>())
        {
            *field = len.to_be_bytes();
        }
        packet
    }

    /// The type its header carries.
    pub const fn packet_type(&self) -> PacketType {
        match self {
            Self::Request { .. } => PacketType::Request,
            Self::Positive => PacketType::Positive,
            Self::Negative(_) => PacketType::Negative,
            Self::Retarget { .. } => PacketType::Retarget,
            Self::KeepAlive => PacketType::KeepAlive,
        }
    }

    fn parse_request(body: &[u8]) -> Result<Self, Malformed> {
        let (called, next) = ScopedName::decode(body, 0)?;
        let (calling, _) = ScopedName::decode(body, next)?;
        match (called, calling) {
            (Some(called), Some(calling)) => Ok(Self::Request { called, calling }),
            _ => Err(Malformed::BadName),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::nbt::name::NbName;
    use proptest::prelude::*;

    /// A request as MS-DOS clients send it: called `*SMBSERVER<20>`, calling `DOSBOX<00>`.
    const REQUEST: &[u8] = b"\x81\x00\x00\x44\
        \x20CKFDENECFDEFFCFGEFFCCACACACACACA\x00\
        \x20EEEPFDECEPFICACACACACACACACACAAA\x00";

    #[test]
    fn a_session_request_decodes_to_its_names_and_back() {
        let header = Header::first_of(REQUEST).unwrap();
        assert_eq!(header.packet_type(), PacketType::Request);
        assert_eq!(header.len(Framing::Nbt), 68);
        let request = Control::parse(PacketType::Request, &REQUEST[4..]).unwrap();
        assert_eq!(
            request,
            Control::Request {
                called: NbName::SMBSERVER.into(),
                calling: "DOSBOX".parse::<NbName>().unwrap().into(),
            }
        );
        assert_eq!(request.emit(), REQUEST);
    }

    #[test]
    fn replies_have_the_bytes_of_rfc_1002() {
        assert_eq!(Control::Positive.emit(), [0x82, 0, 0, 0]);
        assert_eq!(Control::KeepAlive.emit(), [0x85, 0, 0, 0]);
        assert_eq!(
            Control::Negative(Refusal::CalledNameNotPresent).emit(),
            [0x83, 0, 0, 1, 0x82]
        );
        assert_eq!(
            Control::Retarget {
                address: Ipv4Addr::new(10, 1, 2, 3),
                port: 139
            }
            .emit(),
            [0x84, 0, 0, 6, 10, 1, 2, 3, 0, 139]
        );
    }

    #[test]
    fn lengths_have_17_bits_on_139_and_24_on_445() {
        assert_eq!(Framing::Nbt.header(0x1_ffff), Ok([0, 1, 0xff, 0xff]));
        assert_eq!(
            Framing::Nbt.header(0x2_0000),
            Err(TooLong {
                len: 0x2_0000,
                max: 0x1_ffff
            })
        );
        assert_eq!(Framing::Direct.header(0xff_ffff), Ok([0, 0xff, 0xff, 0xff]));
        assert!(Framing::Direct.header(0x100_0000).is_err());
        let header = Header([0, 0x13, 0x45, 0x67]);
        assert_eq!(header.len(Framing::Nbt), 0x1_4567);
        assert_eq!(header.reserved_flags(Framing::Nbt), 0x12);
        assert_eq!(header.len(Framing::Direct), 0x13_4567);
        assert_eq!(header.reserved_flags(Framing::Direct), 0);
    }

    #[test]
    fn a_request_with_a_forward_pointer_is_malformed() {
        assert_eq!(
            Control::parse(PacketType::Request, &[0xc0, 0x10, 0xc0, 0x00]),
            Err(Malformed::BadPointer)
        );
        assert_eq!(
            Control::parse(PacketType::Request, &[0, 0]),
            Err(Malformed::BadName)
        );
    }

    fn control() -> impl Strategy<Value = Control> {
        prop_oneof![
            (any::<[u8; 16]>(), any::<[u8; 16]>()).prop_map(|(called, calling)| Control::Request {
                called: NbName(called).into(),
                calling: NbName(calling).into(),
            }),
            Just(Control::Positive),
            any::<u8>().prop_map(|code| Control::Negative(code.into())),
            (any::<u32>(), any::<u16>()).prop_map(|(address, port)| Control::Retarget {
                address: address.into(),
                port
            }),
            Just(Control::KeepAlive),
        ]
    }

    proptest! {
        #[test]
        fn arbitrary_bodies_never_panic(packet_type: u8, body: Vec<u8>) {
            let _ = Control::parse(packet_type.into(), &body);
            prop_assert_eq!(u8::from(PacketType::from(packet_type)), packet_type);
        }

        #[test]
        fn a_control_packet_survives_encoding(control in control()) {
            let packet = control.emit();
            let header = Header::first_of(&packet).unwrap();
            prop_assert_eq!(header.len(Framing::Nbt), packet.len() - HEADER_LEN);
            prop_assert_eq!(Control::parse(header.packet_type(), &packet[4..]), Ok(control));
        }

        #[test]
        fn a_message_header_survives_encoding(len in 0usize..=0xff_ffff) {
            for framing in [Framing::Nbt, Framing::Direct] {
                if let Ok(header) = framing.header(len) {
                    prop_assert_eq!(Header(header).packet_type(), PacketType::Message);
                    prop_assert_eq!(Header(header).len(framing), len);
                }
            }
        }
    }
}
