//! The model of a copy, and what it says of changes.

use crate::constants::{
    FIRST_SEED, MAX_CAUSE_DIFFERENCE, MAX_MISS, MAX_MODEL_BYTES, MAX_MODEL_REQUESTS,
    MAX_MODEL_SEGMENTS, MAX_PAIRED_CHANGES, MIN_REQUESTS, MIN_SEGMENT, MIN_UNCERTAINTY,
};
use std::sync::{Arc, atomic::Ordering};

use coax_catalog::files;
use coax_explain::report::{Capture, Connection, Copy, Direction, Quality};
use coax_wire::time::Span;
use toml::Value;

use crate::{
    Why,
    fit::{Fit, Hints, Task},
    observation::{Observation, receiver, sender},
    parameters::{Congestion, Loss, ModelParameters},
    rare::Rare,
    run::{Bench, Known, tap},
    used::{self, Used},
    windows::Windows,
};

/// Seeds beside the first, where there is chance.
const SEEDS: [u64; 6] = [
    FIRST_SEED + 1,
    FIRST_SEED + 2,
    FIRST_SEED + 3,
    FIRST_SEED + 4,
    FIRST_SEED + 5,
    FIRST_SEED + 6,
];

/// How long a copy takes, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// No sooner than this.
    pub low: f64,
    /// Most likely.
    pub mid: f64,
    /// No later than this.
    pub high: f64,
}

/// Two changes together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Their places in the list that was given.
    pub which: [usize; 2],
    /// What they bring.
    pub range: Range,
}

/// A copy made again in the lab.
#[derive(Debug)]
pub struct Model {
    bench: Bench,
    sets: Vec<used::Set>,
    seen: Observation,
    rare: Rare,
    fits: Vec<Variant>,
    hints: Hints,
    /// What of the copy is not known for sure, as a part of it.
    unsure: f64,
}

/// A way to read the capture: a guess, its seed, and what its run looks like at the size of the copy.
#[derive(Debug)]
struct Variant {
    guess: ModelParameters,
    seed: u64,
    model: Observation,
    /// The best guess with other losses by chance.
    is_by_chance: bool,
}

impl Model {
    /// Fits a model with the redirector that the copy's client seems to be; if that one does not copy like this, or is not
    /// known, with one made to measure.
    ///
    /// # Errors
    /// [`Why`], if no model fits.
    pub fn of(capture: &Capture, copy: &Copy) -> Result<Self, Why> {
        let connection = capture.connections.get(copy.connection);
        let client = connection.and_then(|connection| connection.parties[0].profile.as_deref());
        let known = client.filter(|client| files::find(files::CLIENTS, client).is_some());
        let model = known.and_then(|client| Self::calibrate(capture, copy, Some(client)).ok());
        model.map_or_else(|| Self::calibrate(capture, copy, None), Ok)
    }

    /// Fits a model to `copy`, which was found in `capture`. `client` is the profile of the redirector that made it, if
    /// it is known.
    ///
    /// # Errors
    /// [`Why`], if no model fits.
    pub fn calibrate(capture: &Capture, copy: &Copy, client: Option<&str>) -> Result<Self, Why> {
        let unknown = Why::TooLittle("its connection is not known");
        let connection = capture.connections.get(copy.connection);
        let connection = connection.ok_or_else(|| unknown.clone())?;
        let seen = Observation::of(capture, copy).ok_or(unknown)?;
        let used = used::of(connection, copy, client)?;
        if !used.is_bulk && seen.requests < MIN_REQUESTS || seen.wall <= 0.0 {
            return Err(Why::TooLittle("it has too few requests"));
        }
        let bench = bench(connection, copy, &used);
        let rare = Rare::of(copy, &seen, used.is_serial);
        let hints = hints(connection, copy);
        let first = ModelParameters {
            at_one_place: hints.burst_place.is_some(),
            ..ModelParameters::first(&seen, &used, connection, copy).with(rare.parts)
        };
        let mut sets = used.sets;
        if !does_so(&bench, &sets, &first, &seen) {
            sets.extend(used.moving);
        }
        let fits = Task::of(&bench, &sets, &seen).fit(first.likeliest(hints.segment), hints)?;
        let mut model = Self {
            bench,
            sets,
            unsure: unsure(&capture.quality) + seen.unknown(),
            seen,
            rare,
            hints,
            fits: Vec::new(),
        };
        model.judge(&fits)?;
        model.vary(fits);
        Ok(model)
    }

