//! An estimate as text.

use std::fmt::Write as _;

use coax_fit::{Estimate, Fitted, Knowledge, Parameter, Prediction};

/// Rows of cells, the first column to the left, the others to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match index {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A time in seconds with four digits.
fn seconds(time: f64) -> String {
    match time {
        time if time.is_nan() => "-".to_owned(),
        time if time < 1.0 => format!("{time:.4}"),
        time if time < 100.0 => format!("{time:.3}"),
        time => format!("{time:.1}"),
    }
}

/// How often the ranges were right: docs/evidence/fit.md.
const COVERAGE: &str = "\nHow often ranges of 90 % were right on 48 simulated machines with known values: 140 of 144 values (97 %) and 82 of 96 \
    times (85 %) were inside.\n";

/// The whole report.
pub fn text(found: &Estimate) -> String {
    let mut text = parameters(&found.parameters);
    for pair in &found.together {
        let [first, second] = &pair.names;
        let how = if pair.correlation < 0.0 {
            "if one is larger, the other is smaller"
        } else {
            "both are larger or smaller"
        };
        let _ = writeln!(
            text,
            "{first} and {second} are known better together than alone: {how}."
        );
    }
    text.push_str(COVERAGE);
    text.push_str(&advice(&found.parameters));
    text.push_str("\nMeasured copies and the fitted scenario\n\n");
    text.push_str(&fitted(&found.fitted));
    if !found.predictions.is_empty() {
        text.push_str(
            "\nPredictions: median, and the range that contains 90 % of measurements\n\n",
        );
        text.push_str(&predictions(&found.predictions));
    }
    let _ = writeln!(
        text,
        "\n{} simulated copies; deviation between lab and reality: {:.1} %.",
        found.runs,
        found.deviation * 100.0
    );
    text
}

fn parameters(parameters: &[Parameter]) -> String {
    let mut rows = vec![
        [
            "value",
            "estimate",
            "90 % range",
            "possible",
            "the copies tell",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for one in parameters {
        let text = |value: f64| one.unknown.text(value);
        let range = |low, high| format!("{} to {}", text(low), text(high));
        let (estimate, known) = match one.knowledge {
            Knowledge::Determined => (text(one.value), "its value".to_owned()),
            Knowledge::Range => (text(one.value), "a range".to_owned()),
            Knowledge::AtMost => ("-".to_owned(), format!("at most {}", text(one.high))),
            Knowledge::AtLeast => ("-".to_owned(), format!("at least {}", text(one.low))),
            Knowledge::Undetermined => ("-".to_owned(), "nothing".to_owned()),
        };
        rows.push(vec![
            one.unknown.name.clone(),
            estimate,
            range(one.low, one.high),
            range(one.unknown.low, one.unknown.high),
            known,
        ]);
    }
    table(&rows)
}

/// What to measure for the values that the copies do not tell.
fn advice(parameters: &[Parameter]) -> String {
    let open = parameters
        .iter()
        .filter(|one| one.knowledge == Knowledge::Undetermined);
    let names: Vec<&str> = open.map(|one| one.unknown.name.as_str()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "Not determined: {}. Another block size or direction, or raw TCP (coax speed, SPDTEST), tells more.\n",
        names.join(", ")
    )
}

fn fitted(fitted: &[Fitted]) -> String {
    let mut rows = vec![
        ["copy", "measured s", "fitted s", "ratio"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for one in fitted {
        rows.push(vec![
            one.name.clone(),
            seconds(one.seconds),
            seconds(one.model),
            format!("{:.2}", one.model / one.seconds),
        ]);
    }
    table(&rows)
}

fn predictions(predictions: &[Prediction]) -> String {
    let mut rows = vec![
        ["copy", "seconds", "90 % range", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    for one in predictions {
        let fails = match one.fails {
            part if part > 0.005 => {
                format!("fails with {:.0} % of the likely values", part * 100.0)
            }
            _ => String::new(),
        };
        rows.push(vec![
            one.name.clone(),
            one.seconds.map_or("-".to_owned(), seconds),
            format!("{} to {}", seconds(one.low), seconds(one.high)),
            fails,
        ]);
    }
    table(&rows)
}
