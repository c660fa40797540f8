//! Output of a sweep: as text, CSV and JSON.

use std::fmt::Write as _;

use coax_fit::sample::Sample;
use coax_lab::smb::NOT_MODELLED;
use serde_json::{Value, json};

use super::{
    Run, Swept,
    merge::Merged,
    quantity,
    sensitivity::Indices,
    spread::Spread,
    table::{Cell, table},
};
use crate::lab::{report, run::Summary};

/// Text for a terminal: a line for each run, or for each point if there are replicates, then the fastest and the slowest; of points for
/// sensitivity indices, the indices.
pub fn text(swept: &Swept) -> String {
    let spreads = match swept.replicates {
        0 | 1 => Vec::new(),
        _ => swept.spreads(),
    };
    let averaged = swept.averaged();
    let mut out = String::new();
    if !swept.title.is_empty() {
        let _ = writeln!(out, "{}\n", swept.title);
    }
    match swept.sensitivity() {
        Some(Ok(found)) => {
            let keys = averaged.axes.iter().map(|axis| axis.key.as_str());
            indices(&mut out, keys, averaged.runs.len(), &found);
        }
        Some(Err(reason)) => {
            let _ = writeln!(out, "{reason}");
        }
        None => {
            let mut rows = vec![heads(&averaged)];
            let spreads = spreads
                .iter()
                .map(Option::as_ref)
                .chain(std::iter::repeat(None));
            rows.extend(averaged.runs.iter().zip(spreads).map(row));
            aligned(&mut out, &rows);
        }
    }
    if swept.all > swept.points() {
        let (from, to) = (swept.first, swept.first + swept.points());
        let _ = writeln!(out, "\npoints {from} to {to} of {}", swept.all);
    }
    extremes(&mut out, &averaged);
    replicates(&mut out, swept.replicates, &spreads);
    let _ = writeln!(out, "\nNot modelled: {}.", NOT_MODELLED.join("; "));
    out
}