    /// How long the copy took.
    pub fn measured(&self) -> Span {
        Span(self.seen.wall as u64)
    }

    /// Events of the lab that this model took until now. They stop at a bound, whatever the capture says.
    pub fn events(&self) -> u64 {
        self.bench.spent.load(Ordering::Relaxed)
    }

    /// How long it takes in the model.
    pub fn baseline(&self) -> Span {
        Span(self.fits.first().map_or(0.0, |fit| fit.model.wall) as u64)
    }

    /// How long it takes with these values of the scenario changed.
    ///
    /// # Errors
    /// [`Why::Lab`] if there are no such values or nothing can be copied with them.
    pub fn predict(&self, changes: &[(String, Value)]) -> Result<Range, Why> {
        let (best, others) = self.fits.split_first().ok_or(Why::TooLittle("no model"))?;
        let mut all = self.changed(best, changes)?.to_vec();
        let mut likely: Vec<f64> = all.first().copied().into_iter().collect();
        for variant in others {
            // a reading of the capture under which it cannot be done says nothing
            let Ok(said) = self.changed(variant, changes) else {
                continue;
            };
            likely.extend(said.first().filter(|_| variant.is_by_chance));
            all.extend(said);
        }
        let mid = median(likely);
        let low = all.iter().copied().fold(mid, f64::min);
        let high = all.iter().copied().fold(mid, f64::max);
        let open = MIN_UNCERTAINTY + self.unsure;
        Ok(Range {
            low: low * (1.0 - open.min(0.9)) / 1e9,
            mid: mid / 1e9,
            high: high * (1.0 + open) / 1e9,
        })
    }

    /// The two changes that bring most together; `None` if no pair brings more than either of its two.
    pub fn best_pair(&self, changes: &[Vec<(String, Value)>]) -> Option<Pair> {
        let mut alone: Vec<(usize, f64)> = (0..changes.len())
            .filter_map(|index| Some((index, self.mid(changes.get(index)?)?)))
            .collect();
        alone.sort_by(|a, b| a.1.total_cmp(&b.1));
        let least = alone.first()?.1;
        alone.truncate(MAX_PAIRED_CHANGES);
        let mut best: Option<([usize; 2], f64)> = None;
        for (place, (one, _)) in alone.iter().enumerate() {
            for (other, _) in alone.iter().skip(place + 1) {
                let both = together(changes.get(*one)?, changes.get(*other)?);
                let mid = both.and_then(|both| self.mid(&both));
                if let Some(mid) = mid.filter(|mid| best.is_none_or(|(_, best)| *mid < best)) {
                    best = Some(([*one, *other], mid));
                }
            }
        }
        let (which, mid) = best?;
        let both = together(changes.get(which[0])?, changes.get(which[1])?)?;
        let range = (mid < least * 0.98).then(|| self.predict(&both).ok())??;
        Some(Pair { which, range })
    }

    fn mid(&self, changes: &[(String, Value)]) -> Option<f64> {
        let (best, others) = self.fits.split_first()?;
        let others = others.iter().filter(|variant| variant.is_by_chance);
        let [mid, ..] = self.changed(best, changes).ok()?;
        let more = others.filter_map(|variant| self.changed(variant, changes).ok());
        Some(median(
            std::iter::once(mid)
                .chain(more.map(|said| said[0]))
                .collect(),
        ))
    }

