//! NetBEUI frames (IBM SC30-3587 §5.5 and §5.6; the layouts of `layouts/frames.txt`).

use crate::{
    context::Context,
    field::Value,
    group,
    piece::Piece,
    session,
    walk::{Step, Walk},
};

/// Bytes of the headers.
const SESSION_HEADER: u64 = 14;
const NAME_HEADER: u64 = 44;
/// The first command of a session's frames.
const FIRST_OF_SESSION: u64 = 0x14;
const DATA_FIRST_MIDDLE: u64 = 0x15;
const DATA_ONLY_LAST: u64 = 0x16;
const STATUS_RESPONSE: u64 = 0x0f;
/// The commands of all frames.
const COMMANDS: &[(u64, &str)] = &[
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
    (0x13, "TERMINATE TRACE BOTH"),
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

/// Decodes a frame from the length of its header. The data of datagrams is decoded, too; that of sessions is for the caller.
pub(crate) fn frame(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    let (start, index) = (walk.at, walk.out.fields.len());
    walk.group("NetBEUI frame", 0);
    walk.depth = 1;
    let done = head(walk);
    walk.depth = 0;
    group::grow(walk, index, start);
    let command = done?;
    group::part(walk, &format!("nbf-{command:02x}"))?;
    match command {
        DATA_FIRST_MIDDLE | DATA_ONLY_LAST => Ok(Some(Piece {
            at: walk.at,
            len: walk.left(),
            last: command == DATA_ONLY_LAST,
            offset: None,
        })),
        STATUS_RESPONSE => status(walk).map(|()| None),
        _ => session::datagram(walk, context).map(|()| None),
    }
}

fn head(walk: &mut Walk<'_, '_>) -> Step<u64> {
    let at = walk.at;
    let len = walk.number("Length", 2)?;
    let place = walk.out.fields.len();
    walk.note("Length", at, 2, Value::Number(len));
    let at = walk.at;
    let signature = walk.number("Signature", 2)?;
    let field = walk.note("Signature", at, 2, Value::Hex(signature, 2));
    field.problem = (signature != 0xefff).then(|| "should be 0xefff".to_owned());
    let at = walk.at;
    let command = walk.number("Command", 1)?;
    let known = COMMANDS.iter().find(|(code, _)| *code == command);
    let name = known.map(|(_, name)| *name);
    name.unwrap_or("unknown NetBEUI frame")
        .clone_into(&mut walk.out.title);
    let field = walk.note("Command", at, 1, Value::Hex(command, 1));
    field.meaning = name.unwrap_or("").to_owned();
    field.problem = name.is_none().then(|| "no such command".to_owned());
    let expected = match command >= FIRST_OF_SESSION {
        true => SESSION_HEADER,
        false => NAME_HEADER,
    };
    // NT 3.51 discards frames with another length; Windows 98 takes them
    if let Some(field) = walk.out.fields.get_mut(place).filter(|_| len != expected) {
        field.problem = Some(format!(
            "should be {expected}; Windows NT discards the frame"
        ));
    }
    Ok(command)
}

/// The data of STATUS RESPONSE.
fn status(walk: &mut Walk<'_, '_>) -> Step {
    group::part(walk, "nbf-status")?;
    for _ in 0..walk.length_of("NameCount") {
        if walk.left() == 0 {
            break;
        }
        group::part(walk, "nbf-status-name")?;
    }
    walk.bytes("Unused", walk.left())
}
