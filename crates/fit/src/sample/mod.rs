//! Samples of a space of values: Latin hypercubes and Sobol' sequences.
//!
//! A point has a coordinate from 0 to 1 for each varied key. It depends on the method, its number and the seed only, so parts of a sample
//! can be computed on several machines.

mod directions;
pub mod sobol;

use std::str::FromStr;

use anyhow::{Result, ensure};
use coax_lab::rng::Rng;

use self::sobol::{DIMENSIONS, Dimension};

/// Maximum number of points of a Latin hypercube, whose coordinates are kept in memory.
const MAX_LATIN: usize = 1_000_000;

const FORMS: &str = "allowed are latin:N (a Latin hypercube of N points), sobol:N (the first N points of a Sobol' \
                     sequence) and saltelli:N (sensitivity indices from N base points)";

/// A way to choose points, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A Latin hypercube: each of N equal parts of a key's range contains one point.
    /// Source: McKay, Beckman and Conover, Technometrics 21 (1979), 239–245.
    Latin(usize),
    /// The first N points of a Sobol' sequence, where N is a power of two.
    Sobol(usize),
    /// The points for sensitivity indices: for each of N base points of a Sobol' sequence of twice as many dimensions as keys, the
    /// point A of its first half, a point for each key that has this key's coordinate of the second half, and the point B of the second half.
    /// Source: A. Saltelli et al., Computer Physics Communications 181 (2010), 259–270, section 3.
    Saltelli(usize),
}

impl FromStr for Sample {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a sample; {FORMS}");
        let (method, count) = text.split_once(':').ok_or_else(wrong)?;
        let count: usize = count.trim().parse().map_err(|_| wrong())?;
        if matches!(method, "sobol" | "saltelli") && (count < 2 || !count.is_power_of_two()) {
            let next = count.max(2).checked_next_power_of_two().unwrap_or(2);
            return Err(format!(
                "'{text}': a Sobol' sequence is balanced only after a power of two of points; write {method}:{next}"
            ));
        }
        match method {
            "latin" if (2..=MAX_LATIN).contains(&count) => Ok(Self::Latin(count)),
            "latin" => Err(format!(
                "'{text}': a Latin hypercube has 2 to {MAX_LATIN} points"
            )),
            "sobol" => Ok(Self::Sobol(count)),
            "saltelli" => Ok(Self::Saltelli(count)),
            _ => Err(wrong()),
        }
    }
}

impl Sample {
    /// The method's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latin(_) => "latin",
            Self::Sobol(_) => "sobol",
            Self::Saltelli(_) => "saltelli",
        }
    }

    /// Number of points for this number of keys.
    pub const fn points(self, keys: usize) -> usize {
        match self {
            Self::Latin(count) | Self::Sobol(count) => count,
            Self::Saltelli(count) => count.saturating_mul(keys.saturating_add(2)),
        }
    }

    /// Number of points that belong together: a part of the work contains all of them or none.
    pub const fn group(self, keys: usize) -> usize {
        match self {
            Self::Latin(_) | Self::Sobol(_) => 1,
            Self::Saltelli(_) => keys.saturating_add(2),
        }
    }
}

/// The points of a sample.
#[derive(Clone, Debug)]
pub struct Points(Coordinates);

#[derive(Clone, Debug)]
enum Coordinates {
    /// For each key the coordinates of all points.
    Listed(Vec<Vec<f64>>),
    Sobol(Vec<Dimension>),
    Saltelli(Vec<Dimension>, Vec<Dimension>),
}

impl Points {
    /// The points of a sample for this number of keys. Only a Latin hypercube uses the seed, for its random numbers.
    ///
    /// # Errors
    /// More keys than a Sobol' sequence has dimensions.
    pub fn new(sample: Sample, keys: usize, seed: u64) -> Result<Self> {
        let most = match sample {
            Sample::Latin(_) => usize::MAX,
            Sample::Sobol(_) => DIMENSIONS,
            Sample::Saltelli(_) => DIMENSIONS / 2,
        };
        ensure!(
            keys <= most,
            "{} varies at most {most} keys, not {keys}; fix some with --set",
            sample.name()
        );
        let dimensions = |from, to| (from..to).filter_map(Dimension::new).collect();
        Ok(Self(match sample {
            Sample::Latin(count) => Coordinates::Listed(latin(count, keys, seed)),
            Sample::Sobol(_) => Coordinates::Sobol(dimensions(0, keys)),
            Sample::Saltelli(_) => {
                Coordinates::Saltelli(dimensions(0, keys), dimensions(keys, 2 * keys))
            }
        }))
    }

