//! Tables that compare published figures with the lab's.
//!
//! A table is a file in `data/tables`. Each cell is a scenario and the published figure to compare with. The kind of the
//! prediction follows from the sources of the scenario's values. The files contain no figures of the model.

mod cell;
mod left_out;
mod spdtest;

use std::collections::BTreeSet;

use anyhow::{Context, Result};
pub use cell::{Cell, LeftOut, TunedValue};
use cell::{done, figure};
use coax_catalog::scenario::Basis;
pub use coax_catalog::tables::{CellSpec, Kind, Table, Unit, names};
use serde::Serialize;

use super::{data, parallel, run::Summary};

/// A table with its results.
#[derive(Clone, Debug, Serialize)]
pub struct Filled {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Introductory text.
    pub about: String,
    /// Why cells without a text of their own miss the published figure.
    pub miss: Option<String>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The rows of the capture excerpt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<super::trace::Row>>,
    /// Published figures that the lab does not model.
    pub not_modelled: Vec<String>,
}

/// A table without results.
///
/// # Errors
/// The name is unknown, or the file is invalid.
pub fn table(name: &str) -> Result<Table> {
    Ok(coax_catalog::tables::table(name)?)
}

/// Runs every cell of these tables on all processors.
///
/// # Errors
/// A table's file is invalid, or a copy fails.
pub fn fill(names: &[&str]) -> Result<Vec<Filled>> {
    let tables: Vec<Table> = names
        .iter()
        .map(|name| table(name))
        .collect::<Result<_>>()?;
    let pairs = names.iter().zip(&tables);
    let work: Vec<(&str, &Table, &CellSpec)> = pairs
        .flat_map(|(name, table)| table.cells.iter().map(move |cell| (*name, table, cell)))
        .collect();
    let threads = parallel::processors();
    let filled = parallel::each(
        &work,
        threads,
        |(name, table, spec)| cell(name, table, spec),
        |_| (),
    );
    let mut cells = filled.into_iter();
    names
        .iter()
        .zip(&tables)
        .map(|(name, table)| {
            let taken: Result<Vec<Cell>> = cells.by_ref().take(table.cells.len()).collect();
            with_cells(name, table, taken?)
        })
        .collect()
}

fn with_cells(name: &str, table: &Table, mut cells: Vec<Cell>) -> Result<Filled> {
    if table.spdtest {
        cells.extend(spdtest::cells(table)?);
    }
    let trace = table.trace.as_ref();
    Ok(Filled {
        name: name.to_owned(),
        title: table.title.clone(),
        about: table.about.trim().to_owned(),
        miss: table.miss.clone(),
        cells,
        trace: trace
            .map(|spec| super::trace::rows(&table.published, spec))
            .transpose()?,
        not_modelled: table.not_modelled.clone(),
    })
}

/// A cell by its full name, `TABLE/ID`.
pub fn find(name: &str) -> Option<(String, Table, CellSpec)> {
    let (table_name, id) = name.split_once('/')?;
    let table = names().find(|known| *known == table_name)?;
    let table = self::table(table).ok()?;
    let cell = table.cells.iter().find(|cell| cell.id == id)?.clone();
    Some((table_name.to_owned(), table, cell))
}

/// The cell that a scenario of the lab is without a change.
pub fn of_scenario(name: &str) -> Option<(String, Table, CellSpec)> {
    let mut tables = names().filter_map(|known| Some((known, table(known).ok()?)));
    tables.find_map(|(known, table)| {
        let is_plain = |cell: &&CellSpec| cell.scenario == name && cell.set.is_empty();
        let cell = table.cells.iter().find(is_plain)?.clone();
        Some((known.to_owned(), table, cell))
    })
}

/// Runs one cell.
///
/// # Errors
/// The copy fails, or the cell is invalid.
pub fn cell(name: &str, table: &Table, spec: &CellSpec) -> Result<Cell> {
    filled(name, table, spec).with_context(|| format!("cell {}", spec.name(name)))
}

fn filled(name: &str, table: &Table, spec: &CellSpec) -> Result<Cell> {
    let scenario = spec.scenario(&table.sources, false)?;
    let summary = done(&scenario)?;
    let (model, waited_for) = model(table, spec, &summary)?;
    let figure = spec.published.as_ref();
    let figure = figure.map(|path| data::published(&table.published, path));
    let figure = figure.transpose()?;
    let labels = Labels::of(name, table, spec)?;
    let mut parameters = summary.parameters;
    for value in &labels.tuned {
        parameters.insert(value.key.clone(), value.value.clone());
    }
    Ok(Cell {
        id: spec.id.clone(),
        scenario: spec.scenario.clone(),
        published: figure,
        unit: spec.unit.name(),
        model,
        ratio: figure.map(|figure| model / figure),
        kind: labels.kind,
        mechanism: spec.mechanism.clone(),
        tuned: labels.tuned,
        shares: labels.shares,
        left_out: left_out::left_out(table, spec, figure)?,
        miss: spec.miss.clone(),
        waited_for: Some(waited_for),
        equal: spec.equal.clone(),
        apart: spec.apart.clone(),
        parameters,
    })
}

/// What follows from the sources of a cell's values, and those of its reference run.
struct Labels {
    kind: Kind,
    tuned: Vec<TunedValue>,
    shares: Vec<String>,
}

impl Labels {
    fn of(name: &str, table: &Table, spec: &CellSpec) -> Result<Self> {
        let cell = spec.name(name);
        let mut evidence = spec.scenario(&table.sources, false)?.evidence()?;
        if spec.unit == Unit::Factor {
            for basis in spec.scenario(&table.sources, true)?.evidence()? {
                if !evidence.contains(&basis) {
                    evidence.push(basis);
                }
            }
        }
        let kinds = evidence.iter().map(|basis| basis.tuned.kind(&cell));
        let others = evidence.iter().flat_map(|basis| basis.tuned.cells());
        let shares: BTreeSet<&str> = others.filter(|other| *other != cell).collect();
        let own = evidence
            .iter()
            .filter(|basis| basis.tuned.kind(&cell) != Kind::Predicted);
        Ok(Self {
            kind: kinds.max().unwrap_or(Kind::Predicted),
            tuned: own.map(tuned_value).collect(),
            shares: shares.into_iter().map(str::to_owned).collect(),
        })
    }
}

fn tuned_value(basis: &Basis) -> TunedValue {
    TunedValue {
        key: basis.path.clone(),
        value: basis.value.clone(),
        source: basis.source.clone(),
    }
}

/// The model's figure, and the largest cause.
fn model(table: &Table, spec: &CellSpec, summary: &Summary) -> Result<(f64, (&'static str, f64))> {
    let mut waited_for = summary.dominant();
    let mut other = None;
    if spec.unit == Unit::Factor {
        let reference = done(&spec.scenario(&table.sources, true)?)?;
        if reference.seconds > summary.seconds {
            waited_for = reference.dominant();
        }
        other = Some(reference);
    }
    Ok((figure(spec.unit, summary, other.as_ref()), waited_for))
}
