//! Tables that compare published figures with the lab's.
//!
//! A table is a file in `data/tables`. Each cell names a scenario, changes to it, the published figure to compare with,
//! and the kind of the prediction. The files contain no figures of the model.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
pub use coax_catalog::tables::{CellSpec, Kind, Table, Unit, names};
use coax_lab::{scenario::Scenario, smb::CopySetup, spdtest::Way};
use serde::Serialize;

use super::{
    data, parallel,
    run::{Summary, run},
};

/// A cell with its results.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Its name.
    pub id: String,
    /// The published figure.
    pub published: Option<f64>,
    /// The unit.
    pub unit: &'static str,
    /// The model's figure.
    pub model: f64,
    /// Model divided by published.
    pub ratio: Option<f64>,
    /// The kind of the prediction.
    pub kind: Kind,
    /// The mechanism behind the figure.
    pub mechanism: String,
    /// The parameters that were chosen or fitted for it.
    pub tuned: Vec<String>,
    /// The largest cause and its share; for a factor, in the slower of the two runs.
    pub waited_for: Option<(&'static str, f64)>,
    /// Other explanations that fit equally well.
    pub equal: Option<String>,
    /// What would distinguish them.
    pub apart: Option<String>,
    /// The scenario's parameters.
    pub parameters: BTreeMap<String, String>,
}

/// A table with its results.
#[derive(Clone, Debug, Serialize)]
pub struct Filled {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Introductory text.
    pub about: String,
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
    let work: Vec<(&str, &CellSpec)> = tables
        .iter()
        .flat_map(|table| {
            table
                .cells
                .iter()
                .map(|cell| (table.published.as_str(), cell))
        })
        .collect();
    let threads = parallel::processors();
    let filled = parallel::each(
        &work,
        threads,
        |(published, spec)| cell(published, spec),
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
        cells.extend(spdtest_cells()?);
    }
    let trace = table.trace.as_ref();
    Ok(Filled {
        name: name.to_owned(),
        title: table.title.clone(),
        about: table.about.trim().to_owned(),
        cells,
        trace: trace
            .map(|spec| super::trace::rows(&table.published, spec))
            .transpose()?,
        not_modelled: table.not_modelled.clone(),
    })
}

/// The scenario of a cell with these changes.
///
/// # Errors
/// The scenario does not exist, or a change is not allowed.
pub fn scenario(spec: &CellSpec, changes: &[&toml::Table]) -> Result<Scenario> {
    let mut scenario = data::scenario(&spec.scenario)?;
    for table in changes {
        for (path, value) in *table {
            scenario.set(path, value.clone())?;
        }
    }
    CopySetup::of(&scenario)?;
    Ok(scenario)
}

fn cell(published: &str, spec: &CellSpec) -> Result<Cell> {
    let context = || format!("cell {}", spec.id);
    let summary = done(spec, &[&spec.set]).with_context(context)?;
    let (model, waited_for) = model(spec, &summary).with_context(context)?;
    let mut parameters = summary.parameters;
    let scenario = scenario(spec, &[&spec.set])?;
    for key in &spec.tuned {
        if let Some(value) = scenario.parameter(key) {
            parameters.insert(key.clone(), value);
        }
    }
    let figure = spec.published.as_ref();
    let figure = figure.map(|path| data::published(published, path));
    let figure = figure.transpose().with_context(context)?;
    Ok(Cell {
        id: spec.id.clone(),
        published: figure,
        unit: spec.unit.name(),
        model,
        ratio: figure.map(|figure| model / figure),
        kind: spec.kind,
        mechanism: spec.mechanism.clone(),
        tuned: spec.tuned.clone(),
        waited_for: Some(waited_for),
        equal: spec.equal.clone(),
        apart: spec.apart.clone(),
        parameters,
    })
}

/// The model's figure, and the largest cause.
fn model(spec: &CellSpec, summary: &Summary) -> Result<(f64, (&'static str, f64))> {
    let mut waited_for = summary.dominant();
    let figure = match spec.unit {
        Unit::Seconds => summary.seconds,
        Unit::Megabits => summary.rate() * 8e-6,
        Unit::Kilobytes => summary.rate() / 1e3,
        Unit::Factor => {
            let other = done(spec, &[&spec.set, &spec.against])?;
            if other.seconds > summary.seconds {
                waited_for = other.dominant();
            }
            summary.rate() / other.rate()
        }
    };
    Ok((figure, waited_for))
}

/// The rows of SpdTest, which the lab compares itself.
fn spdtest_cells() -> Result<Vec<Cell>> {
    let rows = coax_lab::spdtest::table()?;
    let cells = rows.into_iter().map(|row| {
        let (kind, tuned) = if row.fitted {
            let tuned = "what processor, card and port cost, over all fitted rows at once";
            (Kind::Fitted, vec![tuned.to_owned()])
        } else {
            (Kind::Predicted, Vec::new())
        };
        let way = match row.way {
            Way::Send => "send",
            Way::Receive => "receive",
        };
        Cell {
            id: format!("{}/{way}", row.name),
            published: Some(row.published),
            unit: "KB/s",
            model: row.model,
            ratio: Some(row.model / row.published),
            kind,
            mechanism: "passes of the processor over a packet, and the bus's time for a byte"
                .to_owned(),
            tuned,
            waited_for: None,
            equal: None,
            apart: None,
            parameters: BTreeMap::new(),
        }
    });
    Ok(cells.collect())
}

fn done(spec: &CellSpec, changes: &[&toml::Table]) -> Result<Summary> {
    let summary = run(&scenario(spec, changes)?)?;
    match &summary.failed {
        Some(failed) => bail!("the copy fails: {failed}"),
        None => Ok(summary),
    }
}
