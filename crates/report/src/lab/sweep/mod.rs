//! A sweep: a scenario run over a grid of parameters.
//!
//! Each run uses one thread and depends only on its scenario, so the result does not depend on the number of threads. A
//! failed run is a normal result. A grid with an invalid value is refused before the first run.

pub mod grid;
pub mod output;
pub mod quantity;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, Result, ensure};
use coax_lab::{scenario::Scenario, smb::CopySetup};

use self::{grid::Axis, quantity::shown};
use super::{
    keys, parallel,
    run::{Summary, run},
};

/// The parameters of a sweep.
#[derive(Debug)]
pub struct Sweep {
    /// The scenario that all runs start from.
    base: Scenario,
    /// Changes after the client is selected, as `KEY=VALUE`.
    set: Vec<String>,
    /// The varied keys; the last one varies fastest.
    axes: Vec<Axis>,
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct Run {
    /// The values of the axes, in their order.
    pub values: Vec<String>,
    /// The scenario's parameters, sorted by path.
    pub parameters: Vec<(String, String)>,
    /// The summary, or the error.
    pub outcome: Result<Summary, String>,
}

/// The result of a sweep.
#[derive(Debug)]
pub struct Swept {
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title; empty if the client is varied, because the title names the client.
    pub title: String,
    /// The varied keys.
    pub axes: Vec<Axis>,
    /// All runs in grid order: the last key varies fastest.
    pub runs: Vec<Run>,
}

impl Sweep {
    /// A sweep of a scenario with changes `set` and axes `grid`. The keys of the scenario's own `[sweep]` come first in
    /// alphabetical order, except keys that are also in `grid`.
    ///
    /// # Errors
    /// An unknown key, an invalid value, or too many runs. The error names the argument or file, the key and the
    /// allowed values.
    pub fn new(base: Scenario, set: &[String], grid: &[String]) -> Result<Self> {
        let typed: Vec<Axis> = grid
            .iter()
            .map(|argument| Axis::parse(argument))
            .collect::<Result<_>>()?;
        let mut axes = Vec::new();
        for (key, value) in base.sweep() {
            if !typed.iter().any(|axis| axis.key == *key) {
                axes.push(Axis::from_file(&base.name, key, value)?);
            }
        }
        axes.extend(typed);
        let sweep = Self {
            base,
            set: set.to_vec(),
            axes,
        };
        grid::runs(&sweep.axes)?;
        sweep.check()?;
        Ok(sweep)
    }

    /// The varied keys.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// Runs the sweep on `threads` threads; `done` gets the number of finished runs after each one.
    pub fn run(self, threads: usize, done: impl Fn(usize) + Sync) -> Swept {
        let work: Vec<usize> = (0..self.runs()).collect();
        let runs = parallel::each(&work, threads, |run| self.one(*run), done);
        let clients = [keys::CLIENT, "client.profile"];
        let same = |axis: &Axis| !clients.contains(&axis.key.as_str());
        let title = match self.axes.iter().all(same) {
            true => self.base.title().to_owned(),
            false => String::new(),
        };
        Swept {
            scenario: self.base.name.clone(),
            title,
            axes: self.axes,
            runs,
        }
    }

    /// Checks each value on its own. Invalid combinations of values become failed runs.
    fn check(&self) -> Result<()> {
        CopySetup::of(&self.scenario(&[])?)?;
        for axis in &self.axes {
            for assignment in &self.set {
                let key = assignment.split('=').next().unwrap_or_default().trim();
                ensure!(
                    keys::whole(key) != keys::whole(&axis.key),
                    "{}: {} is varied, and also changed by --set {assignment}",
                    axis.from,
                    axis.key
                );
            }
            for value in &axis.values {
                let context = || axis.from.clone();
                let scenario = self.scenario(&[(axis, value)]).with_context(context)?;
                CopySetup::of(&scenario).with_context(context)?;
            }
        }
        Ok(())
    }

    /// The values of the axes in a run.
    fn place(&self, mut run: usize) -> Vec<(&Axis, &toml::Value)> {
        let mut place = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            let count = axis.values.len().max(1);
            place.extend(axis.values.get(run % count).map(|value| (axis, value)));
            run /= count;
        }
        place.reverse();
        place
    }

    /// The scenario of a run. The client is set first because it also sets stack and machine.
    fn scenario(&self, place: &[(&Axis, &toml::Value)]) -> Result<Scenario> {
        let mut scenario = self.base.clone();
        let (clients, others): (Vec<_>, Vec<_>) =
            place.iter().partition(|(axis, _)| axis.key == keys::CLIENT);
        for (axis, value) in clients {
            keys::set(&mut scenario, &axis.key, (*value).clone())?;
        }
        for assignment in &self.set {
            keys::set_text(&mut scenario, assignment)?;
        }
        for (axis, value) in others {
            keys::set(&mut scenario, &axis.key, (*value).clone())?;
        }
        Ok(scenario)
    }

    fn one(&self, run: usize) -> Run {
        let place = self.place(run);
        let values = place.iter().map(|(_, value)| shown(value));
        let scenario = self.scenario(&place);
        let parameters = scenario.as_ref().map(Scenario::parameters);
        Run {
            values: values.collect(),
            parameters: parameters.unwrap_or_default(),
            outcome: scenario
                .map_err(|error| format!("{error:#}"))
                .and_then(|scenario| outcome(&scenario)),
        }
    }
}

/// Runs one scenario. A failure does not end the other runs.
fn outcome(scenario: &Scenario) -> Result<Summary, String> {
    let ran = catch_unwind(AssertUnwindSafe(|| run(scenario)));
    let summary = ran
        .map_err(|_| "the lab itself broke off: this is a bug of it".to_owned())?
        .map_err(|error| format!("{error:#}"))?;
    match summary.failure() {
        Some(failed) => Err(failed),
        None => Ok(summary),
    }
}
