//! What a sweep varies, and which points that makes.

use std::ops::Range;

use anyhow::{Result, bail, ensure};
use coax_fit::sample::{Points, Sample};
use coax_lab::scenario::Scenario;

use super::grid::{self, Axis};

/// Maximum number of runs of one sweep, or of one part of it.
pub const MAX_RUNS: usize = 10_000;
/// Maximum number of runs of all parts.
const MAX_ALL: usize = 100_000_000;

/// The arguments of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Changes of all runs, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// Keys of a grid, as `KEY=VALUES`.
    pub grid: Vec<String>,
    /// Keys of a sample, as `KEY=RANGE`.
    pub ranges: Vec<String>,
    /// How points are chosen from the ranges.
    pub sample: Option<Sample>,
    /// The seed of all random numbers, in place of the scenario's.
    pub seed: Option<u64>,
    /// Runs of each point, with as many seeds; 0 and 1 are one run.
    pub replicates: usize,
    /// One of several parts: its number from 1 on, and how many there are.
    pub part: Option<(u32, u32)>,
}

/// The points of a sweep.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The varied keys; of a grid, the last one varies fastest.
    pub(super) axes: Vec<Axis>,
    /// The seeds of replicates.
    pub(super) seeds: Option<Axis>,
    points: Option<Points>,
    /// The points of this part.
    pub(super) part: Range<usize>,
    /// The number of points of all parts.
    pub(super) all: usize,
}

impl Layout {
    /// # Errors
    /// Arguments that do not go together, or too many runs.
    pub(super) fn new(base: &Scenario, plan: &Plan) -> Result<Self> {
        let axes = axes(base, plan)?;
        let own = base.parameter("seed").and_then(|seed| seed.parse().ok());
        let seed = plan.seed.or(own).unwrap_or_default();
        let seeds = match plan.replicates {
            0 | 1 => None,
            count => Some(count),
        };
        let seeds = seeds.map(|count| Axis::seeds(seed, count.min(MAX_RUNS + 1)));
        let seeds = seeds.transpose()?;
        let all = match plan.sample {
            Some(sample) => sample.points(axes.len()),
            None => grid::combinations(&axes),
        };
        let group = plan.sample.map_or(1, |sample| sample.group(axes.len()));
        let part = plan
            .part
            .map_or(0..all, |part| block(all / group, part, group));
        let points = |sample| Points::new(sample, axes.len(), seed);
        let layout = Self {
            points: plan.sample.map(points).transpose()?,
            axes,
            seeds,
            part,
            all,
        };
        layout.check_count(plan)?;
        layout.check_keys()?;
        Ok(layout)
    }

    /// Runs of each point.
    pub(super) fn replicates(&self) -> usize {
        self.seeds.as_ref().map_or(1, |seeds| seeds.values.len())
    }

    /// Number of runs of this part.
    pub(super) fn runs(&self) -> usize {
        self.part.len().saturating_mul(self.replicates())
    }

    /// The values of a run of this part.
    pub(super) fn place(&self, run: usize) -> Vec<(&Axis, toml::Value)> {
        let (point, replicate) = (run / self.replicates(), run % self.replicates());
        let mut place = self.at(self.part.start + point);
        if let Some(seeds) = &self.seeds {
            place.extend(
                seeds
                    .values
                    .get(replicate)
                    .map(|seed| (seeds, seed.clone())),
            );
        }
        place
    }

    /// The values of a point of any part, without the seed.
    pub(super) fn at(&self, mut point: usize) -> Vec<(&Axis, toml::Value)> {
        if let Some(points) = &self.points {
            let axes = self.axes.iter().enumerate();
            return axes
                .filter_map(|(key, axis)| Some((axis, axis.at(points.at(point, key))?)))
                .collect();
        }
        let mut place = Vec::with_capacity(self.axes.len() + 1);
        for axis in self.axes.iter().rev() {
            let count = axis.values.len().max(1);
            let value = axis.values.get(point % count);
            place.extend(value.map(|value| (axis, value.clone())));
            point /= count;
        }
        place.reverse();
        place
    }

