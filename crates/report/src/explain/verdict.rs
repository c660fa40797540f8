//! The verdict: one sentence about a copy.

use coax_explain::{
    Cause,
    report::{Capture, Connection, Copy, Direction, Protocol, Quality, Requests},
};
use coax_wire::time::Span;

use super::breakdown::bounds;
use super::explained::CopyAdvice;
use super::words::{harmless, many, percent, rate, size, time, unknown_link};
use super::{effect, frames};

/// The verdict: which copy, size, time, rate, and the main cause.
pub(super) fn of(capture: &Capture, copy: &Copy) -> String {
    let to = match copy.direction {
        Direction::ToClient => "to the client",
        Direction::ToServer => "to the server",
    };
    let rate = rate(copy.bytes, copy.wall).map(|rate| format!(" ({rate})"));
    let moved = format!(
        "{}, {}{} {to}, took {}{}.",
        what(copy, capture.connections.get(copy.connection)),
        size(copy.bytes),
        part(copy),
        time(copy.wall),
        rate.unwrap_or_default()
    );
    let limits = capture.connections.get(copy.connection);
    let limits = limits.and_then(|connection| limits_of(capture, connection));
    format!(
        "{moved}{}{}{}{}",
        mix(copy),
        because(capture, copy),
        limits.unwrap_or_default(),
        doubts(&capture.quality).unwrap_or_default()
    )
}

/// Why a file does not show what happened, with a blank in front, and what to do.
fn doubts(quality: &Quality) -> Option<String> {
    if let Some((at, what)) = &quality.damage {
        return Some(format!(
            " At byte {at}, {what}: the rest of the capture was not read."
        ));
    }
    let doubt = match (quality.merged_ends, quality.clocks_differ) {
        (true, _) => MERGED,
        (false, true) => TWO_CLOCKS,
        (false, false) => return None,
    };
    Some(doubt.to_owned())
}

/// Of a packet and its answer, the later one may have the earlier time.
const TWO_CLOCKS: &str = " The causes are uncertain, because data comes after its acknowledgment: the two directions were captured with \
    clocks that differ. Capture both on one interface, or correct one of the two with editcap -t.";

/// Where the clocks of both ends differ, the order of packets shows who waited for whom only by chance.
const MERGED: &str = " The causes are uncertain, because the file contains captures of both ends: give coax explain --join the two captures.";

/// The headline of a copy, unless the file does not show what happened.
pub(super) fn headline(capture: &Capture, copy: &Copy, advice: &CopyAdvice) -> Option<String> {
    let is_clear = doubts(&capture.quality).is_none();
    is_clear.then(|| effect::headline(copy, advice)).flatten()
}

/// The part of a file that was read, if not all of it.
fn part(copy: &Copy) -> String {
    let is_read = copy.direction == Direction::ToClient;
    let whole = copy
        .file_size
        .filter(|whole| is_read && copy.bytes < whole - whole / 8);
    whole.map_or(String::new(), |whole| format!(" of its {}", size(whole)))
}

/// Why nothing of SMB is said of a connection that should carry it, and what to do.
fn limits_of(capture: &Capture, connection: &Connection) -> Option<String> {
    if connection.headers_cut {
        return Some(format!(
            " The SMB headers are missing: the snap length kept at most {} bytes of a packet. Capture again with tcpdump -s 192 or more.",
            capture.quality.snap_len
        ));
    }
    match connection.protocol {
        Protocol::Smb2 { .. } => Some(
            " The machines agreed on SMB2 or SMB3: coax explain analyses its TCP, not its requests."
                .to_owned(),
        ),
        Protocol::Smb1 | Protocol::Other => None,
    }
}

fn what(copy: &Copy, connection: Option<&Connection>) -> String {
    let is_smb = !copy.requests.is_empty();
    match &copy.name {
        Some(name) => format!("Copy of {}", harmless(name)),
        None if is_smb && copy.seen.0 => "Copy of a file whose name was not captured".to_owned(),
        None if is_smb => "Copy of a file that was open before the capture".to_owned(),
        None => connection.map_or("Transfer".to_owned(), |ends| {
            let over = match ends.protocol {
                Protocol::Smb2 { .. } => ends.protocol.label(),
                Protocol::Smb1 | Protocol::Other => None,
            };
            let over = over.map_or(String::new(), |over| format!(" over {over}"));
            format!("Transfer{over} between {} and {}", ends.client, ends.server)
        }),
    }
}

/// A copy's short name for a table.
pub(super) fn short_name(copy: &Copy, connection: Option<&Connection>) -> String {
    match &copy.name {
        Some(name) => harmless(name),
        None if !copy.requests.is_empty() => "(name not captured)".to_owned(),
        None => connection.map_or("(transfer)".to_owned(), |ends| {
            format!("{} -> {}", ends.client, ends.server)
        }),
    }
}

