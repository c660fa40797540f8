//! The benchmark's results as JSON; docs/bench.md explains each field.

use std::time::Duration;

use serde_json::{Value, json};

use crate::speed::json as speed;
use coax_transfer::bench::{
    Report,
    figures::{Contents, Mix, Row, Times},
};
use coax_transfer::speed::ceiling::Ceiling;

/// The whole report.
pub fn report(report: &Report) -> Value {
    let rows: Vec<Value> = report.rows.iter().map(|row| one(report, row)).collect();
    json!({
        "size": report.size,
        "runs": report.runs,
        "stopped": report.stopped,
        "ceiling": report.ceiling.as_ref().map(ceiling),
        "rows": rows,
        "notes": report.notes,
    })
}

fn ceiling(ceiling: &Ceiling) -> Value {
    json!({
        "to_client_bytes_per_s": ceiling.to_us_bytes_per_s(),
        "to_server_bytes_per_s": ceiling.to_peer_bytes_per_s(),
        "to_client": speed::report(&ceiling.to_us),
        "to_server": speed::report(&ceiling.to_peer),
    })
}

fn one(report: &Report, row: &Row) -> Value {
    let way = |times: &Times, ceiling: fn(&Ceiling) -> f64, all: fn(&Row) -> &Times| {
        let ceiling = report.ceiling.as_ref().map(ceiling);
        let best = best(report, all);
        way(times, report.size, ceiling, best)
    };
    json!({
        "profile": row.profile,
        "dialect": row.dialect,
        "to_client_s": row.to_client.median().map(seconds),
        "to_server_s": row.to_server.median().map(seconds),
        "to_client": way(&row.to_client, Ceiling::to_us_bytes_per_s, |row| &row.to_client),
        "to_server": way(&row.to_server, Ceiling::to_peer_bytes_per_s, |row| &row.to_server),
        "verified": row.contents == Contents::Same,
        "contents": match row.contents {
            Contents::Same => "same",
            Contents::Differ => "differ",
            Contents::Unknown => "unknown",
        },
        "requests": row.requests.mix().iter().map(mix).collect::<Vec<_>>(),
        "error": row.error,
    })
}

fn way(times: &Times, size: u64, ceiling: Option<f64>, best: Option<Duration>) -> Value {
    let Some(median) = times.median() else {
        return Value::Null;
    };
    let rate = bytes_per_s(size, median);
    json!({
        "min_s": times.min().map(seconds),
        "median_s": seconds(median),
        "max_s": times.max().map(seconds),
        "bytes_per_s": rate,
        "times_the_best": best.map(|best| ratio(median, best)),
        "share_of_ceiling": ceiling.filter(|ceiling| *ceiling > 0.0).map(|ceiling| rate / ceiling),
    })
}

fn mix(line: &Mix) -> Value {
    json!({
        "command": line.command,
        "count": line.count,
        "bytes": line.bytes,
        "p50_us": micros(line.p50),
        "p95_us": micros(line.p95),
    })
}

/// The shortest median of one direction.
pub fn best(report: &Report, way: fn(&Row) -> &Times) -> Option<Duration> {
    report.rows.iter().filter_map(|row| way(row).median()).min()
}

/// The ratio of a time to the best time.
pub fn ratio(time: Duration, best: Duration) -> f64 {
    time.as_secs_f64() / best.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// Bytes per second.
pub fn bytes_per_s(size: u64, time: Duration) -> f64 {
    size as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
