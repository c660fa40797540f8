//! Quantiles of many spans of time in little memory.

use coax_wire::time::Span;

/// So many are kept as they are.
const FEW: usize = 64;
/// Steps within a doubling: quantiles of more than [`FEW`] are right to 3 %.
const STEPS: u32 = 16;
const BUCKETS: usize = 60 * STEPS as usize;

/// A growing set of spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// The first of them; a single one is its own sum, and is not here.
    few: Vec<u64>,
    many: Option<Box<[u32]>>,
    count: u64,
    total: u64,
}

impl Samples {
    /// Adds one.
    pub(crate) fn add(&mut self, span: Span) {
        self.count += 1;
        if self.count == 1 {
            self.total = span.0;
            return;
        }
        self.unfold();
        self.total = self.total.saturating_add(span.0);
        if self.few.len() < FEW {
            self.few.push(span.0);
            return;
        }
        let few = &self.few;
        let many = self.many.get_or_insert_with(|| {
            let mut buckets = vec![0; BUCKETS].into_boxed_slice();
            few.iter().for_each(|value| count_in(&mut buckets, *value));
            buckets
        });
        count_in(many, span.0);
    }

    /// A single one takes its place before others come.
    fn unfold(&mut self) {
        if self.few.is_empty() && self.count > 0 {
            self.few.push(self.total);
        }
    }

    /// Forgets all, and keeps what memory it has.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        self.many = None;
        (self.count, self.total) = (0, 0);
    }

    /// Adds all of another set.
    pub(crate) fn merge(&mut self, other: &Self) {
        let Some(many) = &other.many else {
            if other.count == 1 {
                self.add(other.total());
            }
            return other.few.iter().for_each(|value| self.add(Span(*value)));
        };
        self.unfold();
        let few = &self.few;
        let own = self.many.get_or_insert_with(|| {
            let mut buckets = vec![0; BUCKETS].into_boxed_slice();
            few.iter().for_each(|value| count_in(&mut buckets, *value));
            buckets
        });
        for (own, new) in own.iter_mut().zip(many) {
            *own = own.saturating_add(*new);
        }
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        // what comes from now on is counted in the buckets
        self.few.resize(FEW, 0);
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub(crate) const fn total(&self) -> Span {
        Span(self.total)
    }

    /// The span that `percent` of them do not exceed; `None` of none.
    pub(crate) fn percentile(&self, percent: u64) -> Option<Span> {
        if self.count == 1 {
            return Some(self.total());
        }
        let rank = (self.count * percent).div_ceil(100).max(1);
        let Some(many) = &self.many else {
            let mut sorted = self.few.clone();
            sorted.sort_unstable();
            let place = usize::try_from(rank - 1).ok()?;
            return sorted.get(place).copied().map(Span);
        };
        let mut seen = 0;
        let place = many.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        place.map(|bucket| Span(middle(bucket)))
    }
}

fn count_in(buckets: &mut [u32], value: u64) {
    if let Some(count) = buckets.get_mut(bucket(value)) {
        *count = count.saturating_add(1);
    }
}

fn bucket(value: u64) -> usize {
    let steps = u64::from(STEPS);
    if value < steps {
        return value as usize;
    }
    let octave = value.ilog2() - STEPS.ilog2();
    let step = (value >> octave) - steps;
    ((u64::from(octave) + 1) * steps + step) as usize
}

/// The middle of a bucket's values.
fn middle(bucket: usize) -> u64 {
    let (octave, step) = (
        bucket as u64 / u64::from(STEPS),
        bucket as u64 % u64::from(STEPS),
    );
    match octave.checked_sub(1) {
        None => step,
        Some(octave) => ((u64::from(STEPS) + step) << octave) + ((1 << octave) >> 1),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_few_are_exact_and_of_many_close() {
        let mut samples = Samples::default();
        for value in [30, 10, 20] {
            samples.add(Span(value));
        }
        assert_eq!(samples.percentile(50), Some(Span(20)));
        assert_eq!(samples.percentile(95), Some(Span(30)));
        for value in 0..10_000 {
            samples.add(Span(value * 1_000));
        }
        let median = samples.percentile(50).unwrap().0;
        assert!((4_850_000..5_150_000).contains(&median), "{median}");
        assert_eq!(samples.count(), 10_003);
    }

    #[test]
    fn what_comes_after_many_were_added_at_once_counts_with_them() {
        let (mut few, mut many) = (Samples::default(), Samples::default());
        few.add(Span(5));
        (0..70).for_each(|_| many.add(Span(1_000_000)));
        few.merge(&many);
        (0..60).for_each(|_| few.add(Span(2_000_000)));
        assert_eq!((few.count(), few.total()), (131, Span(190_000_005)));
        let tenths = |percent| few.percentile(percent).unwrap().0 / 100_000;
        assert_eq!([10, 60].map(|percent| (tenths(percent) + 5) / 10), [1, 2]);
    }

    #[test]
    fn every_value_has_a_bucket_whose_middle_is_near() {
        for shift in 0..63 {
            let value = (1_u64 << shift) + (1 << shift) / 3;
            let bucket = bucket(value);
            assert!(bucket < BUCKETS + 2 * STEPS as usize);
            assert!(middle(bucket).abs_diff(value) <= value / 16, "{value}");
        }
    }
}
