//! The mean of replicates and its confidence interval.

use std::f64::consts::{FRAC_PI_2, PI};

/// The results of one point with several seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of results.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the mean's 95 % confidence interval by Student's t distribution; `None` for one result.
    pub half_width: Option<f64>,
    /// The least result.
    pub least: f64,
    /// The greatest result.
    pub most: f64,
}

impl Spread {
    /// The spread of some results; `None` of none.
    pub fn of(results: &[f64]) -> Option<Self> {
        let first = *results.first()?;
        let count = results.len();
        // relative to the first, equal results have no spread that is due to rounding
        let mean_step = results.iter().map(|one| one - first).sum::<f64>() / count as f64;
        let mean = first + mean_step;
        let half_width = (count > 1).then(|| {
            let squares = results.iter().map(|one| (one - first - mean_step).powi(2));
            let variance = squares.sum::<f64>() / (count - 1) as f64;
            student_95(count - 1) * (variance / count as f64).sqrt()
        });
        Some(Self {
            count,
            mean,
            half_width,
            least: results.iter().copied().fold(first, f64::min),
            most: results.iter().copied().fold(first, f64::max),
        })
    }
}

/// The 97.5 % quantile of Student's t distribution, by bisection of its finite series for whole degrees of freedom (Abramowitz and
/// Stegun, 26.7.3 and 26.7.4).
fn student_95(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match within(middle, freedom) < 0.95 {
            true => low = middle,
            false => high = middle,
        }
    }
    low.tan() * (freedom as f64).sqrt()
}

/// The probability that |t| is at most tan(angle) · √freedom.
fn within(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
    let mut power = if is_odd { 1 } else { 0 };
    while power + 2 <= freedom {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    match is_odd {
        true => (angle + sine * sum) * 2.0 / PI,
        false => sine * sum,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (9, 2.262_157_163),
            (10, 2.228_138_852),
            (29, 2.045_229_642),
            (30, 2.042_272_456),
            (99, 1.984_216_952),
        ] {
            let found = student_95(freedom);
            assert!((found - expected).abs() < 1e-8, "{freedom}: {found}");
        }
    }

    #[test]
    fn equal_results_have_no_spread_and_one_result_has_no_interval() {
        let same = Spread::of(&[0.1; 7]).unwrap();
        assert_eq!((same.mean, same.half_width), (0.1, Some(0.0)));
        assert_eq!(Spread::of(&[0.1]).unwrap().half_width, None);
        assert_eq!(Spread::of(&[]), None);
        let two = Spread::of(&[1.0, 3.0]).unwrap();
        assert_eq!((two.mean, two.least, two.most), (2.0, 1.0, 3.0));
        assert!((two.half_width.unwrap() - 12.706_204_736).abs() < 1e-8);
    }

    #[test]
    fn nineteen_of_twenty_intervals_contain_the_mean() {
        let mut rng = coax_lab::rng::Rng::new(5);
        // sums of twelve are nearly normal
        let mut normal = || {
            (0..12)
                .map(|_| coax_fit::sample::unit(&mut rng))
                .sum::<f64>()
                - 6.0
        };
        let contains = |results: [f64; 4]| {
            let spread = Spread::of(&results).unwrap();
            spread.mean.abs() <= spread.half_width.unwrap()
        };
        let hits = (0..4000)
            .filter(|_| contains([(); 4].map(|()| normal())))
            .count();
        assert!((3740..3860).contains(&hits), "{hits}");
    }
}
