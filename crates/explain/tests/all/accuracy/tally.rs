//! Figures over many cases.

use coax_explain::{Account, Cause};

use super::run::{Outcome, Truth, shares};

/// Where the truth's largest causes are as near to each other as this, points, either is right.
const TIE: f64 = 2.0;
/// Causes below this in both accounts are no part of the mean error of a share, points.
const PRESENT: f64 = 0.5;

/// One account beside the truth.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// The cause said to take most is the one that does.
    pub right: bool,
    /// Time that was charged to a wrong cause, points.
    pub distance: f64,
    /// Sum and number of the errors of shares.
    pub errors: (f64, f64),
    pub unattributed: f64,
    pub said: Cause,
    pub largest: Cause,
}

/// Compares.
pub fn verdict(truth: &Account, said: &Account) -> Verdict {
    let (real, told) = (shares(truth), shares(said));
    let largest = truth.dominant();
    let named = said.dominant();
    let mut errors = (0.0, 0.0);
    let mut distance = 0.0;
    for (a, b) in real.iter().zip(&told) {
        distance += (a - b).abs() / 2.0;
        if a.max(*b) >= PRESENT {
            errors.0 += (a - b).abs();
            errors.1 += 1.0;
        }
    }
    Verdict {
        right: real[named as usize] + TIE >= real[largest as usize],
        distance,
        errors,
        unattributed: told[Cause::Unattributed as usize],
        said: named,
        largest,
    }
}

/// True causes against reported ones, in points, summed over cases.
#[derive(Clone, Debug, Default)]
pub struct Confusion([[f64; Cause::COUNT]; Cause::COUNT]);

impl Confusion {
    /// What both accounts have of a cause is right; what one has too much of is set against what it has too little of,
    /// in proportion.
    pub fn add(&mut self, truth: &Account, said: &Account) {
        let (real, told) = (shares(truth), shares(said));
        let over: f64 = real.iter().zip(&told).map(|(a, b)| (b - a).max(0.0)).sum();
        for (from, row) in self.0.iter_mut().enumerate() {
            row[from] += real[from].min(told[from]);
            let missing = (real[from] - told[from]).max(0.0);
            for (to, cell) in row.iter_mut().enumerate() {
                if over > 0.0 {
                    *cell += missing * (told[to] - real[to]).max(0.0) / over;
                }
            }
        }
    }

    /// Of a true cause, points of each reported one.
    pub fn row(&self, cause: Cause) -> Option<[f64; Cause::COUNT]> {
        let row = self.0[cause as usize];
        let sum: f64 = row.iter().sum();
        (sum > 0.0).then(|| row.map(|cell| cell * 100.0 / sum))
    }
}

/// Sums over some cases.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub cases: usize,
    pub right: usize,
    distance: f64,
    errors: (f64, f64),
    unattributed: Vec<f64>,
}

impl Figures {
    pub fn add(&mut self, verdict: &Verdict) {
        self.cases += 1;
        self.right += usize::from(verdict.right);
        self.distance += verdict.distance;
        self.errors.0 += verdict.errors.0;
        self.errors.1 += verdict.errors.1;
        self.unattributed.push(verdict.unattributed);
    }

    /// Dominant causes that were right, points.
    pub fn right_share(&self) -> f64 {
        self.right as f64 * 100.0 / self.cases.max(1) as f64
    }

    /// Mean of the time charged wrongly, points.
    pub fn distance(&self) -> f64 {
        self.distance / self.cases.max(1) as f64
    }

    /// Mean error of a share, points.
    pub fn error(&self) -> f64 {
        self.errors.0 / self.errors.1.max(1.0)
    }

    pub fn unattributed_median(&self) -> f64 {
        let mut all = self.unattributed.clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

/// Figures of those outcomes and vantages that `wanted` picks.
pub fn figures(
    outcomes: &[Outcome],
    truth: Truth,
    wanted: impl Fn(&Outcome, usize) -> bool,
) -> Figures {
    let mut figures = Figures::default();
    for outcome in outcomes {
        for (place, said) in outcome.said.iter().enumerate() {
            if let Some(said) = said
                && wanted(outcome, place)
            {
                figures.add(&verdict(said.truth(truth), &said.account));
            }
        }
    }
    figures
}
