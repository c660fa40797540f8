//! Quantiles, correlations, normal numbers.

use coax_lab::rng::Rng;

use crate::sample::unit;

/// A quantile of sorted numbers, interpolated.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let at = |index: usize| sorted.get(index).or(sorted.last()).copied();
    let (low, high) = (at(place.floor() as usize), at(place.ceil() as usize));
    let (low, high) = (low.unwrap_or(f64::NAN), high.unwrap_or(f64::NAN));
    low + (high - low) * place.fract()
}

/// The range that is expected to contain 90 % of further numbers. `draws` is the number of independent draws that the sorted numbers are
/// worth. A further draw falls with the same probability, 1 / (n + 1), between any two neighbours of n draws (Weibull's plotting
/// positions; type 6 of Hyndman and Fan 1996). The quantiles of 48 draws from 5 to 95 % would contain only 86 %.
pub(crate) fn range_90(sorted: &[f64], draws: usize) -> [f64; 2] {
    let draws = draws.max(2) as f64;
    let share = ((0.05 * (draws + 1.0) - 1.0) / (draws - 1.0)).max(0.0);
    [share, 1.0 - share].map(|share| quantile(sorted, share))
}

/// Pearson's correlation; 0 if one of them does not vary.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let count = a.len().min(b.len()).max(1) as f64;
    let mean = |x: &[f64]| x.iter().sum::<f64>() / count;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut both, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        both += (x - mean_a) * (y - mean_b);
        aa += (x - mean_a).powi(2);
        bb += (y - mean_b).powi(2);
    }
    match aa * bb > 0.0 {
        true => both / (aa * bb).sqrt(),
        false => 0.0,
    }
}

/// A normal number with mean 0 and deviation 1 (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - unit(rng), unit(rng));
    (-2.0 * u.ln()).sqrt() * (core::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_the_numbers_and_normal_numbers_are_normal() {
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.5), 3.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        let mut rng = Rng::new(5);
        let mut numbers: Vec<f64> = (0..40_000).map(|_| normal(&mut rng)).collect();
        numbers.sort_by(f64::total_cmp);
        for (share, expected) in [(0.05, -1.645), (0.5, 0.0), (0.95, 1.645), (0.995, 2.576)] {
            let found = quantile(&numbers, share);
            assert!((found - expected).abs() < 0.06, "{share}: {found}");
        }
    }

    #[test]
    fn a_range_of_few_draws_contains_as_many_further_ones_as_it_says() {
        let mut rng = Rng::new(7);
        let mut inside = [0, 0];
        for _ in 0..4_000 {
            let mut draws: Vec<f64> = (0..48).map(|_| normal(&mut rng)).collect();
            draws.sort_by(f64::total_cmp);
            let next = normal(&mut rng);
            let ranges = [
                range_90(&draws, 48),
                [0.05, 0.95].map(|it| quantile(&draws, it)),
            ];
            for (count, [low, high]) in inside.iter_mut().zip(ranges) {
                *count += i32::from((low..=high).contains(&next));
            }
        }
        // 90 % of 4,000 are 3,600; four deviations are 76
        assert!((3_524..=3_676).contains(&inside[0]), "{inside:?}");
        assert!(inside[1] < 3_524, "{inside:?}");
    }

    #[test]
    fn a_range_of_very_few_draws_ends_at_the_outermost() {
        assert_eq!(range_90(&[1.0, 2.0, 3.0], 3), [1.0, 3.0]);
    }

    #[test]
    fn a_correlation_is_one_for_a_line_and_zero_for_a_constant() {
        let a = [1.0, 2.0, 3.0];
        assert!((correlation(&a, &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((correlation(&a, &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&a, &[7.0, 7.0, 7.0]), 0.0);
    }
}
