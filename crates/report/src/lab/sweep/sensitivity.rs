//! Sobol' sensitivity indices: how much of the variance of a result each varied key explains.
//!
//! The first-order index of a key is the share of the variance that disappears on average if the key is known; the total index is the
//! share that remains on average if all others are known. Estimators: first order of A. Saltelli et al., Computer Physics Communications
//! 181 (2010), 259–270, table 2 (b); total of M. J. W. Jansen, Computer Physics Communications 117 (1999), 35–43.

use coax_lab::rng::Rng;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 200;
/// Half the width of a 95 % interval in standard deviations of a normal distribution.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// The indices of one key, shares of the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Indices {
    /// First order.
    pub first: f64,
    /// Half the width of its 95 % confidence interval, from a bootstrap over base points.
    pub first_error: f64,
    /// Total.
    pub total: f64,
    /// Half the width of its 95 % confidence interval.
    pub total_error: f64,
}

/// The indices of all keys from results at the points of [`Sample::Saltelli`](coax_fit::sample::Sample::Saltelli), in their order. `None` if
/// the results are all the same, or are no whole groups.
pub fn indices(results: &[f64], keys: usize) -> Option<Vec<Indices>> {
    let group = keys + 2;
    if results.is_empty() || !results.len().is_multiple_of(group) {
        return None;
    }
    let mean = results.iter().sum::<f64>() / results.len() as f64;
    // less cancellation, and a smaller error of the first order
    let centred: Vec<f64> = results.iter().map(|result| result - mean).collect();
    let groups: Vec<&[f64]> = centred.chunks_exact(group).collect();
    let found = of_groups(&groups, keys)?;
    let sums = bootstrap(&groups, &found);
    let error = |sum: f64, squares: f64| {
        let count = RESAMPLES as f64;
        NORMAL_95 * ((squares - sum * sum / count).max(0.0) / (count - 1.0)).sqrt()
    };
    let all = found.into_iter().zip(sums);
    let all = all.map(|((first, total), [one, ones, other, others])| Indices {
        first,
        first_error: error(one, ones),
        total,
        total_error: error(other, others),
    });
    Some(all.collect())
}

/// Of each key: the sums and the sums of squares of how far the first-order and the total indices of resamples are from those of all groups.
fn bootstrap(groups: &[&[f64]], found: &[(f64, f64)]) -> Vec<[f64; 4]> {
    let mut rng = Rng::new(1);
    let mut sums = vec![[0.0_f64; 4]; found.len()];
    for _ in 0..RESAMPLES {
        let drawn = groups.iter().filter_map(|_| {
            let at = rng.next_u64() % groups.len() as u64;
            groups.get(at as usize).copied()
        });
        let drawn: Vec<&[f64]> = drawn.collect();
        // a resample without variance has the indices of the whole
        let again = of_groups(&drawn, found.len()).unwrap_or_else(|| found.to_vec());
        for ((sum, (first, total)), (of_first, of_total)) in sums.iter_mut().zip(again).zip(found) {
            let (first, total) = (first - of_first, total - of_total);
            let more = [first, first * first, total, total * total];
            sum.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        }
    }
    sums
}

