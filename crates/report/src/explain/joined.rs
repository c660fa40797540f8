//! What a second capture, of the other end, adds: as text and as JSON.

use coax_explain::report::{Capture, Connection, Joined, JoinedPath, JoinedWay};
use coax_wire::time::Span;
use serde_json::{Value, json};

use super::{
    paper::Paper,
    words::{many, seconds, time},
};

/// The clocks of both captures, in one line.
pub(super) fn clocks(out: &mut Paper, capture: &Capture) -> std::fmt::Result {
    let Some(joined) = &capture.joined else {
        return Ok(());
    };
    out.prose("  ", &words(joined))
}

fn words(joined: &Joined) -> String {
    let common = format!(
        "Joined with the capture of the server: {} in common on {}.",
        many(joined.packets, "packet"),
        many(joined.connections, "connection")
    );
    if !joined.clocks_fit {
        return format!(
            "{common} No offset and drift explain the times of both: one of the clocks was set during the capture, or drifts \
             by more than 1 %. The copies are explained from the client's capture alone."
        );
    }
    let ahead = if joined.offset_ns < 0 {
        "behind"
    } else {
        "ahead"
    };
    let offset = time(Span(joined.offset_ns.unsigned_abs()));
    let drift = if joined.drift_ppm == 0.0 {
        "no drift visible".to_owned()
    } else {
        format!("drift {:.1} ppm", joined.drift_ppm)
    };
    format!(
        "{common} The server's clock is {offset} {ahead} (± {}), {drift}.",
        time(joined.uncertainty)
    )
}

/// The path of a connection, in one line.
pub(super) fn path(out: &mut Paper, connection: &Connection) -> std::fmt::Result {
    let Some(path) = &connection.joined else {
        return Ok(());
    };
    for (label, way) in [
        ("  to the server     ", &path.to_server),
        ("  to the client     ", &path.to_client),
    ] {
        out.prose(label, &one_way(way))?;
    }
    match path.server_time {
        Some([_, median, p95]) => out.prose(
            "  server's own time ",
            &format!(
                "median {}, p95 {} from the arrival of a request to its answer ({})",
                time(median),
                time(p95),
                many(path.exchanges, "answer")
            ),
        ),
        None => Ok(()),
    }
}

fn one_way(way: &JoinedWay) -> String {
    let rate = way.bits_per_s.map_or(String::new(), |bits| {
        format!(", path rate {:.1} Mbit/s", bits as f64 / 1e6)
    });
    let needless = match way.needless {
        0 => String::new(),
        count => format!(", {count} sent again needlessly"),
    };
    format!(
        "one-way delay {} to {} (median {}){rate}; {} lost on the way{needless}",
        time(way.delay_min),
        time(way.delay_p95),
        time(way.delay_median),
        many(way.lost, "segment")
    )
}

/// The clocks as JSON.
pub(super) fn clocks_as_json(joined: &Joined) -> Value {
    json!({
        "server_clock_offset_s": joined.offset_ns as f64 / 1e9,
        "server_clock_drift_ppm": joined.drift_ppm,
        "offset_uncertainty_s": seconds(joined.uncertainty),
        "clocks_fit": joined.clocks_fit,
        "files_swapped": joined.is_swapped,
        "packets": joined.packets,
        "connections": joined.connections,
        "connections_unmatched": joined.unmatched,
    })
}

/// A connection's path as JSON.
pub(super) fn path_as_json(path: &JoinedPath) -> Value {
    let way = |way: &JoinedWay| {
        json!({
            "delay_min_s": seconds(way.delay_min),
            "delay_median_s": seconds(way.delay_median),
            "delay_p95_s": seconds(way.delay_p95),
            "lost_segments": way.lost,
            "needless_retransmissions": way.needless,
            "path_bits_per_s": way.bits_per_s,
        })
    };
    let of = |place: usize| {
        let times = path.server_time;
        times.and_then(|times| times.get(place).copied().map(seconds))
    };
    json!({
        "to_server": way(&path.to_server),
        "to_client": way(&path.to_client),
        "answers": path.exchanges,
        "server_time_median_s": of(1),
        "server_time_p95_s": of(2),
    })
}
