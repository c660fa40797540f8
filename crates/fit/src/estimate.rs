//! Estimates the unknown values of a scenario from measurements.

use anyhow::{Context as _, Result, bail, ensure};
use coax_lab::{rng::Rng, scenario::Scenario};

use crate::{
    knowledge::Knowledge,
    measured::{Measured, Setting},
    posterior::{Point, Posterior, Sampler, sample},
    run::Run,
    statistics::{correlation, normal, quantile, range_90},
    unknown::Unknown,
};

/// Points of the sample that are simulated for a prediction.
const PREDICTED_POINTS: usize = 96;
/// A best fit that misses the measurements by more than this many deviations widens the deviations.
const BAD_FIT: f64 = 1.3;
/// Two values with a correlation of this are known only together.
const TOGETHER: f64 = 0.5;
/// Most values and measurements, and members of the population.
const MOST: (usize, usize, usize) = (20, 200, 2000);

/// What is known and what is not.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The scenario with all known values.
    pub base: Scenario,
    /// The values to estimate.
    pub unknowns: Vec<Unknown>,
    /// The measurements.
    pub measured: Vec<Measured>,
    /// What to predict.
    pub wanted: Vec<Setting>,
}

/// How to estimate.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Members of the population. More give smoother ranges.
    pub members: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Deviation between lab and reality as a part of the time, in addition to the spread of a measurement.
    pub deviation: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            members: 96,
            seed: 1,
            deviation: 0.03,
        }
    }
}

/// An estimated value.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Which.
    pub unknown: Unknown,
    /// The median.
    pub value: f64,
    /// The lower end of the range that contains it with a probability of 90 %.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Its value in the scenario of [`Estimate::scenario`].
    pub chosen: f64,
    /// What the measurements tell.
    pub knowledge: Knowledge,
}

/// A measurement and the fitted scenario's time.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The name.
    pub name: String,
    /// The measured time, seconds.
    pub seconds: f64,
    /// The time of the fitted scenario, seconds.
    pub model: f64,
}

/// A predicted time.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The name.
    pub name: String,
    /// The median, seconds; `None` if the copy fails with most of the likely values.
    pub seconds: Option<f64>,
    /// A measurement is above this with a probability of 95 %.
    pub low: f64,
    /// A measurement is below this with a probability of 95 %.
    pub high: f64,
    /// The part of the likely values with which the copy fails.
    pub fails: f64,
}

/// Two values that are known better together than alone.
#[derive(Clone, Debug)]
pub struct Together {
    /// The names.
    pub names: [String; 2],
    /// Their correlation: negative if one is larger where the other is smaller.
    pub correlation: f64,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The values, in the order of the problem.
    pub parameters: Vec<Parameter>,
    /// Values that are known only together.
    pub together: Vec<Together>,
    /// The measurements beside the fitted scenario.
    pub fitted: Vec<Fitted>,
    /// The predictions.
    pub predictions: Vec<Prediction>,
    /// The scenario with likely values.
    pub scenario: Scenario,
    /// The deviation that was used. It is larger than that of the options if no values fit better.
    pub deviation: f64,
    /// Simulated copies.
    pub runs: usize,
}

type Simulate<'a> = dyn FnMut(&[Run]) -> Vec<Option<f64>> + 'a;

/// Estimates. `simulate` returns the seconds of each run, `None` for those that fail: [`seconds`](crate::seconds), on as many threads as
/// there are.
///
/// # Errors
/// A key or value is invalid, there is nothing to estimate or to estimate from, or no values let the copies succeed.
pub fn estimate(
    problem: &Problem,
    options: &Options,
    simulate: &mut Simulate<'_>,
) -> Result<Estimate> {
    problem.check(options)?;
    let mut fit = Fit {
        problem,
        bases: problem.bases()?,
        deviation: options.deviation,
        runs: 0,
        simulate,
    };
    let mut posterior = fit.sample(options)?;
    let misfit = best(&posterior).misfit / problem.measured.len() as f64;
    if misfit.sqrt() > BAD_FIT {
        fit.deviation *= misfit.sqrt();
        posterior = fit.sample(options)?;
    }
    fit.estimate(&posterior, options)
}

