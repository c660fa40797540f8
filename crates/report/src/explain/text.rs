//! The report as text: verdict, copies, requests, negotiated and used parameters, quality of the capture.

use std::fmt::Write as _;

use coax_explain::{
    Cause,
    report::{Capture, Connection, Copy, Quality, Requests, Side, Transport, Vantage},
};
use coax_wire::time::Span;

use super::{
    advice, agreed, breakdown,
    explained::Explained,
    file_changes, frames, gain, joined, operations,
    paper::Paper,
    tree, verdict,
    words::{harmless, many, part_of, percent, rate, size, time, unknown_link},
};

/// Maximum number of rows of a table; a count replaces the rest.
const ROWS: usize = 20;

/// The report of one capture. Without a known terminal width the verdict is one line.
pub fn report(explained: &Explained, columns: Option<usize>) -> String {
    let capture = &explained.capture;
    let mut out = Paper::new(columns);
    if let Some((copy, advice)) = explained.longest()
        && let Some(headline) = verdict::headline(capture, copy, advice)
    {
        let _ = out.sentence(&headline);
    }
    let _ = first_line(&mut out, explained);
    let _ = copies(&mut out, capture);
    if let Some((copy, advice)) = explained.longest() {
        let _ = causes(&mut out, capture, copy);
        let _ = advice::section(&mut out, copy, advice);
        let _ = gain::section(&mut out, copy, advice);
        let _ = requests(&mut out, "What was asked for in that copy", &copy.requests);
    }
    let _ = file_changes::section(&mut out, explained.file_changes.as_ref());
    let _ = operations::section(&mut out, capture);
    let _ = advice::remarks(&mut out, explained);
    let _ = connections(&mut out, capture);
    let _ = quality(&mut out, explained);
    out.into_text()
}

/// Only the first line: the verdict.
pub fn in_one_line(explained: &Explained) -> String {
    let mut out = Paper::default();
    let _ = first_line(&mut out, explained);
    out.into_text().trim_end().replace('\n', " ")
}

fn first_line(out: &mut Paper, explained: &Explained) -> std::fmt::Result {
    let capture = &explained.capture;
    let slow = operations::longest(capture).map(|slow| operations::sentences(capture, slow));
    let Some((copy, advice)) = explained.longest() else {
        return out.sentence(&slow.unwrap_or_else(|| verdict::of_none(capture)));
    };
    let mut of_what = "";
    if let Some(tree) = tree::of(capture) {
        out.sentence(&tree.verdict())?;
        of_what = "The longest: ";
    }
    let remedy = advice::remedy(advice, capture, copy, &explained.remarks);
    let remedy = remedy.map(|remedy| format!(" {remedy}"));
    let verdict = verdict::of(capture, copy);
    let slow = slow.map_or(String::new(), |slow| {
        format!(" Slower than any copy: {slow}")
    });
    out.sentence(&format!(
        "{of_what}{verdict}{}{slow}",
        remedy.unwrap_or_default()
    ))
}

fn copies(out: &mut Paper, capture: &Capture) -> std::fmt::Result {
    if capture.copies.len() < 2 {
        return Ok(());
    }
    let mut longest_first: Vec<&Copy> = capture.copies.iter().collect();
    longest_first.sort_by_key(|copy| std::cmp::Reverse(copy.wall));
    let bytes: u64 = longest_first.iter().map(|copy| copy.bytes).sum();
    let all = longest_first.len() as u64;
    writeln!(
        out,
        "\n{all} copies, {} in all; the longest first:",
        size(bytes)
    )?;
    writeln!(
        out,
        "  {:>12} {:>10} {:>12}  direction  name",
        "bytes", "time", "rate"
    )?;
    for copy in longest_first.iter().take(ROWS) {
        let rate = rate(copy.bytes, copy.wall).unwrap_or_default();
        let rate = rate.split(',').next().unwrap_or_default();
        let name = verdict::short_name(copy, capture.connections.get(copy.connection));
        let to = copy.direction.name();
        writeln!(
            out,
            "  {:>12} {:>10} {rate:>12}  {to:<9}  {name}",
            copy.bytes,
            time(copy.wall)
        )?;
    }
    let left = (all + capture.copies_left_out).saturating_sub(ROWS as u64);
    if left > 0 {
        writeln!(out, "  … and {left} more (--json lists them)")?;
    }
    Ok(())
}

