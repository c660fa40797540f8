//! A scenario by its name or file, and the cell of a table whose figure it gives.

use std::{fs, io::Read as _, path::Path};

use anyhow::{Context as _, Result, bail};
use coax_lab::scenario::Scenario;
use serde_json::Value;

use super::{
    data,
    run::Summary,
    tables::{self, CellSpec, Table},
};
use crate::nearest;

/// A scenario, and the cell that it is.
#[derive(Debug)]
pub struct Named {
    /// The scenario.
    pub scenario: Scenario,
    /// Name of the table, table and cell.
    pub cell: Option<(String, Table, CellSpec)>,
}

/// A scenario of the lab, a cell of a table (`TABLE/ID`), or a file.
///
/// # Errors
/// There is none of this name, the file cannot be read, or it is wrong.
pub fn named(name: &str) -> Result<Named> {
    if data::SCENARIOS.iter().any(|(known, _)| *known == name) {
        return Ok(Named {
            scenario: data::scenario(name)?,
            cell: tables::of_scenario(name),
        });
    }
    if let Some((table_name, table, cell)) = tables::find(name) {
        return Ok(Named {
            scenario: cell.scenario(&table.sources, false)?,
            cell: Some((table_name, table, cell)),
        });
    }
    if let Some(row) = name.strip_prefix("spdtest/") {
        bail!("'spdtest/{row}' is a row of raw TCP and no copy: run 'coax lab tables spdtest'");
    }
    let is_path = name.contains('/') || name.ends_with(".toml") || Path::new(name).exists();
    if !is_path || is_cell(name) {
        bail!(no_scenario(name));
    }
    let text = text_of(name).with_context(|| format!("cannot read {name}"))?;
    Ok(Named {
        scenario: Scenario::parse(name, &text)?,
        cell: None,
    })
}

/// The text of a file that is no longer than a scenario may be.
fn text_of(name: &str) -> Result<String> {
    /// Chosen: a hundred times the longest of the lab's own.
    const MOST: u64 = 1 << 20;
    let mut text = String::new();
    let file = fs::File::open(name)?;
    file.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        bail!("it is longer than {MOST} bytes, and no scenario is");
    }
    Ok(text)
}

/// The summary of a run as an object; with the cell whose figure it gives.
///
/// # Errors
/// The cell's published figure does not exist.
pub fn object(summary: &Summary, cell: Option<&(String, Table, CellSpec)>) -> Result<Value> {
    let mut object = serde_json::to_value(summary)?;
    if let (Some((table, file, spec)), Some(object)) = (cell, object.as_object_mut()) {
        let filled = tables::cell(table, file, spec)?;
        object.insert("cell".to_owned(), serde_json::to_value(filled)?);
    }
    Ok(object)
}

/// The name begins with a table's name, and no file has it.
fn is_cell(name: &str) -> bool {
    let table = name.split('/').next().unwrap_or_default();
    !Path::new(name).exists() && tables::names().any(|known| known == table)
}

fn no_scenario(name: &str) -> String {
    let mut known: Vec<&str> = data::SCENARIOS.iter().map(|(name, _)| *name).collect();
    if let Some((table, _)) = name.split_once('/') {
        return format!(
            "there is no cell '{name}'; write one of those that 'coax lab tables {table}' lists"
        );
    }
    known.sort_unstable();
    let choices = nearest::choices(name, &known);
    format!(
        "there is no scenario '{name}', and no such file; {choices}, and the cells that 'coax lab tables' lists"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = format!("{:#}", named("/dev/zero").unwrap_err());
        assert!(error.contains("longer than 1048576 bytes"), "{error}");
    }
}
