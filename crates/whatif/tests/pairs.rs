//! Slow copies made in the lab, captured, calibrated from the capture alone, and what is then said of a change against
//! the changed copy itself. docs/whatif.md has the table.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used
)]

mod common;

use std::fmt::Write as _;

use coax_lab::Tap;
use coax_whatif::{Model, Range};
use common::{borrowed, file, longest, made, profiles, sets};
use toml::{Table, Value};

/// A pair and what came of it.
struct Row {
    what: String,
    vantage: String,
    measured: f64,
    baseline: f64,
    said: Result<Range, String>,
    truth: f64,
}

impl Row {
    fn error(&self) -> Option<f64> {
        let said = self.said.as_ref().ok()?;
        Some((said.mid / self.truth - 1.0) * 100.0)
    }
}

fn scenario(pair: &Table) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    for key in ["direction", "size", "link"] {
        values.extend(pair.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    for side in ["client", "server"] {
        for (key, name) in pair[side].as_table().unwrap() {
            values.push((format!("{side}.{key}"), name.clone()));
        }
    }
    if let Some(set) = pair.get("set") {
        values.extend(sets(set.as_table().unwrap()));
    }
    values
}

fn row(pair: &Table, clients: &[(&str, &str)]) -> Row {
    let text = |key: &str| pair[key].as_str().unwrap().to_owned();
    let (what, vantage) = (text("what"), text("vantage"));
    let tap = if vantage == "client" {
        Tap::Client
    } else {
        Tap::Server
    };
    let mut values = scenario(pair);
    let slow = made(&what, &values, tap, clients);
    let change = sets(pair["change"].as_table().unwrap());
    let copy = longest(&slow);
    let model = Model::calibrate(&slow, copy, None, clients);
    let said = model.as_ref().map_err(Clone::clone);
    let said = said.and_then(|model| model.predict(&change));
    values.extend(change);
    let changed = made(&what, &values, tap, clients);
    Row {
        what,
        vantage,
        measured: copy.wall.0 as f64 / 1e9,
        baseline: model.map_or(0.0, |model| model.baseline().0 as f64 / 1e9),
        said: said.map_err(|why| why.to_string()),
        truth: longest(&changed).wall.0 as f64 / 1e9,
    }
}

fn rows(name: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(file(&format!("crates/whatif/tests/{name}.toml"))).unwrap();
    let table: Table = toml::from_str(&text).unwrap();
    let profiles = profiles();
    let clients = borrowed(&profiles);
    let pairs: Vec<&Table> = table["pair"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair.as_table().unwrap())
        .collect();
    let half = pairs.len().div_ceil(2);
    let all = |some: &[&Table]| some.iter().map(|pair| row(pair, &clients)).collect();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| all(&pairs[..half]));
        let mut last: Vec<Row> = all(&pairs[half..]);
        let mut rows: Vec<Row> = first.join().unwrap();
        rows.append(&mut last);
        rows
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn table(rows: &[Row]) -> String {
    let mut out = String::from(
        "| slow copy: change | captured at | measured | model of it | predicted | truth | error |\n|---|---|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let (said, error) = match (&row.said, row.error()) {
            (Ok(said), Some(error)) => (
                format!("{:.3} ({:.3}–{:.3})", said.mid, said.low, said.high),
                format!("{error:+.1} %"),
            ),
            (Err(why), _) => (format!("none: {why}"), "–".to_owned()),
            _ => continue,
        };
        let _ = writeln!(
            out,
            "| {} | {} | {:.3} | {:.3} | {said} | {:.3} | {error} |",
            row.what, row.vantage, row.measured, row.baseline, row.truth
        );
    }
    out
}

/// Writes the table into docs/whatif.md, if that is asked for.
fn write(name: &str, rows: &[Row], summary: &str) {
    let table = table(rows);
    println!("{table}\n{summary}");
    if std::env::var_os("WRITE_DOCS").is_none() {
        return;
    }
    let page = file("docs/whatif.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = text.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    std::fs::write(
        page,
        format!("{before}{begin}{summary}\n\n{table}{end}{after}"),
    )
    .unwrap();
}

/// Median error, how many truths lie in their ranges, and both in a sentence.
fn judged(rows: &[Row]) -> (f64, usize, String) {
    let errors: Vec<f64> = rows
        .iter()
        .map(|row| row.error().map_or(100.0, f64::abs))
        .collect();
    let inside = rows.iter().filter(|row| {
        let said = row.said.as_ref();
        said.is_ok_and(|said| (said.low..=said.high).contains(&row.truth))
    });
    let inside = inside.count();
    let median = median(errors.clone());
    let summary = format!(
        "{} pairs: median error {median:.1} %; {} within 10 %; the truth lies in the range of {inside}.",
        rows.len(),
        errors.iter().filter(|error| **error <= 10.0).count(),
    );
    (median, inside, summary)
}

/// Both files in one test: the page is written once at a time.
#[test]
fn what_is_predicted_of_a_change_is_what_the_change_brings() {
    // pairs, median error at most, and the part of truths in their ranges at least, per cent
    for (name, least, most, ranges) in [("pairs", 20, 5.0, 80), ("held-out", 8, 10.0, 60)] {
        let rows = rows(name);
        let (median, inside, summary) = judged(&rows);
        write(name, &rows, &summary);
        assert!(rows.len() >= least);
        assert!(median <= most, "{name}: {summary}");
        assert!(inside * 100 >= rows.len() * ranges, "{name}: {summary}");
    }
}
