//! Fields of the data bytes: strings, buffers, lists.

use coax_wire::{block::WireStr, codepage::CodePage, smb::summary};

use crate::{
    field::Value,
    walk::{Step, Walk},
};

/// Buffer formats ([MS-CIFS] 2.2.3.3).
const FORMATS: &[(u8, &str)] = &[
    (1, "data block"),
    (2, "dialect"),
    (3, "path"),
    (4, "string"),
    (5, "variable block"),
];

/// How the meaning of a string without a zero begins.
pub(crate) const NO_ZERO: &str = "no zero at its end";

/// The byte before a string or a buffer.
pub(crate) fn format(walk: &mut Walk<'_, '_>, expected: u8) -> Step {
    let at = walk.at;
    let found = walk.number("BufferFormat", 1)?;
    let name = FORMATS.iter().find(|(code, _)| u64::from(*code) == found);
    let field = walk.note("BufferFormat", at, 1, Value::Number(found));
    field.meaning = name.map(|(_, name)| (*name).to_owned()).unwrap_or_default();
    if found != u64::from(expected) {
        field.problem = Some(format!("should be {expected}"));
    }
    Ok(())
}

pub(crate) fn formatted(walk: &mut Walk<'_, '_>, name: &'static str, unicode: bool) -> Step {
    // libogc and libdsm pad the format byte instead of the second name
    if walk.peek() == Some(0) && walk.rest().get(1) == Some(&4) {
        walk.bytes("Pad", 1)?;
    }
    format(walk, 4)?;
    string(walk, name, unicode)
}

pub(crate) fn hidden(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    format(walk, 4)?;
    let len = walk.rest().iter().position(|byte| *byte == 0);
    let len = len.map_or(walk.left(), |at| at + 1);
    secret(walk, name, len)
}

