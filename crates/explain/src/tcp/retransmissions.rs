//! What made a side send again, as far as a capture can tell.
//!
//! | sent again | by what |
//! |---|---|
//! | after acknowledgments told of a loss, and until all is acknowledged that was on its way then | a fast retransmission (RFC 5681 §3.2, RFC 6675, RFC 8985 §6) |
//! | the last of several segments on their way, by a side that permits SACK, and nobody had told of a loss | a tail loss probe (RFC 8985 §7.3) |
//! | after a silence that nothing ended | the retransmission timer (RFC 6298 §5) |
//! | after that, until all is acknowledged that was on its way then | what follows a timer |
//!
//! The only segment on its way is sent again after the same time by a probe and by a timer: it is a probe if the same side
//! was seen to probe with more on its way. Of all of them are needless: what the other end had already, as is seen there,
//! is said by a duplicate SACK (RFC 2883), or by an acknowledgment that came too soon to be of the second.

use std::collections::VecDeque;

use crate::report::SentAgain;
use crate::timeline::{Advance, Novelty, is_ignored, is_timer, was_overtaken};
use coax_wire::time::{Span, Time};

/// Segments remembered that may turn out to have been needless.
const MOST: usize = 256;
/// See the module.
#[derive(Debug, Default)]
pub(super) struct Retransmissions {
    told: SentAgain,
    /// The only segment on its way, sent again for the first time.
    sole: u64,
    /// What is being repaired: up to where, and whether a timer began it.
    episode: Option<(u64, bool)>,
    /// Up to where data was acknowledged when nothing but time had it sent again.
    waited: Option<u64>,
    recent: VecDeque<Retransmission>,
    /// How many of them are not acknowledged.
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
struct Retransmission {
    at: Time,
    start: u64,
    end: u64,
    is_needless: bool,
    is_acked: bool,
}

impl Retransmissions {
    /// This side sent data; both sides permit SACK if `sack`.
    pub(super) fn sent(&mut self, step: &Advance, sack: bool) {
        if self.episode.is_some_and(|(until, _)| step.acked >= until) {
            self.episode = None;
        }
        let is_repeat = matches!(step.novelty, Some(Novelty::Again | Novelty::Fill));
        if !is_repeat || was_overtaken(step) {
            return;
        }
        let start = step.end.saturating_sub(step.len);
        self.classify(step, start, sack);
        let is_needless =
            step.novelty == Some(Novelty::Again) && (step.is_behind || step.end <= step.acked);
        self.told.needless += u64::from(is_needless);
        if step.is_behind {
            return;
        }
        if self.recent.len() >= MOST {
            let oldest = self.recent.pop_front();
            let was_waiting = oldest.is_some_and(|repeat| !repeat.is_acked);
            self.waiting = self.waiting.saturating_sub(usize::from(was_waiting));
        }
        self.waiting += usize::from(step.end > step.acked);
        self.recent.push_back(Retransmission {
            at: step.at,
            start,
            end: step.end,
            is_needless,
            is_acked: step.end <= step.acked,
        });
    }

    fn classify(&mut self, step: &Advance, start: u64, sack: bool) {
        let untold = step.told.loss.is_none() && self.episode.is_none();
        if !untold && !is_timer(step) && !is_ignored(step, None) {
            let (until, by_timer) = self.episode.unwrap_or_default();
            self.episode = Some((until.max(step.highest), by_timer));
            let count = if by_timer {
                &mut self.told.after_timer
            } else {
                &mut self.told.fast
            };
            *count += 1;
            return;
        }
        let may_probe = sack
            && untold
            && step.end >= step.highest
            && self.waited.replace(step.acked) != Some(step.acked);
        if may_probe && start > step.acked {
            self.told.probe += 1;
        } else if may_probe {
            self.sole += 1;
        } else {
            self.told.timer += 1;
            self.episode = Some((step.highest, true));
        }
    }

    /// All below `acked` was acknowledged by `at`, and the segment that said so told that it came twice, if it did. From
    /// the capture to whom it acknowledges and back takes `far`.
    pub(super) fn heard(&mut self, acked: u64, twice: Option<(u64, u64)>, at: Time, far: Span) {
        let too_soon = Span(far.0 / 4 * 3);
        for repeat in &mut self.recent {
            let is_told = twice.is_some_and(|(from, to)| from < repeat.end && repeat.start < to);
            let is_first = !repeat.is_acked && acked >= repeat.end;
            if !repeat.is_needless && (is_told || (is_first && at - repeat.at < too_soon)) {
                repeat.is_needless = true;
                self.told.needless += 1;
            }
            if is_first {
                repeat.is_acked = true;
                self.waiting = self.waiting.saturating_sub(1);
            }
        }
    }

    /// Whether an acknowledgment that tells of nothing that came twice tells nothing of what was sent again.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting == 0
    }

    /// What there is to report.
    pub(super) fn report(&self) -> SentAgain {
        let mut told = self.told;
        let sole = if told.probe > 0 {
            &mut told.probe
        } else {
            &mut told.timer
        };
        *sole += self.sole;
        told
    }
}
