//! The one sentence about a copy.

use coax_explain::{
    Cause,
    report::{Copy, Direction, Requests},
};
use coax_wire::time::Span;

use super::words::{harmless, many, percent, rate, size, time};

/// What is said first: which copy, how much, how long, how fast, and what most of the time went to.
pub(super) fn of(copy: &Copy) -> String {
    let to = match copy.direction {
        Direction::ToClient => "to the client",
        Direction::ToServer => "to the server",
    };
    let what = match &copy.name {
        Some(name) => format!("Copy of {}", harmless(name)),
        None => "Transfer".to_owned(),
    };
    let rate = rate(copy.bytes, copy.wall).map(|rate| format!(" ({rate})"));
    let moved = format!(
        "{what}, {} {to}, took {}{}.",
        size(copy.bytes),
        time(copy.wall),
        rate.unwrap_or_default()
    );
    format!("{moved}{}{}", mix(copy), because(copy))
}

/// The requests that moved most of it.
fn mix(copy: &Copy) -> String {
    let most = copy
        .requests
        .iter()
        .max_by_key(|row| row.bytes)
        .filter(|row| row.bytes > 0);
    most.map_or(String::new(), |row| {
        format!(
            " {} {}, mostly of {}.",
            row.count,
            row.command,
            size(row.usual_bytes)
        )
    })
}

/// The cause that took most of the time, in words.
fn because(copy: &Copy) -> String {
    let cause = copy.account.dominant();
    let spent = copy.account.get(cause);
    if spent == Span(0) {
        return String::new();
    }
    let moving = copy.requests.iter().filter(|row| row.bytes > 0);
    let requests = moving.map(|row: &Requests| row.count).sum();
    let words = match cause {
        Cause::RoundTrips if requests > 0 => {
            format!("waiting for {}", many(requests, "round trip"))
        }
        other => phrase(other).to_owned(),
    };
    format!(
        " {:.0} % of the time was {words}.",
        percent(spent, copy.wall)
    )
}

/// What a cause is, for people.
pub(super) const fn phrase(cause: Cause) -> &'static str {
    match cause {
        Cause::ClientThink => "the client's own: its program, disk or user",
        Cause::ServerThink => "the server's own: its program or disk",
        Cause::RoundTrips => "waiting for round trips",
        Cause::Metadata => "round trips that moved no data",
        Cause::ReceiveWindow => "waiting for room in the receiver's window",
        Cause::ZeroWindow => "waiting for a receiver that had shut its window",
        Cause::SendWindow => "waiting for acknowledgments: the sender kept too little on its way",
        Cause::SlowStart => "the sender finding its speed",
        Cause::NagleDelayedAck => "waiting for delayed acknowledgments",
        Cause::FastRecovery => "repairing losses",
        Cause::Timeout => "waiting for retransmission timers after losses",
        Cause::Bandwidth => "carrying the data: the path's own speed",
        Cause::Queueing => "waiting behind other packets",
        Cause::Capture => "not to be told: packets are missing in the capture",
        Cause::Unattributed => "for nothing that is known",
    }
}
