//! The one clock that the engines are told the time by.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coax_wire::time::Time;
use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock, which starts at the wall clock's time. Deadlines are moments of this clock, so that no correction
/// of the time of day moves them. What clients see as the time of day is [`Clock::wall_offset_ns`] away.
#[derive(Debug)]
pub struct Clock {
    start_ns: u64,
    start_unix_ns: u64,
}

impl Clock {
    /// A clock that shows the wall clock's time now.
    pub fn new() -> Self {
        Self {
            start_ns: monotonic_ns(),
            start_unix_ns: wall_ns(),
        }
    }

    /// Now.
    pub fn now(&self) -> Time {
        let elapsed = monotonic_ns().saturating_sub(self.start_ns);
        Time(self.start_unix_ns.saturating_add(elapsed))
    }

    /// How far the wall clock, which shows `wall_ns`, is ahead of this clock, nanoseconds.
    pub fn wall_offset_ns(&self, wall_ns: u64) -> i64 {
        let ahead = i128::from(wall_ns).saturating_sub(i128::from(self.now().0));
        i64::try_from(ahead).unwrap_or(0)
    }

    /// How long until `deadline`; zero if it has passed.
    pub fn until(&self, deadline: Time) -> Duration {
        Duration::from_nanos((deadline - self.now()).0)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// The monotonic clock, nanoseconds: `Instant` without its arithmetic, because a small request reads the clock three times.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
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

/// The wall clock, seconds since 1970.
pub fn wall_s() -> u64 {
    wall_ns() / 1_000_000_000
}

/// The wall clock: nanoseconds since 1970.
pub fn wall_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coax_wire::time::Span;

    #[test]
    fn it_advances_and_agrees_with_the_wall_clock() {
        let clock = Clock::new();
        let first = clock.now();
        assert!(clock.now() >= first);
        assert!(wall_ns().abs_diff(clock.now().0) < Span::from_secs(2).0);
    }

    #[test]
    fn a_step_of_the_wall_clock_is_an_offset_and_moves_no_deadline() {
        let clock = Clock::new();
        let deadline = clock.now() + Span::from_secs(60);
        let hour = 3_600_000_000_000;
        let offset = clock.wall_offset_ns(clock.now().0 - hour);
        assert!((-3_601_000_000_000..=-3_599_000_000_000).contains(&offset));
        assert!(clock.until(deadline) > Duration::from_secs(59));
        assert!(clock.until(deadline) <= Duration::from_secs(60));
    }

    #[test]
    fn a_deadline_that_has_passed_is_due_at_once() {
        let clock = Clock::new();
        assert_eq!(clock.until(Time(0)), Duration::ZERO);
        assert!(clock.until(clock.now() + Span::from_secs(60)) > Duration::from_secs(59));
    }
}
