//! How fast the path takes data, by the distances at which its packets come.

use coax_wire::time::Span;

/// Shorter segments, and sizes that differ by less, tell too little of the path's pace, bytes.
pub(super) const TELLING: u64 = 400;
/// Distances in steps of an eighth of a doubling, of nanoseconds per KiB.
const BUCKETS: usize = 256;
/// So many distances have to be known before anything is said.
const ENOUGH: u32 = 3;
/// The path's own are the shortest distances with at least this percentage of all near them, and the most common of those that are near to them (some
/// come sooner after one that came late): all others waited for something else as well.
const COMMON: u32 = 12;
/// Steps that are near to each other.
const NEAR: usize = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Of each step how many distances there were, and their sum; empty as long as there was none.
    seen: Vec<(u32, u64)>,
    count: u32,
    /// Picoseconds a byte.
    current: u64,
}

impl Pace {
    /// `bytes` came `distance` after what was before them. Whether that changes what is known.
    pub(super) fn add(&mut self, distance: Span, bytes: u64) -> bool {
        let per_kib = (distance.0 << 10) / bytes.max(1);
        if self.seen.is_empty() {
            self.seen = vec![(0, 0); BUCKETS];
        }
        let bucket = bucket(per_kib);
        if let Some((count, sum)) = self.seen.get_mut(bucket) {
            *count = count.saturating_add(1);
            *sum = sum.saturating_add(per_kib);
        }
        self.count = self.count.saturating_add(1);
        let is_due = self.count >= ENOUGH
            && (self.count < 16 || self.count.is_power_of_two() || self.count.is_multiple_of(256));
        let before = self.current;
        if is_due {
            self.settle();
        }
        self.current != before
    }

    fn settle(&mut self) {
        let needed = (u64::from(self.count) * u64::from(COMMON) / 100).max(2);
        let windows = self.seen.windows(NEAR).map(|window| {
            window.iter().fold((0, 0_u64), |(count, sum), step| {
                (count + u64::from(step.0), sum.saturating_add(step.1))
            })
        });
        let near = windows.skip_while(|(count, _)| *count < needed).take(2);
        // a few more are no reason to take what is longer
        let most = near.reduce(|before, next| {
            let is_more = next.0 > before.0 + before.0 / 4;
            if is_more { next } else { before }
        });
        if let Some((count, sum)) = most {
            self.current = sum / count * 1000 / 1024;
        }
    }

    /// Picoseconds a byte; `None` as long as nothing is known.
    pub(super) fn known(&self) -> Option<u64> {
        (self.current > 0).then_some(self.current)
    }
}

fn bucket(value: u64) -> usize {
    if value < 8 {
        return value as usize;
    }
    let octave = value.ilog2() - 3;
    (u64::from(octave + 1) * 8 + (value >> octave) - 8) as usize
}

/// How exchanges grow with their size, where no packets follow each other: the path's share in it.
#[derive(Debug, Default)]
pub(super) struct Slope {
    /// Of each size the shortest, and its bytes.
    least: Vec<(Span, u64)>,
    current: u64,
    /// The least picoseconds per byte of the fastest exchanges, from the least on: a path that takes longer did not carry them.
    fastest: [Option<u64>; CONTRADICTIONS],
}

/// Sizes this near to each other are one, bytes.
const CLASS: u64 = 32;
/// Larger exchanges tell nothing.
const LARGEST: u64 = 8192;
/// Sizes that are looked at.
const SIZES: usize = 16;
/// The number of sizes that must lie on one line. If the sizes differ little, one more must.
const ON_A_LINE: usize = 3;
/// Sizes also differ enough if the largest takes this part (one third) of the smallest one's time longer: a program's own time varies less.
const TELLING_RISE: u64 = 3;
/// So many exchanges that were faster contradict it: one may have been under way already.
const CONTRADICTIONS: usize = 3;

