//! How fast the path takes data, by the distances at which its packets come.

use coax_wire::time::Span;

/// Distances in steps of an eighth of a doubling, of nanoseconds per KiB.
const BUCKETS: usize = 256;
/// So many distances have to be known before anything is said.
const ENOUGH: u32 = 16;

/// See the module: the median of the distances per byte between packets sent one after the other, which is what the
/// slowest link made of them.
#[derive(Debug)]
pub(super) struct Pace {
    seen: Box<[u32]>,
    count: u32,
    /// Picoseconds a byte.
    current: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            seen: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            current: 0,
        }
    }
}

impl Pace {
    /// `bytes` came `distance` after what was before them.
    pub(super) fn add(&mut self, distance: Span, bytes: u64) {
        let per_kib = (distance.0 << 10) / bytes.max(1);
        let bucket = bucket(per_kib);
        if let Some(count) = self.seen.get_mut(bucket) {
            *count = count.saturating_add(1);
        }
        self.count = self.count.saturating_add(1);
        let is_due = self.count >= ENOUGH
            && (self.count.is_power_of_two() || self.count.is_multiple_of(256));
        if is_due {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let mut before = 0;
        let median = self.seen.iter().position(|count| {
            before += count;
            before >= self.count.div_ceil(2)
        });
        self.current = median.map_or(0, |bucket| middle(bucket) * 1000 / 1024);
    }

    /// Picoseconds a byte, if anything is known.
    pub(super) const fn per_byte(&self) -> Option<u64> {
        match self.current {
            0 => None,
            known => Some(known),
        }
    }

    /// How long `bytes` take; 0 as long as nothing is known.
    pub(super) fn time_of(&self, bytes: u64) -> Span {
        Span(self.current.saturating_mul(bytes) / 1000)
    }
}

fn bucket(value: u64) -> usize {
    if value < 8 {
        return value as usize;
    }
    let octave = value.ilog2() - 3;
    (u64::from(octave + 1) * 8 + (value >> octave) - 8) as usize
}

fn middle(bucket: usize) -> u64 {
    let (octave, step) = (bucket as u64 / 8, bucket as u64 % 8);
    match octave.checked_sub(1) {
        None => step,
        Some(octave) => ((8 + step) << octave) + (1 << octave >> 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_megabits_take_800_nanoseconds_a_byte() {
        let mut pace = Pace::default();
        for gap in 0..100 {
            pace.add(
                Span(if gap % 10 == 0 { 9_000_000 } else { 1_211_200 }),
                1460,
            );
        }
        let took = pace.time_of(1514).0;
        assert!((1_150_000..1_350_000).contains(&took), "{took}");
    }

    #[test]
    fn nothing_is_said_of_few() {
        let mut pace = Pace::default();
        pace.add(Span(1_000_000), 1000);
        assert_eq!(pace.time_of(1000), Span(0));
    }
}
