//! Output of a sweep: as text, CSV and JSON.

use std::fmt::Write as _;

use coax_lab::{Cause, smb::NOT_MODELLED};
use serde_json::{Value, json};

use super::{Run, Swept, quantity};
use crate::lab::{report, run::Summary};

/// Text for a terminal: a line for each run, then the fastest and the slowest run.
pub fn text(swept: &Swept) -> String {
    let mut rows = vec![heads(swept)];
    rows.extend(swept.runs.iter().map(row));
    let columns = swept.axes.len() + 3;
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    if !swept.title.is_empty() {
        let _ = writeln!(out, "{}\n", swept.title);
    }
    for row in &rows {
        let mut line = String::new();
        for ((cell, width), column) in row.iter().zip(&widths).zip(0..) {
            let _ = match column + 1 == columns {
                true => write!(line, "{cell}"),
                false => write!(line, "{cell:>width$}  "),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    extremes(&mut out, swept);
    let _ = writeln!(out, "\nNot modelled: {}.", NOT_MODELLED.join("; "));
    out
}

fn heads(swept: &Swept) -> Vec<String> {
    let keys = swept.axes.iter().map(|axis| axis.key.clone());
    let rest = ["seconds", "MB/s", "waits for"].map(str::to_owned);
    keys.chain(rest).collect()
}

fn row(run: &Run) -> Vec<String> {
    let mut cells = run.values.clone();
    match &run.outcome {
        Ok(summary) => {
            let (cause, share) = summary.dominant();
            cells.push(format!("{:.3}", summary.seconds));
            cells.push(format!("{:.3}", summary.rate() / 1e6));
            cells.push(format!("{cause} {:.0} %", share * 100.0));
        }
        Err(failed) => {
            cells.extend(["-".to_owned(), "-".to_owned(), format!("FAILED: {failed}")]);
        }
    }
    cells
}

fn extremes(out: &mut String, swept: &Swept) {
    let mut ended: Vec<(&Run, &Summary)> = swept
        .runs
        .iter()
        .filter_map(|run| Some((run, run.outcome.as_ref().ok()?)))
        .collect();
    ended.sort_by(|(_, one), (_, other)| one.seconds.total_cmp(&other.seconds));
    let failed = swept.runs.len() - ended.len();
    let _ = writeln!(out);
    if let (Some((fast, least)), Some((slow, most))) = (ended.first(), ended.last()) {
        let of = |run: &Run| {
            let keys = swept.axes.iter().map(|axis| &axis.key);
            let pairs = keys.zip(&run.values);
            let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key} {value}")).collect();
            pairs.join(", ")
        };
        let _ = writeln!(
            out,
            "fastest: {} ({})",
            report::duration(least.seconds),
            of(fast)
        );
        let factor = most.seconds / least.seconds;
        let slowest = report::duration(most.seconds);
        let _ = writeln!(
            out,
            "slowest: {slowest} ({}), {factor:.1} times as long",
            of(slow)
        );
    }
    if failed > 0 {
        let runs = swept.runs.len();
        let _ = writeln!(
            out,
            "{failed} of {runs} runs failed: the simulated client gave up, or the values do not fit together"
        );
    }
}

/// Comma-separated values (RFC 4180): one row for each run, one column for each parameter, units in the column names.
/// Cells of failed runs may be empty.
pub fn csv(swept: &Swept) -> String {
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    for (at, axis) in swept.axes.iter().enumerate() {
        let values = swept
            .runs
            .iter()
            .filter_map(|run| run.values.get(at).cloned());
        columns.push(quantity::column(&axis.key, &values.collect::<Vec<_>>()));
    }
    columns.extend(fixed_columns(swept));
    columns.extend(result_columns(swept));
    let quoted = |cell: &str| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    };
    let heads: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
    let mut out = heads.join(",") + "\n";
    for run in 0..swept.runs.len() {
        let cells = columns
            .iter()
            .map(|(_, cells)| cells.get(run).map_or("", String::as_str));
        let cells: Vec<String> = cells.map(quoted).collect();
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

/// The parameters that all runs share.
fn fixed_columns(swept: &Swept) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in swept.runs.iter().flat_map(|run| &run.parameters) {
        let varied = swept
            .axes
            .iter()
            .any(|axis| crate::lab::keys::whole(&axis.key) == key);
        if !varied && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|key| {
            let value = |run: &Run| {
                let found = run.parameters.iter().find(|(known, _)| known == key);
                found.map_or_else(String::new, |(_, value)| value.clone())
            };
            let values: Vec<String> = swept.runs.iter().map(value).collect();
            quantity::column(key, &values)
        })
        .collect()
}

/// A column's name and the function for its cells.
type Figure = (&'static str, fn(&Summary) -> String);

const FIGURES: [Figure; 11] = [
    ("seconds", |s| s.seconds.to_string()),
    ("megabytes_per_s", |s| (s.rate() / 1e6).to_string()),
    ("dialect", |s| s.dialect.to_owned()),
    ("requests", |s| {
        let requests = s.requests.iter().map(|r| r.requests);
        requests.sum::<u64>().to_string()
    }),
    ("frames_to_server", |s| s.to_server.frames.to_string()),
    ("frames_to_client", |s| s.to_client.frames.to_string()),
    ("sent_again_to_server", |s| {
        s.to_server.sent_again().to_string()
    }),
    ("sent_again_to_client", |s| {
        s.to_client.sent_again().to_string()
    }),
    ("dropped_to_server", |s| {
        s.to_server.dropped.total().to_string()
    }),
    ("dropped_to_client", |s| {
        s.to_client.dropped.total().to_string()
    }),
    ("timeouts", |s| {
        (s.to_server.timeouts + s.to_client.timeouts).to_string()
    }),
];

fn result_columns(swept: &Swept) -> Vec<(String, Vec<String>)> {
    let of = |figure: &dyn Fn(&Summary) -> String| -> Vec<String> {
        let outcomes = swept.runs.iter().map(|run| run.outcome.as_ref());
        outcomes
            .map(|outcome| outcome.map_or_else(|_| String::new(), figure))
            .collect()
    };
    let mut columns: Vec<_> = FIGURES
        .iter()
        .map(|(name, figure)| ((*name).to_owned(), of(figure)))
        .collect();
    for cause in Cause::ALL {
        let share = |summary: &Summary| share(summary, cause).to_string();
        columns.push((format!("share.{}", cause.name()), of(&share)));
    }
    let errors = swept
        .runs
        .iter()
        .map(|run| run.outcome.as_ref().err().cloned());
    let errors = errors.map(Option::unwrap_or_default).collect();
    columns.push(("error".to_owned(), errors));
    columns
}

/// The share of a cause in the copy's time.
fn share(summary: &Summary, cause: Cause) -> f64 {
    let spent = summary.causes_ns.get(cause.name()).copied().unwrap_or(0);
    let total: u64 = summary.causes_ns.values().sum();
    spent as f64 / total.max(1) as f64
}

/// The sweep as one JSON object.
pub fn object(swept: &Swept) -> Value {
    let axes = swept.axes.iter().map(|axis| {
        let values: Vec<String> = axis.values.iter().map(quantity::shown).collect();
        let (numbers, unit) = axis.numbers().unzip();
        json!({ "key": axis.key, "values": values, "numbers": numbers, "unit": unit })
    });
    let runs = swept.runs.iter().map(|run| {
        let outcome = run.outcome.as_ref();
        json!({
            "values": run.values,
            "parameters": run.parameters.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "failed": outcome.err(),
            "seconds": outcome.ok().map(|summary| summary.seconds),
            "bytes": outcome.ok().map(|summary| summary.bytes),
            "megabytes_per_s": outcome.ok().map(|summary| summary.rate() / 1e6),
            "dialect": outcome.ok().map(|summary| summary.dialect),
            "causes_ns": outcome.ok().map(|summary| &summary.causes_ns),
            "to_server": outcome.ok().map(|summary| &summary.to_server),
            "to_client": outcome.ok().map(|summary| &summary.to_client),
        })
    });
    json!({
        "scenario": swept.scenario,
        "title": swept.title,
        "axes": axes.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
        "not_modelled": NOT_MODELLED,
    })
}
