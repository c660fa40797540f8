//! A sweep: a scenario run over a grid of parameters.
//!
//! Each run is one thread's and depends on nothing but its scenario, so the result is the same whatever the number of
//! threads. A run that fails is a result like any other; a grid with a value that is not possible is refused before
//! anything runs.

pub mod grid;
pub mod quantity;
pub mod tell;
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

/// What is to be run.
#[derive(Debug)]
pub struct Sweep {
    /// What is the same in all runs.
    base: Scenario,
    /// What is set after a client was chosen, as `KEY=VALUE`.
    set: Vec<String>,
    /// What is varied: the last key fastest.
    axes: Vec<Axis>,
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct Run {
    /// The values of the axes, in their order.
    pub values: Vec<String>,
    /// What the run was put together from, in the order of paths.
    pub parameters: Vec<(String, String)>,
    /// What it came to, or why it failed.
    pub outcome: Result<Summary, String>,
}

/// What a sweep came to.
#[derive(Debug)]
pub struct Swept {
    /// The scenario's name.
    pub scenario: String,
    /// What it calls itself; empty if the client is varied, for then that is not what the runs are of.
    pub title: String,
    /// What was varied.
    pub axes: Vec<Axis>,
    /// Every run, in the order of the grid: the last key fastest.
    pub runs: Vec<Run>,
}

impl Sweep {
    /// A sweep of a scenario with `set` changed and `grid` varied. What the scenario's own `[sweep]` varies comes first, in
    /// the order of the alphabet, but for keys that `grid` has.
    ///
    /// # Errors
    /// The argument or file, the key, and what is allowed: a key is unknown, a value not possible, or there are too many runs.
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

    /// What is varied.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Runs there are.
    pub fn runs(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// Runs all, on so many threads; `done` is told after each how many are.
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

    /// Every value must be possible on its own. What is not possible only together with others is a run that fails.
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

    /// The axes' values in a run.
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

    /// A client brings its stack and machine with it, so it is chosen before anything is changed.
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

/// One run that fails must not take the others with it.
fn outcome(scenario: &Scenario) -> Result<Summary, String> {
    let ran = catch_unwind(AssertUnwindSafe(|| run(scenario)));
    let summary = ran
        .map_err(|_| "the lab itself broke off: this is a bug of it".to_owned())?
        .map_err(|error| format!("{error:#}"))?;
    match summary.failed.clone() {
        Some(failed) => Err(failed),
        None => Ok(summary),
    }
}
