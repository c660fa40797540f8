//! What one side sent of late, and when the path had carried it.

use std::collections::VecDeque;

use crate::path::Jitter;
use crate::tcp::search_hint::SearchHint;
use crate::timeline::{SentSegment, noise, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

/// Segments remembered of a side. Of more on their way at a time only the latest count.
const MOST: usize = 1024;
/// The same of those that were sent again.
const MOST_AGAIN: usize = 32;

/// What was sent again of late.
#[derive(Clone, Copy, Debug)]
struct Again {
    /// Where its data begins.
    start: u64,
    burst: SentSegment,
    /// What the path took to carry it; nothing if it is not known when that was.
    serial: Span,
    /// What sent it.
    cause: Cause,
    /// It was not acknowledged.
    is_needed: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct SentLog {
    log: VecDeque<SentSegment>,
    /// What was acknowledged last in it.
    acked: SearchHint,
    again: VecDeque<Again>,
    /// The end of the last byte that was, and until when the latest was carried.
    again_until: (u64, Time),
    /// The last that was forgotten in which a message ended.
    whole: Option<SentSegment>,
    /// Until when the path carries all of it, and since when without a pause.
    pub(super) busy: Time,
    pub(super) busy_since: Time,
    /// How unevenly it comes, if it is seen when it was carried.
    pub(super) jitter: Jitter,
}

impl SentLog {
    /// A segment that ends at `end` was captured at `at`. The path takes `serial` to carry it; `is_ahead`: the capture was
    /// taken before that.
    pub(super) fn add(&mut self, at: Time, end: u64, serial: Span, is_ahead: bool) {
        self.note_busy(at, serial, is_ahead);
        let carried = if is_ahead { self.busy } else { at };
        if self.log.back().is_some_and(|last| last.end >= end) {
            return;
        }
        if self.log.len() >= MOST {
            self.pop();
        }
        self.log.push_back(SentSegment {
            at,
            carried,
            end,
            is_whole: false,
        });
    }

    /// The same of data that was sent again.
    pub(super) fn note_busy(&mut self, at: Time, serial: Span, is_ahead: bool) {
        let (begin, end) = if is_ahead {
            (self.busy.max(at), self.busy.max(at) + serial)
        } else {
            (Time(at.0.saturating_sub(serial.0)), at)
        };
        let follows = if is_ahead {
            serial.0 > 0 && begin - self.busy <= noise(serial)
        } else {
            self.jitter.add(at - self.busy, serial)
        };
        if !follows {
            self.busy_since = begin;
        }
        self.busy = end;
    }

    /// Whether it is known when the path carries what is sent again at `at`: nothing is before it, or what is was sent again
    /// too. Behind what may have been lost nobody knows.
    pub(super) fn is_next(&self, at: Time) -> bool {
        let last = self.again.back().filter(|last| last.serial.0 > 0);
        self.busy <= at || last.is_some_and(|last| last.burst.carried == self.busy)
    }

    /// Data from `start` was sent again, and captured and carried as [`Self::add`] has it; `by` what, and what the path
    /// takes for it, nothing if it is not known when.
    pub(super) fn add_again(
        &mut self,
        at: Time,
        (start, end): (u64, u64),
        by: (Cause, Span),
        (is_ahead, is_needed): (bool, bool),
    ) {
        if self.again.len() >= MOST_AGAIN {
            self.again.pop_front();
        }
        let carried = if is_ahead { self.busy } else { at };
        let burst = SentSegment {
            at,
            carried,
            end,
            is_whole: false,
        };
        let (cause, serial) = by;
        self.again.push_back(Again {
            start,
            burst,
            serial,
            cause,
            is_needed,
        });
        self.again_until = (self.again_until.0.max(end), self.again_until.1.max(carried));
    }

    /// What was sent again last that has the byte at `place`.
    pub(super) fn again(&self, place: u64) -> Option<SentSegment> {
        if place >= self.again_until.0 {
            return None;
        }
        let mut latest = self.again.iter().rev();
        let found = latest.find(|again| (again.start..again.burst.end).contains(&place));
        found.map(|again| again.burst)
    }

    /// For how long between the two the path carried what was sent again, and what had sent the last of it.
    pub(super) fn again_between(&self, from: Time, until: Time) -> Option<(Span, Cause)> {
        if self.again_until.1 <= from {
            return None;
        }
        let parts = self.again.iter().map(|again| {
            let begin = Time(again.burst.carried.0.saturating_sub(again.serial.0));
            let part = again.burst.carried.min(until) - begin.max(from);
            (part, again.cause)
        });
        let parts = parts.filter(|(part, _)| part.0 > 0);
        parts.reduce(|(before, _), (part, cause)| (sum(before, part), cause))
    }

    /// The same as `asked`, which was whole for its receiver only when what it lacked had been sent again and carried: if
    /// that was just before `then`, when its answer left at the earliest.
    pub(super) fn mended(&self, asked: SentSegment, then: Time) -> SentSegment {
        const JUST: u64 = 10_000_000;
        let just = |at: Time| at <= then && at.0.saturating_add(JUST) >= then.0;
        if self.again_until.1.0.saturating_add(JUST) < then.0 {
            return asked;
        }
        let again = self
            .again
            .iter()
            .filter(|again| again.is_needed)
            .map(|again| (again.start, again.burst.carried));
        let again = again.filter(|(start, carried)| *start < asked.end && just(*carried));
        let latest = again.map(|(_, carried)| carried).max();
        SentSegment {
            carried: asked.carried.max(latest.unwrap_or_default()),
            ..asked
        }
    }

    /// The last that ends by `end`.
    pub(super) fn up_to(&self, end: u64) -> Option<SentSegment> {
        let later = self.acked.find(&self.log, |sent| sent.end <= end);
        self.log.get(later.checked_sub(1)?).copied()
    }

    /// The first that ends later.
    pub(super) fn after(&self, end: u64) -> Option<&SentSegment> {
        self.log
            .get(self.acked.find(&self.log, |sent| sent.end <= end))
    }

    /// The last that was captured by `at`.
    pub(super) fn captured_by(&self, at: Time) -> Option<SentSegment> {
        let later = self.log.partition_point(|sent| sent.at <= at);
        self.log.get(later.checked_sub(1)?).copied()
    }

    /// The last that had been carried by `then` and in which a message ended. What was acknowledged, up to `acked`, had been
    /// carried, though a path that was taken for slower would not have yet.
    pub(super) fn whole_by(&self, then: Time, acked: u64) -> Option<SentSegment> {
        let has_come = |sent: &SentSegment| {
            sent.carried <= then || (sent.carried > sent.at && sent.end <= acked)
        };
        let known = self.log.partition_point(has_come);
        let mut known = self.log.range(..known).rev();
        known.find(|sent| sent.is_whole).copied().or(self.whole)
    }

    /// A message ended in what was sent last.
    pub(super) fn is_whole(&mut self) {
        if let Some(last) = self.log.back_mut() {
            last.is_whole = true;
        }
    }

    fn pop(&mut self) {
        self.acked.shift();
        if let Some(sent) = self.log.pop_front()
            && sent.is_whole
        {
            self.whole = Some(sent);
        }
    }

    /// Forgets what was acknowledged below `end` and carried before `then`, but for the last of it.
    pub(super) fn forget(&mut self, end: u64, then: Time) {
        while let (Some(_), Some(second)) = (self.log.front(), self.log.get(1))
            && second.end <= end
            && second.carried <= then
        {
            self.pop();
        }
    }
}
