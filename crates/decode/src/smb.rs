//! An SMB message: header, then a chain of blocks.

use coax_wire::{
    block::MAX_CHAIN,
    command,
    header::{Flags, Flags2, HEADER_LEN, Header, PROTOCOL},
    status::Status,
};

use crate::{
    andx,
    context::{Asked, Context, Exchange},
    field::{Decoded, Identifier, Value},
    item,
    layout::{Direction, Layout, Tables, command_name},
    rpc, transaction,
    walk::{Ended, Step, Walk},
};

/// Where Flags2 ends, which says what the status is.
const FLAGS2_END: usize = 12;

/// Decodes an SMB message that begins at `base` of the bytes that were given.
pub(crate) fn message(bytes: &[u8], base: usize, context: &mut Context, out: &mut Decoded) {
    let mut walk = Walk::new(bytes, base, out);
    if let Ok(header) = header(&mut walk, context.connectionless) {
        // what is missing has been noted
        let _ = chain(&mut walk, &header, context);
    }
}

fn header(walk: &mut Walk<'_, '_>, connectionless: bool) -> Step<Header> {
    walk.group("Header", HEADER_LEN.min(walk.left()));
    walk.depth = 1;
    let protocol = walk.take("Protocol", 4)?;
    if protocol != PROTOCOL {
        let field = walk.note("Protocol", 0, 4, Value::Bytes);
        field.problem = Some("should be \\xffSMB".to_owned());
        return Err(Ended);
    }
    walk.note("Protocol", 0, 4, Value::Text("\\xffSMB".to_owned()));
    let parsed = as_far_as_kept(walk.message);
    walk.number("Command", 1)?;
    let name = command_name(parsed.command);
    let field = walk.note("Command", 4, 1, Value::Hex(u64::from(parsed.command), 1));
    field.meaning = name.unwrap_or("").to_owned();
    field.problem = name.is_none().then(|| "no such command".to_owned());
    status(walk, &parsed)?;
    flags(walk)?;
    walk.unicode = parsed.flags2.has(Flags2::UNICODE);
    identifiers(walk, connectionless)?;
    walk.depth = 0;
    Ok(parsed)
}

/// The header; what a cut message lacks of it is zero.
fn as_far_as_kept(message: &[u8]) -> Header {
    let mut whole = [0; HEADER_LEN];
    whole
        .iter_mut()
        .zip(message)
        .for_each(|(to, from)| *to = *from);
    Header::parse(&whole).unwrap_or_default()
}

/// An NTSTATUS, or class and code.
fn status(walk: &mut Walk<'_, '_>, header: &Header) -> Step {
    let raw = walk.number("Status", 4)?;
    if walk.message.len() < FLAGS2_END {
        // nobody knows which of both it is
        walk.note("Status", 5, 4, Value::Hex(raw, 4));
        return Ok(());
    }
    let status = Status(header.status);
    if header.flags2.has(Flags2::NT_STATUS) {
        walk.note("Status", 5, 4, Value::Hex(raw, 4)).meaning = words(status);
        return Ok(());
    }
    walk.note("ErrorClass", 5, 1, Value::Hex(raw & 0xff, 1));
    walk.note("Reserved", 6, 1, Value::Bytes);
    walk.note("ErrorCode", 7, 2, Value::Number(raw >> 16))
        .meaning = words(status);
    Ok(())
}

fn words(status: Status) -> String {
    match (status.is_ok(), status.name()) {
        (true, _) => "success".to_owned(),
        (_, Some(name)) => format!("{name}: {}", status.words()),
        _ => status.words().to_owned(),
    }
}

fn flags(walk: &mut Walk<'_, '_>) -> Step {
    for (name, len, list) in [("Flags", 1, "flags"), ("Flags2", 2, "flags2")] {
        let at = walk.at;
        let number = walk.number(name, len)?;
        walk.named(name, at, (number, len), list);
    }
    Ok(())
}