impl Slope {
    /// An exchange of `bytes` took `time`. Whether that changes what is known.
    pub(super) fn add(&mut self, time: Span, bytes: u64) -> bool {
        let before = self.known();
        let took = time.0.saturating_mul(1000) / bytes.max(1);
        let slower = |known: &Option<u64>| known.is_none_or(|known| known > took);
        if let Some(place) = self.fastest.iter().position(slower)
            && let Some(slower) = self.fastest.get_mut(place..)
        {
            slower.rotate_right(1);
            slower
                .first_mut()
                .into_iter()
                .for_each(|first| *first = Some(took));
        }
        if bytes <= LARGEST {
            self.note(time, bytes);
        }
        self.known() != before
    }

    fn note(&mut self, time: Span, bytes: u64) {
        let class = |bytes: u64| bytes / CLASS;
        let place = self
            .least
            .partition_point(|(_, known)| class(*known) < class(bytes));
        let is_full = self.least.len() >= SIZES;
        match self.least.get_mut(place) {
            Some(known) if class(known.1) == class(bytes) => {
                if known.0 <= time {
                    return;
                }
                *known = (time, bytes);
            }
            _ if is_full => return,
            _ => self.least.insert(place, (time, bytes)),
        }
        self.settle();
    }

    /// The line on which most sizes lie, if that is most of them: what some take longer is think time, and what takes
    /// less was under way already.
    fn settle(&mut self) {
        let points = &self.least;
        let lines = points.iter().enumerate().flat_map(|(place, few)| {
            let more = points.get(place + 1..).unwrap_or_default();
            more.iter().filter_map(|many| Line::through(*few, *many))
        });
        let support = |line: &Line| points.iter().filter(|point| line.has(point)).count();
        // sizes that are near to one end of the line agree with it wherever the other end is
        let has_middle = |line: &Line| points.iter().any(|it| line.has(it) && line.is_between(it));
        let needed = |line: &Line| ON_A_LINE + usize::from(!line.is_telling);
        let best = lines
            .filter(has_middle)
            .map(|line| (support(&line), line.rise, line.slope, needed(&line)))
            .max();
        let agreed =
            best.filter(|(count, .., needed)| count >= needed && *count * 3 >= points.len() * 2);
        self.current = agreed.map_or(0, |(_, _, slope, _)| slope);
    }

    /// Picoseconds a byte.
    pub(super) fn known(&self) -> Option<u64> {
        let [.., most] = self.fastest;
        let is_possible = most.is_none_or(|fastest| self.current <= fastest);
        (self.current > 0 && is_possible).then_some(self.current)
    }
}

/// What exchanges take that differ in size alone.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: (Span, u64),
    /// Bytes of the other.
    to: u64,
    /// Picoseconds a byte.
    slope: u64,
    /// What the larger of the two that it was drawn through took longer.
    rise: Span,
    /// Its sizes differ much, or by a third in time: else what differs may as well be the time that a program took.
    is_telling: bool,
}

impl Line {
    /// `None` if the larger does not take longer, or takes longer by more than the smaller one's whole time.
    fn through(few: (Span, u64), many: (Span, u64)) -> Option<Self> {
        let rise = Span(many.0.0.checked_sub(few.0.0)?);
        let bytes = many.1.checked_sub(few.1)?;
        let slope = rise.0.saturating_mul(1000) / bytes.max(1);
        let carried = slope.saturating_mul(few.1) / 1000;
        let is_clear = bytes >= CLASS && carried <= few.0.0.saturating_add(rise.0 / 16);
        is_clear.then_some(Self {
            from: few,
            to: many.1,
            is_telling: bytes >= TELLING || rise.0 >= few.0.0 / TELLING_RISE,
            slope,
            rise,
        })
    }

    /// Whether a size is between the two that it was drawn through, and near to neither.
    fn is_between(&self, (_, bytes): &(Span, u64)) -> bool {
        let span = self.to.saturating_sub(self.from.1);
        let far = |distance: u64| distance.saturating_mul(8) >= span;
        far(bytes.saturating_sub(self.from.1)) && far(self.to.saturating_sub(*bytes))
    }