impl Problem {
    fn check(&self, options: &Options) -> Result<()> {
        let (values, measurements, members) = MOST;
        ensure!(!self.measured.is_empty(), "there is no measured copy");
        ensure!(!self.unknowns.is_empty(), "no value is unknown");
        ensure!(
            self.unknowns.len() <= values
                && self.measured.len() + self.wanted.len() <= measurements,
            "at most {values} values can be unknown, and at most {measurements} copies measured or predicted"
        );
        ensure!(
            (8..=members).contains(&options.members),
            "a population has 8 to {members} members"
        );
        ensure!(
            options.deviation > 0.0 && options.deviation < 1.0,
            "a deviation of {} is not possible; write it as a part of the time, such as 0.03 for 3 %",
            options.deviation
        );
        for (index, unknown) in self.unknowns.iter().enumerate() {
            let again = self.unknowns.iter().take(index);
            if again.clone().any(|other| other.name == unknown.name) {
                bail!("'{}' is given twice", unknown.name);
            }
            for value in [unknown.low, unknown.high] {
                let mut scenario = self.base.clone();
                unknown.set(&mut scenario, value)?;
                scenario.resolve()?;
            }
        }
        // before the long work
        let mut wanted = self.wanted.iter();
        wanted.try_for_each(|setting| run_of(setting, &self.base).map(drop))
    }

    /// The scenarios of measurements, without the unknown values.
    fn bases(&self) -> Result<Vec<Run>> {
        let settings = self.measured.iter().map(|measured| &measured.setting);
        settings
            .map(|setting| run_of(setting, &self.base))
            .collect()
    }
}

fn run_of(setting: &Setting, base: &Scenario) -> Result<Run> {
    let scenario = setting.scenario(base)?;
    scenario.resolve().with_context(|| setting.name.clone())?;
    Ok(Run {
        scenario,
        kind: setting.kind,
    })
}

struct Fit<'a, 'b> {
    problem: &'a Problem,
    bases: Vec<Run>,
    deviation: f64,
    runs: usize,
    simulate: &'a mut Simulate<'b>,
}

impl Fit<'_, '_> {
    fn sample(&mut self, options: &Options) -> Result<Posterior<Vec<f64>>> {
        let sampler = Sampler {
            members: options.members,
            seed: options.seed,
        };
        let keys = self.problem.unknowns.len();
        let mut evaluate = |places: &[Vec<f64>]| self.evaluate(places);
        sample(sampler, keys, &mut evaluate)
            .context("the copies fail in the simulation with all values of the ranges; widen the ranges, or change the scenario")
    }

    /// Misfit and times of each place.
    fn evaluate(&mut self, places: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
        let bases = self.bases.clone();
        let times = self.times(places, &bases);
        times.into_iter().map(|times| self.misfit(times)).collect()
    }

    fn misfit(&self, times: Vec<Option<f64>>) -> (f64, Vec<f64>) {
        let Some(times) = times.into_iter().collect::<Option<Vec<f64>>>() else {
            return (f64::INFINITY, Vec::new());
        };
        let squares = times.iter().zip(&self.problem.measured);
        let misfit = squares.map(|(time, measured)| {
            let variance = self.deviation.powi(2) + measured.spread.unwrap_or(0.0).powi(2);
            (time / measured.seconds).ln().powi(2) / variance
        });
        (misfit.sum(), times)
    }

    /// The times of all runs at each place.
    fn times(&mut self, places: &[Vec<f64>], bases: &[Run]) -> Vec<Vec<Option<f64>>> {
        let runs: Vec<Run> = places
            .iter()
            .flat_map(|place| bases.iter().map(|base| self.at(base, place)))
            .collect();
        self.runs += runs.len();
        let times = (self.simulate)(&runs);
        let each = times.chunks(bases.len().max(1));
        each.map(<[Option<f64>]>::to_vec).collect()
    }

    fn at(&self, base: &Run, place: &[f64]) -> Run {
        let mut run = base.clone();
        for (unknown, share) in self.problem.unknowns.iter().zip(place) {
            // keys and values were checked before
            let _ = unknown.set(&mut run.scenario, unknown.at(*share));
        }
        run
    }

    fn estimate(mut self, posterior: &Posterior<Vec<f64>>, options: &Options) -> Result<Estimate> {
        let chosen = typical(posterior);
        let predictions = self.predictions(posterior, options)?;
        let columns = columns(posterior, self.problem.unknowns.len());
        let mut scenario = self.problem.base.clone();
        for (unknown, share) in self.problem.unknowns.iter().zip(&chosen.at) {
            unknown.set(&mut scenario, unknown.at(*share))?;
        }
        let fitted = self.problem.measured.iter().zip(&chosen.result);
        Ok(Estimate {
            parameters: parameters(&self.problem.unknowns, &columns, chosen, options.members),
            together: together(&self.problem.unknowns, &columns),
            fitted: fitted
                .map(|(measured, model)| Fitted {
                    name: measured.setting.name.clone(),
                    seconds: measured.seconds,
                    model: *model,
                })
                .collect(),
            predictions,
            scenario,
            deviation: self.deviation,
            runs: self.runs,
        })
    }

