//! One field of a layout.

use crate::{
    data,
    field::{Identifier, Value},
    layout::{Item, Kind, Layout},
    lists, moment,
    walk::{Step, Walk},
};

/// Goes through a layout's fields until the bytes end.
pub(crate) fn items(walk: &mut Walk<'_, '_>, items: &[Item]) -> Step {
    for item in items {
        if walk.exists(item.condition) {
            one(walk, item)?;
        }
    }
    Ok(())
}

fn one(walk: &mut Walk<'_, '_>, item: &Item) -> Step {
    match item.kind {
        Kind::Unsigned(_)
        | Kind::Signed(_)
        | Kind::Hex(..)
        | Kind::Big(_)
        | Kind::BigHex(..)
        | Kind::Level(_)
        | Kind::Millis
        | Kind::NextEntry => number(walk, item),
        Kind::Utime | Kind::Date | Kind::Time | Kind::FileTime => time(walk, item),
        Kind::Fid | Kind::Tid | Kind::Sid => identifier(walk, item),
        Kind::Zero(len) => zero(walk, item.name, len),
        Kind::Any(len) => walk.bytes(item.name, len),
        Kind::AndX => crate::andx::head(walk),
        Kind::Setup(count) => setup(walk, item.name, count),
        Kind::Mac | Kind::NetbiosName | Kind::Label(_) => name(walk, item),
        _ => of_bytes(walk, item),
    }
}

fn number(walk: &mut Walk<'_, '_>, item: &Item) -> Step {
    let at = walk.at;
    let len = item.kind.fixed_len().unwrap_or(0);
    let number = match item.kind {
        Kind::Big(_) | Kind::BigHex(..) => walk.big(item.name, len)?,
        _ => walk.number(item.name, len)?,
    };
    walk.known.push((item.name, number));
    match item.kind {
        Kind::Hex(_, Some(list)) | Kind::BigHex(_, Some(list)) => {
            walk.named(item.name, at, (number, len), list)
        }
        Kind::Hex(_, None) | Kind::BigHex(_, None) => {
            walk.note(item.name, at, len, Value::Hex(number, len));
        }
        Kind::Signed(_) => {
            walk.note(item.name, at, len, Value::Signed(signed(number, len)));
        }
        Kind::Level(family) => level(walk, item.name, at, (number, family)),
        Kind::Millis => {
            let meaning = moment::timeout(number);
            walk.note(item.name, at, len, Value::Number(number)).meaning = meaning;
        }
        _ => {
            walk.note(item.name, at, len, Value::Number(number));
        }
    }
    Ok(())
}

/// An address or a name of fixed length.
fn name(walk: &mut Walk<'_, '_>, item: &Item) -> Step {
    let at = walk.at;
    let len = item.kind.fixed_len().unwrap_or(0);
    let raw = walk.take(item.name, len)?;
    let value = match item.kind {
        Kind::Mac => Value::Address(data::mac(raw)),
        Kind::NetbiosName => Value::Text(data::netbios_name(raw)),
        _ => Value::Text(data::text(raw, false)),
    };
    walk.note(item.name, at, len, value);
    Ok(())
}

