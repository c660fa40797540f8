//! Remote procedure calls over named pipes (C706 chapter 12, [MS-RPCE] 2.2.2): headers, interfaces, arguments.

mod ndr;
mod pdu;
mod pipes;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use pipes::Pipes;

use crate::{field::Value, layout::Direction, walk::Walk};

/// Decodes the last field of a message, if it is bytes of a pipe that are a call or its answer. `fid` is the pipe's.
pub(crate) fn last_field(
    walk: &mut Walk<'_, '_>,
    fid: u16,
    direction: Direction,
    pipes: &mut Pipes,
) {
    let Some(last) = walk.out.fields.last_mut() else {
        return;
    };
    let is_data = ["Data", "Unused"].contains(&last.name) && last.value == Value::Bytes;
    let Some(start) = last.at.checked_sub(walk.base).filter(|_| is_data) else {
        return;
    };
    let end = start.saturating_add(last.len);
    let bytes = walk.message.get(start..end).unwrap_or_default();
    if !pdu::is_one(bytes) {
        if pipes.has(fid) && !bytes.is_empty() {
            last.meaning = "continues a remote procedure call".to_owned();
        }
        return;
    }
    if last.name == "Unused" {
        // the group of the transaction's data stands for it
        walk.depth = last.depth.saturating_sub(1);
        walk.out.fields.pop();
    } else {
        walk.depth = last.depth;
        last.value = Value::Group;
    }
    let mut inner = walk.inner(start, end);
    // what is missing has been noted
    let _ = pdu::fields(&mut inner, direction, pipes.of(fid));
    let left = inner.left();
    let _ = inner.bytes("Unused", left);
}
