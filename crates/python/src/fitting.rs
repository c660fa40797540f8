//! Unknown values of a scenario, from measured copies.

use std::path::PathBuf;

use anyhow::Context as _;
use coax_fit::Options;
use coax_lab::scenario::parse_size;
use coax_report::lab::fit::{Fit as Found, Given};
use pyo3::prelude::*;

use crate::{
    errors::of_lab,
    work::{Stop, attended},
};

/// An estimate.
#[pyclass(frozen, module = "coax._coax", get_all)]
#[derive(Debug)]
pub(crate) struct Fit {
    /// What `coax lab fit --json` prints.
    json: String,
    /// What `coax lab fit` prints.
    text: String,
}

/// The arguments of an estimate.
#[derive(FromPyObject)]
pub(crate) struct Arguments {
    files: Vec<PathBuf>,
    texts: Vec<(String, String)>,
    scenario: Option<String>,
    unknown: Vec<String>,
    set: Vec<String>,
    predict: Vec<String>,
    deviation: f64,
    members: usize,
    cap: String,
    seed: u64,
}

/// Estimates unknown values from measured copies.
#[pyfunction]
pub(crate) fn fit(py: Python<'_>, arguments: Arguments) -> PyResult<Fit> {
    let work = move |stop: &Stop| estimated(arguments, stop);
    let found = attended(py, work)?.map_err(|error| of_lab(&error))?;
    Ok(Fit {
        json: format!("{:#}\n", found.json()),
        text: found.text(),
    })
}

fn estimated(arguments: Arguments, stop: &Stop) -> anyhow::Result<Found> {
    let cap = parse_size(&arguments.cap).map_err(|why| anyhow::anyhow!("cap: {why}"))?;
    let options = Options {
        members: arguments.members,
        seed: arguments.seed,
        deviation: arguments.deviation,
    };
    let given = Given {
        files: arguments.files,
        texts: arguments.texts,
        scenario: arguments.scenario,
        unknown: arguments.unknown,
        set: arguments.set,
        predict: arguments.predict,
    };
    let found = given.estimate(&options, cap, &|| stop.goes_on())?;
    found.context("the estimate was stopped")
}