/// `connectionless`: without a transport that keeps the order, the header numbers the messages.
fn identifiers(walk: &mut Walk<'_, '_>, connectionless: bool) -> Step {
    let numbers: &[(&'static str, usize)] = match connectionless {
        true => &[
            ("Key", 4),
            ("CID", 2),
            ("SequenceNumber", 2),
            ("GroupID", 2),
        ],
        false => &[("SecurityFeatures", 8), ("Reserved", 2)],
    };
    let first = [("PIDHigh", 2)];
    let last = [("TID", 2), ("PIDLow", 2), ("UID", 2), ("MID", 2)];
    for &(name, len) in first.iter().chain(numbers).chain(&last) {
        let at = walk.at;
        let number = walk.number(name, len)?;
        let value = match name {
            "SecurityFeatures" | "Reserved" => Value::Bytes,
            "TID" => Value::Id(Identifier::Tid, number as u16),
            "UID" => Value::Id(Identifier::Uid, number as u16),
            _ => Value::Hex(number, len),
        };
        walk.note(name, at, len, value);
    }
    Ok(())
}

fn chain(walk: &mut Walk<'_, '_>, header: &Header, context: &mut Context) -> Step {
    let direction = match header.flags.has(Flags::REPLY) {
        true => Direction::Response,
        false => Direction::Request,
    };
    let side = if direction == Direction::Request {
        "request"
    } else {
        "response"
    };
    let mut command = header.command;
    let mut titles = Vec::new();
    let mut exchange = context.exchange(header, direction);
    for _ in 0..MAX_CHAIN {
        titles.push(command_name(command).unwrap_or("unknown command"));
        walk.out.title = format!("{} {side}", titles.join(", "));
        let next = block(walk, command, direction, &mut exchange);
        pipe(walk, command, direction, (&mut exchange.asked, context));
        match next? {
            Some((code, offset)) => (command, walk.at) = (code, offset),
            None => break,
        }
    }
    context.remember(header, direction, exchange);
    Ok(())
}

/// Decodes the remote procedure call that a message to or from a named pipe carries.
fn pipe(
    walk: &mut Walk<'_, '_>,
    command: u8,
    direction: Direction,
    (asked, context): (&mut Asked, &mut Context),
) {
    if direction == Direction::Request {
        asked.pipe = transaction::pipe_of(walk, command, asked);
    }
    let Some(fid) = asked.pipe else { return };
    rpc::last_field(walk, fid, direction, &mut context.pipes);
    if direction == Direction::Request && !context.pipes.has(fid) {
        asked.pipe = None;
    }
}

/// One command's words and bytes. The result is the next command and its offset.
fn block(
    walk: &mut Walk<'_, '_>,
    code: u8,
    direction: Direction,
    exchange: &mut Exchange,
) -> Step<Option<(u8, usize)>> {
    let name = command_name(code).unwrap_or("Unknown");
    let start = walk.at;
    let index = walk.out.fields.len();
    walk.group(name, 0);
    walk.depth += 1;
    let done = words_and_bytes(walk, code, direction, exchange);
    walk.depth -= 1;
    let len = walk.at.saturating_sub(start);
    if let Some(group) = walk.out.fields.get_mut(index) {
        group.len = len;
    }
    done?;
    if !command::is_andx(code) || walk.words < 2 {
        return Ok(None);
    }
    Ok(andx::next(walk))
}

fn words_and_bytes(
    walk: &mut Walk<'_, '_>,
    code: u8,
    direction: Direction,
    exchange: &mut Exchange,
) -> Step {
    let layout = word_count(walk, code, direction)?;
    let message_end = walk.end;
    let words_end = walk.at.saturating_add(usize::from(walk.words) * 2);
    walk.end = words_end.min(message_end);
    if let Some(layout) = layout {
        // what is missing has been noted, and the bytes begin after the words all the same
        let _ = item::items(walk, &layout.words)
            .and_then(|()| transaction::setup(walk, code, direction, &mut exchange.asked));
    }
    walk.bytes("Words", walk.left())?;
    walk.end = message_end;
    byte_count(walk)?;
    match layout {
        Some(_) if transaction::is_one(code) => {
            transaction::bytes(walk, code, direction, exchange)?;
        }
        Some(layout) => item::items(walk, &layout.bytes)?,
        None => {}
    }
    walk.bytes("Unused", walk.left())?;
    walk.end = walk.message.len();
    Ok(())
}

/// The word count, and the layout that it chooses. An error has neither words nor bytes, so it has no layout.
fn word_count(
    walk: &mut Walk<'_, '_>,
    code: u8,
    direction: Direction,
) -> Step<Option<&'static Layout>> {
    let group = walk.out.fields.len().saturating_sub(1);
    let at = walk.at;
    let count = walk.number("WordCount", 1)? as u8;
    let is_empty = direction == Direction::Response && count == 0;
    let layout = Tables::get()
        .block(code, direction, count)
        .filter(|_| !is_empty);
    let is_wrong = layout.is_none() && !is_empty;
    walk.note("WordCount", at, 1, Value::Number(u64::from(count)))
        .problem = is_wrong.then(|| word_counts(code, direction)).flatten();
    if let Some(layout) = layout {
        source(walk, group, layout.source);
    }
    walk.words = layout.map_or(count, |layout| layout.words_of(count));
    walk.known.clear();
    Ok(layout)
}

/// Where the layout of a group comes from: sections without a document are of [MS-CIFS].
fn source(walk: &mut Walk<'_, '_>, group: usize, source: &str) {
    if let Some(group) = walk.out.fields.get_mut(group) {
        let document = if source.starts_with(|first: char| first.is_ascii_digit()) {
            "[MS-CIFS] "
        } else {
            ""
        };
        group.meaning = format!("{document}{source}");
    }
}

/// The byte count, which limits what follows.
fn byte_count(walk: &mut Walk<'_, '_>) -> Step {
    let at = walk.at;
    let count = walk.number("ByteCount", 2)?;
    let there = walk.left();
    let declared = usize::try_from(count).unwrap_or(usize::MAX);
    let field = walk.note("ByteCount", at, 2, Value::Number(count));
    if declared > there {
        field.problem = Some(format!("only {there} bytes follow"));
    }
    walk.end = walk.at.saturating_add(declared).min(walk.message.len());
    Ok(())
}

fn word_counts(code: u8, direction: Direction) -> Option<String> {
    let counts = Tables::get().word_counts(code, direction);
    match counts.as_slice() {
        [] => None,
        [one] => Some(format!("should be {one}")),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u8::to_string).collect();
            Some(format!("should be {} or {last}", first.join(", ")))
        }
    }
}