/// First-order and total indices of each key.
fn of_groups(groups: &[&[f64]], keys: usize) -> Option<Vec<(f64, f64)>> {
    let ends = || {
        let ends = groups.iter();
        ends.filter_map(|group| Some((*group.first()?, *group.last()?)))
    };
    let count = 2.0 * groups.len() as f64;
    let mean = ends().map(|(a, b)| a + b).sum::<f64>() / count;
    let squares = ends().map(|(a, b)| (a - mean).powi(2) + (b - mean).powi(2));
    let variance = squares.sum::<f64>() / count;
    if variance <= 0.0 || !variance.is_finite() {
        return None;
    }
    let each = (0..keys).map(|key| {
        let (mut first, mut total) = (0.0, 0.0);
        for (group, (a, b)) in groups.iter().zip(ends()) {
            let mixed = group.get(key + 1).copied().unwrap_or(a);
            first += b * (mixed - a);
            total += (a - mixed).powi(2);
        }
        let count = groups.len() as f64;
        (first / count / variance, total / count / 2.0 / variance)
    });
    Some(each.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use coax_fit::sample::{Points, Sample};

    fn of(count: usize, keys: usize, function: impl Fn(&[f64]) -> f64) -> Vec<Indices> {
        let sample = Sample::Saltelli(count);
        let points = Points::new(sample, keys, 0).unwrap();
        let results: Vec<f64> = (0..sample.points(keys))
            .map(|point| {
                let at: Vec<f64> = (0..keys).map(|key| points.at(point, key)).collect();
                function(&at)
            })
            .collect();
        indices(&results, keys).unwrap()
    }

    fn assert_near(found: &[Indices], first: &[f64], total: &[f64], most: f64) {
        for (key, one) in found.iter().enumerate() {
            assert!((one.first - first[key]).abs() < most, "{key}: {one:?}");
            assert!((one.total - total[key]).abs() < most, "{key}: {one:?}");
        }
        assert_eq!(found.len(), first.len());
    }

    /// T. Ishigami and T. Homma, 1990, with a = 7 and b = 0.1.
    fn ishigami(at: &[f64]) -> f64 {
        let x: Vec<f64> = at.iter().map(|u| PI * (2.0 * u - 1.0)).collect();
        x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
    }

    #[test]
    fn the_indices_of_ishigami_are_the_analytic_ones() {
        let (a, b) = (7.0_f64, 0.1_f64);
        let one = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
        let two = a * a / 8.0;
        let both = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
        let all = one + two + both;
        let first = [one / all, two / all, 0.0];
        let total = [(one + both) / all, two / all, both / all];
        assert_near(&of(8192, 3, ishigami), &first, &total, 0.003);
        // the error falls with the number of points, and the intervals contain the truth
        let few = of(256, 3, ishigami);
        assert_near(&few, &first, &total, 0.06);
        for (key, one) in few.iter().enumerate() {
            assert!(
                (one.first - first[key]).abs() < 1.5 * one.first_error + 0.01,
                "{one:?}"
            );
            assert!(
                (one.total - total[key]).abs() < 1.5 * one.total_error + 0.01,
                "{one:?}"
            );
            assert!(one.total_error < 0.5 && one.first_error < 0.5, "{one:?}");
        }
    }

    #[test]
    fn the_indices_of_sobol_s_g_are_the_analytic_ones() {
        let a = [0.0, 1.0, 4.5, 9.0, 99.0, 99.0];
        let g = |at: &[f64]| {
            let factors = at.iter().zip(a);
            factors
                .map(|(u, a)| ((4.0 * u - 2.0).abs() + a) / (1.0 + a))
                .product()
        };
        let parts: Vec<f64> = a.iter().map(|a| 1.0 / 3.0 / (1.0 + a).powi(2)).collect();
        let product: f64 = parts.iter().map(|part| 1.0 + part).product();
        let all = product - 1.0;
        let first: Vec<f64> = parts.iter().map(|part| part / all).collect();
        let total: Vec<f64> = parts
            .iter()
            .map(|part| part * product / (1.0 + part) / all)
            .collect();
        assert_near(&of(8192, 6, g), &first, &total, 0.01);
    }

    #[test]
    fn a_key_without_effect_has_none_and_a_sum_has_no_interactions() {
        let found = of(1024, 3, |at| 3.0 * at[0] + 4.0 * at[1]);
        assert_near(&found, &[0.36, 0.64, 0.0], &[0.36, 0.64, 0.0], 0.01);
        assert_eq!((found[2].first, found[2].total), (0.0, 0.0));
        assert_eq!(found[2].total_error, 0.0);
    }

    #[test]
    fn results_without_variance_or_in_parts_of_groups_have_no_indices() {
        assert_eq!(indices(&[2.0; 20], 3), None);
        assert_eq!(indices(&[], 3), None);
        assert_eq!(indices(&[1.0, 2.0, 3.0, 4.0], 3), None);
    }
}
