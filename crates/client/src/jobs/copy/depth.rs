//! How many requests of a copy are outstanding: no more than moves it faster.

use crate::{jobs::job::Context, profile::InFlight};
use coax_wire::time::{Span, Time};

/// Answers that are timed before anything is said of a number of requests, for each of them, at least.
const ROUND: u32 = 2;
/// The time they are timed for at least: less is chance.
const ROUND_TIME: Span = Span::from_millis(20);
/// Twice as many are kept if with them an answer comes after no more than so many tenths of the time.
const GAIN_TENTHS: u64 = 9;
/// Rounds until twice as many are tried again after they brought nothing; twice as long each time.
const PATIENCE: u32 = 8;

/// See the module. More than a path can carry only wait for each other, in buffers that fit in no cache.
#[derive(Debug)]
pub(super) struct Depth {
    kept: u16,
    most: u16,
    /// What is outstanding now: what is kept, twice as much to see what that brings, or between the two on the way back.
    now: u16,
    /// Whether the path is being tried with more.
    trying: bool,
    /// On the way back: whether the last answer made it one less.
    skips: bool,
    /// Nanoseconds an answer, with what is kept.
    each: u64,
    /// What was sent until then was not yet one of so many.
    since: Option<Time>,
    /// When the round began, and its answers.
    round: Option<(Time, u32)>,
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

    /// So many may be outstanding.
    pub fn allowed(&self, cx: &Context<'_>) -> usize {
        cx.depth(self.now)
    }

    /// A request that was sent then has been answered.
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

    /// One less for two answers: a path that is given nothing at all for some time loses more than is saved.
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

    /// Requests over a path with this round trip, which takes one of them in `each`, both milliseconds: what is kept in the
    /// end.
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
    fn a_long_path_gets_as_many_as_fill_it_and_no_more_than_the_most() {
        assert_eq!(settled(60, 10), 8);
        assert_eq!(settled(500, 10), 16);
    }

    #[test]
    fn where_first_and_most_are_one_number_it_is_always_that() {
        let mut depth = Depth::new(InFlight { first: 5, most: 5 });
        (1..1000).for_each(|n| depth.answered(Time(n), Time(n + 1)));
        assert_eq!(depth.now, 5);
    }
}
