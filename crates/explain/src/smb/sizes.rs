//! The usual size of requests.

/// Sizes that are counted at once.
const MOST_SIZES: usize = 8;

/// How many requests had which size: those that many had, by the algorithm of Misra and Gries (1982). A size that more than one request in
/// nine had is among them, with a count that is too small by a ninth of all at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes(Vec<(u64, u64)>);

impl Sizes {
    /// Counts a request of `bytes`.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.add_many(bytes, 1);
    }

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bytes, count) in &other.0 {
            self.add_many(*bytes, *count);
        }
    }

    /// Of the sizes that are at least half as frequent as the most frequent one, the one that moved most bytes: a program that writes
    /// blocks a little larger than a request makes as many small requests as large ones.
    pub(crate) fn usual(&self) -> u64 {
        let most = self.0.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let frequent = self
            .0
            .iter()
            .filter(|(_, count)| *count >= most.div_ceil(2));
        let moved = |(bytes, count): &&(u64, u64)| bytes.saturating_mul(*count);
        frequent.max_by_key(moved).map_or(0, |(bytes, _)| *bytes)
    }

    fn add_many(&mut self, bytes: u64, count: u64) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == bytes) {
            *known = known.saturating_add(count);
            return;
        }
        self.0.push((bytes, count));
        if self.0.len() > MOST_SIZES {
            let least = self.0.iter().map(|(_, count)| *count).min().unwrap_or(0);
            self.0.retain_mut(|(_, count)| {
                *count -= least;
                *count > 0
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    fn of(sizes: impl IntoIterator<Item = u64>) -> Sizes {
        let mut all = Sizes::default();
        sizes.into_iter().for_each(|bytes| all.add(bytes));
        all
    }

    #[test]
    fn as_many_small_requests_as_large_ones_do_not_make_the_last_one_usual() {
        let parts = (0..100).flat_map(|_| [65_465, 71]).chain([21_033]);
        assert_eq!(of(parts).usual(), 65_465);
    }

    #[test]
    fn many_small_requests_are_usual_beside_few_large_ones() {
        assert_eq!(
            of((0..100).map(|n| if n % 5 == 0 { 60_000 } else { 512 })).usual(),
            512
        );
        assert_eq!(of([]).usual(), 0);
    }

    #[test]
    fn a_size_that_most_have_stays_among_any_number_of_others() {
        let all: Vec<u64> = (0..1000)
            .map(|n| if n % 3 == 0 { 4096 } else { n })
            .collect();
        assert_eq!(of(all.iter().copied()).usual(), 4096);
        let (one, other) = all.split_at(501);
        let mut both = of(one.iter().copied());
        both.merge(&of(other.iter().copied()));
        assert_eq!(both.usual(), 4096);
        assert!(both.0.len() <= super::MOST_SIZES);
    }
}
