//! Slow operations other than the transfer of data: what they were, what they waited for, and what to change.

use std::fmt::Write as _;

use coax_explain::{
    Advice, Cause,
    recognise::advise_operation,
    report::{Capture, Connection, LongestWait, Operation, OperationKind, Reason},
};
use coax_wire::time::{Span, Time};
use serde_json::{Value, json};

use super::{
    advice, frames,
    paper::Paper,
    words::{harmless, many, percent, seconds, size, time},
};

/// Maximum number of operations in the text; a count replaces the rest.
const MAX_LISTED: usize = 10;
/// Indentation of a line that belongs to none of them.
const INDENT: &str = "     ";

/// The longest operation, if it took longer than any copy and somebody waited for it.
pub(super) fn longest(capture: &Capture) -> Option<&Operation> {
    let waits = capture.operations.iter().filter(|one| is_wait(one));
    let longest = waits.max_by_key(|one| one.wall)?;
    let is_longest = capture.copies.iter().all(|copy| copy.wall < longest.wall);
    is_longest.then_some(longest)
}

/// Whether somebody certainly waited: not for a user who typed a password, nor for a call of a pipe that may wait for an event.
fn is_wait(operation: &Operation) -> bool {
    const PIPE: &str = "TRANSACTION TRANSACT_NMPIPE";
    let command = operation.waits.first().map(|it| &*it.command);
    operation.reason != Reason::Cause(Cause::ClientThink) && command != Some(PIPE)
}

/// What it was, how long it took, and what it waited for: two sentences.
pub(super) fn verdict(capture: &Capture, operation: &Operation) -> String {
    format!(
        "{} {}. {}",
        what(capture, operation),
        took(operation),
        because(capture, operation)
    )
}

/// The same with the best change.
pub(super) fn sentences(capture: &Capture, operation: &Operation) -> String {
    let all = advise_operation(capture, operation);
    let remedy = all.first().map(|best| format!(" {}.", best.title));
    format!(
        "{}{}",
        verdict(capture, operation),
        remedy.unwrap_or_default()
    )
}

fn what(capture: &Capture, operation: &Operation) -> String {
    let name = operation.name.as_deref().map(harmless);
    let of = |what: &str| match &name {
        Some(name) => format!("{what} {name}"),
        None => format!("{what} a file whose name was not captured"),
    };
    match operation.kind {
        OperationKind::LogOn => "The log-on".to_owned(),
        OperationKind::Open => of("Opening"),
        OperationKind::Lock => of("Locking bytes of"),
        OperationKind::Listing => format!(
            "Listing {}: {} in {}",
            name.as_deref().unwrap_or("a folder"),
            many(operation.names, "name"),
            many(operation.requests, "request")
        ),
        OperationKind::PrintJob => format!("A print job of {}", size(operation.bytes)),
        OperationKind::OplockBreak => {
            let client = connection(capture, operation.connection);
            let client = client.map_or("The client".to_owned(), |it| it.client.to_string());
            let file = name.unwrap_or_else(|| "a file".to_owned());
            format!("{client} was asked to give back its oplock on {file}, which")
        }
        _ => {
            let command = operation.waits.first();
            let command = command.map_or("A request", |longest| &longest.command);
            name.map_or(command.to_owned(), |name| format!("{command} of {name}"))
        }
    }
}

fn took(operation: &Operation) -> String {
    let wall = time(operation.wall);
    match operation.is_answered {
        true => format!("took {wall}"),
        false => format!("was not complete after {wall}, when the connection ended in the capture"),
    }
}

/// What it waited for.
fn because(capture: &Capture, operation: &Operation) -> String {
    let cause = operation.account.dominant();
    let share = percent(operation.account.get(cause), operation.wall);
    let transport = connection(capture, operation.connection).map(|one| one.transport());
    let label = |cause: Cause| frames::label(transport.unwrap_or_default(), cause);
    match operation.reason {
        Reason::OplockBreak if operation.kind == OperationKind::OplockBreak => {
            "Until then the server lets no other client open the file.".to_owned()
        }
        Reason::OplockBreak => oplock(capture, operation),
        Reason::SharingViolation => format!(
            "Another open of the file does not share it ({} of {} refused).",
            operation.refused,
            many(operation.requests, "request")
        ),
        Reason::LockHeld => lock(capture, operation),
        Reason::Cause(Cause::ServerThink) if operation.kind == OperationKind::Open => format!(
            "{share:.0} % of the time: {}. If another client had an oplock on the file, this capture does not show it: capture at the server.",
            label(cause)
        ),
        Reason::Cause(_) => format!(
            "{share:.0} % of the time: {}{}.",
            label(cause),
            slowest(operation)
        ),
    }
}

