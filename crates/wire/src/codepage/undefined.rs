//! Bytes that a code page does not define, as private-use characters.

/// First of the 256 private-use characters for bytes that a code page does not define.
pub const UNDEFINED_BASE: u32 = 0xEF00;

/// The private-use character for an undefined byte.
pub(crate) fn undefined(byte: u8) -> char {
    char::from_u32(UNDEFINED_BASE + u32::from(byte)).unwrap_or('_')
}

/// The byte of such a character. ASCII bytes are defined in every page and have no such character, so no name can
/// contain an escaped separator.
pub(crate) fn undefined_byte(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).wrapping_sub(UNDEFINED_BASE))
        .ok()
        .filter(|b| *b >= 0x80)
}
