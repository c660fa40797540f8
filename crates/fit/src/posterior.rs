//! Samples of the values that are likely after the measurements: sequential Monte Carlo with tempering.
//!
//! A population starts evenly in the unit cube. The weight of the measurements grows from 0 to 1 in steps; each step keeps half of the
//! effective population (Del Moral, Doucet, Jasra 2006). After each step the population is resampled and moved by Metropolis steps.
//! Most proposals are differences of two members of the other half of the population (ter Braak 2006; the halves as in Foreman-Mackey and
//! others 2013), so that a whole half can be simulated at once.

use coax_lab::rng::Rng;

use crate::{
    sample::{Points, Sample, unit},
    statistics::normal,
};

/// Most steps of the weight. Reached only if the misfit of almost all of the cube is enormous.
const MOST_STAGES: usize = 80;
/// Sweeps after a step: until members have moved twice on average, and no more than this.
const MOST_SWEEPS: usize = 10;
/// Sweeps at full weight, and how many of their populations are kept.
const LAST_SWEEPS: usize = 12;
const KEPT_EVERY: usize = 4;

/// The size of the population, and its seed.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// Members of the population; at least 8, an even number.
    pub members: usize,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// A sampled point.
#[derive(Clone, Debug)]
pub struct Point<R> {
    /// Its coordinates, from 0 to 1.
    pub at: Vec<f64>,
    /// The sum of the squared residuals in units of their deviation.
    pub misfit: f64,
    /// What the evaluation returned beside it.
    pub result: R,
}

/// The sample.
#[derive(Clone, Debug)]
pub struct Posterior<R> {
    /// The points, equally likely.
    pub points: Vec<Point<R>>,
    /// Number of evaluated points.
    pub evaluations: usize,
    /// Steps of the weight.
    pub stages: usize,
}

type Evaluate<'a, R> = dyn FnMut(&[Vec<f64>]) -> Vec<(f64, R)> + 'a;

struct State<'a, R> {
    members: Vec<Point<R>>,
    weight: f64,
    scale: f64,
    evaluations: usize,
    rng: Rng,
    evaluate: &'a mut Evaluate<'a, R>,
}

/// Samples a unit cube of `keys` dimensions with the density exp(−misfit / 2). `evaluate` returns the misfit of each point and something else;
/// an infinite misfit is impossible. `None` if all points of the start are impossible.
pub fn sample<'a, R: Clone>(
    sampler: Sampler,
    keys: usize,
    evaluate: &'a mut Evaluate<'a, R>,
) -> Option<Posterior<R>> {
    let mut state = State::start(sampler, keys, evaluate)?;
    let mut stages = 0;
    while state.weight < 1.0 && stages < MOST_STAGES {
        state.step();
        let mut moved = 0.0;
        for _ in 0..MOST_SWEEPS {
            moved += state.sweep();
            if moved >= 2.0 {
                break;
            }
        }
        stages += 1;
    }
    let mut points = Vec::new();
    for sweep in 1..=LAST_SWEEPS {
        state.sweep();
        if sweep % KEPT_EVERY == 0 {
            points.extend(state.members.iter().cloned());
        }
    }
    Some(Posterior {
        points,
        evaluations: state.evaluations,
        stages,
    })
}

impl<'a, R: Clone> State<'a, R> {
    fn start(sampler: Sampler, keys: usize, evaluate: &'a mut Evaluate<'a, R>) -> Option<Self> {
        let count = sampler.members.max(8).next_multiple_of(2);
        let start = Points::new(Sample::Latin(count), keys, sampler.seed).ok()?;
        let places: Vec<Vec<f64>> = (0..count)
            .map(|point| (0..keys).map(|key| start.at(point, key)).collect())
            .collect();
        let results = evaluate(&places);
        let members: Vec<Point<R>> = places
            .into_iter()
            .zip(results)
            .map(|(at, (misfit, result))| Point { at, misfit, result })
            .collect();
        members
            .iter()
            .any(|point| point.misfit.is_finite())
            .then(|| Self {
                members,
                weight: 0.0,
                scale: 1.0,
                evaluations: count,
                rng: Rng::new(sampler.seed ^ 0x5eed),
                evaluate,
            })
    }

