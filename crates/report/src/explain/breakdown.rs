//! The details of a copy's time as JSON: causes with their intervals, stalls with packets, and the data of graphs.

use coax_explain::{
    Account, Cause,
    report::{Capture, Copy, Exchange, Flags, LabelKind, PacketExcerpt, PacketRow, Spot, Stall},
};
use coax_wire::time::{Span, Time};
use serde_json::{Map, Value, json};

use super::{explained::Explained, frames};

/// The causes of the copy's time, largest first.
pub(super) fn causes(capture: &Capture, copy: &Copy) -> Vec<Value> {
    let mut spent: Vec<(Cause, Span)> = copy.account.iter().filter(|it| it.1.0 > 0).collect();
    spent.sort_by_key(|(cause, span)| (std::cmp::Reverse(*span), *cause));
    let row = |(cause, span): (Cause, Span)| {
        let stretches = copy.breakdown.of(cause);
        let bounds = bounds(capture, copy, cause);
        let frames = stretches.map(|row| row.longest.iter().map(|it| spot(copy, it)));
        json!({
            "cause": cause.name(),
            "seconds": seconds(span),
            "low_s": seconds(bounds.0),
            "high_s": seconds(bounds.1),
            "count": stretches.map(|row| row.count),
            "median_s": stretches.map(|row| seconds(row.median)),
            "p95_s": stretches.map(|row| seconds(row.p95)),
            "frames": frames.map(Iterator::collect::<Vec<_>>),
            "words": frames::label_of(capture, copy, cause),
        })
    };
    spent.into_iter().map(row).collect()
}

/// Least and most time of a cause.
pub(super) fn bounds(capture: &Capture, copy: &Copy, cause: Cause) -> (Span, Span) {
    let spent = copy.account.get(cause);
    let connection = capture.connections.get(copy.connection);
    let bounds = connection.map(|connection| copy.bounds(connection, cause));
    bounds.map_or((spent, spent), |bounds| (bounds.low, bounds.high))
}

/// The longest waits.
pub(super) fn stalls(copy: &Copy) -> Vec<Value> {
    let row = |stall: &Stall| {
        json!({
            "cause": stall.cause.name(),
            "frame": stall.spot.frame,
            "at_s": since(copy, stall.spot.at),
            "seconds": seconds(stall.spot.span),
            "ladder": ladder(copy, &stall.ladder),
        })
    };
    copy.breakdown.stalls.iter().map(row).collect()
}

/// A typical exchange, if the copy has one.
pub(super) fn typical(copy: &Copy) -> Option<Value> {
    let typical = copy.breakdown.detail.as_ref()?.typical.as_ref()?;
    let Exchange {
        command,
        bytes,
        response,
        ladder: packets,
    } = typical;
    Some(json!({
        "command": command,
        "bytes": bytes,
        "response_s": seconds(*response),
        "ladder": ladder(copy, packets),
    }))
}

/// The data of the graphs of the longest copies: causes over time, bytes over time, requests by size and time.
pub(super) fn graph(copy: &Copy) -> Option<Value> {
    let detail = copy.breakdown.detail.as_ref()?;
    let slices = &detail.waterfall;
    let mut by_cause = Map::new();
    for (cause, _) in copy.account.iter().filter(|it| it.1.0 > 0) {
        let of_cause = |account: &Account| account.get(cause).0;
        let parts: Vec<u64> = slices.accounts.iter().map(of_cause).collect();
        by_cause.insert(cause.name().to_owned(), parts.into());
    }
    let points = detail.graph.points.iter().map(|point| {
        let place = Cause::ALL.iter().position(|it| *it == point.cause);
        let at = nanoseconds(copy, point.at);
        let again = u8::from(point.again);
        json!([
            at,
            point.frame,
            point.end,
            point.acked,
            point.edge,
            place,
            again
        ])
    });
    let mut requests = Map::new();
    for sample in &detail.requests {
        let rows = requests.entry(&sample.command).or_insert_with(|| json!([]));
        if let Some(rows) = rows.as_array_mut() {
            let begin = nanoseconds(copy, sample.begin);
            rows.push(json!([sample.bytes, sample.response.0, begin]));
        }
    }
    Some(json!({
        "slice_ns": slices.width.0,
        "slices": by_cause,
        "packets": detail.graph.packets,
        "points": points.collect::<Vec<_>>(),
        "requests": requests,
        "requests_seen": detail.requests_seen,
    }))
}

/// The names of the causes, in the words of the transport; graph points refer to their index.
pub(super) fn names(all: &[Explained]) -> Value {
    let transport = frames::common_transport(all);
    let name =
        |cause: Cause| json!({"cause": cause.name(), "words": frames::label(transport, cause)});
    Cause::ALL.into_iter().map(name).collect()
}

fn spot(copy: &Copy, spot: &Spot) -> Value {
    json!({
        "frame": spot.frame,
        "at_s": since(copy, spot.at),
        "seconds": seconds(spot.span),
    })
}

fn ladder(copy: &Copy, ladder: &PacketExcerpt) -> Value {
    let (before, left_out) = ladder.gap.map_or((None, 0), |gap| (Some(gap.0), gap.1));
    let rungs = ladder.rungs.iter().enumerate();
    let rung = |(place, rung): (usize, &PacketRow)| {
        let left_out = if before == Some(place) { left_out } else { 0 };
        json!({
            "frame": rung.frame,
            "at_s": since(copy, rung.at),
            "direction": rung.to.name(),
            "bytes": rung.len,
            "what": what(rung),
            "again": rung.again,
            "left_out_before": left_out,
        })
    };
    rungs.map(rung).collect()
}

/// Describes a packet.
fn what(rung: &PacketRow) -> String {
    let mut parts = Vec::new();
    for (bit, name) in [
        (Flags::SYN, "SYN"),
        (Flags::FIN, "FIN"),
        (Flags::RST, "RST"),
    ] {
        if rung.flags.has(bit) {
            parts.push(name.to_owned());
        }
    }
    if rung.again {
        parts.push("retransmitted".to_owned());
    }
    if let Some(message) = &rung.said {
        parts.push(match message.kind {
            LabelKind::Request => message.name(),
            LabelKind::Answer => format!("answer to {}", message.name()),
            LabelKind::Raw => format!("data of {}", message.name()),
        });
    }
    if let Some(control) = rung.control {
        parts.push(control.name().to_owned());
    } else if rung.len > 0 {
        parts.push(format!("{} bytes", rung.len));
    } else if !rung.flags.has(Flags::RST) {
        let has_ack = rung.flags.has(Flags::ACK);
        parts.extend(has_ack.then(|| format!("ACK, window {}", rung.window)));
    }
    parts.join(", ")
}

/// Nanoseconds from the start of the copy; negative before it.
fn nanoseconds(copy: &Copy, at: Time) -> i64 {
    let after = i64::try_from((at - copy.start).0).unwrap_or(i64::MAX);
    let before = i64::try_from((copy.start - at).0).unwrap_or(i64::MAX);
    after - before
}

fn since(copy: &Copy, at: Time) -> f64 {
    nanoseconds(copy, at) as f64 / 1e9
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}