fn level(
    walk: &mut Walk<'_, '_>,
    name: &'static str,
    at: usize,
    (number, family): (u64, &'static str),
) {
    let tables = crate::layout::Tables::get();
    let layout = u16::try_from(number)
        .ok()
        .and_then(|level| tables.level(family, level));
    let field = walk.note(name, at, 2, Value::Hex(number, 2));
    field.meaning = layout
        .map(|layout| layout.name.to_owned())
        .unwrap_or_default();
}

/// The number as two's complement of `len` bytes.
fn signed(number: u64, len: usize) -> i64 {
    let shift = 64_u32.saturating_sub(u32::try_from(len).unwrap_or(8) * 8);
    (number << shift).cast_signed() >> shift
}

fn time(walk: &mut Walk<'_, '_>, item: &Item) -> Step {
    let at = walk.at;
    let len = item.kind.fixed_len().unwrap_or(0);
    let number = walk.number(item.name, len)?;
    let text = match item.kind {
        Kind::Utime => moment::utime(number),
        Kind::Date => moment::date(number),
        Kind::Time => moment::time_of_day(number),
        _ => moment::filetime(number),
    };
    let (value, problem) = match text {
        Some(text) => (Value::Time(text), None),
        None => (Value::Hex(number, len), Some("no time".to_owned())),
    };
    walk.note(item.name, at, len, value).problem = problem;
    Ok(())
}

fn identifier(walk: &mut Walk<'_, '_>, item: &Item) -> Step {
    let at = walk.at;
    let number = walk.number(item.name, 2)?;
    walk.known.push((item.name, number));
    let kind = match item.kind {
        Kind::Fid => Identifier::Fid,
        Kind::Tid => Identifier::Tid,
        _ => Identifier::Sid,
    };
    walk.note(item.name, at, 2, Value::Id(kind, number as u16));
    Ok(())
}

/// Reserved bytes. Clients and servers send others than zero there, and receivers ignore it.
fn zero(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step {
    let at = walk.at;
    let bytes = walk.take(name, len)?;
    let is_zero = bytes.iter().all(|byte| *byte == 0);
    let field = walk.note(name, at, len, Value::Bytes);
    if !is_zero {
        field.meaning = "not zero; receivers ignore it".to_owned();
    }
    Ok(())
}

fn setup(walk: &mut Walk<'_, '_>, name: &'static str, count: &str) -> Step {
    for _ in 0..walk.length_of(count) {
        let at = walk.at;
        let number = walk.number(name, 2)?;
        walk.known.push((name, number));
        walk.note(name, at, 2, Value::Hex(number, 2));
    }
    Ok(())
}

/// Decodes one field of the data bytes.
fn of_bytes(walk: &mut Walk<'_, '_>, item: &Item) -> Step {
    let name = item.name;
    match item.kind {
        Kind::Path => data::formatted(walk, name, walk.unicode),
        Kind::Formatted => data::formatted(walk, name, false),
        Kind::Hidden => data::hidden(walk, name),
        Kind::Text => data::string(walk, name, walk.unicode),
        Kind::Oem => data::string(walk, name, false),
        Kind::Negotiated => data::negotiated(walk, name),
        Kind::Block => data::block(walk, name, 1),
        Kind::Key => data::block(walk, name, 5),
        Kind::Entries => lists::core_entries(walk, name),
        Kind::Dialects => lists::dialects(walk, name),
        Kind::Ranges(count) => lists::ranges(walk, name, count),
        Kind::Data(len) => walk.bytes(name, walk.length_of(len)),
        Kind::Secret(len) => data::secret(walk, name, walk.length_of(len)),
        Kind::At { offset, len, high } => data::at(walk, name, (offset, len, high)),
        Kind::Rest => walk.bytes(name, walk.left()),
        Kind::Counted(len) => data::counted(walk, name, walk.length_of(len), walk.unicode),
        Kind::Utf16(len) => data::counted(walk, name, walk.length_of(len), true),
        Kind::Named(len) => data::named(walk, name, walk.length_of(len)),
        _ => Ok(()),
    }
}

/// Entries of a listing or of another level that is a list: until the bytes end, or until one that names no next entry.
pub(crate) fn entries(walk: &mut Walk<'_, '_>, layout: &Layout) -> Step {
    let has_next = layout.has_entries();
    while walk.left() > 0 {
        let (start, index) = (walk.at, walk.out.fields.len());
        walk.group("Entry", 0);
        walk.depth += 1;
        let done = items(walk, &layout.words);
        walk.depth -= 1;
        let next = match walk.value_of("NextEntryOffset") {
            0 => walk.at,
            offset => start.saturating_add(usize::try_from(offset).unwrap_or(usize::MAX)),
        };
        let end = next.clamp(walk.at, walk.at + walk.left());
        if let Some(group) = walk.out.fields.get_mut(index) {
            group.len = end - start;
        }
        done?;
        walk.at = end;
        if has_next && walk.value_of("NextEntryOffset") == 0 {
            return Ok(());
        }
    }
    Ok(())
}
