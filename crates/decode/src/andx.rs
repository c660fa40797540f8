//! The head of an AndX block.

use coax_wire::block::NO_ANDX;

use crate::{
    field::Value,
    layout::command_name,
    walk::{Step, Walk},
};

/// Decodes the head: next command, reserved byte, offset.
pub(crate) fn head(walk: &mut Walk<'_, '_>) -> Step {
    let at = walk.at;
    let command = walk.number("AndXCommand", 1)?;
    let meaning = match u8::try_from(command) {
        Ok(NO_ANDX) => "none follows",
        Ok(code) => command_name(code).unwrap_or("unknown command"),
        Err(_) => "",
    };
    walk.known.push(("AndXCommand", command));
    walk.note("AndXCommand", at, 1, Value::Hex(command, 1))
        .meaning = meaning.to_owned();
    let at = walk.at;
    walk.take("AndXReserved", 1)?;
    walk.note("AndXReserved", at, 1, Value::Bytes);
    let at = walk.at;
    let offset = walk.number("AndXOffset", 2)?;
    walk.known.push(("AndXOffset", offset));
    let problem = problem(walk, command, offset);
    walk.note("AndXOffset", at, 2, Value::Number(offset))
        .problem = problem;
    Ok(())
}

fn problem(walk: &Walk<'_, '_>, command: u64, offset: u64) -> Option<String> {
    if command == u64::from(NO_ANDX) {
        return None;
    }
    let len = walk.message.len();
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    if offset >= len {
        return Some(format!("outside the message of {len} bytes"));
    }
    (offset < walk.at).then(|| "points backwards".to_owned())
}
