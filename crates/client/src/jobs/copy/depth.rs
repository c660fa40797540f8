//! Adjusts the number of outstanding requests of a copy to what the path can use.

use crate::{jobs::job::Context, profile::InFlight};
use coax_wire::time::{Span, Time};

/// Minimum number of measured replies per outstanding request.
const ROUND: u32 = 2;
/// Minimum duration of a measurement; a shorter one is not reliable.
const ROUND_TIME: Span = Span::from_millis(20);
/// A doubled number is kept if the time per reply falls to at most this many tenths.
const GAIN_TENTHS: u64 = 9;
/// Measurements before the next trial after one without effect; doubles each time.
const PATIENCE: u32 = 8;

/// See the module. More requests than the path can carry only queue up and no longer fit into processor caches.
#[derive(Debug)]
pub(super) struct Depth {
    kept: u16,
    most: u16,
    /// The present limit: the kept number, twice as many during a trial, or a number between them after a trial.
    now: u16,
    /// Whether a trial is running.
    trying: bool,
    /// After a trial: whether the last reply reduced the limit.
    skips: bool,
    /// Nanoseconds per reply with the kept number.
    each: u64,
    /// Requests sent before this time belong to the previous limit.
    since: Option<Time>,
    /// Start of the measurement, and its replies.
    round: Option<(Time, u32)>,
    patience: u32,
    /// Measurements until the next trial.
    pause: u32,
}

impl Depth {
    /// The initial state from the profile.
    pub fn new(InFlight { first, most }: InFlight) -> Self {
        Self {
            kept: first.min(most),
            most,
            now: first.min(most),
            trying: false,
            skips: false,
            each: u64::MAX,
            since: None,
            round: None,
            patience: PATIENCE,
            pause: 0,
        }
    }

    /// The present maximum number of outstanding requests.
    pub fn allowed(&self, cx: &Context<'_>) -> usize {
        cx.depth(self.now)
    }

    /// Records the reply to a request sent at `sent`.
    pub fn answered(&mut self, sent: Time, now: Time) {
        if self.kept >= self.most {
            return;
        }
        if !self.trying && self.now > self.kept {
            self.less(now);
        }
        if sent <= *self.since.get_or_insert(sent) {
            return;
        }
        let (began, answers) = self.round.unwrap_or((now, 0));
        self.round = Some((began, answers.saturating_add(1)));
        let took = now.0.saturating_sub(began.0);
        if answers >= u32::from(self.now).saturating_mul(ROUND) && took >= ROUND_TIME.0 {
            self.judge(took.checked_div(u64::from(answers)).unwrap_or(0));
            (self.since, self.round) = (Some(now), None);
        }
    }

    /// Reduces the limit by one for every two replies: an idle path would lose more time than a fast reduction saves.
    fn less(&mut self, now: Time) {
        self.skips = !self.skips;
        self.now -= u16::from(self.skips);
        (self.since, self.round) = (Some(now), None);
    }

    fn judge(&mut self, each: u64) {
        if !self.trying {
            self.each = each;
            self.trying = self.pause == 0;
            self.pause = self.pause.saturating_sub(1);
        } else if each <= (self.each / 10).saturating_mul(GAIN_TENTHS) {
            (self.each, self.kept) = (each, self.now);
        } else {
            self.trying = false;
            self.pause = self.patience;
            self.patience = self.patience.saturating_mul(2);
        }
        if self.trying {
            self.now = self.kept.saturating_mul(2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    /// The final number of requests for a path with this round-trip time and this time per request, both in
    /// milliseconds.
    fn settled(round_trip: u64, each: u64) -> u16 {
        let (round_trip, each) = (round_trip * 1_000_000, each * 1_000_000);
        let mut depth = Depth::new(InFlight { first: 4, most: 16 });
        let mut sent: VecDeque<(u64, u64)> = VecDeque::new();
        let (mut now, mut free) = (0, 0);
        for _ in 0..1000 {
            while sent.len() < usize::from(depth.now) {
                free = now.max(free) + each;
                sent.push_back((now, free + round_trip));
            }
            if let Some((at, answered)) = sent.pop_front() {
                now = answered;
                depth.answered(Time(at), Time(now));
            }
        }
        depth.kept
    }

    #[test]
    fn a_short_path_gets_no_more_than_at_first() {
        assert_eq!(settled(2, 10), 4);
        assert_eq!(settled(0, 10), 4);
    }

    #[test]
    fn a_long_path_gets_enough_requests_within_the_maximum() {
        assert_eq!(settled(60, 10), 8);
        assert_eq!(settled(500, 10), 16);
    }

    #[test]
    fn equal_first_and_maximum_numbers_are_constant() {
        let mut depth = Depth::new(InFlight { first: 5, most: 5 });
        (1..1000).for_each(|n| depth.answered(Time(n), Time(n + 1)));
        assert_eq!(depth.now, 5);
    }
}
