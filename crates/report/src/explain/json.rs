//! The report as JSON; docs/explain-json.md explains each field.

use coax_explain::report::{
    Capture, Connection, Copy, Quality, Refusal, Requests, Side, Smb, Transport, Vantage,
};
use coax_wire::time::{Span, Time};
use serde_json::{Value, json};

use super::{
    advice, agreed, breakdown,
    explained::{CopyAdvice, Explained},
    file_changes, frames, gain, joined, operations, text, tree, verdict, words,
};

/// The JSON schema of [`report`]: `coax explain --schema`.
pub const SCHEMA: &str = include_str!("schema.json");
/// The version that [`SCHEMA`] describes. It changes only if a field is removed or changes its meaning.
const SCHEMA_VERSION: u32 = 1;

/// All captures.
pub fn report(all: &[Explained]) -> Value {
    json!({
        "captures": all.iter().map(capture).collect::<Vec<_>>(),
        "schema_version": SCHEMA_VERSION,
    })
}

/// All captures as text that a terminal shows and does not obey.
pub fn text(all: &[Explained]) -> String {
    words::harmless_json(format!("{:#}\n", report(all)))
}

/// One capture.
pub fn capture(explained: &Explained) -> Value {
    let capture = &explained.capture;
    json!({
        "file": explained.name,
        "grade": capture.grade.name(),
        "vantage": capture.vantage().map(Vantage::name),
        "seconds": capture.span.map(|(first, last)| seconds(last - first)),
        "quality": quality(&capture.quality),
        "verdict": text::in_one_line(explained),
        "tree": tree::of(capture).map(|tree| tree.as_json()),
        "copies": copies(explained),
        "copies_left_out": capture.copies_left_out,
        "operations": operations::as_json(capture),
        "operations_left_out": capture.operations_left_out,
        "remarks": explained.remarks.iter().map(advice::remark_as_json).collect::<Vec<_>>(),
        "connections": capture.connections.iter().map(connection).collect::<Vec<_>>(),
        "connections_left_out": capture.connections_left_out,
        "joined": capture.joined.as_ref().map(joined::clocks_as_json),
        "file_changes": file_changes::as_json(explained.file_changes.as_ref()),
    })
}

fn copies(explained: &Explained) -> Vec<Value> {
    let one = |(one, about): (&Copy, &CopyAdvice)| {
        let mut value = copy(&explained.capture, one);
        if let Some(fields) = value.as_object_mut() {
            let remedy = advice::remedy(about, &explained.capture, one, &explained.remarks);
            fields.insert("remedy".to_owned(), json!(remedy));
            fields.insert("advice".to_owned(), advice::as_json(one, about));
            fields.insert(
                "headline".to_owned(),
                json!(verdict::headline(&explained.capture, one, about)),
            );
        }
        gain::as_json(about.prediction.as_ref(), &mut value);
        value
    };
    explained.copies().map(one).collect()
}

fn copy(capture: &Capture, copy: &Copy) -> Value {
    json!({
        "name": copy.name,
        "share": copy.share.as_deref(),
        "connection": copy.connection,
        "direction": copy.direction.name(),
        "bytes": copy.bytes,
        "moved_bytes": copy.moved,
        "file_bytes": copy.file_size,
        "start_s": at(copy.start),
        "wall_s": seconds(copy.wall),
        "frames": [copy.frames.0, copy.frames.1],
        "open_seen": copy.seen.0,
        "close_seen": copy.seen.1,
        "holes": {"count": copy.holes.0, "bytes": copy.holes.1},
        "verdict": verdict::of(capture, copy),
        "causes": breakdown::causes(capture, copy),
        "stalls": breakdown::stalls(copy),
        "typical_exchange": breakdown::typical(copy),
        "requests": copy.requests.iter().map(requests).collect::<Vec<_>>(),
    })
}

fn requests(row: &Requests) -> Value {
    json!({
        "command": row.command,
        "count": row.count,
        "bytes": row.bytes,
        "refused": row.refused,
        "unanswered": row.unanswered,
        "usual_bytes": row.usual_bytes,
        "largest_bytes": row.largest_bytes,
        "response_median_s": row.response_median.map(seconds),
        "response_p95_s": row.response_p95.map(seconds),
        "response_total_s": seconds(row.response_total),
    })
}

