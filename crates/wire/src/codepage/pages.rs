//! The source of each page's tables, and its names.

use super::undefined::{undefined, undefined_byte};
use alloc::{borrow::Cow, string::String};
use encoding_rs::{DecoderResult, EncoderResult, Encoding};
use oem_cp::{
    OEMCPHashMap,
    code_table::{DECODING_TABLE_CP_MAP, ENCODING_TABLE_CP_MAP},
    code_table_type::TableType,
};

/// The tables of one page.
#[derive(Clone, Copy)]
pub(super) enum Table {
    /// No characters above 0x7F.
    Ascii,
    /// ISO 8859-1: the byte is the code point.
    Latin1,
    /// Variable length, handled by the standard library.
    Utf8,
    /// A single-byte DOS page.
    Oem(&'static TableType, &'static OEMCPHashMap<char, u8>),
    /// A Windows, ISO or double-byte page.
    Web(&'static Encoding),
}

impl Table {
    /// One character of one or two bytes, if these bytes are one.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<char> {
        if let [byte @ 0..=0x7f] = bytes {
            return Some(char::from(*byte));
        }
        match (self, bytes) {
            (Self::Latin1, [byte]) => Some(char::from(*byte)),
            (Self::Oem(table, _), [byte]) => table.decode_char_checked(*byte),
            (Self::Web(encoding), _) => decode_web(encoding, bytes),
            _ => None,
        }
    }

    /// A character's bytes and how many there are, only if they decode to that very character again.
    pub(super) fn encode(self, c: char) -> Option<([u8; 4], u8)> {
        match self {
            Self::Ascii => None,
            Self::Latin1 => u8::try_from(u32::from(c)).ok().map(single),
            Self::Oem(_, table) => table.get(&c).copied().map(single),
            Self::Web(encoding) => encode_web(encoding, c),
            Self::Utf8 => {
                let mut bytes = [0; 4];
                let len = c.encode_utf8(&mut bytes).len();
                Some((bytes, u8::try_from(len).ok()?))
            }
        }
    }
}

fn single(byte: u8) -> ([u8; 4], u8) {
    ([byte, 0, 0, 0], 1)
}

/// Decodes one character that the encoding can also write. Big5's table decodes a few sequences that it cannot write,
/// some of them as two characters. These count as undefined, because names with them could not be encoded again.
fn decode_web(encoding: &'static Encoding, bytes: &[u8]) -> Option<char> {
    let c = decode_one(encoding, bytes)?;
    encode_one(encoding, c).map(|_| c)
}

/// Guards against one-way mappings such as Shift_JIS's of U+00A5 to 0x5C, which would turn a yen sign in a name into
/// a path separator.
fn encode_web(encoding: &'static Encoding, c: char) -> Option<([u8; 4], u8)> {
    let (bytes, len) = encode_one(encoding, c)?;
    (decode_one(encoding, bytes.get(..usize::from(len))?)? == c).then_some((bytes, len))
}

fn decode_one(encoding: &'static Encoding, bytes: &[u8]) -> Option<char> {
    let mut text = [0; 16];
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let (result, read, written) =
        decoder.decode_to_utf8_without_replacement(bytes, &mut text, true);
    if result != DecoderResult::InputEmpty || read != bytes.len() {
        return None;
    }
    let mut chars = core::str::from_utf8(text.get(..written)?).ok()?.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn encode_one(encoding: &'static Encoding, c: char) -> Option<([u8; 4], u8)> {
    let (mut text, mut bytes) = ([0; 4], [0; 16]);
    let (result, _, written) = encoding.new_encoder().encode_from_utf8_without_replacement(
        c.encode_utf8(&mut text),
        &mut bytes,
        true,
    );
    if result != EncoderResult::InputEmpty || !matches!(written, 1 | 2) {
        return None;
    }
    let [first, second, ..] = bytes;
    Some(([first, second, 0, 0], u8::try_from(written).ok()?))
}

/// UTF-8 with stray bytes escaped; a real U+EF80..=U+EFFF counts as stray, so that bytes come back as they were.
pub(super) fn decode_utf8(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = core::str::from_utf8(bytes)
        && !text.chars().any(|c| undefined_byte(c).is_some())
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() * 2);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match undefined_byte(c) {
                Some(_) => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(undefined)),
                None => out.push(c),
            }
        }
        out.extend(chunk.invalid().iter().copied().map(undefined));
    }
    Cow::Owned(out)
}

/// The tables of a page by number.
pub(super) fn table(number: u16) -> Option<Table> {
    let oem = DECODING_TABLE_CP_MAP
        .get(&number)
        .zip(ENCODING_TABLE_CP_MAP.get(&number));
    if let Some((decode, encode)) = oem {
        return Some(Table::Oem(decode, encode));
    }
    Some(match number {
        65001 => Table::Utf8,
        20127 => Table::Ascii,
        28591 => Table::Latin1,
        _ => Table::Web(web(number)?),
    })
}

fn web(number: u16) -> Option<&'static Encoding> {
    use encoding_rs as e;
    Some(match number {
        932 => e::SHIFT_JIS,
        936 => e::GBK,
        949 => e::EUC_KR,
        950 => e::BIG5,
        1250 => e::WINDOWS_1250,
        1251 => e::WINDOWS_1251,
        1252 => e::WINDOWS_1252,
        1253 => e::WINDOWS_1253,
        1254 => e::WINDOWS_1254,
        1255 => e::WINDOWS_1255,
        1256 => e::WINDOWS_1256,
        1257 => e::WINDOWS_1257,
        1258 => e::WINDOWS_1258,
        10000 => e::MACINTOSH,
        20866 => e::KOI8_R,
        21866 => e::KOI8_U,
        28592 => e::ISO_8859_2,
        28593 => e::ISO_8859_3,
        28594 => e::ISO_8859_4,
        28595 => e::ISO_8859_5,
        28596 => e::ISO_8859_6,
        28597 => e::ISO_8859_7,
        28598 => e::ISO_8859_8,
        28603 => e::ISO_8859_13,
        28605 => e::ISO_8859_15,
        _ => return None,
    })
}

/// The number behind a name as Samba and iconv write it; case, `-`, `_` and spaces do not matter.
pub(super) fn number_of_name(name: &str) -> Option<u16> {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .map(|c| c.to_ascii_uppercase())
        .collect();
    let plain = plain.as_str();
    if let Some(part) = plain.strip_prefix("ISO8859") {
        return part
            .parse::<u16>()
            .ok()
            .filter(|n| (1..=15).contains(n))
            .map(|n| 28590 + n);
    }
    let number = match plain {
        "UTF8" => return Some(65001),
        "ASCII" | "USASCII" => return Some(20127),
        "LATIN1" => return Some(28591),
        "LATIN2" => return Some(28592),
        "LATIN9" => return Some(28605),
        "KOI8R" => return Some(20866),
        "KOI8U" => return Some(21866),
        "SJIS" | "SHIFTJIS" | "MSKANJI" | "WINDOWS31J" => return Some(932),
        "GBK" | "GB2312" => return Some(936),
        "EUCKR" | "UHC" => return Some(949),
        "BIG5" => return Some(950),
        "MACINTOSH" | "MAC" => return Some(10000),
        other => ["WINDOWS", "IBM", "CP", "MS"]
            .iter()
            .find_map(|p| other.strip_prefix(p))
            .unwrap_or(other),
    };
    // `parse` would take a sign.
    number
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| number.parse().ok())?
}
