//! The lab: one simulated copy, sweeps, published tables.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context as _;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use coax_lab::Tap;
use coax_report::lab::{
    data, keys,
    named::{named, object},
    parallel, plots, report, run as runs,
    sweep::{
        self as sweeps, Sweep, output,
        plan::Plan,
        table::{Cell, Column, Kind, table},
    },
    tables as published,
};
use pyo3::{exceptions::PyValueError, prelude::*};
use serde_json::Value;

use crate::{
    arrow::{Batches, field},
    errors::{ScenarioError, of_lab},
    work::{Stop, attended},
};

/// The result of one simulated copy.
#[pyclass(frozen, module = "coax._coax", get_all)]
#[derive(Debug)]
pub(crate) struct Run {
    /// What `coax lab run --json` prints.
    json: String,
    /// What `coax lab run` prints, without the comparison with a published figure.
    text: String,
}

/// Simulates one copy.
#[pyfunction]
#[pyo3(signature = (scenario, changes, seed=None, pcap=None, tap="client"))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: String,
    changes: Vec<String>,
    seed: Option<i64>,
    pcap: Option<PathBuf>,
    tap: &str,
) -> PyResult<Run> {
    let tap = match tap {
        "client" => Tap::Client,
        "server" => Tap::Server,
        "wire" => Tap::Wire,
        _ => {
            let text = format!("tap is client, server or wire, and not '{tap}'");
            return Err(PyValueError::new_err(text));
        }
    };
    let work = move |_: &Stop| simulated(&scenario, &changes, seed, pcap.map(|path| (path, tap)));
    attended(py, work)?.map_err(|error| of_lab(&error))
}

fn simulated(
    name: &str,
    changes: &[String],
    seed: Option<i64>,
    capture: Option<(PathBuf, Tap)>,
) -> anyhow::Result<Run> {
    let known = named(name)?;
    let (mut scenario, cell) = (known.scenario, known.cell);
    let cell = cell.filter(|_| changes.is_empty() && seed.is_none());
    for change in changes {
        keys::set_text(&mut scenario, change)?;
    }
    if let Some(seed) = seed {
        scenario.set("seed", toml::Value::Integer(seed))?;
    }
    let summary = match capture {
        Some((path, tap)) => {
            let (summary, capture, truth) = runs::run_captured(&scenario, tap)?;
            runs::write_capture(&path, &capture, &truth)?;
            summary
        }
        None => runs::run(&scenario)?,
    };
    let json = serde_json::to_string_pretty(&object(&summary, cell.as_ref())?)? + "\n";
    let text = report::text(&summary);
    Ok(Run { json, text })
}

/// The result of a sweep.
#[pyclass(frozen, module = "coax._coax")]
#[derive(Debug)]
pub(crate) struct Swept(sweeps::Swept);

#[pymethods]
impl Swept {
    /// What `coax lab sweep --json` prints.
    fn json(&self) -> PyResult<String> {
        let object = serde_json::to_string_pretty(&output::object(&self.0));
        object
            .map(|text| text + "\n")
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// What `coax lab sweep --csv` writes.
    fn csv(&self) -> String {
        output::csv(&self.0)
    }

    /// What `coax lab sweep` prints.
    fn text(&self) -> String {
        output::text(&self.0)
    }

    /// What `coax lab sweep --svg` writes.
    fn svg(&self) -> String {
        plots::sweep(&self.0)
    }

    /// What is varied and how, as JSON: `keys`, `sample`, `replicates`, `first_point`, `points`, `all_points`.
    fn about(&self) -> String {
        let swept = &self.0;
        let keys = swept.axes.len() - usize::from(swept.replicates > 1);
        let keys: Vec<&str> = swept
            .axes
            .iter()
            .take(keys)
            .map(|axis| axis.key.as_str())
            .collect();
        serde_json::json!({
            "scenario": swept.scenario,
            "keys": keys,
            "sample": swept.sample.map(|sample| sample.name()),
            "replicates": swept.replicates,
            "first_point": swept.first,
            "points": swept.points(),
            "all_points": swept.all,
        })
        .to_string()
    }

    /// The runs as an Arrow stream.
    fn table(&self) -> Batches {
        let columns = table(&self.0);
        let schema = Arc::new(Schema::new(
            columns.iter().map(of_column).collect::<Vec<_>>(),
        ));
        let arrays = columns.iter().map(array).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays);
        Batches::ready(schema, batch)
    }
}