/// The requests that moved most of the data.
fn mix(copy: &Copy) -> String {
    let rows = copy.requests.iter().max_by_key(|row| row.bytes);
    rows.filter(|row| row.bytes > 0)
        .map_or(String::new(), |row| {
            let mostly = if row.count > 1 { ", mostly" } else { "" };
            let requests = many(row.count, "request");
            let usual = size(row.usual_bytes);
            format!(" {requests} ({}){mostly} of {usual}.", row.command)
        })
}

/// The text for a capture without a copy: its contents and what to do.
pub(super) fn of_none(capture: &Capture) -> String {
    let doubts = doubts(&capture.quality).unwrap_or_default();
    format!("{}{doubts}", contents(capture))
}

fn contents(capture: &Capture) -> String {
    let quality = &capture.quality;
    let packets = many(quality.packets, "packet");
    let smb = capture.connections.iter().filter(|it| it.smb.is_some());
    let smb = smb.count() as u64;
    let all = capture.connections.len() as u64 + capture.connections_left_out;
    if quality.packets == 0 {
        return "No copy in it: it is empty.".to_owned();
    }
    if quality.smb_headers_cut > 0 {
        return format!(
            "No copy that can be read: {packets}, and the snap length cut the SMB headers off (it kept at most {} bytes of a packet). Capture again with tcpdump -s 192 or more.",
            quality.snap_len
        );
    }
    if let Some(only) = one_way(capture) {
        return format!(
            "No copy that can be read: {packets}, and only those {only}. Capture both directions: at one of the two machines, or at a switch that mirrors what its port sends and receives."
        );
    }
    if smb > 0 {
        return format!(
            "No copy in it: {packets}, {} of SMB on which no file was read or written. Begin to capture before the copy begins.",
            many(smb, "connection")
        );
    }
    match (all, unread(quality)) {
        (0, Some(unread)) => format!("No copy that can be read: {packets}, {unread}"),
        (0, None) if quality.netbeui + quality.ipx > 0 => format!(
            "No copy in it: {packets}, none of TCP; NetBEUI {}, IPX {}, but no session.",
            quality.netbeui, quality.ipx
        ),
        (0, None) => format!("No copy in it: {packets}, none of TCP."),
        _ => format!(
            "No copy in it: {packets}, {} of TCP.",
            many(all, "connection")
        ),
    }
}

/// Whose packets the capture has, if it lacks all of the other side on every connection with data.
fn one_way(capture: &Capture) -> Option<&'static str> {
    let with_data = |it: &&Connection| it.sides.iter().any(|side| side.data_segments > 0);
    let mut ways = capture.connections.iter().filter(with_data).map(|it| {
        let [client, server] = it.sides.each_ref().map(|side| side.segments > 0);
        (client, server)
    });
    let first = ways.next()?;
    if ways.any(|way| way != first) {
        return None;
    }
    match first {
        (true, false) => Some("that the client sent"),
        (false, true) => Some("that the server sent"),
        _ => None,
    }
}

/// Packets that could not be decoded, and what to do.
fn unread(quality: &Quality) -> Option<String> {
    (quality.unknown_links > 0).then(|| {
        format!(
            "{} of {}, which coax explain does not read. Capture on an Ethernet card, at one of the two machines.",
            quality.unknown_links,
            unknown_link(quality)
        )
    })
}

/// Where to look if no change is known: the machine that most of the time was spent on.
pub(super) fn where_to_look(capture: &Capture, copy: &Copy) -> Option<&'static str> {
    /// Minimum share of the main cause, percent.
    const MIN_PERCENT: f64 = 50.0;
    /// Requests of this size use most of the 64 KB that are possible without extensions.
    const LARGE: u64 = 57_344;
    let cause = copy.account.dominant();
    if percent(copy.account.get(cause), copy.wall) < MIN_PERCENT {
        return None;
    }
    if is_unsure(capture, copy, cause) {
        return Some("Capture at the other end too, and read both captures with --join.");
    }
    Some(match cause {
        Cause::ClientThink => {
            "The server and the network cannot shorten it: examine the client's program and disk."
        }
        Cause::ServerThink => {
            "The client and the network cannot shorten it: examine the server's program and disk."
        }
        Cause::Bandwidth => "Only a faster path or less data shortens it.",
        Cause::RoundTrips if usual_block(copy) >= LARGE => {
            "Requests are as large as most SMB1 requests get: only lower latency or more requests in flight help."
        }
        Cause::Capture => "Capture it again, at one of the two ends.",
        _ => return None,
    })
}

/// Whether most of a cause's time may have been another one: one capture cannot tell.
fn is_unsure(capture: &Capture, copy: &Copy, cause: Cause) -> bool {
    let (low, _) = bounds(capture, copy, cause);
    low.0 < copy.account.get(cause).0 / 2
}

fn usual_block(copy: &Copy) -> u64 {
    let usual = copy.requests.iter().filter(|row| row.bytes > 0);
    usual.map(|row| row.usual_bytes).max().unwrap_or(0)
}