fn causes(out: &mut Paper, capture: &Capture, copy: &Copy) -> std::fmt::Result {
    let mut spent: Vec<_> = copy.account.iter().filter(|(_, span)| span.0 > 0).collect();
    if spent.is_empty() {
        return Ok(());
    }
    spent.sort_by_key(|(_, span)| std::cmp::Reverse(*span));
    let (first, last) = copy.frames;
    let wall = part_of(copy.wall, copy.wall);
    writeln!(out, "\nWhere its {wall} went (frames {first} to {last}):")?;
    let mut before = Span(0);
    for (cause, span) in &spent {
        let share = percent(*span, copy.wall);
        let sum = Span(before.0.saturating_add(span.0));
        let ends = [before, sum].map(|span| percent(span, copy.wall));
        before = sum;
        let figures = format!("{:>11} {share:>5.1} %", part_of(*span, copy.wall));
        let label = frames::label_of(capture, copy, *cause);
        one_cause(out, (*cause, label), &figures, ends)?;
    }
    unsure(out, capture, copy, &spent)?;
    stretches(out, copy, &spent)
}

/// What one end cannot tell apart: processing of the far machine, and round trips that took longer than the shortest.
fn unsure(
    out: &mut Paper,
    capture: &Capture,
    copy: &Copy,
    spent: &[(Cause, Span)],
) -> std::fmt::Result {
    /// Minimum share of a cause, percent.
    const MIN_PERCENT: f64 = 5.0;
    for (cause, span) in spent {
        let (low, _) = breakdown::bounds(capture, copy, *cause);
        if low.0 < span.0 - span.0 / 10 && percent(*span, copy.wall) >= MIN_PERCENT {
            let least = part_of(low, copy.wall);
            let words = format!(
                "{} is {least} at least. The rest may be round trips that took longer: one end cannot tell.",
                cause.name()
            );
            out.prose("  ", &words)?;
        }
    }
    Ok(())
}

/// One line of the waterfall. The explanation of the cause is beside the bar, or below it if the line is too narrow and
/// the share is large.
fn one_cause(
    out: &mut Paper,
    (cause, label): (Cause, &str),
    figures: &str,
    ends: [f64; 2],
) -> std::fmt::Result {
    /// Minimum width for explanations beside the bars.
    const MIN_COLUMNS: usize = 155;
    /// Minimum share for an explanation below the bar, percent.
    const MIN_PERCENT: f64 = 5.0;
    let is_wide = out.columns() >= MIN_COLUMNS;
    let bar = bar(if is_wide { 40 } else { 32 }, ends[0], ends[1]);
    write!(out, "  {:<18} {figures}  |{bar}|", cause.name())?;
    if is_wide {
        return writeln!(out, "  {label}");
    }
    writeln!(out)?;
    match ends[1] - ends[0] >= MIN_PERCENT {
        true => out.prose("      ", label),
        false => Ok(()),
    }
}

/// A bar between two percentages in a line of this width.
fn bar(columns: usize, from: f64, to: f64) -> String {
    let column = |share: f64| ((share * columns as f64 / 100.0).round() as usize).min(columns);
    let (from, to) = (column(from), column(to));
    let (from, to) = if from == to {
        (from.min(columns - 1), from.min(columns - 1) + 1)
    } else {
        (from, to)
    };
    let thin = if to - from == 1 { "+" } else { "#" };
    format!(
        "{}{}{}",
        " ".repeat(from),
        thin.repeat(to - from),
        " ".repeat(columns - to)
    )
}

/// The number of waits, and where the longest ones are.
fn stretches(out: &mut Paper, copy: &Copy, spent: &[(Cause, Span)]) -> std::fmt::Result {
    const FRAMES: usize = 3;
    if copy.breakdown.causes.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n  {:<18} {:>7} {:>8} {:>8} {:>8}  the longest, by frame",
        "cause", "count", "median", "95 %", "longest"
    )?;
    for row in spent.iter().filter_map(|it| copy.breakdown.of(it.0)) {
        let spots = row.longest.iter();
        let frames: Vec<_> = spots.take(FRAMES).map(|it| it.frame.to_string()).collect();
        let longest = row.longest.first().map_or(Span(0), |it| it.span);
        writeln!(
            out,
            "  {:<18} {:>7} {:>8} {:>8} {:>8}  {}",
            row.cause.name(),
            row.count,
            time(row.median),
            time(row.p95),
            time(longest),
            frames.join(", ")
        )?;
    }
    Ok(())
}