    fn check_keys(&self) -> Result<()> {
        let seeds = self.seeds.iter();
        let axes: Vec<Axis> = self.axes.iter().chain(seeds).cloned().collect();
        grid::check(&axes)
    }

    fn check_count(&self, plan: &Plan) -> Result<()> {
        let (runs, all) = (self.runs(), self.all.saturating_mul(self.replicates()));
        if runs <= MAX_RUNS && all <= MAX_ALL {
            return Ok(());
        }
        let sizes: Vec<String> = match plan.sample {
            Some(sample) => vec![format!("{} points of --sample {}", self.all, sample.name())],
            None => self
                .axes
                .iter()
                .map(|axis| format!("{} values of {}", axis.values.len(), axis.key))
                .collect(),
        };
        let seeds = self.seeds.iter();
        let seeds = seeds.map(|_| format!("{} replicates", plan.replicates));
        let what = sizes
            .into_iter()
            .chain(seeds)
            .collect::<Vec<_>>()
            .join(" × ");
        if all > MAX_ALL {
            bail!(
                "{what} make more runs than the {MAX_ALL} of all parts of a sweep: write fewer values"
            );
        }
        let of = plan.part.map_or("", |_| "part of a ");
        bail!(
            "{what} make more runs than the {MAX_RUNS} of one {of}sweep: write fewer values, or parts with --shard I/{}",
            all.div_ceil(MAX_RUNS)
        );
    }
}

/// The keys of a grid, or those of a sample.
fn axes(base: &Scenario, plan: &Plan) -> Result<Vec<Axis>> {
    let Some(sample) = plan.sample else {
        ensure!(
            plan.ranges.is_empty(),
            "--range says what --sample takes points from: write --sample latin:100, or --grid KEY=A..B:N for a grid"
        );
        return grid_axes(base, plan);
    };
    ensure!(
        plan.grid.is_empty(),
        "--grid and --sample {} do not go together: write --range KEY=V1,V2,... for a key that has few values",
        sample.name()
    );
    ensure!(
        !plan.ranges.is_empty(),
        "--sample {} has nothing to vary: write --range KEY=A..B, such as --range 'link.delay=0..60 ms'",
        sample.name()
    );
    let ranges = plan.ranges.iter();
    ranges.map(|argument| Axis::sampled(argument)).collect()
}

/// The keys of the scenario's own `[sweep]` come first in alphabetical order, except keys that are also in `grid`.
fn grid_axes(base: &Scenario, plan: &Plan) -> Result<Vec<Axis>> {
    let typed = plan.grid.iter().map(|argument| Axis::parse(argument));
    let typed: Vec<Axis> = typed.collect::<Result<_>>()?;
    let mut axes = Vec::new();
    for (key, value) in base.sweep() {
        if !typed.iter().any(|axis| axis.key == *key) {
            axes.push(Axis::from_file(&base.name, key, value)?);
        }
    }
    axes.extend(typed);
    grid::check(&axes)?;
    Ok(axes)
}

/// The points of a part: all parts have the same number of groups, but for one, and follow one another.
fn block(groups: usize, (index, count): (u32, u32), group: usize) -> Range<usize> {
    // 128 bits hold every product
    let end = |part: u32| groups as u128 * u128::from(part) / u128::from(count.max(1));
    let end = |part: u32| usize::try_from(end(part)).unwrap_or(groups) * group;
    end(index.saturating_sub(1))..end(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another_and_are_everything() {
        for (groups, count, group) in [(10, 3, 1), (7, 7, 5), (2, 5, 4), (0, 3, 1), (1000, 64, 6)] {
            let mut next = 0;
            for index in 1..=count {
                let part = block(groups, (index, count), group);
                assert_eq!(part.start, next);
                assert_eq!(part.len() % group, 0);
                assert!(part.len() / group <= groups / count as usize + 1);
                next = part.end;
            }
            assert_eq!(next, groups * group);
        }
    }
}
