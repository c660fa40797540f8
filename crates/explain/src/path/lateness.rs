//! How much round trips vary, in a bounded number of samples.

use coax_wire::time::Span;

/// Samples that are kept; fewer than the least number tell nothing.
const MOST: usize = 64;
const LEAST: usize = 8;
const PERCENT: usize = 90;

/// Round trips of data and its acknowledgments. As they become too many, every other one is left out, and from then on only
/// every second one is taken, then every fourth, and so on.
#[derive(Debug, Default)]
pub(super) struct Lateness {
    rounds: Vec<u64>,
    stride: u64,
    seen: u64,
}

impl Lateness {
    pub(super) fn add(&mut self, round: Span) {
        self.stride = self.stride.max(1);
        self.seen += 1;
        if !self.seen.is_multiple_of(self.stride) {
            return;
        }
        if self.rounds.len() >= MOST {
            let mut place = 0_usize;
            self.rounds.retain(|_| {
                place += 1;
                place.is_multiple_of(2)
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.rounds.push(round.0);
    }

    /// By how much nine of ten were longer than the shortest at most; `None` if too few are known.
    pub(super) fn known(&self) -> Option<Span> {
        if self.rounds.len() < LEAST {
            return None;
        }
        let mut rounds = self.rounds.clone();
        rounds.sort_unstable();
        let most = rounds.get((rounds.len() - 1) * PERCENT / 100)?;
        Some(Span(most.saturating_sub(*rounds.first()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_nearly_the_longest_beyond_the_shortest_and_unknown_of_few() {
        let mut late = Lateness::default();
        for round in 0..7 {
            late.add(Span(100 + round));
        }
        assert_eq!(late.known(), None);
        for round in 0..10_000 {
            late.add(Span(1000 + round % 100));
        }
        let known = late.known().unwrap_or_default().0;
        assert!((70..=1000).contains(&known), "{known}");
        assert!(late.rounds.len() <= MOST);
    }
}
