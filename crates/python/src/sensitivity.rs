//! Sobol' indices of points that were simulated in parts.

use coax_report::lab::sweep::{
    sensitivity::{Indices, indices},
    spread::Spread,
};
use pyo3::prelude::*;

use crate::{
    errors::ScenarioError,
    work::{Stop, attended},
};

/// First order, half of its 95 % interval, total and half of its interval for each of `keys` keys, from the
/// times of all points in order; of each point, of all its replicates.
#[pyfunction]
pub(crate) fn sensitivity(
    py: Python<'_>,
    seconds: Vec<Vec<f64>>,
    keys: usize,
) -> PyResult<Vec<(f64, f64, f64, f64)>> {
    let found = attended(py, move |_: &Stop| {
        let means = seconds
            .iter()
            .map(|point| Spread::of(point).map(|spread| spread.mean));
        indices(&means.collect::<Option<Vec<f64>>>()?, keys)
    })?;
    let same = "the copy takes the same time everywhere: nothing has an effect";
    let found = found.ok_or_else(|| ScenarioError::new_err(same))?;
    let one = |one: Indices| (one.first, one.first_error, one.total, one.total_error);
    Ok(found.into_iter().map(one).collect())
}
