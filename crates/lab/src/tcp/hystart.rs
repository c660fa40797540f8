//! HyStart: ends slow start before the queue overflows, when the round-trip time grows (RFC 9406 4.2) or when the ACKs
//! of a round are spread over half a round-trip time (Ha and Rhee, "Taming the elephants: New TCP slow start", Computer
//! Networks 55, 2011).

use coax_wire::time::{Span, Time};

/// Minimum window for HyStart (Ha and Rhee), segments.
pub(super) const MIN_WINDOW: u64 = 16;
/// ACKs with a larger gap do not belong to one train (Ha and Rhee).
const TRAIN_GAP: Span = Span::from_millis(2);
/// Minimum number of samples in a round (RFC 9406 4.3, `N_RTT_SAMPLE`).
const SAMPLES: u32 = 8;
/// `MIN_RTT_THRESH` and `MAX_RTT_THRESH` (RFC 9406 4.3): the significant growth is an eighth of the round-trip time,
/// within these limits.
const MIN_GROWTH: Span = Span::from_millis(4);
const MAX_GROWTH: Span = Span::from_millis(16);

#[derive(Clone, Debug)]
pub(super) struct HyStart {
    round_end: u64,
    began: Time,
    train: Time,
    round_least: u64,
    samples: u32,
    least: u64,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            round_end: 0,
            began: Time(0),
            train: Time(0),
            round_least: u64::MAX,
            samples: 0,
            least: u64::MAX,
        }
    }
}

impl HyStart {
    /// Everything below `una` is acknowledged and everything below `max` is sent; `took` is the latest round-trip time.
    /// True if slow start should end.
    pub(super) fn acknowledged(
        &mut self,
        now: Time,
        una: u64,
        max: u64,
        took: Option<Span>,
    ) -> bool {
        if una > self.round_end {
            self.round_end = max;
            (self.began, self.train) = (now, now);
            (self.round_least, self.samples) = (u64::MAX, 0);
        }
        if let Some(took) = took {
            self.least = self.least.min(took.0);
            self.round_least = self.round_least.min(took.0);
            self.samples = self.samples.saturating_add(1);
        }
        if self.least == u64::MAX {
            return false;
        }
        self.train_is_long(now) || self.round_trip_grew()
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now - self.train > TRAIN_GAP {
            return false;
        }
        self.train = now;
        (now - self.began).0 > self.least / 2
    }

    fn round_trip_grew(&self) -> bool {
        let growth = (self.least / 8).clamp(MIN_GROWTH.0, MAX_GROWTH.0);
        self.samples >= SAMPLES && self.round_least >= self.least.saturating_add(growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The ACKs of one round at intervals of `gap`, each for one byte with this round-trip time. Returns the first that
    /// ends slow start.
    fn round(hystart: &mut HyStart, start: u64, gap: u64, took: u64) -> Option<u64> {
        let una = hystart.round_end;
        (1..=20).find(|i| {
            let now = Time(start + i * gap);
            hystart.acknowledged(now, una + i, una + 20, Some(Span(took)))
        })
    }

    #[test]
    fn a_round_trip_that_grew_by_an_eighth_ends_slow_start_at_the_eighth_measurement() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, 0, 3 * MS, 80 * MS), None);
        assert_eq!(round(&mut hystart, 80 * MS, 3 * MS, 89 * MS), None);
        assert_eq!(round(&mut hystart, 160 * MS, 3 * MS, 90 * MS), Some(8));
    }

    #[test]
    fn less_than_four_milliseconds_of_growth_are_noise() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, 0, 3 * MS, 8 * MS), None);
        assert_eq!(round(&mut hystart, 80 * MS, 3 * MS, 11 * MS), None);
        assert_eq!(round(&mut hystart, 160 * MS, 3 * MS, 12 * MS), Some(8));
    }

    #[test]
    fn acknowledgments_without_gaps_for_half_a_round_trip_end_slow_start() {
        let mut hystart = HyStart::default();
        assert_eq!(round(&mut hystart, 0, MS, 20 * MS), Some(12));
        let mut with_gaps = HyStart::default();
        assert_eq!(round(&mut with_gaps, 0, 3 * MS, 20 * MS), None);
    }
}
