//! How many requests of a copy are outstanding: no more than moves it faster.

use crate::{jobs::Context, profile::InFlight};
use coax_wire::time::Time;

/// Answers that are timed before anything is said of a number of requests, for each of them.
const ROUND: u16 = 4;
/// Twice as many are kept if with them an answer comes after no more than so many fifths of the time.
const GAIN_FIFTHS: u64 = 4;
/// Rounds until twice as many are tried again after they brought nothing; twice as long each time.
const PATIENCE: u32 = 8;

/// See the module. More than a path can carry only wait for each other, in buffers that fit in no cache.
#[derive(Debug)]
pub(super) struct Depth {
    kept: u16,
    most: u16,
    /// Whether twice as many are outstanding, to see what they bring.
    trying: bool,
    /// Nanoseconds an answer, with what is kept.
    each: u64,
    /// What was sent until then was not yet one of so many.
    since: Option<Time>,
    /// When the round began, and its answers.
    round: Option<(Time, u16)>,
    patience: u32,
    /// Rounds until the next trial.
    pause: u32,
}

impl Depth {
    /// As a profile has it.
    pub fn new(InFlight { first, most }: InFlight) -> Self {
        Self {
            kept: first.min(most),
            most,
            trying: false,
            each: u64::MAX,
            since: None,
            round: None,
            patience: PATIENCE,
            pause: 0,
        }
    }

    /// So many may be outstanding.
    pub fn allowed(&self, cx: &Context<'_>) -> usize {
        cx.depth(self.now())
    }

    fn now(&self) -> u16 {
        let times = if self.trying { 2 } else { 1 };
        self.kept.saturating_mul(times).min(self.most)
    }

    /// A request that was sent then has been answered.
    pub fn answered(&mut self, sent: Time, now: Time) {
        if self.kept >= self.most || sent <= *self.since.get_or_insert(sent) {
            return;
        }
        let (began, answers) = self.round.unwrap_or((now, 0));
        if answers < self.now().saturating_mul(ROUND) {
            self.round = Some((began, answers.saturating_add(1)));
            return;
        }
        let took = now.0.saturating_sub(began.0);
        self.judge(took.checked_div(u64::from(answers)).unwrap_or(0), now);
    }

    fn judge(&mut self, each: u64, now: Time) {
        if !self.trying {
            self.each = each;
            self.trying = self.pause == 0;
            self.pause = self.pause.saturating_sub(1);
        } else if each <= (self.each / 5).saturating_mul(GAIN_FIFTHS) {
            self.each = each;
            self.kept = self.now();
        } else {
            self.trying = false;
            self.pause = self.patience;
            self.patience = self.patience.saturating_mul(2);
        }
        (self.since, self.round) = (Some(now), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    /// Requests over a path with this round trip, which takes one of them in `each`: what is kept in the end.
    fn settled(round_trip: u64, each: u64) -> u16 {
        let mut depth = Depth::new(InFlight { first: 4, most: 16 });
        let mut sent: VecDeque<(u64, u64)> = VecDeque::new();
        let (mut now, mut free) = (0, 0);
        for _ in 0..1000 {
            while sent.len() < usize::from(depth.now()) {
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
        assert_eq!(settled(20, 100), 4);
        assert_eq!(settled(0, 100), 4);
    }

    #[test]
    fn a_long_path_gets_as_many_as_fill_it_and_no_more_than_the_most() {
        assert_eq!(settled(600, 100), 8);
        assert_eq!(settled(5_000, 100), 16);
    }

    #[test]
    fn where_first_and_most_are_one_number_it_is_always_that() {
        let mut depth = Depth::new(InFlight { first: 5, most: 5 });
        (1..1000).for_each(|n| depth.answered(Time(n), Time(n + 1)));
        assert_eq!(depth.now(), 5);
    }
}
