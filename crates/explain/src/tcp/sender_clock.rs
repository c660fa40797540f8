//! The clock of a side's timestamps (RFC 7323), seen behind the path that its packets took: how late a packet is beyond the
//! shortest time, and whether it left before packets that arrived before it.

use std::cmp::Ordering;

use crate::tcp::echoes::timestamps;
use coax_capture::Segment;
use coax_wire::time::{Span, Time};

/// Two quartz clocks drift apart by no more than this, parts per million.
const MAX_DRIFT_PPM: u64 = 100;

/// What the clock shows of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    /// How long it waited in the path, less what a tick and the drift of the clock hide; 0 if that is unknown.
    pub(super) late: Span,
    /// That is known.
    pub(super) is_known: bool,
    /// When it left, compared with the latest that arrived before it.
    pub(super) order: Option<Ordering>,
    /// When it left, all data of its side had come: what made it late was not that.
    pub(super) is_alone: bool,
    /// The same of all its packets: it shows the path anew.
    pub(super) is_first: bool,
}

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderClock {
    first: Option<(u32, Time)>,
    tick: Option<u64>,
    /// Of all packets, the least arrival by the capture's clock less departure by this one, nanoseconds, and when that was.
    least: (i64, Time),
    /// The latest value.
    newest: Option<u32>,
    /// When the latest data came, and the latest packet.
    came: Option<Time>,
    latest: Option<Time>,
}

impl SenderClock {
    /// A packet with these timestamps came at `at`.
    pub(super) fn came(&mut self, segment: &Segment<'_>, at: Time) -> Reading {
        let Some((value, _)) = timestamps(segment.options) else {
            return Reading::default();
        };
        let order = self
            .newest
            .map(|newest| (value.wrapping_sub(newest) as i32).cmp(&0));
        if order != Some(Ordering::Less) {
            self.newest = Some(value);
        }
        let late = self.queued(value, at);
        let left_after = |came: Option<Time>| came.is_none_or(|came| late <= at - came);
        let (is_alone, is_first) = (left_after(self.came), left_after(self.latest));
        self.latest = Some(at);
        if segment.len > 0 {
            self.came = Some(at);
        }
        Reading {
            late,
            is_known: self.tick.is_some(),
            order,
            is_alone,
            is_first,
        }
    }

    /// Another pass has measured the tick and the shortest time. Its first packet is that of this pass.
    pub(super) fn calibrate(&mut self, by: &Self) {
        *self = Self {
            newest: None,
            came: None,
            latest: None,
            ..*by
        };
    }

    fn queued(&mut self, value: u32, at: Time) -> Span {
        let (first, since) = *self.first.get_or_insert((value, at));
        let ticks = u64::from(value.wrapping_sub(first));
        let elapsed = (at - since).0;
        self.tick = self.tick.or_else(|| tick(elapsed, ticks));
        let Some(tick) = self.tick.filter(|_| ticks < 1 << 31) else {
            return Span(0);
        };
        let sent = i64::try_from(ticks.saturating_mul(tick)).unwrap_or(i64::MAX);
        let took = i64::try_from(elapsed)
            .unwrap_or(i64::MAX)
            .saturating_sub(sent);
        if took <= self.least.0 {
            self.least = (took, at);
        }
        let queued = u64::try_from(took.saturating_sub(self.least.0)).unwrap_or(0);
        let drift = (at - self.least.1.max(since)).0 / 1_000_000 * MAX_DRIFT_PPM;
        Span(queued.saturating_sub(tick.saturating_add(drift)))
    }
}

/// The tick of a clock that counted `ticks` in this time, if it is one that a stack uses (RFC 7323 §5.4: 1 ms to 1 s).
fn tick(elapsed: u64, ticks: u64) -> Option<u64> {
    const KNOWN_MS: [u64; 6] = [1, 4, 10, 100, 500, 1000];
    const LEAST: u64 = 200_000_000;
    let measured = elapsed.checked_div(ticks).filter(|_| elapsed >= LEAST)?;
    let near = |tick: &u64| measured.abs_diff(*tick) <= tick / 10;
    KNOWN_MS.map(|ms| ms * 1_000_000).into_iter().find(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_packet_waited_in_a_queue_shows_by_its_sender_s_clock() {
        const MS: u64 = 1_000_000;
        for (tick_ms, queue_ms) in [(1, 50), (4, 60), (10, 90)] {
            let mut clock = SenderClock::default();
            for sent in (0..600).step_by(10) {
                clock.queued((sent / tick_ms) as u32, Time((sent + 5) * MS));
            }
            let found = clock.queued((700 / tick_ms) as u32, Time((705 + queue_ms) * MS));
            assert!(
                found.0 <= queue_ms * MS && found.0 + 2 * tick_ms * MS >= queue_ms * MS,
                "{found:?}"
            );
            // a timer that fires late is no queue
            let found = clock.queued((1700 / tick_ms) as u32, Time(1705 * MS));
            assert!(found.0 <= tick_ms * MS, "{found:?}");
        }
    }

    #[test]
    fn a_clock_of_no_known_tick_or_one_that_goes_back_shows_nothing() {
        const MS: u64 = 1_000_000;
        let mut clock = SenderClock::default();
        for at in 0..100 {
            assert_eq!(clock.queued((at * 7) as u32, Time(at * 20 * MS)), Span(0));
        }
        let mut clock = SenderClock::default();
        for at in 0..100_u64 {
            let _ = clock.queued(1000 + (at * 20) as u32, Time(at * 20 * MS));
        }
        assert_eq!(clock.queued(10, Time(3000 * MS)), Span(0));
        assert_eq!(clock.queued(u32::MAX, Time(u64::MAX)), Span(0));
    }

    #[test]
    fn a_clock_that_drifts_makes_no_packet_late() {
        const MS: u64 = 1_000_000;
        let mut clock = SenderClock::default();
        // 80 parts in a million slower than the capture's
        for at in (0..100_000_u64).step_by(50) {
            let found = clock.queued((at - at * 80 / 1_000_000) as u32, Time((at + 5) * MS));
            assert_eq!(found, Span(0), "{at}");
        }
    }
}
