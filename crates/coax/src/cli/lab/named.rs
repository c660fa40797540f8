//! A scenario by its name or file, and the cell of a table whose figure it gives.

use std::fs;

use anyhow::{Context as _, Result, bail};
use coax_lab::scenario::Scenario;
use coax_report::lab::{
    data,
    tables::{self, CellSpec, Table},
};

/// A scenario, and the cell that it is.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) scenario: Scenario,
    /// Name of the table, table and cell.
    pub(super) cell: Option<(String, Table, CellSpec)>,
}

/// A scenario of the lab, a cell of a table (`TABLE/ID`), or a file.
pub(super) fn named(name: &str) -> Result<Named> {
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
        bail!("{row}: the rows of SpdTest are raw TCP and no copies; run: coax lab tables spdtest");
    }
    let text = fs::read_to_string(name).with_context(|| {
        let known: Vec<&str> = data::SCENARIOS.iter().map(|(name, _)| *name).collect();
        format!(
            "{name} cannot be read, and no scenario of the lab has this name; there are {}, and the cells that coax lab tables lists",
            known.join(", ")
        )
    })?;
    Ok(Named {
        scenario: Scenario::parse(name, &text)?,
        cell: None,
    })
}
