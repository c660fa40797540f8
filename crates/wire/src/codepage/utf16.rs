//! UTF-16LE, as Unicode strings are on the wire ([MS-CIFS] 2.2.1.1.1), to text and back without loss.
//!
//! NT accepts any 16-bit units in a name, including lone surrogates, and clients create such names. An error would fail
//! where NT succeeds, and U+FFFD would make different names equal. Therefore a lone surrogate `s` becomes the
//! private-use character U+100000 + `s` (U+10D800..=U+10DFFF), and encoding restores `s`. A real surrogate pair for one
//! of those characters is decoded as the escapes of its two halves. Decoding and encoding restores every sequence of
//! units.

use alloc::{string::String, vec::Vec};

/// Offset that maps a lone surrogate to a character.
pub const SURROGATE_BASE: u32 = 0x10_0000;

/// Units to text, see the module's head for lone surrogates.
pub fn from_units(units: impl IntoIterator<Item = u16>) -> String {
    let mut out = String::new();
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(c) if lone(c).is_none() => out.push(c),
            Ok(c) => out.extend(c.encode_utf16(&mut [0; 2]).iter().copied().map(escape)),
            Err(e) => out.push(escape(e.unpaired_surrogate())),
        }
    }
    out
}

/// Text to units.
pub fn to_units(text: &str) -> impl Iterator<Item = u16> + '_ {
    text.chars().flat_map(|c| {
        let mut pair = [0; 2];
        let len = match lone(c) {
            Some(unit) => {
                pair = [unit, 0];
                1
            }
            None => c.encode_utf16(&mut pair).len(),
        };
        pair.into_iter().take(len)
    })
}

/// Little-endian bytes to text. An odd byte at the end is left out.
pub fn decode(bytes: &[u8]) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    from_units(units.iter().map(|unit| u16::from_le_bytes(*unit)))
}

/// Appends text as little-endian bytes, without a terminator.
pub fn encode_into(text: &str, out: &mut Vec<u8>) {
    out.extend(to_units(text).flat_map(u16::to_le_bytes));
}

/// Text as little-endian bytes, without a terminator.
pub fn encode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    encode_into(text, &mut out);
    out
}

/// Length in units of a text's UTF-16 form.
pub fn len(text: &str) -> usize {
    text.chars()
        .map(|c| if lone(c).is_some() { 1 } else { c.len_utf16() })
        .sum()
}

fn escape(surrogate: u16) -> char {
    char::from_u32(SURROGATE_BASE + u32::from(surrogate)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn lone(c: char) -> Option<u16> {
    u16::try_from(u32::from(c).checked_sub(SURROGATE_BASE)?)
        .ok()
        .filter(|u| matches!(u, 0xd800..=0xdfff))
}