fn requests(out: &mut Paper, title: &str, rows: &[Requests]) -> std::fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    writeln!(
        out,
        "  {:>8} {:>13} {:>8} {:>10} {:>10}  command",
        "count", "bytes", "usual", "median", "95 %"
    )?;
    for row in rows.iter().take(ROWS) {
        let output = |span: Option<Span>| span.map_or("-".to_owned(), time);
        let (median, p95) = (output(row.response_median), output(row.response_p95));
        write!(
            out,
            "  {:>8} {:>13} {:>8} {median:>10} {p95:>10}  {}",
            row.count, row.bytes, row.usual_bytes, row.command
        )?;
        let notes = [
            (row.refused, "refused"),
            (row.unanswered, "without an answer"),
        ];
        for (count, what) in notes.into_iter().filter(|(count, _)| *count > 0) {
            write!(out, ", {count} {what}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn connections(out: &mut Paper, capture: &Capture) -> std::fmt::Result {
    const MAX_LISTED: usize = 5;
    let bytes =
        |connection: &Connection| connection.sides.iter().map(|side| side.bytes).sum::<u64>();
    let mut largest: Vec<&Connection> = capture.connections.iter().collect();
    largest.sort_by_key(|connection| std::cmp::Reverse(bytes(connection)));
    for connection in largest.iter().take(MAX_LISTED) {
        one_connection(out, connection)?;
    }
    let left = (largest.len().saturating_sub(MAX_LISTED)) as u64 + capture.connections_left_out;
    if left > 0 {
        writeln!(
            out,
            "\n… and {} more (--json lists them)",
            many(left, "connection")
        )?;
    }
    Ok(())
}

fn one_connection(out: &mut Paper, connection: &Connection) -> std::fmt::Result {
    let carries = frames::carried(connection);
    writeln!(
        out,
        "\n{} -> {} ({carries}), agreed on and used:",
        connection.client, connection.server
    )?;
    out.prose("  round trip        ", &ways(connection))?;
    joined::path(out, connection)?;
    frames::sides(out, connection)?;
    let is_tcp = connection.transport() == Transport::Tcp;
    for (place, who) in ["client", "server"].into_iter().enumerate() {
        if is_tcp && let Some(side) = connection.sides.get(place) {
            one_side(out, who, side, &announced_by(connection, place))?;
        }
    }
    agreed::section(out, connection)?;
    match tree::around(connection) {
        Some(around) => out.prose("  outside copies    ", &harmless(&around)),
        None => Ok(()),
    }
}

/// The path delays to both sides, if known.
fn ways(connection: &Connection) -> String {
    let output = |way: Option<Span>| way.map_or("not seen".to_owned(), time);
    match (connection.client_rtt, connection.server_rtt) {
        (None, None) => output(None),
        (client, server) => format!(
            "{} on the client's side of the capture, {} on the server's",
            output(client),
            output(server)
        ),
    }
}

/// What a side announced: in its SYN, if captured, and its windows.
fn announced_by(connection: &Connection, place: usize) -> String {
    let (Some(side), Some(habits)) = (connection.sides.get(place), connection.habits.get(place))
    else {
        return String::new();
    };
    let mut all = Vec::new();
    if habits.syn.is_some() {
        let mss = side.mss.map_or("none".to_owned(), |mss| mss.to_string());
        all.push(format!("MSS {mss}"));
    }
    if let Some(least) = side.min_window {
        let knows = connection.knows_windows_of(place);
        let multiple = if knows { "" } else { " or a multiple" };
        all.push(format!("window {least} to {}{multiple}", side.max_window));
    }
    if habits.syn.is_some() {
        let sack = if side.sack { "yes" } else { "no" };
        all.push(format!("SACK {sack}"));
    } else {
        all.push("its SYN was not captured".to_owned());
    }
    all.join(", ")
}

fn one_side(out: &mut Paper, who: &str, side: &Side, offered: &str) -> std::fmt::Result {
    let sent = match side.data_segments {
        0 => "sent no data".to_owned(),
        segments => format!(
            "sent {} in {} of at most {}",
            size(side.bytes),
            many(segments, "segment"),
            many(u64::from(side.largest_segment), "byte"),
        ),
    };
    out.prose(&format!("  {who:<17} "), &format!("{sent}; {offered}"))?;
    let notes = [
        (side.window_full, "the other's window filled"),
        (side.zero_windows, "its own window shut"),
    ];
    let notes = notes.iter().filter(|note| note.0 > 0);
    let notes = notes.map(|(count, what)| format!("{} {what}", many(*count, "time")));
    let notes: Vec<String> = sent_again(side).into_iter().chain(notes).collect();
    match notes.is_empty() {
        true => Ok(()),
        false => out.prose(&format!("  {:<17} ", ""), &notes.join(", ")),
    }
}

/// Retransmissions and late segments of a side, with their triggers.
fn sent_again(side: &Side) -> Option<String> {
    let again = &side.again;
    let kinds = counted(&[
        (again.fast, "fast retransmissions"),
        (again.timer, "after a retransmission timeout"),
        (again.after_timer, "while recovering from it"),
        (again.probe, "as tail loss probes"),
    ]);
    let all = side.retransmissions.saturating_add(side.out_of_order);
    let mut text = format!("{} retransmitted or late", many(all, "segment"));
    if !kinds.is_empty() {
        text = format!("{text} ({})", kinds.join(", "));
    }
    if again.needless > 0 {
        text = format!("{text}, {} of them needless", again.needless);
    }
    (all > 0).then_some(text)
}

/// The entries with a count above 0.
fn counted(notes: &[(u64, &str)]) -> Vec<String> {
    let some = notes.iter().filter(|note| note.0 > 0);
    some.map(|(count, what)| format!("{count} {what}"))
        .collect()
}

fn quality(out: &mut Paper, explained: &Explained) -> std::fmt::Result {
    let (capture, quality) = (&explained.capture, &explained.capture.quality);
    let vantage = capture
        .vantage()
        .map_or("capture point unknown", |vantage| match vantage {
            Vantage::Client => "taken at the client",
            Vantage::Server => "taken at the server",
            Vantage::Between => "taken between client and server",
        });
    let grade = capture.grade.name();
    writeln!(
        out,
        "\nCapture: {grade}, {vantage}; {}.",
        many(quality.packets, "packet")
    )?;
    joined::clocks(out, capture)?;
    if quality.merged_ends {
        out.prose("  ", MERGED)?;
    }
    for fault in faults(quality) {
        out.prose("  ", &fault)?;
    }
    if quality.clock_grain >= Span(1_000_000) {
        writeln!(
            out,
            "  the clock advances in steps of {}: shorter times are unknown",
            time(quality.clock_grain)
        )?;
    }
    match &quality.damage {
        Some((at, what)) => writeln!(out, "  at byte {at}: {what}; what follows was not read"),
        None => Ok(()),
    }
}

/// What is wrong with a file of both ends' captures, and what to do.
const MERGED: &str = "the file contains captures of both ends: most packets are in it twice. Their second times were left out, so waits \
    are rough. Give coax explain --join the two captures instead (editcap and tshark split a merged file by interface)";

/// The problems of a capture with their counts.
fn faults(quality: &Quality) -> impl Iterator<Item = String> {
    let output = [
        (
            quality.cut_packets,
            format!("cut to {} bytes at most", quality.snap_len),
        ),
        (
            quality.out_of_order,
            format!("out of order, by up to {}", time(quality.worst_disorder)),
        ),
        (
            quality.unknown_links,
            format!("of {}, which is not read", unknown_link(quality)),
        ),
    ];
    #[rustfmt::skip]
    let plain = [
        (quality.duplicates, "packet", "captured twice (left out)"),
        (quality.other_end, "packet", "captured at the server, which were left out: the file contains captures of both ends"),
        (quality.acked_before, "segment", "captured after its acknowledgment"),
        (quality.dropped, "packet", "dropped by the capturing machine"),
        (quality.missing_bytes, "byte", "missing in the capture, though acknowledged"),
        (quality.coalesced, "segment", "longer than the wire allows: coalesced by the capturing machine"),
        (quality.incomplete_fragments, "packet", "with missing fragments"),
        (quality.damaged_frames, "frame", "of NetBEUI or IPX whose headers are damaged or cut off"),
        (quality.cut_headers, "packet", "cut within the headers"),
        (quality.replaced_times, "packet", "with a time that fits neither the one before nor the one after (replaced)"),
        (quality.clock_steps, "time", "the clock was set back by more than a second"),
        (quality.ignored_offsets, "interface", "with a time offset that moves packets to before 1970 or after 2554 (ignored)"),
        (quality.smb_headers_cut, "connection", "whose SMB headers the snap length cut off: capture with tcpdump -s 192 or more"),
        (quality.without_start, "connection", "that began before the capture"),
        (quality.skipped_bytes, "byte", "of SMB connections outside any recognised message"),
    ];
    let plain = plain.map(|(count, one, what)| (count, one, what.to_owned()));
    let output = output.map(|(count, what)| (count, "packet", what));
    output
        .into_iter()
        .chain(plain)
        .filter(|fault| fault.0 > 0)
        .map(|(count, one, what)| format!("{} {what}", many(count, one)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::{super::read, *};

    fn output(name: &str, columns: Option<usize>) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
        report(&read(&folder.join(name), None).unwrap(), columns)
    }

    #[test]
    fn a_report_fits_a_terminal_of_80_columns() {
        for name in ["nagle_lan-client", "shallow-server", "andx4k-client"] {
            let output = output(&format!("labelled/{name}.pcapng.gz"), Some(80));
            let long = output.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "{name}");
            assert!(!output.contains('\u{1b}'), "{name}");
        }
    }

    /// The text with line breaks replaced by blanks.
    fn in_a_row(name: &str) -> String {
        let output = output(name, None);
        output.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn missing_data_is_reported_as_unknown_not_as_none() {
        let output = in_a_row("tcpdump-smb_data_print-segv.pcap");
        for words in [
            "window 253 to 254, its SYN was not captured",
            "dialect not seen",
            "server not seen, client not seen; no file data moved",
            "1 at most; how many are allowed was not seen",
            "7701 days without a copy under way;",
            "1 packet cut to 128 bytes at most",
            "1 connection that began before the capture",
        ] {
            assert!(output.contains(words), "{words} in {output}");
        }
        assert!(
            !output.contains("SACK") && !output.contains('?'),
            "{output}"
        );
    }

    #[test]
    fn an_empty_connection_and_a_single_syn_are_reported() {
        let output = in_a_row("tcp/tcptrace-discard-solaris.pcap.gz");
        for words in [
            "round trip not seen",
            "sent no data; MSS 1460, SACK no",
            "sent no data; its SYN was not captured",
            "window scale not by the client (frame 3)",
            "longest segments from the client 1460 (the server's MSS: 1460), from the server none (frame 8)",
        ] {
            assert!(output.contains(words), "{words} in {output}");
        }
    }

    #[test]
    fn parts_of_a_short_copy_are_shown_in_microseconds() {
        let output = in_a_row("arkime-smbclient.pcap");
        assert!(
            output.contains("Where its 1.018 ms went (frames 19 to 27):"),
            "{output}"
        );
        assert!(
            output.contains("server-think 0.538 ms 52.8 % |"),
            "{output}"
        );
    }

    #[test]
    fn without_a_terminal_the_verdict_is_one_line() {
        let output = output("labelled/nagle_lan-client.pcapng.gz", None);
        let mut lines = output.splitn(3, '\n');
        let (headline, verdict) = (lines.next().unwrap(), lines.next().unwrap());
        let rest = lines.next().unwrap();
        assert!(
            headline.starts_with("9.36 s → ") && headline.contains("TCP_NODELAY"),
            "{headline}"
        );
        assert!(verdict.contains("TCP_NODELAY → about "), "{verdict}");
        assert!(rest.contains("|  waiting for delayed ACKs\n"), "{rest}");
    }
}
