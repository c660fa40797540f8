//! Messages that a person types: hexadecimal digits, and what they are.

use crate::{
    Context, Decoded, datagram, ethernet_frame, ipx_packet, llc_frame, name_packet, netbeui_frame,
    session_packet, smb_message,
};

/// The longest input of digits, bytes.
pub const MAX_DIGITS: usize = 1 << 20;

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet of the session service: four bytes, then an SMB message.
    Session,
    /// An SMB message from its first byte, 0xff.
    Smb,
    /// A packet of the name service, UDP port 137.
    Name,
    /// A datagram, UDP port 138.
    Datagram,
    /// A NetBEUI frame from the length of its header.
    Netbeui,
    /// An Ethernet frame with NetBEUI or IPX, from its destination address.
    Ethernet,
    /// An LLC frame, from its destination service access point.
    Llc,
    /// An IPX packet, from its checksum.
    Ipx,
}

impl Kind {
    /// What the bytes are, by their beginning.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0xff, b'S', b'M', b'B', ..] => Self::Smb,
            [0x2c | 0x0e, 0, 0xff, 0xef, ..] => Self::Netbeui,
            [0x10..=0x16, _, _, _, _, _, _, _, 0, 138, ..] => Self::Datagram,
            [0 | 0x81..=0x85, high, middle, low, rest @ ..]
                if length(*high, *middle, *low) == rest.len() =>
            {
                Self::Session
            }
            [0, _, _, _, 0xff, b'S', b'M', b'B', ..] => Self::Session,
            _ if is_ethernet(bytes) => Self::Ethernet,
            [0xff, 0xff, high, low, ..] if (30..=bytes.len()).contains(&length(0, *high, *low)) => {
                Self::Ipx
            }
            [0xf0, 0xf0 | 0xf1, _, ..] | [0xe0, 0xe0, 3, ..] | [0xaa, 0xaa, 3, ..] => Self::Llc,
            [_, _, _, _, 0, 0 | 1, 0, 0 | 1, ..] => Self::Name,
            _ => Self::Session,
        }
    }

    /// Decodes one message of this kind, without others of its connection.
    pub fn decode(self, bytes: &[u8]) -> Decoded {
        let mut context = Context::default();
        match self {
            Self::Session => session_packet(bytes, &mut context),
            Self::Smb => smb_message(bytes, &mut context),
            Self::Name => name_packet(bytes),
            Self::Datagram => datagram(bytes),
            Self::Netbeui => netbeui_frame(bytes, &mut context),
            Self::Ethernet => ethernet_frame(bytes, &mut context),
            Self::Llc => llc_frame(bytes, &mut context),
            Self::Ipx => ipx_packet(bytes, &mut context),
        }
    }
}

/// A length and NetBEUI or IPX, or IPX's type.
fn is_ethernet(bytes: &[u8]) -> bool {
    match bytes.get(12..).unwrap_or_default() {
        [0x81, 0x37, 0xff, 0xff, ..] => true,
        [high, low, payload @ ..] if (3..=1500).contains(&length(0, *high, *low)) => matches!(
            payload,
            [0xf0, 0xf0 | 0xf1, _, ..]
                | [0xe0, 0xe0, 3, ..]
                | [0xaa, 0xaa, 3, 0, 0, 0, 0x81, 0x37, ..]
                | [0xff, 0xff, _, ..]
        ),
        _ => false,
    }
}

fn length(high: u8, middle: u8, low: u8) -> usize {
    usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)
}

/// The bytes that digits stand for. Between digits there may be white space, `:`, `,`, `-` and `0x`.
///
/// # Errors
/// Something else stands there, a digit is missing, or the text is longer than [`MAX_DIGITS`].
pub fn bytes_of_digits(text: &str) -> Result<Vec<u8>, String> {
    if text.len() >= MAX_DIGITS {
        return Err(format!(
            "it is longer than the {MAX_DIGITS} characters that are read"
        ));
    }
    let text = text.replace("0x", " ");
    let kept: Vec<char> = text
        .chars()
        .filter(|c| !c.is_whitespace() && !":,-".contains(*c))
        .collect();
    if let Some(wrong) = kept.iter().find(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("{wrong:?} is no digit"));
    }
    if kept.is_empty() || kept.len() % 2 == 1 {
        return Err(format!("{} digits are no whole bytes", kept.len()));
    }
    let pair = |pair: &[char]| {
        pair.iter()
            .filter_map(|c| c.to_digit(16))
            .fold(0, |byte, digit| byte << 4 | digit) as u8
    };
    Ok(kept.chunks(2).map(pair).collect())
}
