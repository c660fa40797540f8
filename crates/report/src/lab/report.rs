//! The report of a run as text.

use crate::digits::grouped;
use std::fmt::Write as _;

use super::run::{Summary, Way};

/// The report of a run.
pub fn text(summary: &Summary) -> String {
    let mut out = String::new();
    if !summary.title.is_empty() {
        let _ = writeln!(out, "{}", summary.title);
    }
    if let Some(failed) = summary.failure() {
        let _ = writeln!(out, "FAILED after {}: {failed}", duration(summary.seconds));
    } else {
        let _ = writeln!(
            out,
            "{} bytes {}: {}, {:.3} MB/s ({:.3} Mbit/s), {}",
            grouped(summary.bytes),
            summary.direction,
            duration(summary.seconds),
            summary.rate() / 1e6,
            summary.rate() * 8e-6,
            summary.dialect,
        );
    }
    clients(&mut out, summary);
    requests(&mut out, summary);
    packets(&mut out, summary);
    if summary.failed.is_none() {
        causes(&mut out, summary);
    }
    let _ = writeln!(out, "\nNot modelled: {}.", summary.not_modelled.join("; "));
    out
}

/// A line for each client, and the rate of all together.
fn clients(out: &mut String, summary: &Summary) {
    let first = match summary.clients.as_slice() {
        [] => return,
        [first, ..] => first,
    };
    let (bytes, seconds) = summary.together();
    let _ = writeln!(
        out,
        "{} clients at the same time: {} bytes in {}, {:.3} MB/s",
        summary.clients.len(),
        grouped(bytes),
        duration(seconds),
        bytes as f64 / seconds.max(1e-9) / 1e6,
    );
    let width = summary.clients.iter().map(|it| it.profile.len()).max();
    let width = width.unwrap_or_default().max(7);
    let _ = writeln!(out, "\n  {:width$}  {:>10}  waits for", "client", "seconds");
    for client in &summary.clients {
        let waits = match &client.failed {
            Some(reason) => format!("FAILED: {reason}"),
            None => waits_for(&client.causes_ns),
        };
        let _ = writeln!(
            out,
            "  {:width$}  {:>10.3}  {waits}",
            client.profile, client.seconds
        );
    }
    let _ = writeln!(out, "\nBelow: the first client ({})", first.profile);
}

/// The two largest causes.
fn waits_for(causes: &std::collections::BTreeMap<&'static str, u64>) -> String {
    let total: u64 = causes.values().sum();
    let mut all: Vec<_> = causes.iter().collect();
    all.sort_by_key(|(_, ns)| std::cmp::Reverse(**ns));
    let part = |ns: u64| (ns as f64 * 100.0 / total.max(1) as f64).round();
    let two = all.iter().take(2);
    let words: Vec<String> = two
        .map(|(name, ns)| format!("{name} {} %", part(**ns)))
        .collect();
    words.join(", ")
}

fn requests(out: &mut String, summary: &Summary) {
    let _ = writeln!(out, "\nRequests");
    for entry in &summary.requests {
        let size = match entry.largest {
            0 => String::new(),
            largest => format!("  up to {} bytes", grouped(u64::from(largest))),
        };
        let _ = writeln!(
            out,
            "  {:22} {:>9}{size}",
            entry.command,
            grouped(entry.requests)
        );
    }
}

fn packets(out: &mut String, summary: &Summary) {
    let _ = writeln!(out, "\nPackets             to server   to client");
    let ways = [&summary.to_server, &summary.to_client];
    let [there, back] = ways.map(counts);
    let names = [
        "sent",
        "retransmitted",
        "timeouts",
        "sending card full",
        "lost",
        "queue full",
        "receiving card full",
    ];
    for ((name, there), back) in names.into_iter().zip(there).zip(back) {
        if there + back > 0 {
            let _ = writeln!(
                out,
                "  {name:20} {:>8} {:>11}",
                grouped(there),
                grouped(back)
            );
        }
    }
}

/// Frames, retransmissions, timeouts, and drops by place.
fn counts(way: &Way) -> [u64; 7] {
    let dropped = &way.dropped;
    [
        way.frames,
        way.sent_again(),
        way.timeouts,
        dropped.sending_card,
        dropped.link,
        dropped.queue,
        dropped.receiving_card,
    ]
}

fn causes(out: &mut String, summary: &Summary) {
    let _ = writeln!(out, "\nTime spent on");
    let mut causes: Vec<_> = summary.causes_ns.iter().collect();
    causes.sort_by_key(|(_, ns)| std::cmp::Reverse(**ns));
    let total: u64 = summary.causes_ns.values().sum();
    for (name, ns) in causes {
        let share = *ns as f64 * 100.0 / total.max(1) as f64;
        let _ = writeln!(
            out,
            "  {name:20} {:>12.6} s {share:>6.2} %",
            *ns as f64 / 1e9
        );
    }
    let _ = writeln!(out, "  {:20} {:>12.6} s", "together", total as f64 / 1e9);
}

/// Seconds, or minutes and seconds for long times.
pub fn duration(seconds: f64) -> String {
    if seconds < 120.0 {
        return format!("{seconds:.3} s");
    }
    let whole = seconds.round() as u64;
    format!("{seconds:.1} s ({} m {:02} s)", whole / 60, whole % 60)
}
