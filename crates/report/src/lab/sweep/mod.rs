//! A sweep: a scenario run over a grid of parameters, or over a sample of their ranges.
//!
//! Each run uses one thread and depends only on its scenario, so the result does not depend on the number of threads. A
//! failed run is a normal result. A grid with an invalid value is refused before the first run.

pub mod grid;
pub mod merge;
pub mod output;
pub mod plan;
pub mod quantity;
pub mod range;
pub mod replicates;
pub mod sensitivity;
pub mod spread;
pub mod table;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, Result, ensure};
use coax_fit::sample::Sample;
use coax_lab::{scenario::Scenario, smb::CopySetup};

use self::{
    grid::Axis,
    plan::{Layout, Plan},
    quantity::shown,
};
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
    layout: Layout,
    sample: Option<Sample>,
    /// The parameters that are not varied, with all their values.
    fixed: Vec<(String, Vec<String>)>,
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
#[derive(Clone, Debug)]
pub struct Swept {
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title; empty if the client is varied, because the title names the client.
    pub title: String,
    /// The varied keys; the last one is `seed` if there are replicates.
    pub axes: Vec<Axis>,
    /// All runs in grid order: the last key varies fastest.
    pub runs: Vec<Run>,
    /// How points were chosen, if not as a grid.
    pub sample: Option<Sample>,
    /// Runs of each point.
    pub replicates: usize,
    /// The number of the first point of this part, from 0.
    pub first: usize,
    /// The number of points of all parts.
    pub all: usize,
    /// The parameters that are not varied, with all their values.
    pub fixed: Vec<(String, Vec<String>)>,
}

impl Sweep {
    /// A sweep of a scenario with changes `set` and axes `grid`. The keys of the scenario's own `[sweep]` come first in
    /// alphabetical order, except keys that are also in `grid`.
    ///
    /// # Errors
    /// As for [`planned`](Self::planned).
    pub fn new(base: Scenario, set: &[String], grid: &[String]) -> Result<Self> {
        let plan = Plan {
            set: set.to_vec(),
            grid: grid.to_vec(),
            ..Plan::default()
        };
        Self::planned(base, plan)
    }

    /// A sweep of a scenario.
    ///
    /// # Errors
    /// An unknown key, an invalid value, arguments that do not go together, or too many runs. The error names the argument or file, the
    /// key and the allowed values.
    pub fn planned(base: Scenario, plan: Plan) -> Result<Self> {
        let layout = Layout::new(&base, &plan)?;
        let mut set = plan.set;
        if let (Some(seed), None) = (plan.seed, &layout.seeds) {
            set.push(format!("seed={seed}"));
        }
        let sweep = Self {
            base,
            set,
            layout,
            sample: plan.sample,
            fixed: Vec::new(),
        };
        let fixed = sweep.check()?;
        Ok(Self { fixed, ..sweep })
    }

    /// The varied keys, without the seeds of replicates.
    pub fn axes(&self) -> &[Axis] {
        &self.layout.axes
    }

    /// How points are chosen, if not as a grid.
    pub fn sample(&self) -> Option<Sample> {
        self.sample
    }

    /// Number of runs of this part.
    pub fn runs(&self) -> usize {
        self.layout.runs()
    }

    /// Runs the sweep on `threads` threads; `done` gets the number of finished runs after each one.
    pub fn run(self, threads: usize, done: impl Fn(usize) + Sync) -> Swept {
        let work: Vec<usize> = (0..self.runs()).collect();
        let runs = parallel::each(&work, threads, |run| self.one(*run), done);
        self.swept(runs)
    }

    /// As [`run`](Self::run), until `goes_on` says no after a run; `None` if it did.
    pub fn run_while(
        self,
        threads: usize,
        goes_on: impl Fn(usize) -> bool + Sync,
    ) -> Option<Swept> {
        let work: Vec<usize> = (0..self.runs()).collect();
        let runs = parallel::each_while(&work, threads, |run| self.one(*run), goes_on)?;
        Some(self.swept(runs))
    }

    fn swept(self, runs: Vec<Run>) -> Swept {
        let clients = [keys::CLIENT, "client.profile"];
        let same = |axis: &Axis| !clients.contains(&axis.key.as_str());
        let title = match self.axes().iter().all(same) {
            true => self.base.title().to_owned(),
            false => String::new(),
        };
        let replicates = self.layout.replicates();
        let mut axes = self.layout.axes;
        axes.extend(self.layout.seeds);
        Swept {
            scenario: self.base.name,
            title,
            axes,
            runs,
            sample: self.sample,
            replicates,
            first: self.layout.part.start,
            all: self.layout.all,
            fixed: self.fixed,
        }
    }

    /// Checks each value on its own; returns all values of the parameters that are not varied. Invalid combinations of values become
    /// failed runs.
    fn check(&self) -> Result<Vec<(String, Vec<String>)>> {
        let base = self.scenario(&[])?;
        CopySetup::of(&base)?;
        let mut fixed = Vec::new();
        self.note(&base, &mut fixed);
        for axis in self.axes().iter().chain(&self.layout.seeds) {
            self.check_set(axis)?;
            for value in &axis.values {
                let context = || axis.from.clone();
                let scenario = self
                    .scenario(&[(axis, value.clone())])
                    .with_context(context)?;
                CopySetup::of(&scenario).with_context(context)?;
                self.note(&scenario, &mut fixed);
            }
        }
        Ok(fixed)
    }

    /// Refuses a key that is both varied and set.
    fn check_set(&self, axis: &Axis) -> Result<()> {
        for assignment in &self.set {
            let key = assignment.split('=').next().unwrap_or_default().trim();
            ensure!(
                keys::whole(key) != keys::whole(&axis.key),
                "{}: {} is varied, and also changed by --set {assignment}",
                axis.from,
                axis.key
            );
        }
        Ok(())
    }

    /// Adds the parameters of a scenario that are not varied.
    fn note(&self, scenario: &Scenario, fixed: &mut Vec<(String, Vec<String>)>) {
        for (key, text) in scenario.parameters() {
            let mut axes = self.axes().iter().chain(&self.layout.seeds);
            if axes.any(|axis| keys::whole(&axis.key) == key) {
                continue;
            }
            match fixed.iter_mut().find(|(known, _)| *known == key) {
                Some((_, texts)) if texts.contains(&text) => {}
                Some((_, texts)) => texts.push(text),
                None => fixed.push((key, vec![text])),
            }
        }
    }

    /// The scenario of a run. The client is set first because it also sets stack and machine.
    fn scenario(&self, place: &[(&Axis, toml::Value)]) -> Result<Scenario> {
        let mut scenario = self.base.clone();
        let (clients, others): (Vec<_>, Vec<_>) =
            place.iter().partition(|(axis, _)| axis.key == keys::CLIENT);
        for (axis, value) in clients {
            keys::set(&mut scenario, &axis.key, value.clone())?;
        }
        for assignment in &self.set {
            keys::set_text(&mut scenario, assignment)?;
        }
        for (axis, value) in others {
            keys::set(&mut scenario, &axis.key, value.clone())?;
        }
        Ok(scenario)
    }

    fn one(&self, run: usize) -> Run {
        let place = self.layout.place(run);
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
