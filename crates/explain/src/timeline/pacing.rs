//! Distances between bursts of a sender that may pace its data.

/// Distances that are compared, and how many of them must be alike.
const COMPARED: usize = 8;
const ALIKE: usize = 6;

/// The latest distances between bursts, from start to start, in picoseconds per byte of the earlier one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BurstPaces {
    /// 0: none.
    paces: [u64; COMPARED],
    next: usize,
    is_paced: bool,
}

impl BurstPaces {
    /// Whether they were in proportion to the bytes, now or earlier: a sender's TCP paces always or never.
    pub(crate) fn is_paced(&self) -> bool {
        self.is_paced
    }

    /// Somebody saw that before.
    pub(crate) fn set_paced(&mut self, is_paced: bool) {
        self.is_paced |= is_paced;
    }

    /// Takes another.
    pub(crate) fn add(&mut self, pace: u64) {
        if let Some(place) = self.paces.get_mut(self.next % COMPARED) {
            *place = pace.max(1);
        }
        self.next = self.next.wrapping_add(1);
        let mut paces = self.paces;
        paces.sort_unstable();
        let mut groups = paces.windows(ALIKE);
        self.is_paced |= groups.any(|group| match group {
            [least, .., most] => *least > 0 && *most - *least <= *least / 4,
            _ => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_paced(paces: &[u64]) -> bool {
        let mut seen = BurstPaces::default();
        paces.iter().for_each(|pace| seen.add(*pace));
        seen.is_paced()
    }

    #[test]
    fn distances_that_are_in_proportion_to_their_bytes_are_pacing() {
        assert!(!is_paced(&[100, 115, 90_000, 104, 121, 107]));
        assert!(is_paced(&[100, 115, 90_000, 104, 121, 107, 110]));
    }

    #[test]
    fn pauses_of_a_program_are_not() {
        let pauses = [100, 300, 200, 800, 150, 900, 400, 100, 120, 700, 90, 2000];
        assert!(!is_paced(&pauses));
    }
}