/// The requests that were answered slowly, if the operation has several.
fn slowest(operation: &Operation) -> String {
    let told = |wait: &LongestWait| {
        let (command, span) = (&wait.command, time(wait.span));
        format!("{command} ({span}, frame {})", wait.frame)
    };
    let waits: Vec<String> = operation.waits.iter().map(told).collect();
    match &*waits {
        _ if operation.requests < 2 => String::new(),
        [] => String::new(),
        [only] => format!("; the longest wait was for {only}"),
        [others @ .., last] => format!(
            "; the longest waits were for {} and {last}",
            others.join(", ")
        ),
    }
}

fn oplock(capture: &Capture, operation: &Operation) -> String {
    let Some(holder) = operation.holder else {
        return "The server waited for a client that had an oplock on the file.".to_owned();
    };
    let who = connection(capture, holder.connection).map(|one| one.client.to_string());
    let answer = match holder.answered_after {
        Some(after) => format!("gave it back after {}", time(after)),
        None => "did not give it back".to_owned(),
    };
    format!(
        "The server waited for {}, which had an oplock on the file and {answer} (asked in frame {}).",
        who.unwrap_or_else(|| "another client".to_owned()),
        holder.frame
    )
}

fn lock(capture: &Capture, operation: &Operation) -> String {
    let who = operation.holder.and_then(|holder| {
        let client = connection(capture, holder.connection)?.client;
        Some(format!(
            ", until {client} gave it up in frame {}",
            holder.frame
        ))
    });
    let refused = match operation.refused {
        0 => String::new(),
        refused => format!(
            " ({refused} of {} refused)",
            many(operation.requests, "request")
        ),
    };
    let who = who.unwrap_or_default();
    format!("Another program had locked the same bytes{who}{refused}.")
}

fn connection(capture: &Capture, place: usize) -> Option<&Connection> {
    capture.connections.get(place)
}

/// The section of the text.
pub(super) fn section(out: &mut Paper, capture: &Capture) -> std::fmt::Result {
    if capture.operations.is_empty() {
        return Ok(());
    }
    let mut longest_first: Vec<&Operation> = capture.operations.iter().collect();
    longest_first.sort_by_key(|one| std::cmp::Reverse(one.wall));
    writeln!(
        out,
        "\nSlow apart from the transfer of data, the longest first:"
    )?;
    let mut told: Vec<String> = Vec::new();
    for operation in longest_first.iter().take(MAX_LISTED) {
        let (first, last) = operation.frames;
        let verdict = verdict(capture, operation);
        out.prose("  - ", &format!("{verdict} Frames {first} to {last}."))?;
        for one in advise_operation(capture, operation) {
            if !told.contains(&one.id) {
                advice::one_remark(out, &one)?;
                told.push(one.id);
            }
        }
    }
    let left = longest_first.len().saturating_sub(MAX_LISTED) as u64;
    match left.saturating_add(capture.operations_left_out) {
        0 => Ok(()),
        left => writeln!(out, "{INDENT}… and {left} more (--json lists them)"),
    }
}

fn wait_as_json(wait: &LongestWait) -> Value {
    json!({
        "command": wait.command,
        "response_s": seconds(wait.span),
        "frame": wait.frame,
    })
}

/// All as JSON.
pub(super) fn as_json(capture: &Capture) -> Vec<Value> {
    let one = |one: &Operation| {
        let advice: Vec<Advice> = advise_operation(capture, one);
        let causes = one.account.iter().filter(|(_, span)| span.0 > 0);
        let mut causes: Vec<(Cause, Span)> = causes.collect();
        causes.sort_by_key(|(cause, span)| (std::cmp::Reverse(*span), *cause));
        let transport = connection(capture, one.connection).map(|it| it.transport());
        let label = |cause| frames::label(transport.unwrap_or_default(), cause);
        let cause = |(cause, span): &(Cause, Span)| json!({"cause": cause.name(), "seconds": seconds(*span), "words": label(*cause)});
        json!({
            "kind": one.kind.name(),
            "name": one.name,
            "share": one.share.as_deref(),
            "connection": one.connection,
            "start_s": at(one.start),
            "wall_s": seconds(one.wall),
            "frames": [one.frames.0, one.frames.1],
            "requests_total": one.requests,
            "refused": one.refused,
            "names": (one.kind == OperationKind::Listing).then_some(one.names),
            "bytes": (one.kind == OperationKind::PrintJob).then_some(one.bytes),
            "answered": one.is_answered,
            "reason": one.reason.name(),
            "verdict": verdict(capture, one),
            "longest": one.waits.first().map(wait_as_json),
            "waits": one.waits.iter().map(wait_as_json).collect::<Vec<_>>(),
            "holder": one.holder.map(|it| json!({
                "connection": it.connection,
                "frame": it.frame,
                "answered_after_s": it.answered_after.map(seconds),
            })),
            "causes": causes.iter().map(cause).collect::<Vec<_>>(),
            "advice": advice.iter().map(advice::plain_as_json).collect::<Vec<_>>(),
        })
    };
    capture.operations.iter().map(one).collect()
}

fn at(time: Time) -> f64 {
    time.0 as f64 / 1e9
}
