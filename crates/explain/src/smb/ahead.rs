//! Whether a client sends the next request before it has the answer.
//!
//! Behind a small window, the end of a large write arrives long after the answer to the write before it. The server then never has
//! two whole requests, although the client did not wait for the answer. The first byte of a request shows that.

use coax_wire::time::Time;

/// Gaps that are kept of a connection.
const MOST: usize = 64;

/// Fewer gaps show no habit.
const LEAST: usize = 4;

/// Times from an answer to the first byte of the next request for data, ns; negative if the request began first.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    answered: Option<Time>,
    list: Vec<i64>,
    /// How many of them are negative.
    ahead: usize,
}

impl Gaps {
    /// Takes the time at which an answer was complete.
    pub(super) fn answer(&mut self, at: Time) {
        self.answered = Some(at);
    }

    /// Takes the time at which a request for data began, and whether another request had no answer then.
    pub(super) fn request(&mut self, began: Time, others_wait: bool) {
        let Some(answered) = self.answered.filter(|_| self.list.len() < MOST) else {
            return;
        };
        let gap = i64::try_from(began.0).unwrap_or(i64::MAX)
            - i64::try_from(answered.0).unwrap_or(i64::MAX);
        let gap = if others_wait { gap.min(-1) } else { gap };
        self.ahead += usize::from(gap < 0);
        self.list.push(gap);
    }

    /// Whether a quarter of the requests or more began before the answer, as seen from where the capture was taken: a client that
    /// waits for each answer never does so.
    pub(super) fn are_often_negative(&self) -> bool {
        self.list.len() >= LEAST && self.ahead >= self.list.len().div_ceil(4)
    }

    /// When the latest answer was complete.
    pub(super) fn answered(&self) -> Option<Time> {
        self.answered
    }

    /// The middle one.
    pub(super) fn median(&self) -> Option<i64> {
        if self.list.len() < LEAST {
            return None;
        }
        let mut sorted = self.list.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of requests that begin so long after the latest answer, each answered at once.
    fn of(gaps: &[i64]) -> Gaps {
        let mut all = Gaps::default();
        for (number, gap) in (1_000_000..).step_by(1_000_000).zip(gaps) {
            all.answer(Time(number));
            all.request(Time(number.saturating_add_signed(*gap)), false);
        }
        all
    }

    #[test]
    fn the_middle_gap_is_told_with_its_sign() {
        assert_eq!(of(&[5, 7, -3, 900, 6]).median(), Some(6));
        assert_eq!(of(&[-5, -7, 3, -9]).median(), Some(-5));
    }

    #[test]
    fn few_gaps_tell_nothing() {
        assert_eq!(of(&[5, 7, 3]).median(), None);
        assert!(!of(&[-5, -7, -3]).are_often_negative());
    }

    #[test]
    fn a_request_beside_another_was_asked_ahead() {
        let mut all = of(&[10, 10, 10]);
        for _ in 0..4 {
            all.request(Time(9_000_000), true);
        }
        assert_eq!(all.median(), Some(-1));
        assert!(all.are_often_negative());
    }

    #[test]
    fn a_request_before_any_answer_is_left_out() {
        let mut all = Gaps::default();
        for _ in 0..9 {
            all.request(Time(1), false);
        }
        assert_eq!(all.median(), None);
    }

    #[test]
    fn so_many_are_kept() {
        assert_eq!(of(&[1; 500]).list.len(), MOST);
    }
}