    /// The coordinate of a point for a key: at least 0, less than 1.
    pub fn at(&self, point: usize, key: usize) -> f64 {
        let found = match &self.0 {
            Coordinates::Listed(all) => all.get(key).and_then(|points| points.get(point)).copied(),
            Coordinates::Sobol(dimensions) => dimension(dimensions, key, point),
            Coordinates::Saltelli(first, second) => {
                let group = first.len() + 2;
                let (base, place) = (point / group, point % group);
                let half = match place == key + 1 || place == group - 1 {
                    true => second,
                    false => first,
                };
                dimension(half, key, base)
            }
        };
        found.unwrap_or(0.0)
    }
}

fn dimension(all: &[Dimension], key: usize, point: usize) -> Option<f64> {
    Some(all.get(key)?.at(u32::try_from(point).ok()?))
}

fn latin(count: usize, keys: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(seed);
    (0..keys)
        .map(|key| {
            let mut rng = rng.fork(key as u64);
            let mut parts: Vec<usize> = (0..count).collect();
            for at in (1..count).rev() {
                // the bias of the remainder is below 2^-44
                let other = rng.next_u64() % (at as u64 + 1);
                parts.swap(at, other as usize);
            }
            let parts = parts.into_iter();
            parts
                .map(|part| (part as f64 + unit(&mut rng)) / count as f64)
                .collect()
        })
        .collect()
}

/// A random number of at least 0 and less than 1.
pub fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / 2_f64.powi(53)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_latin_hypercube_has_one_point_in_each_part_of_each_key() {
        for seed in 0..20 {
            let points = Points::new(Sample::Latin(50), 3, seed).unwrap();
            for key in 0..3 {
                let place = |point| (points.at(point, key) * 50.0) as usize;
                let mut parts: Vec<usize> = (0..50).map(place).collect();
                assert!(!parts.iter().copied().eq(0..50), "not in order");
                parts.sort_unstable();
                assert!(parts.into_iter().eq(0..50), "seed {seed}, key {key}");
            }
        }
        let other = |seed| Points::new(Sample::Latin(50), 3, seed).unwrap().at(7, 1);
        assert!(other(1) == other(1) && other(1) != other(2));
    }

    #[test]
    fn a_group_of_saltelli_differs_from_its_first_point_in_one_key_each() {
        let points = Points::new(Sample::Saltelli(8), 3, 0).unwrap();
        let sequence: Vec<_> = (0..6).map(|at| Dimension::new(at).unwrap()).collect();
        for base in 0..8 {
            let of = |place, key| points.at(base * 5 + place, key);
            for key in 0..3 {
                let (a, b) = (of(0, key), of(4, key));
                assert_eq!(a, sequence[key].at(base as u32));
                assert_eq!(b, sequence[key + 3].at(base as u32));
                for place in 1..4 {
                    assert_eq!(of(place, key), if place == key + 1 { b } else { a });
                }
            }
        }
        assert_eq!(Sample::Saltelli(8).points(3), 40);
    }

    #[test]
    fn what_is_no_sample_is_refused_with_what_is() {
        assert_eq!("latin:100".parse(), Ok(Sample::Latin(100)));
        assert_eq!("sobol:128".parse(), Ok(Sample::Sobol(128)));
        assert_eq!("saltelli:2".parse(), Ok(Sample::Saltelli(2)));
        for (text, words) in [
            ("", "is not a sample; allowed are latin:N"),
            ("sobol", "is not a sample"),
            ("grid:5", "is not a sample"),
            ("sobol:100", "write sobol:128"),
            ("saltelli:0", "write saltelli:2"),
            ("sobol:18446744073709551615", "write sobol:2"),
            ("latin:1", "2 to 1000000"),
            ("latin:-1", "is not a sample"),
            ("latin:9999999", "2 to 1000000"),
        ] {
            let error = text.parse::<Sample>().unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let error = Points::new(Sample::Saltelli(2), 21, 0).unwrap_err();
        assert!(error.to_string().contains("at most 20 keys"), "{error}");
        assert!(Points::new(Sample::Sobol(2), 40, 0).is_ok());
    }
}
