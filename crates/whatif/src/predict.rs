//! The model of a copy, and what it says of changes.

use coax_explain::report::{Capture, Copy, Quality};
use coax_lab::scenario::Clients;
use coax_wire::time::Span;
use toml::Value;

use crate::{
    Why,
    fit::{Fit, SEED, Task},
    guess::{Guess, Loss},
    run::{Bench, tap},
    seen::Seen,
    used,
};

/// Bytes and requests of a copy that are run; more of the same follows from them.
const MOST_BYTES: u64 = 4_000_000;
const MOST_REQUESTS: u64 = 2_000;
/// A copy of fewer requests or shorter than this says too little.
const LEAST_REQUESTS: f64 = 2.0;
/// The model may miss the measured time by so much, and no more.
pub const MAY_MISS: f64 = 0.25;
/// What is always left open.
const ALWAYS: f64 = 0.02;
/// Seeds beside the first, where there is chance.
const SEEDS: [u64; 3] = [SEED + 1, SEED + 2, SEED + 3];
/// Changes that are tried in pairs: those that alone bring most.
const PAIRED: usize = 4;

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
pub struct Model<'a> {
    bench: Bench<'a>,
    sets: Vec<used::Set>,
    seen: Seen,
    fits: Vec<Variant>,
    /// What of the copy is not known for sure, as a part of it.
    unsure: f64,
}

/// A way to read the capture: a guess, its seed, and how long it takes at the size of the copy.
#[derive(Debug)]
struct Variant {
    guess: Guess,
    seed: u64,
    wall: f64,
}

impl<'a> Model<'a> {
    /// Fits a model to `copy`, which was found in `capture`. `client` is the profile of the redirector that made it, if
    /// it is known; `clients` are the profiles that there are.
    ///
    /// # Errors
    /// [`Why`] there is no model.
    pub fn calibrate(
        capture: &Capture,
        copy: &Copy,
        client: Option<&str>,
        clients: Clients<'a>,
    ) -> Result<Self, Why> {
        let connection = capture.connections.get(copy.connection);
        let connection = connection.ok_or(Why::TooLittle("its connection is not known"))?;
        let seen = Seen::of(capture, copy).ok_or(Why::TooLittle("its connection is not known"))?;
        let used = used::of(connection, copy, client)?;
        if seen.requests < LEAST_REQUESTS || seen.wall <= 0.0 {
            return Err(Why::TooLittle("a request or two say nothing of the next"));
        }
        let most = used.block.saturating_mul(MOST_REQUESTS).min(MOST_BYTES);
        let bench = Bench {
            clients,
            tap: tap(connection.vantage),
            bytes: copy.bytes.min(most.max(used.block.saturating_mul(2))),
        };
        let task = Task {
            bench,
            sets: &used.sets,
            seen: &seen,
        };
        let first = Guess::first(&seen, &used, connection, copy);
        let on_its_way = used::most_on_its_way(connection, copy.direction);
        let fits = task.fit(first, on_its_way)?;
        let mut model = Self {
            bench,
            sets: used.sets,
            unsure: unsure(&capture.quality) + seen.unknown(),
            seen,
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

    /// How long it takes in the model.
    pub fn baseline(&self) -> Span {
        Span(self.fits.first().map_or(0.0, |fit| fit.wall) as u64)
    }

    /// How long it takes with these values of the scenario changed.
    ///
    /// # Errors
    /// [`Why::Lab`] if there are no such values or nothing can be copied with them.
    pub fn predict(&self, changes: &[(String, Value)]) -> Result<Range, Why> {
        let (best, others) = self.fits.split_first().ok_or(Why::TooLittle("no model"))?;
        let mut all = self.changed(best, changes)?.to_vec();
        let mid = all.first().copied().unwrap_or_default();
        for variant in others {
            // a reading of the capture under which it cannot be done says nothing
            all.extend(self.changed(variant, changes).into_iter().flatten());
        }
        let low = all.iter().copied().fold(mid, f64::min);
        let high = all.iter().copied().fold(mid, f64::max);
        let open = ALWAYS + self.unsure;
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
        alone.truncate(PAIRED);
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
        let [mid, _] = self.changed(self.fits.first()?, changes).ok()?;
        Some(mid)
    }

    /// What a variant says of a change, nanoseconds: with what it does not know in proportion, and as it is.
    fn changed(&self, variant: &Variant, changes: &[used::Set]) -> Result<[f64; 2], Why> {
        let mut sets = self.sets.clone();
        sets.extend(variant.guess.sets());
        let changed = self.bench.run(&sets, changes, variant.seed)?;
        let changed = changed.of_size(self.seen.bytes).wall;
        let scaled = changed * self.seen.wall / variant.wall.max(1.0);
        let added = changed + self.seen.wall - variant.wall;
        Ok([scaled, added.max(changed.min(scaled))])
    }

    /// A model that misses the copy is none.
    fn judge(&self, fits: &[Fit]) -> Result<(), Why> {
        let best = fits.first().ok_or(Why::TooLittle("no model"))?;
        if (best.model.wall / self.seen.wall - 1.0).abs() <= MAY_MISS {
            return Ok(());
        }
        Err(Why::Misses {
            model_s: best.model.wall / 1e9,
            measured_s: self.seen.wall / 1e9,
        })
    }

    /// Other readings of the capture than the best.
    fn vary(&mut self, fits: Vec<Fit>) {
        let is_chance = |guess: &Guess| matches!(guess.loss, Loss::Random(_));
        let mut guesses: Vec<(Guess, u64)> = Vec::new();
        for (place, fit) in fits.into_iter().enumerate() {
            guesses.push((fit.guess.clone(), SEED));
            if place > 0 {
                continue;
            }
            for side in 0..2 {
                guesses.extend(other_shares(&fit.guess, side).map(|guess| (guess, SEED)));
            }
            if is_chance(&fit.guess) {
                guesses.extend(SEEDS.map(|seed| (fit.guess.clone(), seed)));
            }
            if !fit.guess.path_known {
                guesses.extend([0.1, 2.0].map(|factor| {
                    let mut guess = fit.guess.clone();
                    guess.path_ps *= factor;
                    (guess, SEED)
                }));
            }
        }
        for (guess, seed) in guesses {
            let mut sets = self.sets.clone();
            sets.extend(guess.sets());
            let Ok(model) = self.bench.run(&sets, &[], seed) else {
                continue;
            };
            let wall = model.of_size(self.seen.bytes).wall;
            if self.fits.is_empty() || (wall / self.seen.wall - 1.0).abs() <= MAY_MISS {
                self.fits.push(Variant { guess, seed, wall });
            }
        }
    }
}

/// The same with a machine's time all by the request, or all by the byte, where that is not known and matters.
fn other_shares(guess: &Guess, side: usize) -> impl Iterator<Item = Guess> {
    let open = guess.fixed.get(side).is_some_and(|share| *share == 0.5);
    let shares = if open { vec![0.2, 0.8] } else { Vec::new() };
    shares.into_iter().filter_map(move |share| {
        let mut guess = guess.clone();
        *guess.fixed.get_mut(side)? = share;
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
    let bad = quality.damage.is_some() || quality.skipped_bytes * 20 > quality.wire_bytes;
    match (bad, lost) {
        (true, _) => 0.10,
        (false, true) => 0.03,
        (false, false) => 0.0,
    }
}
