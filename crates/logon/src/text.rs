//! Text conversions for logons: UTF-16LE, Unicode upper case, and an OEM code page.

use alloc::string::String;
use alloc::vec::Vec;

/// The OEM code page of the client, which the caller supplies (this crate has no tables).
///
/// [`Ascii`] is enough where names and passwords are plain ASCII.
pub trait OemCodePage {
    /// Decodes OEM bytes. Undefined bytes become U+FFFD.
    fn decode(&self, oem: &[u8]) -> String;

    /// The text upper-cased and encoded, as LM hashes need it; `None` if the page lacks one of its characters.
    fn encode_upper(&self, text: &str) -> Option<Vec<u8>>;
}

/// The seven-bit part that all OEM code pages share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ascii;

impl OemCodePage for Ascii {
    fn decode(&self, oem: &[u8]) -> String {
        oem.iter()
            .map(|&b| {
                if b.is_ascii() {
                    char::from(b)
                } else {
                    char::REPLACEMENT_CHARACTER
                }
            })
            .collect()
    }

    fn encode_upper(&self, text: &str) -> Option<Vec<u8>> {
        text.is_ascii()
            .then(|| text.bytes().map(|b| b.to_ascii_uppercase()).collect())
    }
}

/// Encodes text as UTF-16LE, without a terminator.
pub fn utf16le(text: &str) -> Vec<u8> {
    // Allocates the full size at once: a growing allocation would leave copies of passwords behind.
    let mut bytes = Vec::with_capacity(text.len().saturating_mul(2));
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

/// Decodes UTF-16LE; lone surrogates become U+FFFD and an odd last byte is dropped.
pub fn from_utf16le(bytes: &[u8]) -> String {
    let (pairs, _odd) = bytes.as_chunks::<2>();
    char::decode_utf16(pairs.iter().map(|&pair| u16::from_le_bytes(pair)))
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Upper case, one character for one, as Windows does for user names: a character whose upper case is longer
/// (ß) stays as it is.
pub fn upper(text: &str) -> String {
    each_char(text, upper_char)
}

/// Lower case, one character for one.
pub fn lower(text: &str) -> String {
    each_char(text, |c| only(c.to_lowercase()).unwrap_or(c))
}

fn each_char(text: &str, change: impl Fn(char) -> char) -> String {
    // A changed character may need more bytes than the original, four at most.
    let mut changed = String::with_capacity(text.len().saturating_mul(4));
    changed.extend(text.chars().map(change));
    changed
}

fn upper_char(c: char) -> char {
    only(c.to_uppercase()).unwrap_or(c)
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_case_keeps_the_number_of_characters() {
        assert_eq!(upper("straße Ünal"), "STRAßE ÜNAL");
        assert_eq!(lower("STRASSE"), "strasse");
    }

    #[test]
    fn utf16_survives_a_round_trip() {
        assert_eq!(utf16le("Aé"), [0x41, 0, 0xe9, 0]);
        assert_eq!(from_utf16le(&utf16le("Grüße 😀")), "Grüße 😀");
        assert_eq!(from_utf16le(&[0x41, 0, 0x42]), "A");
        assert_eq!(from_utf16le(&[0x00, 0xd8]), "\u{fffd}");
    }

    #[test]
    fn ascii_refuses_to_encode_what_it_lacks() {
        assert_eq!(
            Ascii.encode_upper("abC1").as_deref(),
            Some(b"ABC1".as_slice())
        );
        assert_eq!(Ascii.encode_upper("é"), None);
        assert_eq!(Ascii.decode(&[0x61, 0x82]), "a\u{fffd}");
    }
}