    /// What a variant says of a change, nanoseconds: each cause in proportion, with what is rare by the second; the same
    /// with that by the request; all in proportion, and with what the model
    /// does not know as it is.
    fn changed(&self, variant: &Variant, changes: &[used::Set]) -> Result<[f64; 6], Why> {
        let mut sets = self.sets.clone();
        sets.extend(variant.guess.sets());
        let changed = self.bench.run(&sets, changes, variant.seed)?;
        let changed = changed.of_size(self.seen.bytes);
        let scaled = changed.wall * self.seen.wall / variant.model.wall.max(1.0);
        // causes say nothing where the model spends its time on others
        let seen = variant.guess.shown(&self.seen, &variant.model);
        let is_alike = seen.distance(&variant.model) < MAX_CAUSE_DIFFERENCE;
        let by_cause = if is_alike {
            seen.in_proportion(&variant.model, &changed)
        } else {
            scaled
        };
        // a loss that the model makes too much of is no time that the change saves
        let added = (changed.wall + self.seen.wall - variant.model.wall).max(by_cause.min(scaled));
        let usual = self.rare.ease(by_cause, &changed);
        let [less, more] = seen.apart(&variant.model, &changed);
        let (low, high) = ((usual - less).max(0.0), usual + more);
        Ok([usual, by_cause, scaled, added, low, high])
    }

    /// A model that misses the copy is none.
    fn judge(&self, fits: &[Fit]) -> Result<(), Why> {
        let best = fits.first().ok_or(Why::TooLittle("no model"))?;
        if (best.model.wall / self.seen.wall - 1.0).abs() <= MAX_MISS {
            return Ok(());
        }
        Err(Why::Misses {
            model_s: best.model.wall / 1e9,
            measured_s: self.seen.wall / 1e9,
        })
    }

    /// Other readings of the capture than the best.
    fn vary(&mut self, fits: Vec<Fit>) {
        let best = fits
            .first()
            .map_or(0.0, |fit| (fit.model.wall / self.seen.wall - 1.0).abs());
        let may_miss = (best * 1.5).clamp(0.05, MAX_MISS);
        // and no reading spends the time on other causes than the copy did, unless the best does
        let apart = |fit: &Fit| fit.guess.shown(&self.seen, &fit.model).distance(&fit.model);
        let may_differ = (fits.first().map_or(0.0, apart) * 1.5).max(MAX_MISS);
        let mut guesses: Vec<(ModelParameters, u64)> = fits
            .iter()
            .map(|fit| (fit.guess.clone(), FIRST_SEED))
            .collect();
        if let Some(best) = fits.first() {
            guesses.extend(self.readings(&best.guess));
        }
        for (guess, seed) in guesses {
            let mut sets = self.sets.clone();
            sets.extend(guess.sets());
            let Ok(model) = self.bench.run(&sets, &[], seed) else {
                continue;
            };
            let model = model.of_size(self.seen.bytes);
            let misses = (model.wall / self.seen.wall - 1.0).abs();
            let apart = guess.shown(&self.seen, &model).distance(&model);
            if self.fits.is_empty() || misses <= may_miss && apart <= may_differ {
                self.fits.push(Variant {
                    guess,
                    seed,
                    model,
                    is_by_chance: seed != FIRST_SEED,
                });
            }
        }
    }

    /// What else the capture allows of a guess that fits: with which seeds.
    fn readings(&self, guess: &ModelParameters) -> Vec<(ModelParameters, u64)> {
        // the server's share is known from requests without data
        let open = if self.seen.bare.is_some() { 1 } else { 2 };
        let mut all: Vec<ModelParameters> = (0..open)
            .flat_map(|side| other_shares(guess, side))
            .collect();
        all.extend(guess.other_windows(&self.hints.windows));
        // a connection that was under way before its capture may have its slow start behind it
        all.extend(self.hints.is_late.then(|| ModelParameters {
            congestion: Congestion::None,
            ..guess.clone()
        }));
        all.extend(guess.of_others(self.hints.segment));
        all.extend(guess.holding());
        all.extend(guess.ticking());
        all.extend(guess.of_unknown_path());
        all.extend(guess.of_larger_buffer());
        let mut all: Vec<(ModelParameters, u64)> =
            all.into_iter().map(|guess| (guess, FIRST_SEED)).collect();
        if matches!(guess.loss, Loss::Random(_)) {
            all.extend(SEEDS.map(|seed| (guess.clone(), seed)));
        }
        all
    }
}

