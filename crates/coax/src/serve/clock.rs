//! The one clock that the engines are told the time by.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use coax_wire::time::{Span, Time};

/// How far the wall clock may walk away before it is believed again.
const DRIFT: Span = Span::from_secs(2);

/// The wall clock, read once and carried on by the monotonic clock: it does not jump while somebody corrects the time of
/// day a little. [`Clock::correct`] follows a correction that is larger; deadlines set before it move by as much.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    start_unix_ns: AtomicU64,
}

impl Clock {
    /// A clock that shows the wall clock's time now.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            start_unix_ns: AtomicU64::new(wall_ns()),
        }
    }

    /// Now.
    pub fn now(&self) -> Time {
        let base = self.start_unix_ns.load(Ordering::Relaxed);
        Time(base.saturating_add(nanos(self.start.elapsed())))
    }

    /// Follows the wall clock if it is more than two seconds away. To be called every minute or so.
    pub fn correct(&self) {
        self.correct_to(wall_ns());
    }

    fn correct_to(&self, wall_ns: u64) {
        if wall_ns.abs_diff(self.now().0) > DRIFT.0 {
            let base = wall_ns.saturating_sub(nanos(self.start.elapsed()));
            self.start_unix_ns.store(base, Ordering::Relaxed);
        }
    }

    /// How long until `deadline`; zero if it has passed.
    pub fn until(&self, deadline: Time) -> Duration {
        Duration::from_nanos((deadline - self.now()).0)
    }
}

/// A span of time as the standard library has it, saturating at 584 years.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Minutes west of UTC at the moment, as SMB's negotiate response has it, from the system's time zone.
pub fn zone_minutes_west() -> i16 {
    let east_s = jiff::Zoned::now().offset().seconds();
    i16::try_from(-east_s / 60).unwrap_or(0)
}

fn wall_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_advances_and_agrees_with_the_wall_clock() {
        let clock = Clock::new();
        let first = clock.now();
        assert!(clock.now() >= first);
        assert!(wall_ns().abs_diff(clock.now().0) < DRIFT.0);
    }

    #[test]
    fn small_corrections_of_the_wall_clock_are_not_followed_and_large_ones_are() {
        let clock = Clock::new();
        let before = clock.now().0;
        clock.correct_to(before + Span::from_secs(1).0);
        assert!(clock.now().0.abs_diff(before) < Span::from_secs(1).0);
        for hours_later in [before + 3_600_000_000_000, before - 3_600_000_000_000] {
            clock.correct_to(hours_later);
            assert!(clock.now().0.abs_diff(hours_later) < Span::from_secs(1).0);
        }
    }

    #[test]
    fn a_deadline_that_has_passed_is_due_at_once() {
        let clock = Clock::new();
        assert_eq!(clock.until(Time(0)), Duration::ZERO);
        assert!(clock.until(clock.now() + Span::from_secs(60)) > Duration::from_secs(59));
    }
}
