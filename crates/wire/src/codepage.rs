//! Code pages: the bytes that old clients use for names, to Unicode and back without loss.
//!
//! A name is bytes in the client's code page on the wire and Unicode from there on; paths are split only after
//! decoding, so that 0x5C as the second byte of a Japanese character is never interpreted as `\`.
//!
//! Bytes that are undefined in a page become U+EF00 + byte (a private-use range), and encoding restores them, so a name
//! survives a round trip through a server that cannot decode it. UTF-16 has its own escape, see [`utf16`].

mod fold;
mod pages;
#[cfg(test)]
mod tests;
mod undefined;
pub mod utf16;

pub use fold::{eq_ignore_case, fold, upper_char};
pub use undefined::UNDEFINED_BASE;

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{fmt, str::FromStr};
use pages::Table;
pub(crate) use undefined::{undefined, undefined_byte};

/// A code page: CP437, CP850, CP932 … and, for modern peers, UTF-8.
///
/// Parsed from what people write in smb.conf (`dos charset = CP850`): a number, or a name with or without `CP`, `IBM`
/// or `WINDOWS-` before it.
#[derive(Clone, Copy)]
pub struct CodePage {
    number: u16,
    table: Table,
}

/// The name of an unknown code page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown code page")]
pub struct UnknownCodePage;

/// A character that the code page has no bytes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {character:?} in code page {page}")]
pub struct Unmappable {
    /// The first character that could not be encoded.
    pub character: char,
    /// The number of the code page.
    pub page: u16,
}

impl CodePage {
    /// The code page of MS-DOS in the USA, and the default for NetBIOS names.
    pub fn cp437() -> Self {
        Self {
            number: 437,
            table: pages::table(437).unwrap_or(Table::Ascii),
        }
    }

    /// The page of MS-DOS in western Europe, Samba's default `dos charset`.
    pub fn cp850() -> Self {
        Self {
            number: 850,
            table: pages::table(850).unwrap_or(Table::Ascii),
        }
    }

    /// UTF-8 (65001).
    pub const fn utf8() -> Self {
        Self {
            number: 65001,
            table: Table::Utf8,
        }
    }

    /// The page with this number in IBM's and Microsoft's numbering (437, 932, 1252, 28591, 65001 …).
    pub fn from_number(number: u16) -> Option<Self> {
        Some(Self {
            number,
            table: pages::table(number)?,
        })
    }

    /// Its number in IBM's and Microsoft's numbering.
    pub const fn number(self) -> u16 {
        self.number
    }

    /// Whether `byte` begins a two-byte character. Always false in single-byte pages and in UTF-8.
    pub const fn is_lead_byte(self, byte: u8) -> bool {
        match self.number {
            932 => matches!(byte, 0x81..=0x9f | 0xe0..=0xfc),
            936 | 949 | 950 => matches!(byte, 0x81..=0xfe),
            _ => false,
        }
    }

    /// Decodes to Unicode. Never fails: an undefined byte `b` becomes U+EF00 + `b`. The result of [`Self::encode`]
    /// decodes to the same text again.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        if bytes.is_ascii() {
            // An ASCII slice is UTF-8, so this borrows.
            return String::from_utf8_lossy(bytes);
        }
        if matches!(self.table, Table::Utf8) {
            return pages::decode_utf8(bytes);
        }
        let decoded = self.decode_units(bytes, false);
        // The usual bytes of a twin may make a pair with an undefined byte before them.
        if decoded.twins && decoded.undefined {
            return Cow::Owned(self.decode_units(bytes, true).text);
        }
        Cow::Owned(decoded.text)
    }

    /// Decodes character by character. If a page contains a character twice, `exactly` decodes the unusual byte pair as
    /// two undefined characters.
    fn decode_units(self, bytes: &[u8], exactly: bool) -> Decoded {
        let mut out = Decoded::default();
        out.text.reserve(bytes.len() * 2);
        let mut rest = bytes;
        while let Some((&first, tail)) = rest.split_first() {
            let two = rest.get(..2).filter(|_| self.is_lead_byte(first));
            if let Some((c, twin)) = two.and_then(|pair| self.decode_pair(pair))
                && !(twin && exactly)
            {
                out.text.push(c);
                out.twins |= twin;
                rest = rest.get(2..).unwrap_or_default();
                continue;
            }
            let single = if self.is_lead_byte(first) {
                None
            } else {
                self.table.decode(&[first])
            };
            out.undefined |= single.is_none();
            out.text.push(single.unwrap_or_else(|| undefined(first)));
            rest = tail;
        }
        out
    }

    /// The character of two bytes, and whether others are its usual ones.
    fn decode_pair(self, pair: &[u8]) -> Option<(char, bool)> {
        let c = self.table.decode(pair)?;
        let (usual, len) = self.table.encode(c)?;
        Some((c, usual.get(..usize::from(len)) != Some(pair)))
    }

    /// Unicode to bytes; fails at the first character that the page lacks.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unmappable> {
        let mut out = Vec::with_capacity(text.len());
        for character in text.chars() {
            self.push(character, &mut out).ok_or(Unmappable {
                character,
                page: self.number,
            })?;
        }
        Ok(out)
    }

    /// Unicode to bytes, `_` for every character that the page lacks, as Windows and Samba show such names.
    pub fn encode_lossy(self, text: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        for c in text.chars() {
            if self.push(c, &mut out).is_none() {
                out.push(b'_');
            }
        }
        out
    }

    /// Appends one character's bytes; reports if the page lacks the character.
    pub fn push(self, c: char, out: &mut Vec<u8>) -> Option<()> {
        if c.is_ascii() {
            out.push(c as u8);
            return Some(());
        }
        if let Some(byte) = undefined_byte(c) {
            out.push(byte);
            return Some(());
        }
        let (bytes, len) = self.table.encode(c)?;
        out.extend_from_slice(bytes.get(..usize::from(len))?);
        Some(())
    }

    /// Whether the page has bytes for this character.
    pub fn maps(self, c: char) -> bool {
        c.is_ascii() || undefined_byte(c).is_some() || self.table.encode(c).is_some()
    }

    /// The upper-case form of a character in DOS with this page: its capital if the page contains it; for an accented
    /// Latin letter the capital without the accent (CP437 has no `Ê`, so `ê` becomes `E`); otherwise the character
    /// itself.
    pub fn upper_char(self, c: char) -> char {
        let upper = upper_char(c);
        if upper == c || self.maps(upper) {
            return upper;
        }
        fold::bare_capital(c).unwrap_or(c)
    }

    /// Upper-cases text as DOS does in this page, see [`Self::upper_char`].
    pub fn upper(self, text: &str) -> String {
        text.chars().map(|c| self.upper_char(c)).collect()
    }
}

impl Default for CodePage {
    fn default() -> Self {
        Self::cp850()
    }
}

impl PartialEq for CodePage {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for CodePage {}

impl fmt::Debug for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodePage({})", self.number)
    }
}

impl fmt::Display for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            65001 => f.write_str("UTF-8"),
            n @ 28591..=28605 => write!(f, "ISO8859-{}", n - 28590),
            n => write!(f, "CP{n}"),
        }
    }
}

impl FromStr for CodePage {
    type Err = UnknownCodePage;

    fn from_str(name: &str) -> Result<Self, UnknownCodePage> {
        pages::number_of_name(name)
            .and_then(Self::from_number)
            .ok_or(UnknownCodePage)
    }
}

/// Decoded text, and the irregularities in it.
#[derive(Default)]
struct Decoded {
    text: String,
    /// Characters by other than their usual bytes.
    twins: bool,
    /// Undefined bytes.
    undefined: bool,
}