/// Bytes that are not shown.
pub(crate) fn secret(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step {
    let at = walk.at;
    walk.take(name, len)?;
    if len > 0 {
        walk.note(name, at, len, Value::Secret);
    }
    Ok(())
}

/// A string up to its zero. UTF-16LE begins at an even offset from the header.
pub(crate) fn string(walk: &mut Walk<'_, '_>, name: &'static str, unicode: bool) -> Step {
    if walk.left() == 0 {
        return Ok(());
    }
    if unicode && walk.at % 2 == 1 && is_padded(walk.rest()) {
        walk.bytes("Pad", 1)?;
    }
    let at = walk.at;
    let rest = walk.rest();
    let size = if unicode { 2 } else { 1 };
    let zero = rest
        .chunks_exact(size)
        .position(|unit| unit.iter().all(|byte| *byte == 0));
    let len = zero.map_or(rest.len(), |units| units * size);
    let raw = walk.take(name, len)?;
    walk.at += zero.map_or(0, |_| size);
    let value = Value::Text(text(raw, unicode));
    let len = walk.at - at;
    let field = walk.note(name, at, len, value);
    if zero.is_none() {
        field.meaning =
            format!("{NO_ZERO}; Windows sends the last string so, and receivers accept it");
    }
    Ok(())
}

/// Whether a UTF-16LE string that should be aligned is: some clients put it directly behind a password.
fn is_padded(rest: &[u8]) -> bool {
    !matches!(rest, [first, 0, second, 0, ..] if first.is_ascii_graphic() && second.is_ascii_graphic())
}

/// The names in NEGOTIATE's reply: UTF-16LE without alignment if the second byte is a zero ([MS-CIFS] 2.2.4.52.2; Windows and
/// Samba send it so whatever the header says).
pub(crate) fn negotiated(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    let at = walk.at;
    let is_unicode = walk.unicode || matches!(walk.rest(), [first, 0, _, 0, ..] if *first != 0);
    if !is_unicode || walk.left() < 2 {
        return string(walk, name, false);
    }
    let rest = walk.rest();
    let zero = rest.chunks_exact(2).position(|unit| unit == [0, 0]);
    let len = zero.map_or(rest.len() & !1, |units| units * 2);
    let raw = walk.take(name, len)?;
    walk.at += zero.map_or(0, |_| 2);
    let len = walk.at - at;
    walk.note(name, at, len, Value::Text(text(raw, true)));
    Ok(())
}

/// Format byte, length and data.
pub(crate) fn block(walk: &mut Walk<'_, '_>, name: &'static str, expected: u8) -> Step {
    if walk.left() == 0 {
        return Ok(());
    }
    format(walk, expected)?;
    let at = walk.at;
    let len = walk.number("DataLength", 2)?;
    walk.note("DataLength", at, 2, Value::Number(len));
    walk.bytes(name, usize::try_from(len).unwrap_or(usize::MAX))
}

/// Bytes at an offset from the header.
pub(crate) fn at(
    walk: &mut Walk<'_, '_>,
    name: &'static str,
    (offset, len, high): (&str, &str, Option<&str>),
) -> Step {
    let offset = walk.length_of(offset);
    let high = high.map_or(0, |field| walk.length_of(field) & 0xffff);
    let len = walk.length_of(len) | high << 16;
    place(walk, name, offset, len).map(|_| ())
}

/// Moves to bytes that a message places at an offset, and notes them. The result is where they begin.
pub(crate) fn place(
    walk: &mut Walk<'_, '_>,
    name: &'static str,
    offset: usize,
    len: usize,
) -> Step<usize> {
    if len == 0 {
        return Ok(walk.at);
    }
    if offset > walk.at && offset <= walk.end {
        walk.bytes("Pad", offset - walk.at)?;
    }
    if offset < walk.at || offset > walk.message.len() {
        let (now, at) = (walk.at, walk.at);
        let field = walk.note(name, at, 0, Value::Bytes);
        field.problem = Some(match offset < now {
            true => format!("offset {offset} points before the data bytes, which begin at {now}"),
            false => format!("offset {offset} lies outside the message"),
        });
        return Ok(at);
    }
    walk.end = walk
        .end
        .max(offset.saturating_add(len))
        .min(walk.message.len());
    let start = walk.at;
    walk.bytes(name, len)?;
    Ok(start)
}

/// A string of `len` bytes.
pub(crate) fn counted(
    walk: &mut Walk<'_, '_>,
    name: &'static str,
    len: usize,
    unicode: bool,
) -> Step {
    if unicode && walk.at % 2 == 1 && len > 0 {
        walk.bytes("Pad", 1)?;
    }
    let at = walk.at;
    let raw = walk.take(name, len)?;
    if len > 0 {
        let value = Value::Text(text(raw, unicode));
        walk.note(name, at, len, value);
    }
    Ok(())
}

/// A name with its length before it and a terminator behind it, in listings of the levels 1 and 2.
pub(crate) fn named(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step {
    counted(walk, name, len, walk.unicode)?;
    let size = if walk.unicode { 2 } else { 1 };
    let zero = walk
        .rest()
        .get(..size)
        .is_some_and(|end| end.iter().all(|byte| *byte == 0));
    match zero {
        true => walk.bytes("Terminator", size),
        false => Ok(()),
    }
}

/// The string without its terminator, for people.
pub(crate) fn text(raw: &[u8], unicode: bool) -> String {
    let size = if unicode { 2 } else { 1 };
    let end = raw
        .chunks_exact(size)
        .position(|unit| unit.iter().all(|byte| *byte == 0));
    let raw = raw
        .get(..end.map_or(raw.len(), |units| units * size))
        .unwrap_or(raw);
    summary::decoded(WireStr { raw, unicode }, CodePage::cp437())
}

/// A NetBIOS name of 15 characters and its suffix.
pub(crate) fn netbios_name(raw: &[u8]) -> String {
    let (characters, suffix) = raw.split_at(raw.len().min(15));
    let characters = text(characters, false);
    let suffix = suffix.first().copied().unwrap_or(0);
    format!("{}<{suffix:02x}>", characters.trim_end())
}

/// A station's address.
pub(crate) fn mac(raw: &[u8]) -> String {
    let bytes: Vec<String> = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(":")
}
