//! Loss rules of a link.

use coax_catalog::link::{LossParams, LossRule};

use crate::rng::Rng;

/// A loss rule in one direction of a link.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    params: LossParams,
    rng: Rng,
    counted: u64,
    bad: bool,
}

impl Loss {
    pub(super) const fn new(params: LossParams, rng: Rng) -> Self {
        Self {
            params,
            rng,
            counted: 0,
            bad: false,
        }
    }

    /// Whether the current frame is lost.
    pub(super) fn strikes(&mut self, carries_data: bool) -> bool {
        if self.params.data_only && !carries_data {
            return false;
        }
        self.counted = self.counted.saturating_add(1);
        match &self.params.rule {
            LossRule::None => false,
            LossRule::Random { probability } => self.rng.chance(*probability),
            LossRule::Periodic { every } => *every > 0 && self.counted.is_multiple_of(*every),
            LossRule::Packets { numbers } => numbers.contains(&self.counted),
            LossRule::Burst {
                to_bad,
                to_good,
                loss_good,
                loss_bad,
            } => {
                let leaves = if self.bad { *to_good } else { *to_bad };
                if self.rng.chance(leaves) {
                    self.bad = !self.bad;
                }
                self.rng
                    .chance(if self.bad { *loss_bad } else { *loss_good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn lost(rule: LossRule, frames: u64) -> Vec<u64> {
        let params = LossParams {
            rule,
            data_only: false,
        };
        let mut loss = Loss::new(params, Rng::new(3));
        (1..=frames).filter(|_| loss.strikes(true)).collect()
    }

    #[test]
    fn given_and_periodic_frames_are_lost_and_no_others() {
        assert_eq!(
            lost(
                LossRule::Packets {
                    numbers: alloc::vec![4, 2]
                },
                9
            ),
            [2, 4]
        );
        assert_eq!(lost(LossRule::Periodic { every: 3 }, 10), [3, 6, 9]);
        assert!(lost(LossRule::None, 1000).is_empty());
    }

    #[test]
    fn bursts_follow_their_probabilities() {
        let rule = LossRule::Burst {
            to_bad: 0.001,
            to_good: 0.25,
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let lost = lost(rule, 1_000_000);
        // fraction of time in the bad state: 0.001 / 0.251; mean burst length: 4
        assert!((3600..4400).contains(&lost.len()), "{}", lost.len());
        let bursts = lost
            .windows(2)
            .filter(|pair| matches!(pair, [a, b] if b - a > 1))
            .count()
            + 1;
        let mean = lost.len() as f64 / bursts as f64;
        assert!((3.6..4.4).contains(&mean), "{mean}");
    }

    #[test]
    fn a_rule_for_data_alone_leaves_acknowledgments_be() {
        let mut loss = Loss::new(LossParams::random(1.0), Rng::new(1));
        assert!(!loss.strikes(false));
        assert!(loss.strikes(true));
    }
}
