//! Facts of slow operations.

use super::facts::Facts;
use crate::report::{Connection, LongestWait, Operation, OperationKind};

/// What is known of an operation, of one of its long waits, and of its connection.
pub(super) fn facts_of(
    connection: &Connection,
    operation: &Operation,
    wait: Option<&LongestWait>,
) -> Facts {
    let mut facts = Facts::of_connection(connection);
    let (first, last) = operation.frames;
    let frames = [first, last];
    facts.seen("operation.kind", operation.kind.name(), []);
    facts.seen("operation.reason", operation.reason.name(), []);
    let seconds = operation.wall.0 as f64 / 1e9;
    facts.seen("operation.seconds", seconds, frames);
    facts.set("operation.requests", operation.requests);
    facts.set("operation.refused", operation.refused);
    if operation.kind == OperationKind::Listing {
        facts.set("operation.names", operation.names);
        let each = operation.names as f64 / operation.requests.max(1) as f64;
        facts.set("operation.names-each", each);
    }
    if let Some(longest) = wait {
        let frame = [longest.frame];
        facts.seen("operation.command", &*longest.command, frame);
        facts.seen("operation.longest-ms", longest.span.0 as f64 / 1e6, frame);
    }
    let holder = operation.holder;
    let frame = holder.map(|holder| holder.frame);
    facts.seen("operation.holder", holder.is_some(), frame);
    let given_back = match operation.kind {
        OperationKind::OplockBreak => operation.is_answered,
        _ => holder.is_some_and(|holder| holder.answered_after.is_some()),
    };
    facts.seen("operation.given-back", given_back, frame);
    facts
}
