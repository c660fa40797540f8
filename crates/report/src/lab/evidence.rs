//! Every value of a scenario with its source, as text and as JSON.

use std::fmt::Write as _;

use anyhow::Result;
use coax_catalog::{scenario::Basis, tables::Kind};
use coax_lab::scenario::Scenario;
use serde_json::{Value, json};

/// Characters of a line.
const WIDTH: usize = 110;
/// Indentation of sources.
const INDENT: usize = 8;

/// The values as text. `cell` is the cell whose figure the scenario gives.
///
/// # Errors
/// A component's name is unknown.
pub fn text(scenario: &Scenario, cell: Option<&str>) -> Result<String> {
    let mut out = String::from("\nValues and their sources\n");
    for basis in scenario.evidence()? {
        let _ = write!(out, "    {} = {}", basis.path, basis.value);
        if let Some(before) = &basis.instead_of {
            let before = match before.is_empty() {
                true => "the default",
                false => before.as_str(),
            };
            let _ = write!(out, "  (instead of {before})");
        }
        let _ = writeln!(out, "{}", label(&basis, cell));
        wrap(&mut out, &source(&basis));
    }
    out.push_str("    Values that are not listed are the defaults of the model.\n");
    Ok(out)
}

/// The values as a list.
///
/// # Errors
/// As for [`text`].
pub fn list(scenario: &Scenario, cell: Option<&str>) -> Result<Value> {
    let evidence = scenario.evidence()?;
    let values = evidence.iter().map(|basis| {
        json!({
            "key": basis.path,
            "value": basis.value,
            "source": basis.source,
            "assumed": basis.assumed,
            "label": cell.map(|cell| basis.tuned.kind(cell).name()),
            "fitted": basis.tuned.fitted,
            "chosen": basis.tuned.chosen,
            "instead_of": basis.instead_of,
        })
    });
    Ok(values.collect())
}

fn label(basis: &Basis, cell: Option<&str>) -> String {
    match cell.map(|cell| basis.tuned.kind(cell)) {
        Some(kind @ (Kind::Fitted | Kind::Chosen)) => format!("  [{}]", kind.name()),
        _ => String::new(),
    }
}

fn source(basis: &Basis) -> String {
    let mut text = match (basis.source.is_empty(), &basis.instead_of) {
        (true, Some(_)) => "set for this run".to_owned(),
        (true, None) => "choice of the scenario".to_owned(),
        (false, _) if basis.assumed => format!("assumed: {}", basis.source),
        (false, _) => basis.source.clone(),
    };
    for (what, cells) in [
        ("fitted to", &basis.tuned.fitted),
        ("chosen for", &basis.tuned.chosen),
    ] {
        if !cells.is_empty() {
            let _ = write!(text, "; {what} {}", cells.join(", "));
        }
    }
    text
}

fn wrap(out: &mut String, text: &str) {
    let mut line = " ".repeat(INDENT);
    for word in text.split_whitespace() {
        let is_first = line.trim().is_empty();
        if !is_first && line.chars().count() + word.chars().count() >= WIDTH {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(INDENT);
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}
