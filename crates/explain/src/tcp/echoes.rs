//! Round trips by timestamps (RFC 7323 §3.2), seen at the receiver of data: from an acknowledgment to data whose sender had
//! just heard it.

use std::collections::VecDeque;

use coax_capture::Segment;
use coax_wire::time::{Span, Time};

/// Acknowledgments whose echo is waited for.
const MOST: usize = 256;
/// Kind and length of the option.
const KIND: u8 = 8;
const LENGTH: u8 = 10;

/// The values of a timestamps option: the sender's clock, and what it heard last of the other's.
fn timestamps(options: &[u8]) -> Option<(u32, u32)> {
    let mut rest = options;
    loop {
        rest = match rest {
            [KIND, LENGTH, values @ ..] => {
                let (value, values) = values.split_first_chunk::<4>()?;
                let (echo, _) = values.split_first_chunk::<4>()?;
                return Some((u32::from_be_bytes(*value), u32::from_be_bytes(*echo)));
            }
            [1, rest @ ..] => rest,
            [0, ..] | [] => return None,
            [_, len, ..] => rest.get(usize::from(*len).max(2)..)?,
            [_] => return None,
        };
    }
}

/// The clock values of one side's pure acknowledgments, until the other side's data echoes them.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    waiting: VecDeque<(u32, Time)>,
    /// The first value, for the length of a tick.
    first: Option<(u32, Time)>,
    tick: Span,
    /// What was echoed last.
    echoed: Option<u32>,
}

impl Echoes {
    /// The side sent this at `at`.
    pub(super) fn sent(&mut self, segment: &Segment<'_>, at: Time) {
        let Some((value, _)) = timestamps(segment.options).filter(|_| segment.len == 0) else {
            return;
        };
        let (first, since) = *self.first.get_or_insert((value, at));
        let ticks = u64::from(value.wrapping_sub(first));
        self.tick = Span((at - since).0 / ticks.max(1));
        if self.waiting.back().is_some_and(|(last, _)| *last == value) {
            return;
        }
        if self.waiting.len() >= MOST {
            self.waiting.pop_front();
        }
        self.waiting.push_back((value, at));
    }

    /// The other side sent this data at `at`: how long ago the acknowledgment that it had just heard was sent, less what a
    /// tick of the clock hides.
    pub(super) fn came(&mut self, segment: &Segment<'_>, at: Time) -> Option<Span> {
        let (_, echo) = timestamps(segment.options)?;
        if self.echoed.replace(echo) == Some(echo) {
            return None;
        }
        let is_older = |value: u32| (value.wrapping_sub(echo) as i32) < 0;
        while self
            .waiting
            .front()
            .is_some_and(|(value, _)| is_older(*value))
        {
            self.waiting.pop_front();
        }
        let (value, sent) = self.waiting.front()?;
        (*value == echo).then(|| Span((at - *sent).0.saturating_sub(self.tick.0)))
    }
}

/// The clock of a side's timestamps, seen at the receiver of its data: how long a packet took, beyond the shortest time.
#[derive(Debug, Default)]
pub(super) struct SenderClock {
    first: Option<(u32, Time)>,
    tick: Option<u64>,
    /// Of all packets, the least arrival by the capture's clock less departure by this one, nanoseconds.
    least: i64,
}

impl SenderClock {
    /// A packet with these timestamps came at `at`: what it waited in queues, less what a tick hides; 0 if that is unknown.
    pub(super) fn came(&mut self, segment: &Segment<'_>, at: Time) -> Span {
        timestamps(segment.options).map_or(Span(0), |(value, _)| self.queued(value, at))
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
        self.least = self.least.min(took);
        let queued = u64::try_from(took.saturating_sub(self.least)).unwrap_or(0);
        Span(queued.saturating_sub(tick))
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
    fn timestamps_are_found_behind_other_options() {
        let option = [8, 10, 0, 0, 1, 0, 0, 0, 0, 7];
        let with = |before: &[u8]| [before, &option].concat();
        for before in [
            &[][..],
            &[1, 1],
            &[2, 4, 5, 180, 4, 2],
            &[1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(timestamps(&with(before)), Some((256, 7)), "{before:?}");
        }
        for cut in 0..option.len() {
            assert_eq!(timestamps(option.get(..cut).unwrap_or_default()), None);
        }
        assert_eq!(timestamps(&[5, 0, 8, 10]), None);
        assert_eq!(timestamps(&[0, 8, 10]), None);
    }
}
