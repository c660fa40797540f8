//! Which frames a link loses.

use alloc::vec::Vec;

use serde::Deserialize;

/// A rule by which frames are lost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossRule {
    /// None is.
    #[default]
    None,
    /// Each with this probability, independently.
    Random {
        /// 0 to 1.
        probability: f64,
    },
    /// Every n-th.
    Periodic {
        /// Every how many (0: none).
        every: u64,
    },
    /// Two states, good and bad, each with its own probability of loss (Gilbert 1960, Elliott 1963).
    Burst {
        /// Probability that a good state ends at a frame.
        to_bad: f64,
        /// Probability that a bad one does.
        to_good: f64,
        /// Probability that a frame is lost in the good state.
        #[serde(default)]
        loss_good: f64,
        /// And in the bad state.
        loss_bad: f64,
    },
    /// The frames with these numbers, counted from 1.
    Packets {
        /// Ascending or not.
        numbers: Vec<u64>,
    },
}

impl LossRule {
    /// Probabilities are such, and not everything is lost.
    pub fn is_possible(&self) -> bool {
        let part = |p: &f64| (0.0..=1.0).contains(p);
        match self {
            Self::None | Self::Packets { .. } => true,
            Self::Random { probability } => (0.0..1.0).contains(probability),
            Self::Periodic { every } => *every != 1,
            Self::Burst {
                to_bad,
                to_good,
                loss_good,
                loss_bad,
            } => [to_bad, to_good, loss_good, loss_bad].into_iter().all(part) && *to_good > 0.0,
        }
    }
}

/// A rule, and which frames it counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossParams {
    /// The rule.
    pub rule: LossRule,
    /// Only frames with data are counted and lost.
    #[serde(default)]
    pub data_only: bool,
}

impl Default for LossParams {
    fn default() -> Self {
        Self {
            rule: LossRule::None,
            data_only: false,
        }
    }
}

impl LossParams {
    /// Every frame with data is lost with this probability.
    pub const fn random(probability: f64) -> Self {
        Self {
            rule: LossRule::Random { probability },
            data_only: true,
        }
    }
}
