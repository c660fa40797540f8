//! Messages of sessions and datagrams that frames carry.

use crate::{
    context::Context,
    field::{Decoded, Value},
    smb,
    walk::{Step, Walk},
};

/// Decodes a session's message, whose bytes begin at `at` of those that were given.
pub(crate) fn message(bytes: &[u8], at: usize, context: &mut Context, out: &mut Decoded) {
    if bytes.starts_with(b"\xffSMB") {
        smb::message(bytes, at, context, out);
    } else if !bytes.is_empty() {
        part(bytes, at, out);
        "raw data".clone_into(&mut out.title);
    }
}

/// Notes a part of a message that several frames carry.
pub(crate) fn part(bytes: &[u8], at: usize, out: &mut Decoded) {
    let mut walk = Walk::new(bytes, at, out);
    walk.note("Data", 0, bytes.len(), Value::Bytes);
}

/// Decodes what is left as an SMB message, or as bytes.
pub(crate) fn datagram(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step {
    let (at, body) = (walk.at, walk.rest());
    if !body.starts_with(b"\xffSMB") {
        return walk.bytes("Data", walk.left());
    }
    message(body, walk.base.saturating_add(at), context, walk.out);
    walk.at = walk.end;
    Ok(())
}