/// Where its model runs, and how much of it.
fn bench(connection: &Connection, copy: &Copy, used: &Used) -> Bench {
    let segment = sender(connection, copy.direction).largest_segment;
    let least = if used.is_bulk { 0 } else { used.block };
    Bench {
        tap: tap(connection.vantage),
        bytes: copy
            .bytes
            .min(simulated(used.block, segment).max(least.saturating_mul(2))),
        is_bulk: used.is_bulk,
        spent: Arc::default(),
        known: Known::default(),
    }
}

/// Bytes of a copy in blocks and segments of these sizes that are simulated at most.
fn simulated(block: u64, segment: u32) -> u64 {
    let segment = u64::from(segment).max(MIN_SEGMENT);
    let by_requests = block.saturating_mul(MAX_MODEL_REQUESTS);
    by_requests
        .min(segment.saturating_mul(MAX_MODEL_SEGMENTS))
        .min(MAX_MODEL_BYTES)
}

/// Whether a client's profile, as it is, moves data as was seen: then it is to choose again when something is changed.
fn does_so(bench: &Bench, sets: &[used::Set], first: &ModelParameters, seen: &Observation) -> bool {
    let mut sets = sets.to_vec();
    let calm = ModelParameters {
        loss: Loss::None,
        ..first.clone()
    };
    sets.extend(calm.sets());
    let model = bench.run(&sets, &[], FIRST_SEED);
    model.is_ok_and(|model| model.main == seen.main)
}

fn hints(connection: &Connection, copy: &Copy) -> Hints {
    let direction = copy.direction;
    let [client, server] = &connection.habits;
    let habits = match direction {
        Direction::ToServer => client,
        Direction::ToClient => server,
    };
    let (losses, there) = habits.burst_losses;
    let is_one_place = losses >= 4 && there > losses / 2;
    let own = sender(connection, direction);
    Hints {
        on_its_way: own.max_in_flight,
        in_round_trip: connection.bytes_in_round_trip(copy),
        timer: habits.shortest_timer.map(|(timer, _)| timer.0 as f64),
        burst_place: habits.burst_place.filter(|_| is_one_place),
        segment: own.largest_segment,
        windows: Windows::of(connection),
        filled: (own.window_full > 0).then(|| receiver(connection, direction).max_window.into()),
        is_late: !connection.has_start,
    }
}

/// The middle one of them; of two in the middle what is between them.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let middle = |place: usize| all.get(place).copied().unwrap_or_default();
    let half = all.len() / 2;
    if all.len().is_multiple_of(2) {
        (middle(half.saturating_sub(1)) + middle(half)) / 2.0
    } else {
        middle(half)
    }
}

/// The same with a machine's time all by the request, or all by the byte, where that is not known and matters.
fn other_shares(guess: &ModelParameters, side: usize) -> impl Iterator<Item = ModelParameters> {
    [-0.3, 0.3].into_iter().filter_map(move |more| {
        let mut guess = guess.clone();
        let share = guess.fixed.get_mut(side)?;
        *share = (*share + more).clamp(0.0, 1.0);
        Some(guess)
    })
}

/// Both changes, unless they change the same thing.
fn together(one: &[used::Set], other: &[used::Set]) -> Option<Vec<used::Set>> {
    let clash = |path: &String| one.iter().any(|(known, _)| known == path);
    if other.iter().any(|(path, _)| clash(path)) {
        return None;
    }
    Some(one.iter().chain(other).cloned().collect())
}

/// How much of a capture's times is not to be believed, by its quality.
fn unsure(quality: &Quality) -> f64 {
    let lost = quality.dropped > 0 || quality.holes > 0 || quality.coalesced > 0;
    let bad = quality.damage.is_some() || quality.skipped_bytes > quality.wire_bytes / 20;
    match (bad, lost) {
        (true, _) => 0.10,
        (false, true) => 0.03,
        (false, false) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_small_segments_and_small_requests_fewer_bytes_are_simulated() {
        for (block, segment, bytes) in [
            (65_536, 1460, MAX_MODEL_BYTES),
            // the smallest usual segment limits nothing
            (65_536, 536, MAX_MODEL_BYTES),
            (65_536, 100, 800_000),
            (65_536, 0, 512_000),
            (512, 1460, 1_024_000),
        ] {
            assert_eq!(simulated(block, segment), bytes, "{block} {segment}");
        }
    }
}