/// The arguments of a sweep.
#[derive(FromPyObject)]
pub(crate) struct Arguments {
    set: Vec<String>,
    grid: Vec<String>,
    ranges: Vec<String>,
    sample: Option<String>,
    seed: Option<u64>,
    replicates: usize,
    part: Option<(u32, u32)>,
}

/// Simulates a copy for many values.
#[pyfunction]
#[pyo3(signature = (scenario, arguments, threads=None))]
pub(crate) fn sweep(
    py: Python<'_>,
    scenario: String,
    arguments: Arguments,
    threads: Option<usize>,
) -> PyResult<Swept> {
    let threads = threads.unwrap_or_else(parallel::processors);
    let work = move |stop: &Stop| -> anyhow::Result<_> {
        let sweep = planned(&scenario, arguments)?;
        let swept = sweep.run_while(threads, |_| stop.goes_on());
        swept.context("the sweep was stopped")
    };
    let swept = attended(py, work)?.map_err(|error| of_lab(&error))?;
    Ok(Swept(swept))
}

fn planned(scenario: &str, arguments: Arguments) -> anyhow::Result<Sweep> {
    if let Some((index, count)) = arguments.part {
        let is_part = (1..=count).contains(&index);
        anyhow::ensure!(
            is_part,
            "{index}/{count} is not a part: write (I, N) with I from 1 to N"
        );
    }
    let sample = arguments.sample.as_deref().map(str::parse);
    let plan = Plan {
        set: arguments.set,
        grid: arguments.grid,
        ranges: arguments.ranges,
        sample: sample.transpose().map_err(anyhow::Error::msg)?,
        seed: arguments.seed,
        replicates: arguments.replicates,
        part: arguments.part,
    };
    Sweep::planned(named(scenario)?.scenario, plan)
}

fn of_column(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Text => DataType::Utf8,
        Kind::Whole => DataType::Int64,
        Kind::Number => DataType::Float64,
    };
    field(&column.name, &kind, column.unit, &column.about)
}

fn array(column: &Column) -> ArrayRef {
    let cells = column.cells.iter();
    match column.kind {
        Kind::Text => Arc::new(StringArray::from_iter(cells.map(|cell| match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        }))),
        Kind::Whole => Arc::new(Int64Array::from_iter(cells.map(|cell| match cell {
            Cell::Whole(number) => i64::try_from(*number).ok(),
            _ => None,
        }))),
        Kind::Number => Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
            Cell::Number(number) => Some(*number),
            _ => None,
        }))),
    }
}

/// The names of the scenarios that come with the lab.
#[pyfunction]
pub(crate) fn scenarios() -> Vec<&'static str> {
    data::SCENARIOS.iter().map(|(name, _)| *name).collect()
}

/// The names of the tables of published figures.
#[pyfunction]
pub(crate) fn table_names() -> Vec<&'static str> {
    published::names().collect()
}

/// The object of `coax lab tables --json`.
#[pyfunction]
pub(crate) fn tables(py: Python<'_>, names: Vec<String>) -> PyResult<String> {
    let fill = move |_: &Stop| -> anyhow::Result<Value> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let filled = published::fill(&names)?;
        Ok(serde_json::json!({ "tables": filled }))
    };
    let object = attended(py, fill)?.map_err(|error| of_lab(&error))?;
    serde_json::to_string_pretty(&object)
        .map(|text| text + "\n")
        .map_err(|error| ScenarioError::new_err(error.to_string()))
}