    /// Increases the weight and resamples.
    fn step(&mut self) {
        let least = self
            .members
            .iter()
            .map(|point| point.misfit)
            .fold(f64::INFINITY, f64::min);
        let weights = |gain: f64| -> Vec<f64> {
            let members = self.members.iter();
            members
                .map(|point| match point.misfit.is_finite() {
                    true => (-(point.misfit - least) * gain / 2.0).exp(),
                    false => 0.0,
                })
                .collect()
        };
        let possible = weights(0.0).iter().sum::<f64>();
        let effective = |gain: f64| {
            let all = weights(gain);
            let (sum, squares) = all.iter().fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
            sum * sum / squares.max(f64::MIN_POSITIVE)
        };
        let rest = 1.0 - self.weight;
        let mut gain = rest;
        if effective(rest) < possible / 2.0 {
            let (mut low, mut high) = (0.0, rest);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                match effective(middle) < possible / 2.0 {
                    true => high = middle,
                    false => low = middle,
                }
            }
            gain = low.max(rest * 1e-9);
        }
        let chosen = weights(gain);
        self.weight = if gain >= rest {
            1.0
        } else {
            self.weight + gain
        };
        self.resample(&chosen);
    }

    /// Systematic resampling (Kitagawa 1996).
    fn resample(&mut self, weights: &[f64]) {
        let count = self.members.len();
        let sum: f64 = weights.iter().sum();
        let mut at = unit(&mut self.rng);
        let (mut passed, mut kept) = (0.0, Vec::with_capacity(count));
        for (member, weight) in self.members.iter().zip(weights) {
            passed += weight / sum * count as f64;
            while at < passed && kept.len() < count {
                kept.push(member.clone());
                at += 1.0;
            }
        }
        while let Some(last) = kept.last().filter(|_| kept.len() < count).cloned() {
            kept.push(last);
        }
        // neighbours are copies of each other: the halves get different ones
        for index in (1..kept.len()).rev() {
            let other = (self.rng.next_u64() % (index as u64 + 1)) as usize;
            kept.swap(index, other);
        }
        self.members = kept;
    }

    /// Proposes a move to every member, first to one half, then to the other. Returns the part that moved.
    fn sweep(&mut self) -> f64 {
        let half = self.members.len() / 2;
        let mut moved = 0;
        for (from, other) in [(0, half), (half, 0)] {
            let places: Vec<Vec<f64>> = (from..from + half)
                .filter_map(|member| self.proposal(member, other..other + half))
                .collect();
            self.evaluations += places.len();
            let results = (self.evaluate)(&places);
            let found = places.into_iter().zip(results);
            for (member, (at, (misfit, result))) in (from..from + half).zip(found) {
                let chance = unit(&mut self.rng);
                let Some(point) = self.members.get_mut(member) else {
                    continue;
                };
                let gain = (point.misfit - misfit) * self.weight / 2.0;
                if misfit.is_finite() && (gain >= 0.0 || chance < gain.exp()) {
                    *point = Point { at, misfit, result };
                    moved += 1;
                }
            }
        }
        let part = f64::from(moved) / self.members.len() as f64;
        let factor = match part {
            part if part < 0.15 => 0.7,
            part if part > 0.45 => 1.3,
            _ => 1.0,
        };
        self.scale = (self.scale * factor).clamp(0.01, 2.0);
        part
    }

    /// A place near a member; the proposal from there back is as likely.
    fn proposal(&mut self, member: usize, others: std::ops::Range<usize>) -> Option<Vec<f64>> {
        let mut at = self.members.get(member)?.at.clone();
        let keys = at.len().max(1);
        let kind = unit(&mut self.rng);
        if kind < 0.2 {
            let key = (self.rng.next_u64() % keys as u64) as usize;
            let step = (unit(&mut self.rng) - 0.5) * self.scale.min(1.0);
            if let Some(place) = at.get_mut(key) {
                *place = reflected(*place + step);
            }
            return Some(at);
        }
        let span = (others.end - others.start) as u64;
        let mut draw = || others.start + (self.rng.next_u64() % span) as usize;
        let (a, b) = (draw(), draw());
        let factor = match kind < 0.3 {
            true => 1.0,
            false => self.scale * 2.38 / (2.0 * keys as f64).sqrt(),
        };
        for (key, place) in at.iter_mut().enumerate() {
            let of = |member: usize| self.members.get(member)?.at.get(key).copied();
            let step = factor * (of(a)? - of(b)?);
            *place = reflected(*place + step + normal(&mut self.rng) * 1e-3);
        }
        Some(at)
    }
}

