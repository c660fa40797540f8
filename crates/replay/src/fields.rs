//! Values of decoded messages.

use coax_decode::{Decoded, Field, Identifier, Value};

/// The identifiers of a kind, in order, with their fields.
pub(crate) fn ids(decoded: &Decoded, kind: Identifier) -> impl Iterator<Item = (&Field, u16)> {
    decoded
        .fields
        .iter()
        .filter_map(move |field| match field.value {
            Value::Id(other, id) if other == kind => Some((field, id)),
            _ => None,
        })
}

/// The bytes of a field.
pub(crate) fn bytes<'a>(message: &'a [u8], field: &Field) -> &'a [u8] {
    let end = field.at.saturating_add(field.len);
    message.get(field.at..end).unwrap_or_default()
}

/// A number of a message.
pub(crate) fn number(decoded: &Decoded, name: &str) -> Option<u64> {
    match decoded.field(name)?.value {
        Value::Number(number) | Value::Hex(number, _) => Some(number),
        _ => None,
    }
}

/// Whether a command is in the message's chain.
pub(crate) fn has(decoded: &Decoded, command: &str) -> bool {
    let (commands, _) = decoded.title.rsplit_once(' ').unwrap_or_default();
    commands.split(", ").any(|name| name == command)
}
