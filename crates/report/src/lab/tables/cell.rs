//! A cell with its results, and how a run becomes its figure.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use coax_catalog::tables::{Kind, Unit};
use coax_lab::scenario::Scenario;
use serde::Serialize;

use crate::lab::run::{Summary, run};

/// A value that was tuned to a cell.
#[derive(Clone, Debug, Serialize)]
pub struct TunedValue {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// Why it was set.
    pub source: String,
}

/// A cell with its results.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Its name.
    pub id: String,
    /// The scenario that it runs, with changes.
    pub scenario: String,
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
    /// The values that were chosen or fitted for it.
    pub tuned: Vec<TunedValue>,
    /// Other cells to which values of this one were tuned.
    pub shares: Vec<String>,
    /// The figure without what is known from this cell.
    pub left_out: Option<LeftOut>,
    /// Why the model misses the published figure by more than 15 %.
    pub miss: Option<String>,
    /// The largest cause and its share; for a factor, in the slower of the two runs.
    pub waited_for: Option<(&'static str, f64)>,
    /// Other explanations that fit equally well.
    pub equal: Option<String>,
    /// What would distinguish them.
    pub apart: Option<String>,
    /// The scenario's parameters.
    pub parameters: BTreeMap<String, String>,
}

impl Cell {
    /// The model misses the published figure by more than 15 %.
    pub fn misses(&self) -> bool {
        self.ratio.is_some_and(|ratio| (ratio - 1.0).abs() > 0.15)
    }
}

/// The figure of a cell that was left out.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// Where the values come from.
    pub about: String,
    /// The figure.
    pub model: f64,
    /// The figure divided by the published one.
    pub ratio: Option<f64>,
}

/// The figure of a run in a unit; a factor is the run's rate over that of the other.
pub(super) fn figure(unit: Unit, summary: &Summary, other: Option<&Summary>) -> f64 {
    match unit {
        Unit::Seconds => summary.seconds,
        Unit::Megabits => summary.rate() * 8e-6,
        Unit::Kilobytes => summary.rate() / 1e3,
        Unit::Factor => other.map_or(1.0, |other| summary.rate() / other.rate()),
    }
}

/// Runs a scenario; a copy that fails is an error.
pub(super) fn done(scenario: &Scenario) -> Result<Summary> {
    let summary = run(scenario)?;
    match &summary.failed {
        Some(failed) => bail!("the copy fails: {failed}"),
        None => Ok(summary),
    }
}
