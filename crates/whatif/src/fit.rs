//! From a first guess to one whose run spends its time as the copy did.

use crate::constants::{
    CONSIDERABLE, EQUAL_MISS_RATIO, FIRST_SEED, FIT_ROUNDS, GOOD_MISS, INITIAL_WINDOWS, KEPT_MISS,
    KEPT_MISS_RATIO, MAX_FITS, MAX_VAIN_ROUNDS, MIN_PROGRESS, RING_PLACING, RTO_RANGE, SHAPING,
    USUAL_RINGS, VISIBLE,
};
use coax_cause::{Cause, Kind};

use crate::{
    Why,
    observation::Observation,
    parameters::{Congestion, Loss, ModelParameters, Ring},
    run::Bench,
    used::Set,
    windows::Windows,
};

/// A guess that was run, and what its run looks like at the size of the copy.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) guess: ModelParameters,
    pub(crate) model: Observation,
    /// How far the model is off: its time, how it is spent, and what part of it is lost.
    pub(crate) misses: f64,
    /// The how-manieth structure it is.
    turn: usize,
}

/// What is fitted, and to what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    bench: &'a Bench,
    sets: &'a [Set],
    seen: &'a Observation,
}

impl<'a> Task<'a> {
    pub(crate) const fn of(bench: &'a Bench, sets: &'a [Set], seen: &'a Observation) -> Self {
        Self { bench, sets, seen }
    }

    /// The best of a few structures, each corrected; then the ones that are nearly as good.
    pub(crate) fn fit(&self, first: ModelParameters, hints: Hints) -> Result<Vec<Fit>, Why> {
        let mut all = Vec::new();
        let mut failed = None;
        let mut now = first.clone();
        for choice in std::iter::once(itself as Choice).chain(CHOICES) {
            for guess in choice(&now, self.seen, hints) {
                // a structure that cannot run at all is none
                match self.correct(guess) {
                    Ok(fit) => all.push(Fit {
                        turn: all.len(),
                        ..fit
                    }),
                    Err(why) => failed = failed.or(Some(why)),
                }
            }
            rank(&mut all);
            if let Some(best) = all.first() {
                now = best.guess.clone();
            }
        }
        let best = all
            .first()
            .map(|best| best.misses)
            .ok_or(failed.unwrap_or(Why::TooLittle("no model")))?;
        all.retain(|fit| fit.misses <= (best * KEPT_MISS_RATIO).max(KEPT_MISS));
        retain_narrow_buffers(&mut all, hints.filled);
        all.truncate(MAX_FITS);
        Ok(all)
    }

    fn run(&self, guess: ModelParameters) -> Result<Fit, Why> {
        let mut sets = self.sets.to_vec();
        sets.extend(guess.sets());
        let model = self.bench.run(&sets, &[], FIRST_SEED)?;
        let model = model.of_size(self.seen.bytes);
        let shown = guess.shown(self.seen, &model);
        let misses =
            (model.wall / self.seen.wall.max(1.0) - 1.0).abs() + shown.distance(&model) / 2.0;
        let misses = misses + self.seen.losses_apart(&model) + guess.prior_penalty();
        Ok(Fit {
            guess,
            model,
            misses,
            turn: 0,
        })
    }

    fn correct(&self, guess: ModelParameters) -> Result<Fit, Why> {
        let mut now = self.run(guess)?;
        let mut best = now.clone();
        let mut in_vain = 0;
        for _ in 0..FIT_ROUNDS {
            if best.misses < GOOD_MISS || in_vain >= MAX_VAIN_ROUNDS {
                break;
            }
            let mut guess = now.guess.clone();
            guess.correct(self.seen, &now.model);
            now = self.run(guess)?;
            in_vain = if now.misses < best.misses * MIN_PROGRESS {
                0
            } else {
                in_vain + 1
            };
            if now.misses < best.misses {
                best = now.clone();
            }
        }
        Ok(best)
    }
}

