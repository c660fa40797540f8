//! Lossless conversion between names on disk (bytes) and the engine's names (Unicode).
//!
//! A byte `b` that is not part of valid UTF-8 becomes U+EF00 + b. The bytes of a real U+EF80 to U+EFFF in a name are
//! encoded the same way; otherwise two names on disk would decode to one.

use std::borrow::Cow;

/// Base of the private characters for stray bytes.
const STRAY: u32 = 0xEF00;
/// U+EF80 to U+EFFF all start with this byte in UTF-8.
const STRAY_LEAD: u8 = 0xEE;

/// Encodes a name or path for the disk.
pub(super) fn encode(name: &str) -> Cow<'_, [u8]> {
    if !name.as_bytes().contains(&STRAY_LEAD) {
        return Cow::Borrowed(name.as_bytes());
    }
    let mut bytes = Vec::with_capacity(name.len());
    for c in name.chars() {
        match stray_byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Decodes a name from the disk for the engine.
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(name) if !bytes.contains(&STRAY_LEAD) => name.to_owned(),
        _ => decode_odd(bytes),
    }
}

fn decode_odd(bytes: &[u8]) -> String {
    let mut name = String::with_capacity(bytes.len().saturating_mul(3));
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match stray_byte(c) {
                Some(_) => name.extend(c.encode_utf8(&mut [0; 4]).bytes().map(stray)),
                None => name.push(c),
            }
        }
        name.extend(chunk.invalid().iter().copied().map(stray));
    }
    name
}

fn stray(byte: u8) -> char {
    char::from_u32(STRAY.saturating_add(byte.into())).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Only bytes from 0x80: no stray byte is a slash, a dot or a NUL.
fn stray_byte(c: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(c).checked_sub(STRAY)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_stay_unchanged() {
        for name in [
            "",
            "AUTOEXEC.BAT",
            "Größe.txt",
            "日本語",
            "\u{EF2F}",
            "\u{E000}",
        ] {
            assert_eq!(encode(name), name.as_bytes());
            assert_eq!(decode(name.as_bytes()), name);
        }
    }

    #[test]
    fn a_stray_byte_becomes_a_private_character() {
        assert_eq!(decode(b"gr\xf6\xdfe"), "gr\u{EFF6}\u{EFDF}e");
        assert_eq!(&*encode("gr\u{EFF6}\u{EFDF}e"), b"gr\xf6\xdfe");
    }

    #[test]
    fn every_pair_of_bytes_survives_a_round_trip() {
        for high in 1..=255_u8 {
            for low in 1..=255_u8 {
                for bytes in [
                    &[high, low][..],
                    &[0xEE, high, low],
                    &[b'a', 0xEF, high, low, 0xBE],
                ] {
                    assert_eq!(&*encode(&decode(bytes)), bytes);
                }
            }
        }
    }

    #[test]
    fn a_real_private_character_differs_from_a_stray_byte() {
        assert_ne!(decode("\u{EFF6}".as_bytes()), decode(b"\xf6"));
    }

    #[test]
    fn no_character_encodes_to_a_slash() {
        for code in 0xEF00..=0xEFFF_u32 {
            let name = char::from_u32(code).map(String::from).unwrap_or_default();
            assert!(encode(&name).iter().all(|b| *b >= 0x80), "U+{code:04X}");
        }
    }
}