fn connection(connection: &Connection) -> Value {
    let is_tcp = connection.transport() == Transport::Tcp;
    json!({
        "client": connection.client.to_string(),
        "server": connection.server.to_string(),
        "carries_smb": connection.smb.is_some(),
        "protocol": connection.protocol.label(),
        "joined": connection.joined.as_ref().map(joined::path_as_json),
        "smb_headers_cut": connection.headers_cut,
        "vantage": connection.vantage.map(Vantage::name),
        "start_seen": connection.has_start,
        "start_s": at(connection.span.0),
        "seconds": seconds(connection.span.1 - connection.span.0),
        "frames": [connection.frames.0, connection.frames.1],
        "client_rtt_s": connection.client_rtt.map(seconds),
        "server_rtt_s": connection.server_rtt.map(seconds),
        "from_client": side(&connection.sides[0], is_tcp && connection.habits[0].syn.is_some()),
        "from_server": side(&connection.sides[1], is_tcp && connection.habits[1].syn.is_some()),
        "smb": connection.smb.as_ref().map(smb),
        "client_is": connection.smb.is_some().then(|| agreed::party(&connection.parties[0])),
        "server_is": connection.smb.is_some().then(|| agreed::party(&connection.parties[1])),
        "client_tcp_is": is_tcp.then(|| agreed::stack(&connection.stacks[0])),
        "server_tcp_is": is_tcp.then(|| agreed::stack(&connection.stacks[1])),
        "transport": connection.transport().name(),
        "netbios": connection.netbios.as_deref().map(frames::as_json),
        "agreed": agreed::as_json(connection),
        "requests": connection.requests.iter().map(requests).collect::<Vec<_>>(),
        "requests_total": connection.asked.0,
        "around": around(connection),
    })
}

/// The requests other than copies on a connection.
fn around(connection: &Connection) -> Option<Value> {
    connection.smb.as_ref()?;
    let around = &connection.around;
    Some(json!({
        "seconds": seconds(around.time),
        "requests_total": around.asked.0,
        "response_total_s": seconds(around.asked.1),
        "requests": around.requests.iter().map(requests).collect::<Vec<_>>(),
        "words": tree::around(connection),
    }))
}

/// Statistics of one side, and what it announced if its SYN was captured.
fn side(side: &Side, greeted: bool) -> Value {
    json!({
        "segments": side.segments,
        "data_segments": side.data_segments,
        "bytes": side.bytes,
        "retransmissions": side.retransmissions,
        "retransmitted_bytes": side.retransmitted_bytes,
        "spurious_retransmissions": side.spurious,
        "late_segments": side.out_of_order,
        "sent_again": {
            "fast": side.again.fast,
            "probe": side.again.probe,
            "timer": side.again.timer,
            "after_timer": side.again.after_timer,
            "needless": side.again.needless,
        },
        "duplicate_acks": side.duplicate_acks,
        "mss": side.mss,
        "window_scale": side.window_scale,
        "sack": greeted.then_some(side.sack),
        "timestamps": greeted.then_some(side.timestamps),
        "max_window_bytes": side.max_window,
        "min_window_bytes": side.min_window,
        "zero_windows": side.zero_windows,
        "window_full": side.window_full,
        "max_in_flight_bytes": side.max_in_flight,
        "largest_segment_bytes": side.largest_segment,
        "path_bits_per_s": side.path_ps_per_byte.map(|ps| 8_000_000_000_000_u64.checked_div(ps)),
    })
}

fn smb(smb: &Smb) -> Value {
    let system = |output: &Option<(String, String)>| {
        output
            .as_ref()
            .map(|(os, lan_man)| json!({"os": os, "lan_manager": lan_man}))
    };
    json!({
        "offered": smb.offered,
        "dialect": smb.dialect,
        "server_max_buffer": smb.server_max_buffer,
        "client_max_buffer": smb.client_max_buffer,
        "max_mpx": smb.max_mpx,
        "most_outstanding": smb.most_outstanding,
        "raw_read_offered": smb.raw_offered.map(|offered| offered.0),
        "raw_write_offered": smb.raw_offered.map(|offered| offered.1),
        "max_raw": smb.max_raw,
        "raw_reads": smb.raw_reads.0,
        "raw_reads_empty": smb.raw_reads.1,
        "raw_writes": smb.raw_writes.0,
        "raw_writes_refused": smb.raw_writes.1,
        "server_capabilities": smb.capabilities.0,
        "client_capabilities": smb.capabilities.1,
        "client": system(&smb.client_system),
        "server": system(&smb.server_system),
        "signed": smb.signed,
        "oplock_breaks": smb.oplock_breaks,
        "transfers_with_notify": smb.with_notify.count,
        "writes_through": smb.through.count,
        "refusals": smb.refusals.iter().map(refusal).collect::<Vec<_>>(),
    })
}

fn refusal(refusal: &Refusal) -> Value {
    json!({
        "command": refusal.command,
        "status": refusal.status,
        "count": refusal.seen.count,
        "frame": refusal.seen.frame,
    })
}

