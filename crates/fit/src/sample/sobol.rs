//! Points of a Sobol' sequence, computed one by one.
//!
//! Source: P. Bratley and B. L. Fox, Algorithm 659, ACM Transactions on Mathematical Software 14 (1988), 88–100; in the order of Antonov
//! and Saleev (Gray code), which is that of most programs.

use super::directions::DIRECTIONS;

const BITS: usize = 32;

/// Number of dimensions.
pub const DIMENSIONS: usize = DIRECTIONS.len() + 1;

/// One dimension of the sequence.
#[derive(Clone, Debug)]
pub struct Dimension([u32; BITS]);

impl Dimension {
    /// Dimension `at`, from 0; `None` beyond [`DIMENSIONS`].
    pub fn new(at: usize) -> Option<Self> {
        let Some(before) = at.checked_sub(1) else {
            return Some(Self(std::array::from_fn(|bit| 1 << (BITS - 1 - bit))));
        };
        let (polynomial, first) = *DIRECTIONS.get(before)?;
        let degree = first.len();
        let mut all: Vec<u32> = first
            .iter()
            .zip(1..)
            .map(|(number, bit)| number << (BITS - bit))
            .collect();
        while all.len() < BITS {
            let back = |steps: usize| all.get(all.len() - steps).copied().unwrap_or(0);
            let oldest = back(degree);
            let next = (1..degree)
                .filter(|steps| polynomial >> (degree - steps) & 1 == 1)
                .fold(oldest ^ (oldest >> degree), |next, steps| {
                    next ^ back(steps)
                });
            all.push(next);
        }
        all.try_into().ok().map(Self)
    }

    /// The coordinate of a point: at least 0, less than 1.
    pub fn at(&self, point: u32) -> f64 {
        let gray = point ^ (point >> 1);
        let bits = self.0.iter().enumerate();
        let sum = bits
            .filter(|(bit, _)| gray >> bit & 1 == 1)
            .fold(0, |sum, (_, number)| sum ^ number);
        f64::from(sum) / 2_f64.powi(32)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_first_points_are_those_of_the_published_program() {
        let dimensions: Vec<_> = (0..4).map(|at| Dimension::new(at).unwrap()).collect();
        let expected = [
            [0.0, 0.0, 0.0, 0.0],
            [0.5, 0.5, 0.5, 0.5],
            [0.75, 0.25, 0.25, 0.25],
            [0.25, 0.75, 0.75, 0.75],
            [0.375, 0.375, 0.625, 0.875],
            [0.875, 0.875, 0.125, 0.375],
            [0.625, 0.125, 0.875, 0.625],
            [0.125, 0.625, 0.375, 0.125],
        ];
        for (point, row) in (0..).zip(expected) {
            let found: Vec<f64> = dimensions.iter().map(|one| one.at(point)).collect();
            assert_eq!(found, row);
        }
    }

    #[test]
    fn each_dimension_has_one_point_in_each_of_equal_parts() {
        for at in 0..DIMENSIONS {
            let dimension = Dimension::new(at).unwrap();
            let mut parts: Vec<u32> = (0..256)
                .map(|point| (dimension.at(point) * 256.0) as u32)
                .collect();
            parts.sort_unstable();
            assert!(parts.into_iter().eq(0..256), "dimension {at}");
        }
        assert!(Dimension::new(DIMENSIONS).is_none());
    }
}
