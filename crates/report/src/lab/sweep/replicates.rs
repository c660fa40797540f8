//! Several runs of each point.

use std::collections::BTreeMap;

use super::{Run, Swept, sensitivity, spread::Spread};
use crate::lab::run::Summary;

impl Swept {
    /// The runs of each point, in order.
    fn by_point(&self) -> impl Iterator<Item = &[Run]> {
        self.runs.chunks(self.replicates.max(1))
    }

    /// The seconds of each point: how the runs that ended spread.
    pub fn spreads(&self) -> Vec<Option<Spread>> {
        let seconds = |run: &Run| Some(run.outcome.as_ref().ok()?.seconds);
        let of = |runs: &[Run]| Spread::of(&runs.iter().filter_map(seconds).collect::<Vec<_>>());
        self.by_point().map(of).collect()
    }

    /// One run for each point, with the mean time and the mean causes of its replicates. A point with a failed replicate failed.
    pub fn averaged(&self) -> Self {
        let axes = self.axes.iter();
        let keys = self.axes.len() - usize::from(self.replicates > 1);
        Self {
            axes: axes.take(keys).cloned().collect(),
            runs: self
                .by_point()
                .filter_map(|runs| mean(runs, keys))
                .collect(),
            replicates: 1,
            ..self.clone()
        }
    }

    /// The Sobol' indices of each key, or why there are none; `None` if the points were not chosen for it.
    pub fn sensitivity(&self) -> Option<Result<Vec<sensitivity::Indices>, String>> {
        self.sample.filter(|sample| sample.name() == "saltelli")?;
        if self.first > 0 || self.points() < self.all {
            return Some(Err(
                "sensitivity indices need all parts of the sweep: the same arguments with --merge FILE for the --csv table of each part compute them".to_owned(),
            ));
        }
        let averaged = self.averaged();
        let seconds = averaged.runs.iter();
        let seconds: Result<Vec<f64>, ()> = seconds
            .map(|run| {
                run.outcome
                    .as_ref()
                    .map(|summary| summary.seconds)
                    .map_err(|_| ())
            })
            .collect();
        let Ok(seconds) = seconds else {
            let failed = averaged.runs.iter().filter(|run| run.outcome.is_err());
            return Some(Err(format!(
                "sensitivity indices need all runs, and {} of {} points failed: leave out the values with which they fail",
                failed.count(),
                averaged.runs.len()
            )));
        };
        let found = sensitivity::indices(&seconds, averaged.axes.len());
        Some(found.ok_or_else(|| {
            "the copy takes the same time everywhere: nothing has an effect".to_owned()
        }))
    }

    /// The number of points that were run.
    pub fn points(&self) -> usize {
        self.runs.len() / self.replicates.max(1)
    }
}

/// The mean of a point's runs.
fn mean(runs: &[Run], keys: usize) -> Option<Run> {
    let first = runs.first()?;
    let ended: Vec<&Summary> = runs
        .iter()
        .filter_map(|run| run.outcome.as_ref().ok())
        .collect();
    let failed = runs.iter().find_map(|run| run.outcome.as_ref().err());
    let outcome = match (failed, ended.first()) {
        (None, Some(summary)) => Ok(Summary {
            seconds: Spread::of(&ended.iter().map(|one| one.seconds).collect::<Vec<_>>())?.mean,
            causes_ns: mean_causes(&ended),
            ..(*summary).clone()
        }),
        (Some(failed), _) if runs.len() == 1 => Err(failed.clone()),
        (failed, _) => Err(format!(
            "{} of {} replicates: {}",
            runs.len() - ended.len(),
            runs.len(),
            failed.map_or("", String::as_str)
        )),
    };
    Some(Run {
        values: first.values.iter().take(keys).cloned().collect(),
        parameters: first.parameters.clone(),
        outcome,
    })
}

fn mean_causes(ended: &[&Summary]) -> BTreeMap<&'static str, u64> {
    let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (cause, ns) in ended.iter().flat_map(|summary| &summary.causes_ns) {
        *sums.entry(*cause).or_default() += *ns;
    }
    let count = ended.len().max(1) as u64;
    sums.values_mut().for_each(|sum| *sum /= count);
    sums
}
