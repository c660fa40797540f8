//! Tables of published figures beside what the lab makes of them.
//!
//! A table is a file of `data/tables`: each cell names a scenario, what it changes in it, the published figure it stands
//! beside, and how much of it is a prediction. Nothing of the model's figures is in the files.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use coax_lab::{scenario::Scenario, smb::CopySetup, spdtest::Way};
use serde::{Deserialize, Serialize};

use super::{
    data, parallel,
    run::{Summary, run},
};

/// How much of a cell is a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Nothing in it was chosen for this figure.
    Predicted,
    /// A whole number or a structure was chosen so that the figure is met.
    Chosen,
    /// A quantity was tuned to this very figure.
    Fitted,
}

impl Kind {
    /// As in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::Chosen => "chosen",
            Self::Fitted => "fitted",
        }
    }
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Seconds that the copy takes.
    #[serde(rename = "s")]
    Seconds,
    /// 10^6 bits of the file a second.
    #[serde(rename = "Mbit/s")]
    Megabits,
    /// 10^3 bytes of the file a second.
    #[serde(rename = "kB/s")]
    Kilobytes,
    /// The rate of the copy over that of the one it is set against.
    #[serde(rename = "factor")]
    Factor,
}

impl Unit {
    /// As in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Megabits => "Mbit/s",
            Self::Kilobytes => "kB/s",
            Self::Factor => "factor",
        }
    }
}

/// A table as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// What it is of.
    pub title: String,
    /// Its figures' file in `data/published`.
    pub published: String,
    /// What is worth knowing before one reads it.
    #[serde(default)]
    pub about: String,
    /// What was published beside these figures and is not modelled.
    #[serde(default)]
    pub not_modelled: Vec<String>,
    /// The cells.
    #[serde(rename = "cell", default)]
    pub cells: Vec<CellSpec>,
    /// Its cells are not copies but the rows of SpdTest.
    #[serde(default)]
    pub spdtest: bool,
    /// A published excerpt of a capture to stand beside the lab's own.
    #[serde(default)]
    pub trace: Option<super::trace::TraceSpec>,
}

/// A cell as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// Its name.
    pub id: String,
    /// Where the figure stands in the published file; none: a prediction that nobody has measured.
    #[serde(default)]
    pub published: Option<String>,
    /// What the figure counts.
    pub unit: Unit,
    /// The scenario.
    pub scenario: String,
    /// What is changed in it.
    #[serde(default)]
    pub set: toml::Table,
    /// What is changed in it, and in the cell's own changes, for the run that a factor is against.
    #[serde(default)]
    pub against: toml::Table,
    /// How much of it is a prediction.
    pub kind: Kind,
    /// The parameters that were chosen or fitted for it.
    #[serde(default)]
    pub tuned: Vec<String>,
    /// What makes the figure what it is, in a line.
    pub mechanism: String,
    /// Other explanations that fit as well.
    #[serde(default)]
    pub equal: Option<String>,
    /// What would tell them apart.
    #[serde(default)]
    pub apart: Option<String>,
}

/// A cell with its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Its name.
    pub id: String,
    /// The published figure.
    pub published: Option<f64>,
    /// What it counts.
    pub unit: &'static str,
    /// The lab's figure.
    pub model: f64,
    /// The lab's over the published one.
    pub ratio: Option<f64>,
    /// How much of it is a prediction.
    pub kind: Kind,
    /// What makes it what it is.
    pub mechanism: String,
    /// The parameters that were chosen or fitted for it.
    pub tuned: Vec<String>,
    /// What took most of the time, and its share; of a factor, in the slower of its two runs.
    pub waited_for: Option<(&'static str, f64)>,
    /// Other explanations that fit as well.
    pub equal: Option<String>,
    /// What would tell them apart.
    pub apart: Option<String>,
    /// What the run was put together from.
    pub parameters: BTreeMap<String, String>,
}

/// A table with its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Filled {
    /// Its name.
    pub name: String,
    /// What it is of.
    pub title: String,
    /// What is worth knowing before one reads it.
    pub about: String,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The excerpt of a capture, row by row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<super::trace::Row>>,
    /// What is not modelled of what was published.
    pub not_modelled: Vec<String>,
}

/// A table by its name, without figures.
///
/// # Errors
/// There is none of that name, or its file is wrong.
pub fn table(name: &str) -> Result<Table> {
    let text = data::find(data::TABLES, "table", name)?;
    toml::from_str(text).with_context(|| format!("data/tables/{name}.toml"))
}

/// Names of the tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    data::TABLES.iter().map(|(name, _)| *name)
}

/// Runs every cell of these tables, on all processors.
///
/// # Errors
/// A table's file is wrong, or a copy in it fails.
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
/// There is no such scenario, or a change is not possible.
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

/// The lab's figure, and what took most of the time.
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

/// SpdTest's rows, which the lab itself compares.
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
