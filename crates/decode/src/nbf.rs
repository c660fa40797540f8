//! NetBEUI frames ([IBM LAN Technical Reference] 5; the layouts of `coax_wire::nbf`).

use crate::{
    context::Context,
    data,
    field::{Decoded, Value},
    smb,
    walk::{Step, Walk},
};

/// Bytes of the header of a session's frames.
const SESSION_HEADER: u64 = 14;
/// The commands whose frames have names, and what they are.
const NAME_COMMANDS: &[(u64, &str)] = &[
    (0x00, "ADD GROUP NAME QUERY"),
    (0x01, "ADD NAME QUERY"),
    (0x02, "NAME IN CONFLICT"),
    (0x03, "STATUS QUERY"),
    (0x07, "TERMINATE TRACE"),
    (0x08, "DATAGRAM"),
    (0x09, "DATAGRAM BROADCAST"),
    (0x0a, "NAME QUERY"),
    (0x0d, "ADD NAME RESPONSE"),
    (0x0e, "NAME RECOGNIZED"),
    (0x0f, "STATUS RESPONSE"),
];
/// The commands of sessions.
const SESSION_COMMANDS: &[(u64, &str)] = &[
    (0x14, "DATA ACK"),
    (0x15, "DATA FIRST MIDDLE"),
    (0x16, "DATA ONLY LAST"),
    (0x17, "SESSION CONFIRM"),
    (0x18, "SESSION END"),
    (0x19, "SESSION INITIALIZE"),
    (0x1a, "NO RECEIVE"),
    (0x1b, "RECEIVE OUTSTANDING"),
    (0x1c, "RECEIVE CONTINUE"),
    (0x1f, "SESSION ALIVE"),
];

/// What a frame carries of a session's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where the message's bytes begin in the frame.
    pub(crate) at: usize,
    /// No further frame belongs to the message.
    pub(crate) last: bool,
}

/// Decodes a frame from the header's first byte. The data of datagrams is decoded, too; that of sessions is for
/// [`session_message`].
pub(crate) fn frame(bytes: &[u8], context: &mut Context, out: &mut Decoded) -> Option<Piece> {
    let mut walk = Walk::new(bytes, 0, out);
    // what is missing has been noted
    fields(&mut walk, bytes, context).ok().flatten()
}

/// Decodes a session's message, whose bytes begin at `at` of the frame (the last one, if there were several).
pub(crate) fn session_message(bytes: &[u8], at: usize, context: &mut Context, out: &mut Decoded) {
    if bytes.starts_with(b"\xffSMB") {
        smb::message(bytes, at, context, out);
    } else if !bytes.is_empty() {
        out.title = "raw data".to_owned();
    }
}

fn fields(walk: &mut Walk<'_, '_>, bytes: &[u8], context: &mut Context) -> Step<Option<Piece>> {
    walk.group("NetBEUI frame", bytes.len());
    walk.depth = 1;
    let len = number(walk, "Length", 2)?;
    let signature = walk.number("Signature", 2)?;
    let field = walk.note("Signature", 2, 2, Value::Hex(signature, 2));
    field.problem = (signature != 0xefff).then(|| "should be 0xefff".to_owned());
    let command = command(walk, len == SESSION_HEADER)?;
    number(walk, "Data1", 1)?;
    let at = walk.at;
    let data2 = walk.number("Data2", 2)?;
    walk.note("Data2", at, 2, Value::Hex(data2, 2));
    number(walk, "TransmitCorrelator", 2)?;
    number(walk, "ResponseCorrelator", 2)?;
    if len == SESSION_HEADER {
        number(walk, "DestinationNumber", 1)?;
        number(walk, "SourceNumber", 1)?;
        let piece = Piece {
            at: walk.at,
            last: command == 0x16,
        };
        let is_data = matches!(command, 0x15 | 0x16);
        return Ok(is_data.then_some(piece));
    }
    name(walk, "DestinationName")?;
    name(walk, "SourceName")?;
    let at = walk.at;
    let body = bytes.get(at..).unwrap_or_default();
    match body.starts_with(b"\xffSMB") {
        true => session_message(body, at, context, walk.out),
        false => walk.bytes("Data", walk.left())?,
    }
    Ok(None)
}

fn command(walk: &mut Walk<'_, '_>, of_session: bool) -> Step<u64> {
    let at = walk.at;
    let command = walk.number("Command", 1)?;
    let names = if of_session {
        SESSION_COMMANDS
    } else {
        NAME_COMMANDS
    };
    let name = names
        .iter()
        .find(|(code, _)| *code == command)
        .map(|(_, name)| *name);
    walk.out.title = name.unwrap_or("unknown frame").to_owned();
    let field = walk.note("Command", at, 1, Value::Hex(command, 1));
    field.meaning = name.unwrap_or("").to_owned();
    field.problem = name.is_none().then(|| "no such command".to_owned());
    Ok(command)
}

fn number(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step<u64> {
    let at = walk.at;
    let number = walk.number(name, len)?;
    walk.note(name, at, len, Value::Number(number));
    Ok(number)
}

/// A name of 15 characters and its suffix.
fn name(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    let at = walk.at;
    let raw = walk.take(name, 16)?;
    let text = data::netbios_name(raw);
    walk.note(name, at, 16, Value::Text(text));
    Ok(())
}
