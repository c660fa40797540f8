//! Tables for a terminal and for docs/evidence/predictions.md.

use std::fmt::Write as _;

use super::{
    tables::{Cell, Filled, Kind},
    trace::Row,
};

/// The tables as text for a terminal.
pub fn text(tables: &[Filled]) -> String {
    let mut out = String::new();
    for table in tables {
        let _ = writeln!(out, "{}: {}\n", table.name, table.title);
        let _ = writeln!(
            out,
            "  {:38} {:>10} {:>10} {:7} {:>6}  {:9}  waits for",
            "", "published", "model", "", "ratio", ""
        );
        for cell in &table.cells {
            cell_lines(&mut out, cell);
        }
        if let Some(rows) = &table.trace {
            let _ = writeln!(out, "\n  The published trace, packet by packet");
            for row in rows {
                let _ = writeln!(
                    out,
                    "  {:>9.6} {:58} {:>9.6} {}",
                    row.published_s, row.published, row.model_s, row.model
                );
            }
        }
        for missing in &table.not_modelled {
            let _ = writeln!(out, "  not modelled: {missing}");
        }
        let _ = writeln!(out);
    }
    out
}

fn cell_lines(out: &mut String, cell: &Cell) {
    let _ = writeln!(
        out,
        "  {:38} {:>10} {:>10} {:7} {:>6}  {:9}  {}",
        cell.id,
        cell.published.map_or_else(|| "-".into(), figure),
        figure(cell.model),
        cell.unit,
        cell.ratio
            .map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}")),
        cell.kind.name(),
        waited_for(cell),
    );
    let _ = writeln!(out, "  {:38} {}", "", cell.mechanism);
}

/// The contents of docs/evidence/predictions.md.
pub fn markdown(tables: &[Filled]) -> String {
    let mut out = String::from(HEAD);
    for table in tables {
        let _ = writeln!(out, "\n## {}: {}\n", table.name, table.title);
        if !table.about.is_empty() {
            let _ = writeln!(out, "{}\n", table.about);
        }
        let _ = writeln!(
            out,
            "| cell | published | model | | ratio | | mechanism |\n|---|--:|--:|---|--:|---|---|"
        );
        for cell in &table.cells {
            cell_row(&mut out, cell);
        }
        long_mechanisms(&mut out, &table.cells);
        if let Some(rows) = &table.trace {
            trace(&mut out, rows);
        }
        for cell in &table.cells {
            notes(&mut out, cell);
        }
        if !table.not_modelled.is_empty() {
            let _ = writeln!(out, "\nNot modelled: {}.", table.not_modelled.join("; "));
        }
    }
    let count = |kind| {
        let cells = tables.iter().flat_map(|table| &table.cells);
        cells.filter(|cell| cell.kind == kind).count()
    };
    let _ = writeln!(
        out,
        "\n## How much of this is a prediction\n\n{} cells are predicted, {} chosen, {} fitted.",
        count(Kind::Predicted),
        count(Kind::Chosen),
        count(Kind::Fitted)
    );
    out
}

/// Maximum number of characters in a table cell of the page.
const CELL_WIDTH_MAX: usize = 100;

const HEAD: &str = "# Published copies beside simulated ones

`coax lab tables --markdown` writes this page, and a test compares it. Do not edit it.

Each figure is the time or rate of a simulated copy: the real client and server engines run over simulated TCP stacks, cards
and links in virtual time.

- **predicted**: no value was chosen for this figure.
- **chosen**: an integer or a structure was chosen to match this figure.
- **fitted**: a quantity was tuned to this figure. A fitted cell shows that the mechanism can explain the figure, not that it does.

`coax lab tables --json` prints every parameter of every cell. The tables are in `data/tables`, the scenarios in `data/scenarios`.
";

fn cell_row(out: &mut String, cell: &Cell) {
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} |",
        cell.id,
        cell.published.map_or_else(|| "–".into(), figure),
        figure(cell.model),
        cell.unit,
        cell.ratio
            .map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}")),
        cell.kind.name(),
        if is_long(&cell.mechanism) {
            "see below"
        } else {
            &cell.mechanism
        },
    );
}

fn is_long(text: &str) -> bool {
    text.chars().count() > CELL_WIDTH_MAX
}

/// Lists the mechanisms that are too long for the table.
fn long_mechanisms(out: &mut String, cells: &[Cell]) {
    let mut before = "\n";
    for cell in cells.iter().filter(|cell| is_long(&cell.mechanism)) {
        let _ = writeln!(out, "{before}- **{}**: {}.", cell.id, cell.mechanism);
        before = "";
    }
}

fn trace(out: &mut String, rows: &[Row]) {
    let _ = writeln!(
        out,
        "\nThe published trace, packet by packet (seconds from its first; the published clock ticks 64 times a second):\n"
    );
    let _ = writeln!(out, "| published | | model | |\n|--:|---|--:|---|");
    for row in rows {
        let _ = writeln!(
            out,
            "| {:.6} | {} | {:.6} | {} |",
            row.published_s, row.published, row.model_s, row.model
        );
    }
}

fn notes(out: &mut String, cell: &Cell) {
    // the text before the table describes rows that were fitted together
    if cell.parameters.is_empty() || (cell.tuned.is_empty() && cell.equal.is_none()) {
        return;
    }
    let _ = write!(out, "\n**{}**, {}", cell.id, cell.kind.name());
    if !cell.tuned.is_empty() {
        let values = cell.tuned.iter().map(|key| match cell.parameters.get(key) {
            Some(value) => format!("`{key}` = {value}"),
            None => key.clone(),
        });
        let _ = write!(out, ": {}", values.collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(out, ".");
    if let Some(equal) = &cell.equal {
        let _ = writeln!(out, "Equally good: {equal}");
    }
    if let Some(apart) = &cell.apart {
        let _ = writeln!(out, "Distinguished by: {apart}");
    }
}

fn waited_for(cell: &Cell) -> String {
    cell.waited_for.map_or_else(String::new, |(cause, share)| {
        format!("{cause} {:.0} %", share * 100.0)
    })
}

/// A number with three or four significant digits.
fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