/// Describes the cause with the largest share.
fn because(capture: &Capture, copy: &Copy) -> String {
    let cause = copy.account.dominant();
    let spent = copy.account.get(cause);
    if spent == Span(0) {
        return String::new();
    }
    let moving = copy.requests.iter().filter(|row| row.bytes > 0);
    let requests = moving.map(|row: &Requests| row.count).sum();
    let words = match cause {
        Cause::RoundTrips if requests > 0 => many(requests, "round trip"),
        other if is_unsure(capture, copy, other) => {
            format!(
                "{}, or a round trip that varies",
                frames::label_of(capture, copy, other)
            )
        }
        other => frames::label_of(capture, copy, other).to_owned(),
    };
    format!(" {:.0} % of the time: {words}.", percent(spent, copy.wall))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::super::{Explained, json, read, text};

    fn first_line(name: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
        text::in_one_line(&read(&folder.join(name), None).unwrap())
    }

    #[test]
    fn a_capture_without_a_copy_reports_its_contents_and_what_to_do() {
        assert_eq!(
            first_line("tcpdump-ipx.pcap"),
            "No copy in it: 64 packets, none of TCP; NetBEUI 0, IPX 64, but no session."
        );
        let output = first_line("zeek-raw_ntlm_in_smb.pcap");
        assert!(
            output.starts_with("No copy in it: 178 packets, 1 connection of SMB"),
            "{output}"
        );
        assert!(
            output.ends_with("Begin to capture before the copy begins."),
            "{output}"
        );
    }

    #[test]
    fn a_capture_of_one_direction_is_called_that() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/captures/labelled/andx4k-client.pcapng.gz");
        let said = |missing: usize| {
            let mut capture = read(&path, None).unwrap().capture;
            capture.copies.clear();
            let connection = capture.connections.first_mut().unwrap();
            *connection.sides.get_mut(missing).unwrap() = Default::default();
            super::of_none(&capture)
        };
        assert!(
            said(0).contains("only those that the server sent"),
            "{}",
            said(0)
        );
        assert!(
            said(1).contains("only those that the client sent"),
            "{}",
            said(1)
        );
    }

    #[test]
    fn a_partial_read_reports_the_size_of_the_file() {
        let output = first_line("suricata-xp-filecontainer.pcap");
        assert!(
            output.contains(
                "Copy of \\MAME.EXE, 4096 bytes of its 2.7 MB to the client, took 15.81 s"
            ),
            "{output}"
        );
        let whole = first_line("labelled/andx4k-client.pcapng.gz");
        assert!(whole.starts_with("Copy of \\f8, 2.0 MB "), "{whole}");
    }

    #[test]
    fn a_file_that_does_not_show_what_happened_has_no_headline_and_says_so() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/captures/labelled/andx4k-client.pcapng.gz");
        let mut explained = read(&path, None).unwrap();
        let told = |explained: &Explained| {
            let report = text::report(explained, None);
            let json = json::capture(explained);
            (
                report,
                json.pointer("/copies/0/headline")
                    .is_some_and(Value::is_string),
            )
        };
        let (report, has_headline) = told(&explained);
        assert!(has_headline && !report.starts_with("Copy of"), "{report}");

        explained.capture.quality.damage = Some((77, "the file ends within a packet".into()));
        let (report, has_headline) = told(&explained);
        assert!(!has_headline && report.starts_with("Copy of"), "{report}");
        let says =
            "At byte 77, the file ends within a packet: the rest of the capture was not read.";
        assert!(text::in_one_line(&explained).contains(says), "{report}");

        explained.capture.quality.damage = None;
        explained.capture.quality.merged_ends = true;
        let line = text::in_one_line(&explained);
        let end = "captures of both ends: give coax explain --join the two captures.";
        assert!(line.ends_with(end), "{line}");
        assert!(!told(&explained).1);
    }

    #[test]
    fn a_transfer_names_both_hosts() {
        let output = first_line("tcp/mlab-C2DFE.pcap.gz");
        let begin = "Transfer between 173.49.19.128:40337 and 4.35.94.24:443, 93.8 KB to the server, took 15.38 s";
        assert!(output.starts_with(begin), "{output}");
        // its first long segments were lost together with others and retransmitted later
        assert!(!output.contains("smaller packets"), "{output}");
    }

    #[test]
    fn a_tree_in_both_directions_reports_both_amounts() {
        let output = first_line("suricata-xp-filecontainer.pcap");
        let begin = "Copy of 37 files, 19.4 KB to the client and 646.7 KB to the server, median";
        assert!(output.starts_with(begin), "{output}");
    }

    #[test]
    fn a_copy_without_advice_names_the_machine_to_examine() {
        let output = first_line("suricata-xp-filecontainer.pcap");
        let end =
            "The server and the network cannot shorten it: examine the client's program and disk.";
        assert!(output.ends_with(end), "{output}");
        assert!(
            output.contains("1 request (READ_ANDX) of 4096 bytes."),
            "{output}"
        );
        let output = first_line("labelled/raw60k-client.pcapng.gz");
        assert!(
            output.contains("82 % of the time: 131 round trips. Requests are as large"),
            "{output}"
        );
    }
}
