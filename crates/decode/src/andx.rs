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
    walk.note("AndXOffset", at, 2, Value::Number(offset));
    Ok(())
}

/// The next command of the chain and its offset, once the block that names it has been decoded. An offset that is invalid is noted.
pub(crate) fn next(walk: &mut Walk<'_, '_>) -> Option<(u8, usize)> {
    let command = u8::try_from(walk.value_of("AndXCommand")).ok()?;
    if command == NO_ANDX {
        return None;
    }
    let (end, len) = (walk.at, walk.message.len());
    let offset = walk.length_of("AndXOffset");
    if (end..len).contains(&offset) {
        return Some((command, offset));
    }
    let fields = walk.out.fields.iter_mut().rev();
    let field = fields
        .into_iter()
        .find(|field| field.name == "AndXOffset")?;
    field.problem = Some(match offset < end {
        true => format!("points into the block before it, which ends at {end}"),
        false => format!("outside the message of {len} bytes"),
    });
    None
}
