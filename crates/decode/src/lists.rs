//! Lists: dialects, lock ranges, folder entries.

use crate::{
    data,
    field::Value,
    moment,
    walk::{Step, Walk},
};

/// A search's entry in the core protocol ([MS-CIFS] 2.2.4.58.2).
const CORE_ENTRY: usize = 43;

/// The names of dialects, each after its format byte.
pub(crate) fn dialects(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    while walk.left() > 0 {
        data::format(walk, 2)?;
        data::string(walk, name, false)?;
    }
    Ok(())
}

/// Locked ranges with 32 or 64 bits ([MS-CIFS] 2.2.4.32.1).
pub(crate) fn ranges(walk: &mut Walk<'_, '_>, name: &'static str, count: &str) -> Step {
    let is_large = walk.value_of("TypeOfLock") & 0x10 != 0;
    for _ in 0..walk.length_of(count) {
        walk.group(name, if is_large { 20 } else { 10 });
        walk.depth += 1;
        let done = range(walk, is_large);
        walk.depth -= 1;
        done?;
    }
    Ok(())
}

fn range(walk: &mut Walk<'_, '_>, is_large: bool) -> Step {
    let fields: &[(&str, usize)] = match is_large {
        true => &[
            ("PID", 2),
            ("Pad", 2),
            ("OffsetInBytesHigh", 4),
            ("OffsetInBytesLow", 4),
            ("LengthInBytesHigh", 4),
            ("LengthInBytesLow", 4),
        ],
        false => &[("PID", 2), ("OffsetInBytes", 4), ("LengthInBytes", 4)],
    };
    for (name, len) in fields {
        let at = walk.at;
        let number = walk.number(name, *len)?;
        let value = match *name {
            "PID" => Value::Hex(number, 2),
            "Pad" => Value::Bytes,
            _ => Value::Number(number),
        };
        walk.note(name, at, *len, value);
    }
    Ok(())
}

/// Entries of SEARCH and its kin.
pub(crate) fn core_entries(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    if walk.left() == 0 {
        return Ok(());
    }
    data::format(walk, 5)?;
    let at = walk.at;
    let len = walk.number("DataLength", 2)?;
    walk.note("DataLength", at, 2, Value::Number(len));
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(walk.left());
    for _ in 0..len / CORE_ENTRY {
        walk.group(name, CORE_ENTRY);
        walk.depth += 1;
        let done = core_entry(walk);
        walk.depth -= 1;
        done?;
    }
    Ok(())
}

fn core_entry(walk: &mut Walk<'_, '_>) -> Step {
    walk.bytes("ResumeKey", 21)?;
    let at = walk.at;
    let attributes = walk.number("FileAttributes", 1)?;
    walk.named("FileAttributes", at, (attributes, 1), "attributes");
    for (name, read) in [
        (
            "LastWriteTime",
            moment::time_of_day as fn(u64) -> Option<String>,
        ),
        ("LastWriteDate", moment::date),
    ] {
        let at = walk.at;
        let number = walk.number(name, 2)?;
        let text = read(number);
        let problem = text.is_none().then(|| "no time".to_owned());
        let value = text.map_or(Value::Hex(number, 2), Value::Time);
        walk.note(name, at, 2, value).problem = problem;
    }
    let at = walk.at;
    let size = walk.number("FileSize", 4)?;
    walk.note("FileSize", at, 4, Value::Number(size));
    let at = walk.at;
    let raw = walk.take("FileName", 13)?;
    walk.note("FileName", at, 13, Value::Text(data::text(raw, false)));
    Ok(())
}