/// Puts the best first: of those that are as good as told apart, the one that was tried first.
fn rank(all: &mut [Fit]) {
    all.sort_by(|a, b| a.misses.total_cmp(&b.misses));
    let least = all
        .first()
        .map_or(0.0, |best| best.misses * EQUAL_MISS_RATIO)
        + GOOD_MISS / 2.0;
    let alike = all
        .iter()
        .enumerate()
        .take_while(|(_, fit)| fit.misses <= least);
    if let Some((place, _)) = alike.min_by_key(|(_, fit)| fit.turn) {
        all.get_mut(..=place)
            .into_iter()
            .for_each(|to| to.rotate_right(1));
    }
}

/// Drops those with a send buffer that is no smaller than a window that was filled: it limits nothing. The best is kept.
fn retain_narrow_buffers(all: &mut Vec<Fit>, filled: Option<u64>) {
    let Some(window) = filled else {
        return;
    };
    let mut place = 0;
    all.retain(|fit| {
        place += 1;
        place == 1 || fit.guess.send_buffer < window
    });
}

/// What else is known of the copy's sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hints {
    /// The most that it had on its way, bytes.
    pub(crate) on_its_way: u64,
    /// What it sent in a round trip on average, bytes: a capture at the receiver's end does not show the most in flight.
    pub(crate) in_round_trip: u64,
    /// The place in a burst at which it mostly lost.
    pub(crate) burst_place: Option<u64>,
    /// The shortest time after which its timer sent something again, nanoseconds.
    pub(crate) timer: Option<f64>,
    /// Bytes of its longest segment.
    pub(crate) segment: u32,
    /// Whether the connection was under way when its capture began.
    pub(crate) is_late: bool,
    /// What is not known of windows.
    pub(crate) windows: Windows,
    /// The receiver's widest window, bytes, if the sender filled a window.
    pub(crate) filled: Option<u64>,
}

/// Makes other structures of a guess, where the copy asks for them.
type Choice = fn(&ModelParameters, &Observation, Hints) -> Vec<ModelParameters>;

const CHOICES: [Choice; 6] = [windows, pace, acknowledgments, congestion, losses, buffer];

fn itself(guess: &ModelParameters, _: &Observation, _: Hints) -> Vec<ModelParameters> {
    vec![guess.clone()]
}

/// Windows that the capture does not show to be as narrow as it shows them.
fn windows(guess: &ModelParameters, _: &Observation, hints: Hints) -> Vec<ModelParameters> {
    guess.other_windows(&hints.windows)
}

/// Whose pace it is: the path's, or a machine's.
fn pace(guess: &ModelParameters, seen: &Observation, hints: Hints) -> Vec<ModelParameters> {
    let carrying = seen.of_kind(Kind::Path);
    if carrying < seen.wall / SHAPING {
        return Vec::new();
    }
    guess.of_others(hints.segment)
}

fn acknowledgments(guess: &ModelParameters, seen: &Observation, _: Hints) -> Vec<ModelParameters> {
    let held = seen.spent(Cause::NagleDelayedAck);
    let mut all = Vec::new();
    if held < seen.wall / VISIBLE && guess.hold > 0.0 {
        all.push(ModelParameters {
            hold: 0.0,
            ..guess.clone()
        });
    }
    if seen.is_beating {
        all.extend(guess.ticking());
    }
    if held >= seen.wall / VISIBLE {
        let who = guess.who_holds().chain([[false; 2]]);
        let others = who.filter(|who| *who != guess.nagle);
        all.extend(others.map(|nagle| ModelParameters {
            nagle,
            ..guess.clone()
        }));
    }
    all
}