    fn predictions(
        &mut self,
        posterior: &Posterior<Vec<f64>>,
        options: &Options,
    ) -> Result<Vec<Prediction>> {
        let wanted = self.problem.wanted.iter();
        let bases = wanted
            .map(|setting| run_of(setting, &self.problem.base))
            .collect::<Result<Vec<Run>>>()?;
        let step = posterior.points.len().div_ceil(PREDICTED_POINTS).max(1);
        let places: Vec<Vec<f64>> = posterior
            .points
            .iter()
            .step_by(step)
            .map(|point| point.at.clone())
            .collect();
        let times = self.times(&places, &bases);
        let mut rng = Rng::new(options.seed ^ 0x9ed1);
        // the populations that a sample keeps are not independent of each other
        let draws = options.members.min(places.len());
        let deviation = self.deviation;
        let of = |(index, setting): (usize, &Setting)| {
            let column: Vec<Option<f64>> = times
                .iter()
                .filter_map(|row| row.get(index).copied())
                .collect();
            prediction(setting, &column, (draws, deviation), &mut rng)
        };
        Ok(self.problem.wanted.iter().enumerate().map(of).collect())
    }
}

/// The median of the times, and the range that contains 90 % of measurements. `draws` is the number of independent draws, `deviation` that of
/// the logarithm of a measured time.
fn prediction(
    setting: &Setting,
    times: &[Option<f64>],
    (draws, deviation): (usize, f64),
    rng: &mut Rng,
) -> Prediction {
    let mut known: Vec<f64> = times.iter().copied().flatten().collect();
    let fails = 1.0 - known.len() as f64 / times.len().max(1) as f64;
    known.sort_by(f64::total_cmp);
    let mut measured: Vec<f64> = known
        .iter()
        .flat_map(|time| [(); 32].map(|()| time * (normal(rng) * deviation).exp()))
        .collect();
    measured.sort_by(f64::total_cmp);
    let [low, high] = range_90(&measured, draws);
    Prediction {
        name: setting.name.clone(),
        seconds: (fails < 0.5).then(|| quantile(&known, 0.5)),
        low,
        high,
        fails,
    }
}

fn best<R>(posterior: &Posterior<R>) -> &Point<R> {
    let mut points = posterior.points.iter();
    let first = points.next();
    let found = points.fold(first, |best, point| match best {
        Some(best) if best.misfit <= point.misfit => Some(best),
        _ => Some(point),
    });
    // a sample has as many points as its population, which is not empty
    found.unwrap_or_else(|| unreachable!("an empty sample"))
}

/// Of the points that fit about as well as the best one, the one nearest to the medians.
fn typical<R>(posterior: &Posterior<R>) -> &Point<R> {
    let keys = posterior.points.first().map_or(0, |point| point.at.len());
    let medians: Vec<f64> = columns(posterior, keys)
        .iter()
        .map(|column| quantile(&sorted(column), 0.5))
        .collect();
    let least = best(posterior).misfit;
    let distance = |point: &Point<R>| -> f64 {
        let squares = point.at.iter().zip(&medians);
        squares.map(|(a, b)| (a - b).powi(2)).sum()
    };
    let good = posterior
        .points
        .iter()
        .filter(|point| point.misfit <= least + 1.0);
    good.min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .unwrap_or_else(|| best(posterior))
}

/// The coordinates by key.
fn columns<R>(posterior: &Posterior<R>, keys: usize) -> Vec<Vec<f64>> {
    let of = |key: usize| {
        posterior
            .points
            .iter()
            .filter_map(|point| point.at.get(key).copied())
            .collect()
    };
    (0..keys).map(of).collect()
}

fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn parameters<R>(
    unknowns: &[Unknown],
    columns: &[Vec<f64>],
    chosen: &Point<R>,
    draws: usize,
) -> Vec<Parameter> {
    let each = unknowns.iter().zip(columns).zip(&chosen.at);
    each.map(|((unknown, column), chosen)| {
        let shares = sorted(column);
        let [low, high] = range_90(&shares, draws);
        let [least, value, most] =
            [low, quantile(&shares, 0.5), high].map(|share| unknown.at(share));
        Parameter {
            unknown: unknown.clone(),
            value,
            low: least,
            high: most,
            chosen: unknown.at(*chosen),
            knowledge: Knowledge::of(low, high, most / least.max(f64::MIN_POSITIVE)),
        }
    })
    .collect()
}

fn together(unknowns: &[Unknown], columns: &[Vec<f64>]) -> Vec<Together> {
    let all: Vec<(&Unknown, &Vec<f64>)> = unknowns.iter().zip(columns).collect();
    let mut found = Vec::new();
    for (index, (first, a)) in all.iter().enumerate() {
        for (second, b) in all.iter().skip(index + 1) {
            let correlation = correlation(a, b);
            if correlation.abs() >= TOGETHER {
                found.push(Together {
                    names: [first.name.clone(), second.name.clone()],
                    correlation,
                });
            }
        }
    }
    found
}
