//! The benchmark's results as text.

use crate::digits::grouped;
use std::{fmt::Write as _, time::Duration};

use crate::bench::json::{best, bytes_per_s, ratio};
use coax_transfer::{
    bench::{
        Report,
        figures::{Contents, Mix, Row, Times},
    },
    speed::ceiling::Ceiling,
};

/// The report.
pub fn report(place: &str, report: &Report) -> String {
    let mut out = format!("{} bytes to {place} and back", grouped(report.size));
    if report.runs > 1 {
        let _ = write!(out, ", {} times, medians", report.runs);
    }
    out.push_str("; contents verified by SHA-256\n");
    if let Some(ceiling) = &report.ceiling {
        let _ = writeln!(
            out,
            "raw TCP on the same path: {} from the server, {} to it",
            speed(ceiling.to_us_bytes_per_s()),
            speed(ceiling.to_peer_bytes_per_s())
        );
    }
    out.push('\n');
    out.push_str(&table(&times(report)));
    let mixes = requests(report);
    if mixes.len() > 1 {
        out.push('\n');
        out.push_str(&table(&mixes));
    }
    out
}

/// Only the table of copy times.
pub fn copies(report: &Report) -> String {
    table(&times(report))
}

/// The reason for an exit code other than 0.
pub fn failure(report: &Report) -> String {
    let named = |contents| -> Vec<&str> {
        let rows = report.rows.iter().filter(|row| row.contents == contents);
        rows.map(|row| row.profile.as_str()).collect()
    };
    let differ = named(Contents::Differ);
    if !differ.is_empty() {
        return format!(
            "what came back is not what was sent, with {}",
            differ.join(", ")
        );
    }
    if report.stopped {
        return "stopped before the end".into();
    }
    "no copy was possible; the table says why for each redirector".into()
}

/// The table of copy times: a row for each client, a column for each direction.
fn times(report: &Report) -> Vec<Vec<String>> {
    let mut head = vec!["client".to_string(), "dialect".into()];
    for way in ["server → client", "client → server"] {
        head.push(way.into());
        head.extend(["MB/s", "× best"].map(String::from));
        if report.runs > 1 {
            head.push("least – greatest".into());
        }
        if report.ceiling.is_some() {
            head.push("of TCP".into());
        }
    }
    let mut rows = vec![head];
    for row in &report.rows {
        let mut cells = vec![row.profile.clone(), row.dialect.unwrap_or("–").into()];
        cells.extend(way(
            report,
            row,
            |row| &row.to_client,
            Ceiling::to_us_bytes_per_s,
        ));
        cells.extend(way(
            report,
            row,
            |row| &row.to_server,
            Ceiling::to_peer_bytes_per_s,
        ));
        match (&row.error, row.contents) {
            (Some(error), _) => cells.push(error.clone()),
            (None, Contents::Differ) => cells.push("CONTENTS DIFFER".into()),
            _ => {}
        }
        rows.push(cells);
    }
    rows
}

fn way(
    report: &Report,
    row: &Row,
    of: fn(&Row) -> &Times,
    ceiling: fn(&Ceiling) -> f64,
) -> Vec<String> {
    let times = of(row);
    let Some(median) = times.median() else {
        let columns = 3 + usize::from(report.runs > 1) + usize::from(report.ceiling.is_some());
        return vec!["–".into(); columns];
    };
    let rate = bytes_per_s(report.size, median);
    let far = best(report, of).map_or(1.0, |best| ratio(median, best));
    let mut cells = vec![time(median), figure(rate / 1e6), figure(far)];
    if report.runs > 1 {
        let end = |end: Option<Duration>| time(end.unwrap_or(median));
        cells.push(format!("{} – {}", end(times.min()), end(times.max())));
    }
    if let Some(measured) = &report.ceiling {
        let most = ceiling(measured).max(f64::MIN_POSITIVE);
        cells.push(format!("{} %", figure(rate / most * 100.0)));
    }
    cells
}

/// The requests of each client.
fn requests(report: &Report) -> Vec<Vec<String>> {
    let head = [
        "client",
        "request",
        "count",
        "bytes",
        "bytes each",
        "median",
        "95 in 100",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for row in &report.rows {
        for (place, line) in row.requests.mix().iter().enumerate() {
            let name = if place == 0 { row.profile.as_str() } else { "" };
            rows.push(request(name, line));
        }
    }
    rows
}

fn request(profile: &str, line: &Mix) -> Vec<String> {
    let each = line.bytes.checked_div(line.count as u64).unwrap_or(0);
    vec![
        profile.into(),
        line.command.clone(),
        grouped(line.count as u64),
        grouped(line.bytes),
        grouped(each),
        time(line.p50),
        time(line.p95),
    ]
}

/// Formats a table with columns two blanks apart. The first two columns and cells wider than the heading are
/// left-aligned, the others right-aligned.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths.get(column).copied().unwrap_or(0);
            let _ = match column {
                0 | 1 => write!(line, "{cell:<width$}  "),
                _ => write!(line, "{cell:>width$}  "),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A time such as `4.2 s` or `3 min 22 s`; short times have more digits.
fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1e-3 => format!("{} µs", figure(s * 1e6)),
        s if s < 1.0 => format!("{} ms", figure(s * 1e3)),
        s if s < 99.95 => format!("{} s", figure(s)),
        s => {
            let whole = s.round() as u64;
            format!("{} min {} s", whole / 60, whole % 60)
        }
    }
}

fn speed(bytes_per_s: f64) -> String {
    format!(
        "{} MB/s ({} Mbit/s)",
        figure(bytes_per_s / 1e6),
        figure(bytes_per_s * 8.0 / 1e6)
    )
}

/// Three digits that mean something.
fn figure(value: f64) -> String {
    match value {
        v if v >= 100.0 => grouped(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_documents_do() {
        let cases = [
            (4.2, "4.20 s"),
            (2923.0, "48 min 43 s"),
            (202.0, "3 min 22 s"),
            (0.0472, "47.2 ms"),
            (0.000_25, "250 µs"),
        ];
        for (seconds, text) in cases {
            assert_eq!(time(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn columns_are_aligned_whatever_the_letters() {
        let rows = [vec!["a", "→", "1"], vec!["bcd", "x", "100"]]
            .map(|row| row.into_iter().map(String::from).collect());
        assert_eq!(table(&rows), "a    →    1\nbcd  x  100\n");
    }
}
