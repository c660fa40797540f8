//! Tables for a terminal and for docs/evidence/predictions.md.

use std::{collections::BTreeMap, fmt::Write as _};

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

/// The rows of a table, without mechanisms: published and simulated figures, labels, and what the lab gives without the cell.
pub fn rows(table: &Filled) -> String {
    let mut out = format!(
        "   {:38} {:>10} {:>10} {:7} {:>6}  {:9} {:>10}\n",
        "", "published", "model", "", "ratio", "", "without it"
    );
    for cell in &table.cells {
        let _ = writeln!(
            out,
            "   {:38} {:>10} {:>10} {:7} {:>6}  {:9} {:>10}",
            cell.id,
            cell.published.map_or_else(|| "-".into(), figure),
            figure(cell.model),
            cell.unit,
            cell.ratio
                .map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}")),
            cell.kind.name(),
            cell.left_out
                .as_ref()
                .map_or_else(|| "-".into(), |left_out| figure(left_out.model)),
        );
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

/// One cell in one line.
pub fn line(name: &str, cell: &Cell) -> String {
    let published = match (cell.published, cell.ratio) {
        (Some(published), Some(ratio)) => {
            format!("; published {} (ratio {ratio:.2})", figure(published))
        }
        _ => String::new(),
    };
    let mut out = format!(
        "\nCell {name}: {} {}{published}, {}\n",
        figure(cell.model),
        cell.unit,
        cell.kind.name()
    );
    if let Some(left_out) = &cell.left_out {
        let _ = writeln!(
            out,
            "Without this figure: {} {}; {}",
            figure(left_out.model),
            cell.unit,
            left_out.about
        );
    }
    out
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
            "| cell | published | model | | ratio | | without it | mechanism |\n|---|--:|--:|---|--:|---|--:|---|"
        );
        for cell in &table.cells {
            cell_row(&mut out, cell);
        }
        long_mechanisms(&mut out, &table.cells);
        if let Some(rows) = &table.trace {
            trace(&mut out, rows);
        }
        for cell in &table.cells {
            notes(&mut out, table, cell);
        }
        misses(&mut out, table);
        if !table.not_modelled.is_empty() {
            let _ = writeln!(out, "\nNot modelled: {}.", table.not_modelled.join("; "));
        }
    }
    let count = |kind| {
        let cells = tables.iter().flat_map(|table| &table.cells);
        let published = cells.filter(|cell| cell.published.is_some());
        published.filter(|cell| cell.kind == kind).count()
    };
    let _ = writeln!(
        out,
        "\n## How much of this is a prediction\n\nOf the cells with a published figure, {} are predicted, {} chosen, {} fitted.",
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

- **predicted**: every value has another source.
- **chosen**: this figure suggested an integer or a structural choice.
- **fitted**: a value was tuned to this figure, or selected because of it. A fitted cell shows that the mechanism can explain the
  figure, not that it does.

A value's source names the cells because of which the value was set. A cell's label follows from the sources of its values.
\"Without it\" is the figure that the lab gives if the cell is left out: its values then come from elsewhere, or are fitted to another
cell.

Each cell is a scenario: `coax lab run TABLE/CELL` runs it, and `--explain` prints every value with its source. The tables are in
`data/tables`, the scenarios in `data/scenarios`.
";

fn cell_row(out: &mut String, cell: &Cell) {
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        cell.id,
        cell.published.map_or_else(|| "–".into(), figure),
        figure(cell.model),
        cell.unit,
        cell.ratio
            .map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}")),
        cell.kind.name(),
        cell.left_out
            .as_ref()
            .map_or_else(|| "–".into(), |left_out| figure(left_out.model)),
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

fn notes(out: &mut String, table: &Filled, cell: &Cell) {
    // the text before the table describes rows that were fitted together
    if cell.waited_for.is_none() || (cell.tuned.is_empty() && cell.equal.is_none()) {
        return;
    }
    let _ = writeln!(out, "\n**{}**, {}:\n", cell.id, cell.kind.name());
    for value in &cell.tuned {
        let _ = writeln!(out, "- `{}` = {}: {}", value.key, value.value, value.source);
    }
    if let Some(left_out) = &cell.left_out {
        let ratio = left_out.ratio.map(|ratio| format!(" ({ratio:.2})"));
        let _ = writeln!(
            out,
            "- Without it: {} {}{}; {}",
            figure(left_out.model),
            cell.unit,
            ratio.unwrap_or_default(),
            left_out.about
        );
    }
    if let Some(shares) = shares(table, cell) {
        let _ = writeln!(out, "- Other values were tuned to {shares}");
    }
    if let Some(equal) = &cell.equal {
        let _ = writeln!(out, "- Equally good: {equal}");
    }
    if let Some(apart) = &cell.apart {
        let _ = writeln!(out, "- Distinguished by: {apart}");
    }
}

/// The other cells to which a cell's values were tuned; those of the same table without its name.
fn shares(table: &Filled, cell: &Cell) -> Option<String> {
    let own = format!("{}/", table.name);
    let names = cell.shares.iter();
    let names: Vec<&str> = names
        .map(|name| name.strip_prefix(&own).unwrap_or(name))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The paragraphs about misses, and what predicted cells share with others.
fn misses(out: &mut String, table: &Filled) {
    let missed: Vec<&Cell> = table.cells.iter().filter(|cell| cell.misses()).collect();
    if !missed.is_empty() {
        let _ = writeln!(out, "\nMisses of more than 15 %:\n");
    }
    if let Some(miss) = table.miss.as_ref().filter(|_| !missed.is_empty()) {
        let _ = writeln!(out, "{miss}\n");
    }
    for cell in missed.iter().filter(|cell| cell.miss.is_some()) {
        let ratio = cell.ratio.unwrap_or_default();
        let text = cell.miss.as_deref().unwrap_or_default();
        let _ = writeln!(out, "- **{}** ({ratio:.2}): {text}", cell.id);
    }
    let predicted = table
        .cells
        .iter()
        .filter(|cell| cell.kind == Kind::Predicted && cell.tuned.is_empty());
    let mut shared: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for cell in predicted {
        if let Some(others) = shares(table, cell) {
            shared.entry(others).or_default().push(&cell.id);
        }
    }
    if !shared.is_empty() {
        let _ = writeln!(
            out,
            "\nPredicted cells with values that were tuned to other cells:\n"
        );
    }
    for (others, cells) in &shared {
        let _ = writeln!(out, "- {}: tuned to {others}", cells.join(", "));
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
