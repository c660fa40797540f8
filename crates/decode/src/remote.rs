//! What TRANSACTION carries: remote administration (RAP), mailslots, named pipes.

use coax_wire::smb::redaction::rap_may_carry_password;

use crate::{
    context::Asked,
    data,
    field::Value,
    layout::Direction,
    walk::{Step, Walk},
};

/// The pipe of remote administration.
const LANMAN: &str = "\\PIPE\\LANMAN";
const BROWSE: &str = "\\MAILSLOT\\BROWSE";

fn is(asked: &Asked, name: &str) -> bool {
    asked.name.eq_ignore_ascii_case(name)
}

/// Parameters: only remote administration has some that are not those of a pipe.
pub(crate) fn parameters(walk: &mut Walk<'_, '_>, direction: Direction, asked: &Asked) -> Step {
    if !is(asked, LANMAN) {
        return Ok(());
    }
    match direction {
        Direction::Request => call(walk),
        Direction::Response => answer(walk),
    }
}

/// Function, the descriptors of parameters and data, then the parameters ([MS-RAP] 2.5.1).
fn call(walk: &mut Walk<'_, '_>) -> Step {
    let at = walk.at;
    let function = walk.number("RAPOpcode", 2)?;
    walk.note("RAPOpcode", at, 2, Value::Number(function));
    if u16::try_from(function).is_ok_and(rap_may_carry_password) {
        return data::secret(walk, "Parameters", walk.left());
    }
    let at = walk.out.fields.len();
    data::string(walk, "ParamDesc", false)?;
    data::string(walk, "DataDesc", false)?;
    let descriptor = match walk.out.fields.get(at).map(|field| &field.value) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    for kind in descriptor.chars() {
        match kind {
            'W' => number(walk, 2)?,
            'D' => number(walk, 4)?,
            'L' => number(walk, 2)?,
            'z' => data::string(walk, "Parameter", false)?,
            _ => {}
        }
    }
    Ok(())
}

fn number(walk: &mut Walk<'_, '_>, len: usize) -> Step {
    let at = walk.at;
    let number = walk.number("Parameter", len)?;
    walk.note("Parameter", at, len, Value::Number(number));
    Ok(())
}

/// Status, converter, then the values ([MS-RAP] 2.5.2).
fn answer(walk: &mut Walk<'_, '_>) -> Step {
    for name in ["Win32ErrorCode", "Converter"] {
        let at = walk.at;
        let number = walk.number(name, 2)?;
        walk.note(name, at, 2, Value::Number(number));
    }
    while walk.left() >= 2 {
        number(walk, 2)?;
    }
    Ok(())
}

/// Data: browser announcements are decoded.
pub(crate) fn data(walk: &mut Walk<'_, '_>, direction: Direction, asked: &Asked) -> Step {
    if direction == Direction::Request && is(asked, LANMAN) {
        return data::secret(walk, "RAPData", walk.left());
    }
    if direction == Direction::Response || !is(asked, BROWSE) {
        return Ok(());
    }
    let at = walk.at;
    let kind = walk.number("BrowserCommand", 1)?;
    walk.note("BrowserCommand", at, 1, Value::Number(kind))
        .meaning = browser(kind).to_owned();
    match kind {
        1 | 12 | 15 => announcement(walk),
        8 => election(walk),
        _ => Ok(()),
    }
}

/// [MS-BRWS] 2.2.
const fn browser(kind: u64) -> &'static str {
    match kind {
        1 => "host announcement",
        2 => "announcement request",
        8 => "request election",
        9 => "get backup list request",
        10 => "get backup list response",
        11 => "become backup",
        12 => "domain announcement",
        13 => "master announcement",
        14 => "reset browser state",
        15 => "local master announcement",
        _ => "unknown",
    }
}

fn announcement(walk: &mut Walk<'_, '_>) -> Step {
    plain(walk, "UpdateCount", 1)?;
    plain(walk, "Periodicity", 4)?;
    let at = walk.at;
    let raw = walk.take("ServerName", 16)?;
    let text = data::text(raw, false);
    walk.note("ServerName", at, 16, Value::Text(text));
    plain(walk, "OSVersionMajor", 1)?;
    plain(walk, "OSVersionMinor", 1)?;
    plain(walk, "ServerType", 4)?;
    plain(walk, "BrowserVersionMajor", 1)?;
    plain(walk, "BrowserVersionMinor", 1)?;
    plain(walk, "Signature", 2)?;
    data::string(walk, "Comment", false)
}

fn election(walk: &mut Walk<'_, '_>) -> Step {
    plain(walk, "Version", 1)?;
    plain(walk, "Criteria", 4)?;
    plain(walk, "Uptime", 4)?;
    walk.bytes("Unused", 4)?;
    data::string(walk, "ServerName", false)
}

fn plain(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step {
    let at = walk.at;
    let number = walk.number(name, len)?;
    let value = match name {
        "ServerType" | "Criteria" | "Signature" => Value::Hex(number, len),
        _ => Value::Number(number),
    };
    walk.note(name, at, len, value);
    Ok(())
}