/// Columns that are as wide as they need; all but the last one are flush right.
fn aligned(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), column) in row.iter().zip(&widths).zip(0..) {
            let _ = match column + 1 == columns {
                true => write!(line, "{cell}"),
                false => write!(line, "{cell:>width$}  "),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// The sensitivity indices of each key, with their 95 % confidence intervals.
fn indices<'a>(
    out: &mut String,
    keys: impl Iterator<Item = &'a str>,
    points: usize,
    found: &[Indices],
) {
    let mut rows = vec![
        ["key", "first order", "total", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(keys.zip(found).map(|(key, found)| {
        vec![
            key.to_owned(),
            format!("{:.3} ±{:.3}", found.first, found.first_error),
            format!("{:.3} ±{:.3}", found.total, found.total_error),
            String::new(),
        ]
    }));
    let _ = writeln!(
        out,
        "Sobol' indices: shares of the variance of the copy's time, from {points} runs\n"
    );
    aligned(out, &rows);
}

fn replicates(out: &mut String, count: usize, spreads: &[Option<Spread>]) {
    if count < 2 {
        return;
    }
    let widths = spreads
        .iter()
        .flatten()
        .filter_map(|spread| spread.half_width);
    let is_random = widths.fold(0.0, f64::max) > 0.0;
    let about = match is_random {
        true => "seconds are means; ± is half of the 95 % confidence interval (Student's t)",
        false => "nothing is random here: every seed gives the same",
    };
    let _ = writeln!(out, "{count} replicates of each point: {about}");
}

fn heads(swept: &Swept) -> Vec<String> {
    let keys = swept.axes.iter().map(|axis| axis.key.clone());
    let rest = ["seconds", "MB/s", "waits for"].map(str::to_owned);
    keys.chain(rest).collect()
}

fn row((run, spread): (&Run, Option<&Spread>)) -> Vec<String> {
    let mut cells = run.values.clone();
    match &run.outcome {
        Ok(summary) => {
            let (cause, share) = summary.dominant();
            let width = spread.and_then(|spread| spread.half_width);
            let width = width.map_or_else(String::new, |width| format!(" ±{width:.3}"));
            cells.push(format!("{:.3}{width}", summary.seconds));
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

/// Comma-separated values (RFC 4180): the rows of [`table`], units in the column names. Cells of failed runs may be
/// empty.
pub fn csv(swept: &Swept) -> String {
    let quoted = |cell: &str| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    };
    let shown = |cell: &Cell| match cell {
        Cell::Missing => String::new(),
        Cell::Text(text) => quoted(text),
        Cell::Whole(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
    };
    let columns = table(swept);
    let heads: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let mut out = heads.join(",") + "\n";
    for run in 0..swept.runs.len() {
        let cells = columns.iter().map(|column| column.cells.get(run));
        let cells: Vec<String> = cells
            .map(|cell| cell.map_or_else(String::new, shown))
            .collect();
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

/// The sweep as one JSON object.
pub fn object(swept: &Swept) -> Value {
    let axes = swept.axes.iter().map(|axis| {
        let values: Vec<String> = axis.values.iter().map(quantity::shown).collect();
        let (numbers, unit) = axis.numbers().unzip();
        let range = axis.range.as_ref().map(|range| match range.is_logarithmic() {
            true => "logarithmic",
            false => "linear",
        });
        json!({ "key": axis.key, "values": values, "numbers": numbers, "unit": unit, "range": range })
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
        "sample": swept.sample.map(Sample::name),
        "replicates": swept.replicates,
        "first_point": swept.first,
        "all_points": swept.all,
        "points": points(swept),
        "sensitivity": sensitivity(swept),
        "runs": runs.collect::<Vec<_>>(),
        "not_modelled": NOT_MODELLED,
    })
}

/// The mean of each point's replicates; null if there is one run for each point.
fn points(swept: &Swept) -> Option<Vec<Value>> {
    if swept.replicates < 2 {
        return None;
    }
    let averaged = swept.averaged();
    let points = averaged.runs.iter().zip(swept.spreads());
    let points = points.map(|(run, spread)| {
        json!({
            "values": run.values,
            "failed": run.outcome.as_ref().err(),
            "ended": spread.map_or(0, |spread| spread.count),
            "seconds": spread.map(|spread| spread.mean),
            "half_width_95_s": spread.and_then(|spread| spread.half_width),
            "least_s": spread.map(|spread| spread.least),
            "most_s": spread.map(|spread| spread.most),
        })
    });
    Some(points.collect())
}

/// The indices of a sweep that was run in parts, as text.
pub fn merged_text(merged: &Merged) -> String {
    let mut out = String::new();
    let keys = merged.keys.iter().map(String::as_str);
    indices(&mut out, keys, merged.points, &merged.indices);
    out
}

/// The indices of a sweep that was run in parts, as an object.
pub fn merged_object(merged: &Merged) -> Value {
    let keys = merged.keys.iter().zip(&merged.indices);
    json!({
        "scenario": merged.scenario,
        "sample": "saltelli",
        "replicates": merged.replicates,
        "all_points": merged.points,
        "sensitivity": keys.map(|(key, found)| of_key(key, found)).collect::<Vec<_>>(),
    })
}

/// The sensitivity indices; null if they were not asked for or cannot be computed.
fn sensitivity(swept: &Swept) -> Option<Vec<Value>> {
    let found = swept.sensitivity()?.ok()?;
    let keys = swept.axes.iter().zip(&found);
    let keys = keys.map(|(axis, found)| of_key(&axis.key, found));
    Some(keys.collect())
}

fn of_key(key: &str, found: &Indices) -> Value {
    json!({
        "key": key,
        "first_order": found.first,
        "first_order_half_width_95": found.first_error,
        "total": found.total,
        "total_half_width_95": found.total_error,
    })
}