    fn has(&self, point: &(Span, u64)) -> bool {
        let (time, bytes) = *point;
        let rise = |bytes: u64| self.slope.saturating_mul(bytes) / 1000;
        let there = if bytes >= self.from.1 {
            self.from.0.0.saturating_add(rise(bytes - self.from.1))
        } else {
            self.from.0.0.saturating_sub(rise(self.from.1 - bytes))
        };
        there.abs_diff(time.0) <= self.rise.0 / 16
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
                1514,
            );
        }
        let took = pace.known().unwrap_or_default();
        assert!((770_000..830_000).contains(&took), "{took}");
    }

    #[test]
    fn the_pace_is_the_shortest_common_distance_not_the_most_common() {
        let mut pace = Pace::default();
        for gap in 0..100 {
            let distance = match gap % 5 {
                0 => 1_211_200,
                _ => 9_000_000 + gap * 50_000,
            };
            pace.add(Span(distance), 1514);
        }
        let took = pace.known().unwrap_or_default();
        assert!((770_000..830_000).contains(&took), "{took}");
    }

    #[test]
    fn nothing_is_said_of_few() {
        let mut pace = Pace::default();
        pace.add(Span(1_000_000), 1000);
        assert_eq!(pace.known(), None);
    }

    #[test]
    fn few_sizes_that_differ_little_tell_nothing_unless_they_differ_much_in_time() {
        let mut slope = Slope::default();
        // a log-on over 100 Mbit/s, of which the program's own time happens to lie on a line
        for (time, bytes) in [(827_147, 227), (1_007_255, 320), (1_054_304, 354)] {
            slope.add(Span(time), bytes);
        }
        assert_eq!(slope.known(), None);
        // the same sizes over a modem
        let mut slope = Slope::default();
        for bytes in [227, 290, 354] {
            slope.add(Span(10_000_000 + bytes * 143_000), bytes);
        }
        let took = slope.known().unwrap_or_default();
        assert!((140_000_000..146_000_000).contains(&took), "{took}");
    }

    #[test]
    fn large_exchanges_tell_the_pace_by_what_they_take_longer() {
        let mut slope = Slope::default();
        slope.add(Span(700_000), 200);
        slope.add(Span(1_500_000), 1200);
        slope.add(Span(9_500_000), 1200);
        assert_eq!(slope.known(), None);
        slope.add(Span(1_100_000), 700);
        assert_eq!(slope.known(), Some(800_000));
    }

    #[test]
    fn a_slope_that_a_larger_exchange_contradicts_is_none() {
        let mut slope = Slope::default();
        for bytes in [160, 300, 600] {
            slope.add(Span(10_000_000 + bytes * 8000), bytes);
        }
        assert_eq!(slope.known(), Some(8_000_000));
        for (faster, known) in [(1, true), (2, true), (3, false)] {
            slope.add(Span(12_000_000 + faster), 3000);
            assert_eq!(slope.known().is_some(), known);
        }
    }

    #[test]
    fn sizes_that_do_not_lie_on_a_line_tell_nothing() {
        let mut slope = Slope::default();
        for (time, bytes) in [(1_000_000, 160), (9_000_000, 300), (9_500_000, 600)] {
            slope.add(Span(time), bytes);
        }
        assert_eq!(slope.known(), None);
    }

    #[test]
    fn a_large_size_alone_tells_nothing() {
        // a copy from a slow disk: all exchanges before the reads have about the same size
        let mut slope = Slope::default();
        for (time, bytes) in [(900_000, 264), (1_190_000, 303), (1_090_000, 329)] {
            slope.add(Span(time), bytes);
        }
        slope.add(Span(3_840_000), 1281);
        assert_eq!(slope.known(), None);
    }

    #[test]
    fn one_exchange_that_was_under_way_already_does_not_hide_the_pace() {
        let mut slope = Slope::default();
        for bytes in [252, 296, 322, 365, 1474] {
            slope.add(Span(200_000 + bytes * 143_000), bytes);
        }
        slope.add(Span(39_400_000), 1667);
        assert_eq!(slope.known(), Some(143_000_000));
    }

    #[test]
    fn what_all_exchanges_but_the_smallest_have_is_not_the_pace() {
        let mut slope = Slope::default();
        for bytes in [160, 300, 600] {
            slope.add(Span(10_000_000 + bytes * 800), bytes);
        }
        slope.add(Span(100_000), 120);
        assert_eq!(slope.known(), Some(800_000));
    }
}
