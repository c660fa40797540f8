//! Events that others can cause at will: the first of each kind is reported at once, repetitions only as a number when a
//! window of time ends.

use coax_wire::time::{Span, Time};

/// Kinds of events that are counted separately; further ones are only counted together.
pub(super) const DISTINCT: usize = 32;

/// How long repetitions are counted before their number is reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// After the first event of a kind.
    pub(super) first: Span,
    /// A window is twice as long as the one before up to this: an event that never stops costs a few lines an hour.
    pub(super) longest: Span,
}

/// An event of which repetitions are counted.
pub(super) trait Repeatable: Clone {
    /// Whether both are of one kind.
    fn is_same(&self, other: &Self) -> bool;
}

/// The events of late: those reported and those only counted.
#[derive(Debug)]
pub(super) struct Repeats<E> {
    windows: Windows,
    seen: Vec<Seen<E>>,
    /// Events beyond [`DISTINCT`] kinds, and until when they are counted.
    others: Option<(u64, Time)>,
}

#[derive(Debug)]
struct Seen<E> {
    /// The most recent one.
    event: E,
    count: u64,
    window: Span,
    until: Time,
}

/// A number to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report<E> {
    /// The last event of a kind, and how many of them followed the last report.
    Repeated(E, u64),
    /// The number of events of other kinds.
    Others(u64),
}

impl<E: Repeatable> Repeats<E> {
    pub(super) fn new(windows: Windows) -> Self {
        Self {
            windows,
            seen: Vec::new(),
            others: None,
        }
    }

    /// Counts an event; returns it if it must be reported now.
    pub(super) fn take(&mut self, now: Time, event: E) -> Option<E> {
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.event.is_same(&event)) {
            seen.count = seen.count.saturating_add(1);
            seen.event = event;
            return None;
        }
        let until = now + self.windows.first;
        if self.seen.len() >= DISTINCT {
            let (count, _) = self.others.get_or_insert((0, until));
            *count = count.saturating_add(1);
            return None;
        }
        self.seen.push(Seen {
            event: event.clone(),
            count: 0,
            window: self.windows.first,
            until,
        });
        Some(event)
    }

    /// When [`Self::due`] must be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        let seen = self.seen.iter().map(|seen| seen.until);
        seen.chain(self.others.map(|(_, until)| until)).min()
    }

    /// Reports of the windows that have ended. An event that was not repeated is forgotten.
    pub(super) fn due(&mut self, now: Time) -> Vec<Report<E>> {
        let mut reports = Vec::new();
        let longest = self.windows.longest;
        self.seen.retain_mut(|seen| {
            if seen.until > now {
                return true;
            }
            let Some(report) = seen.report() else {
                return false;
            };
            reports.push(report);
            seen.window = Span(seen.window.0.saturating_mul(2)).min(longest);
            seen.until = now + seen.window;
            true
        });
        let others = self.others.take_if(|(_, until)| *until <= now);
        reports.extend(others.map(|(count, _)| Report::Others(count)));
        reports
    }

    /// Reports of all that was counted, at the end.
    pub(super) fn finish(&mut self) -> Vec<Report<E>> {
        let mut reports: Vec<_> = self.seen.iter_mut().filter_map(Seen::report).collect();
        self.seen.clear();
        reports.extend(self.others.take().map(|(count, _)| Report::Others(count)));
        reports
    }
}

impl<E: Clone> Seen<E> {
    fn report(&mut self) -> Option<Report<E>> {
        let count = std::mem::take(&mut self.count);
        (count > 0).then(|| Report::Repeated(self.event.clone(), count))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const WINDOWS: Windows = Windows {
        first: Span::from_secs(10),
        longest: Span::from_secs(40),
    };

    /// Events of one letter are of one kind, whatever their number.
    impl Repeatable for (char, u32) {
        fn is_same(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    #[test]
    fn the_first_is_reported_at_once_and_the_others_as_one_number() {
        let (mut repeats, now) = (Repeats::new(WINDOWS), Time(1_000));
        assert_eq!(repeats.take(now, ('A', 0)), Some(('A', 0)));
        for n in 1..=312 {
            assert_eq!(repeats.take(now, ('A', n)), None);
        }
        assert_eq!(repeats.take(now, ('B', 0)), Some(('B', 0)));
        assert_eq!(repeats.due(now), []);
        let later = repeats.deadline().unwrap();
        assert_eq!(repeats.due(later), [Report::Repeated(('A', 312), 312)]);
        assert!(repeats.take(later, ('B', 1)).is_some(), "B is forgotten");
        assert_eq!(repeats.take(later, ('A', 313)), None, "A goes on");
        assert_eq!(repeats.finish(), [Report::Repeated(('A', 313), 1)]);
        assert_eq!(repeats.deadline(), None);
    }

    #[test]
    fn the_window_of_an_event_that_goes_on_doubles_and_then_stays() {
        let (mut repeats, mut now) = (Repeats::new(WINDOWS), Time(1_000));
        repeats.take(now, ('A', 0));
        for seconds in [10, 20, 40, 40] {
            repeats.take(now, ('A', 0));
            let until = repeats.deadline().unwrap();
            assert_eq!(until - now, Span::from_secs(seconds));
            now = until;
            assert_eq!(repeats.due(now).len(), 1);
        }
        let until = repeats.deadline().unwrap();
        assert_eq!(repeats.due(until), []);
        assert_eq!(repeats.deadline(), None);
        assert!(repeats.take(until, ('A', 0)).is_some());
    }

    #[test]
    fn a_flood_of_different_events_takes_bounded_memory_and_is_counted() {
        let (mut repeats, now) = (Repeats::new(WINDOWS), Time(1_000));
        let kinds = (0..10_000).filter_map(|n| char::from_u32(0x1_0000 + n));
        let reported = kinds
            .filter_map(|kind| repeats.take(now, (kind, 0)))
            .count();
        assert_eq!((reported, repeats.seen.len()), (DISTINCT, DISTINCT));
        let later = repeats.deadline().unwrap();
        assert_eq!(repeats.due(later), [Report::Others(10_000 - 32)]);
        assert_eq!(repeats.finish(), []);
    }
}