/// Reflects at the walls of the unit interval.
fn reflected(place: f64) -> f64 {
    let folded = place.rem_euclid(2.0);
    match folded > 1.0 {
        true => 2.0 - folded,
        false => folded,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::statistics::{correlation, quantile};

    fn coordinates(posterior: &Posterior<()>, key: usize) -> Vec<f64> {
        let mut all: Vec<f64> = posterior.points.iter().map(|point| point.at[key]).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    fn run(keys: usize, seed: u64, misfit: impl Fn(&[f64]) -> f64) -> Posterior<()> {
        let sampler = Sampler { members: 200, seed };
        let mut evaluate = |places: &[Vec<f64>]| places.iter().map(|at| (misfit(at), ())).collect();
        sample(sampler, keys, &mut evaluate).unwrap()
    }

    #[test]
    fn a_normal_density_is_sampled_with_its_width_and_a_free_key_keeps_its_range() {
        let posterior = run(3, 1, |at| {
            ((at[0] - 0.4) / 0.02).powi(2) + ((at[1] - 0.7) / 0.005).powi(2)
        });
        for (key, mean, deviation) in [(0, 0.4, 0.02), (1, 0.7, 0.005)] {
            let all = coordinates(&posterior, key);
            let width = quantile(&all, 0.95) - quantile(&all, 0.05);
            assert!((quantile(&all, 0.5) - mean).abs() < deviation * 0.4);
            assert!(
                (width / (2.0 * 1.645 * deviation) - 1.0).abs() < 0.25,
                "{key}: {width}"
            );
        }
        let free = coordinates(&posterior, 2);
        assert!(
            (quantile(&free, 0.05) - 0.05).abs() < 0.04,
            "{}",
            quantile(&free, 0.05)
        );
        assert!((quantile(&free, 0.95) - 0.95).abs() < 0.04);
    }

    #[test]
    fn a_sum_that_is_known_leaves_its_parts_open_and_correlated() {
        let posterior = run(2, 2, |at| ((at[0] + at[1] - 1.0) / 0.01).powi(2));
        let all: Vec<f64> = posterior.points.iter().map(|point| point.at[0]).collect();
        let other: Vec<f64> = posterior.points.iter().map(|point| point.at[1]).collect();
        assert!(correlation(&all, &other) < -0.98);
        let first = coordinates(&posterior, 0);
        assert!(quantile(&first, 0.05) < 0.15 && quantile(&first, 0.95) > 0.85);
    }

    #[test]
    fn two_separate_peaks_are_both_found() {
        let posterior = run(2, 3, |at| {
            let to = |x: f64| ((at[0] - x) / 0.02).powi(2) + ((at[1] - x) / 0.02).powi(2);
            to(0.2).min(to(0.8))
        });
        let low = posterior
            .points
            .iter()
            .filter(|point| point.at[0] < 0.5)
            .count();
        let part = low as f64 / posterior.points.len() as f64;
        assert!((0.25..0.75).contains(&part), "{part}");
    }

    #[test]
    fn the_same_seed_gives_the_same_sample_and_what_is_impossible_gives_none() {
        let places = |seed| {
            let posterior = run(2, seed, |at| (at[0] / 0.1).powi(2));
            posterior
                .points
                .iter()
                .map(|point| point.at.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(places(4), places(4));
        assert_ne!(places(4), places(5));
        let sampler = Sampler {
            members: 8,
            seed: 1,
        };
        let mut never = |places: &[Vec<f64>]| vec![(f64::INFINITY, ()); places.len()];
        assert!(sample(sampler, 1, &mut never).is_none());
    }
}
