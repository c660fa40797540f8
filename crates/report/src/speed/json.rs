//! The results of `coax speed` as JSON; docs/speed.md explains each field.

use coax_speed::{End, Role, TcpFigures};
use coax_wire::time::Span;
use serde_json::{Map, Value, json};

use coax_transfer::speed::Measured;

/// The report of one transfer.
pub fn report(measured: &Measured) -> Map<String, Value> {
    let report = &measured.report;
    let rate = report.rate();
    let samples: Vec<Value> = report
        .samples
        .iter()
        .map(|sample| json!({"at_s": seconds(sample.at), "seconds": seconds(sample.span), "bytes": sample.bytes,
            "kb_per_s": sample.rate().kb_per_s(), "mbit_per_s": sample.rate().mbit_per_s()}))
        .collect();
    let whole = json!({
        "role": role(report.role),
        "local": measured.local.map(|a| a.to_string()),
        "peer": measured.peer.map(|a| a.to_string()),
        "complete": measured.is_complete(),
        "ended": report.end.map(ended),
        "error": measured.error,
        "bytes": report.bytes,
        "wanted_bytes": report.wanted,
        "seconds": seconds(report.elapsed),
        "first_byte_s": report.first_byte.map(seconds),
        "bytes_per_s": rate.bytes_per_s(),
        "kb_per_s": rate.kb_per_s(),
        "mbit_per_s": rate.mbit_per_s(),
        "samples": samples,
        "tcp": measured.tcp.as_ref().map(tcp),
    });
    match whole {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The name of a role.
pub const fn role(role: Role) -> &'static str {
    match role {
        Role::Send => "send",
        Role::Receive => "receive",
    }
}

/// The name of an end.
pub const fn ended(end: End) -> &'static str {
    match end {
        End::Done => "done",
        End::Short => "short",
        End::Empty => "empty",
        End::Reset => "reset",
        End::Silent => "silent",
        End::Interrupted => "interrupted",
        End::Broken => "broken",
    }
}

fn tcp(figures: &TcpFigures) -> Value {
    let ms = |us: u64| us as f64 / 1e3;
    json!({
        "rtt_ms": ms(figures.rtt_us.into()),
        "rtt_variation_ms": ms(figures.rtt_var_us.into()),
        "min_rtt_ms": figures.min_rtt_us.map(|us| ms(us.into())),
        "receive_rtt_ms": ms(figures.receive_rtt_us.into()),
        "mss_bytes": figures.mss_bytes,
        "peer_window_bytes": figures.peer_window_bytes,
        "own_window_bytes": figures.own_window_bytes,
        "congestion_window_segments": figures.congestion_window_segments,
        "retransmissions": figures.retransmissions,
        "segments_sent": figures.segments_sent,
        "segments_received": figures.segments_received,
        "out_of_order": figures.out_of_order,
        "busy_ms": figures.busy_us.map(ms),
        "window_limited_ms": figures.window_limited_us.map(ms),
        "buffer_limited_ms": figures.buffer_limited_us.map(ms),
    })
}

/// Converts to seconds.
pub fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}