fn quality(quality: &Quality) -> Value {
    json!({
        "packets": quality.packets,
        "wire_bytes": quality.wire_bytes,
        "tcp_segments": quality.tcp_segments,
        "cut_packets": quality.cut_packets,
        "snap_bytes": (quality.cut_packets > 0).then_some(quality.snap_len),
        "out_of_order": quality.out_of_order,
        "worst_disorder_s": seconds(quality.worst_disorder),
        "clock_grain_s": seconds(quality.clock_grain),
        "duplicates": quality.duplicates,
        "captured_later": quality.captured_later,
        "merged_ends": quality.merged_ends,
        "other_end": quality.other_end,
        "acked_before": quality.acked_before,
        "clocks_differ": quality.clocks_differ,
        "dropped": quality.dropped,
        "missing_bytes": quality.missing_bytes,
        "holes": quality.holes,
        "coalesced": quality.coalesced,
        "incomplete_fragments": quality.incomplete_fragments,
        "unknown_links": quality.unknown_links,
        "unknown_link": quality.unknown_link.map(|_| words::unknown_link(quality)),
        "netbeui": quality.netbeui,
        "ipx": quality.ipx,
        "damaged_frames": quality.damaged_frames,
        "cut_headers": quality.cut_headers,
        "connections_without_start": quality.without_start,
        "skipped_bytes": quality.skipped_bytes,
        "replaced_times": quality.replaced_times,
        "clock_steps": quality.clock_steps,
        "ignored_offsets": quality.ignored_offsets,
        "smb_headers_cut": quality.smb_headers_cut,
        "damage": quality.damage.as_ref().map(|(at, what)| json!({"at_byte": at, "what": what})),
    })
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

fn at(time: Time) -> f64 {
    time.0 as f64 / 1e9
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::{super::read, *};

    fn keys(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                into.insert(name.clone());
                keys(value, into);
            }),
            Value::Array(all) => all.iter().for_each(|value| keys(value, into)),
            _ => {}
        }
    }

    #[test]
    fn syn_options_are_null_if_no_syn_was_captured() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
        let sides = |name: &str| {
            let output = capture(&read(&folder.join(name), None).unwrap());
            let connection = output.pointer("/connections/0").cloned().unwrap();
            let side = |name: &str| {
                connection
                    .pointer(&format!("/{name}/sack"))
                    .cloned()
                    .unwrap()
            };
            [side("from_client"), side("from_server")]
        };
        assert_eq!(
            sides("tcpdump-smb_data_print-segv.pcap"),
            [Value::Null, Value::Null]
        );
        assert_eq!(sides("arkime-smbclient.pcap"), [true, true]);
        assert_eq!(sides("zeek-netbios-split-session-msg.pcap"), [false, false]);
    }

    /// Run with COAX_BLESS=1 to write the causes.
    #[test]
    fn the_schema_names_every_cause_and_its_version() {
        const BEGIN: &str = "\"cause\": {\"enum\": ";
        let causes = coax_explain::Cause::ALL.map(coax_explain::Cause::name);
        let list = format!("[\"{}\"]", causes.join("\", \""));
        let (before, rest) = SCHEMA.split_once(BEGIN).unwrap();
        let (stated, after) = rest.split_at(rest.find(']').unwrap() + 1);
        if std::env::var_os("COAX_BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/explain/schema.json");
            fs::write(path, [before, BEGIN, &list, after].concat()).unwrap();
        } else {
            assert_eq!(stated, list, "COAX_BLESS=1 writes them into schema.json");
        }
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let version = schema.pointer("/properties/schema_version/const");
        assert_eq!(version, Some(&json!(SCHEMA_VERSION)));
    }

    #[test]
    fn every_field_stands_in_the_documentation() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
        let captures = [
            "labelled/andx4k-client.pcapng.gz",
            "suricata-xp-filecontainer.pcap",
            "tcp/mlab-C2DFE.pcap.gz",
            "tcpdump-smb_print_trans-oobr1.pcap",
        ];
        let mut all = BTreeSet::new();
        for name in captures {
            keys(&capture(&read(&folder.join(name), None).unwrap()), &mut all);
        }
        let page = include_str!("../../../../docs/explain-json.md");
        let undocumented = |name: &&String| {
            !["`", "[]`"]
                .iter()
                .any(|end| page.contains(&format!("`{name}{end}")))
        };
        let missing: Vec<&String> = all.iter().filter(undocumented).collect();
        assert!(
            all.len() > 120 && missing.is_empty(),
            "{} fields have no documentation: {missing:?}",
            all.len()
        );
    }
}