fn congestion(guess: &ModelParameters, seen: &Observation, _: Hints) -> Vec<ModelParameters> {
    // a window that its program closed says nothing of the congestion window
    let causes = Kind::Window.causes().chain(Kind::Recovery.causes());
    let causes = causes.filter(|cause| *cause != Cause::ZeroWindow);
    let kept: f64 = causes.map(|cause| seen.spent(cause)).sum();
    if kept < seen.wall / VISIBLE {
        return Vec::new();
    }
    let [young, old] = INITIAL_WINDOWS.map(Congestion::From);
    [Congestion::None, old, young]
        .into_iter()
        .filter(|congestion| *congestion != guess.congestion)
        .map(|congestion| ModelParameters {
            congestion,
            // what has window scaling begins with ten segments (RFC 6928), what has not with one or two (RFC 5681)
            is_unlikely: congestion != guess.congestion && congestion != Congestion::None,
            ..guess.clone()
        })
        .collect()
}

fn losses(guess: &ModelParameters, seen: &Observation, hints: Hints) -> Vec<ModelParameters> {
    if guess.loss == Loss::None {
        return Vec::new();
    }
    let every = seen.segments / seen.lost.max(1.0);
    let with = |loss| ModelParameters {
        loss,
        ..guess.clone()
    };
    let repairs = seen.of_kind(Kind::Recovery);
    let by_timer = |loss| ModelParameters {
        fast_retransmit: false,
        timer: hints
            .timer
            .unwrap_or((repairs / seen.lost.max(1.0)).clamp(RTO_RANGE[0], RTO_RANGE[1])),
        ..with(loss)
    };
    let mut all = vec![with(Loss::Periodic(every))];
    if repairs > seen.wall / CONSIDERABLE {
        all.push(by_timer(guess.loss));
        all.extend(rings(hints).into_iter().map(|ring| ModelParameters {
            congestion: Congestion::None,
            is_unlikely: false,
            ..by_timer(Loss::Ring(ring))
        }));
    }
    if seen.spent(Cause::Timeout) < seen.wall / CONSIDERABLE {
        all.push(with(Loss::Queue(hints.on_its_way as f64 / 2.0)));
    }
    all
}

/// Cards that lose at the place in a burst where losses were seen, or of usual sizes.
fn rings(hints: Hints) -> Vec<Ring> {
    let at_once = |frames| Ring {
        frames,
        placing: RING_PLACING[0],
    };
    hints.burst_place.map_or_else(
        || USUAL_RINGS.map(at_once).to_vec(),
        |place| Ring::of_burst(place.saturating_sub(1)).to_vec(),
    )
}

fn buffer(guess: &ModelParameters, seen: &Observation, hints: Hints) -> Vec<ModelParameters> {
    let kept = seen.spent(Cause::SendWindow);
    if kept < seen.wall / CONSIDERABLE || guess.loss != Loss::None {
        return Vec::new();
    }
    [hints.on_its_way, hints.in_round_trip]
        .into_iter()
        .filter(|bytes| *bytes > 0)
        .map(|bytes| ModelParameters {
            send_buffer: bytes,
            congestion: Congestion::None,
            ..guess.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::example::guess;

    /// What remains of fits with send buffers of these sizes, when a window of `filled` bytes was filled.
    fn remaining(buffers: &[u64], filled: Option<u64>) -> Vec<u64> {
        let fits = buffers.iter().map(|bytes| Fit {
            guess: ModelParameters {
                send_buffer: *bytes,
                ..guess(80.0, 3000.0)
            },
            model: Observation::default(),
            misses: 0.0,
            turn: 0,
        });
        let mut fits: Vec<_> = fits.collect();
        retain_narrow_buffers(&mut fits, filled);
        fits.iter().map(|fit| fit.guess.send_buffer).collect()
    }

    #[test]
    fn a_send_buffer_as_wide_as_a_filled_window_limits_nothing() {
        let all = [0, 8192, 16_384, 65_536];
        assert_eq!(remaining(&all, Some(16_384)), [0, 8192]);
        // the best stays, whatever its buffer
        assert_eq!(
            remaining(&[65_536, 32_768, 4096], Some(16_384)),
            [65_536, 4096]
        );
        // no window was filled: any buffer may be the limit
        assert_eq!(remaining(&all, None), all);
    }
}
