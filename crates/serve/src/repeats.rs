//! Identical refusals of one client: the first is reported at once, the others are counted.

use coax_wire::time::{Span, Time};

use super::report::RefusedLine;

/// Different refusals of one client that are counted separately.
const DISTINCT: usize = 32;
/// How long repetitions of a refusal are counted before their number is reported.
const FIRST_WINDOW: Span = Span::from_secs(10);
/// The window doubles each time up to this: a client that never stops costs a few lines an hour.
const LONGEST_WINDOW: Span = Span::from_secs(640);

/// The refusals of one client: those reported and those only counted.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: Vec<Seen>,
    /// Refusals beyond [`DISTINCT`] kinds, and until when they are counted.
    others: Option<(u64, Time)>,
}

#[derive(Debug)]
struct Seen {
    /// The most recent one.
    line: RefusedLine,
    count: u64,
    window: Span,
    until: Time,
}

/// A report to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// A refusal; `repeated` is its number of repetitions since the last report.
    Refusal(Box<RefusedLine>),
    /// The number of refusals of other kinds.
    Others(u64),
}

impl Repeats {
    /// Records a refusal; returns it if it must be reported now.
    pub(super) fn take(&mut self, now: Time, line: RefusedLine) -> Option<RefusedLine> {
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.is_same(&line)) {
            seen.count = seen.count.saturating_add(1);
            seen.line = line;
            return None;
        }
        if self.seen.len() >= DISTINCT {
            let (count, _) = self.others.get_or_insert((0, now + FIRST_WINDOW));
            *count = count.saturating_add(1);
            return None;
        }
        self.seen.push(Seen {
            line: line.clone(),
            count: 0,
            window: FIRST_WINDOW,
            until: now + FIRST_WINDOW,
        });
        Some(line)
    }

    /// When [`Self::due`] must be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        let seen = self.seen.iter().map(|seen| seen.until);
        seen.chain(self.others.map(|(_, until)| until)).min()
    }

    /// Reports of the windows that have ended. A refusal that was not repeated is forgotten.
    pub(super) fn due(&mut self, now: Time) -> Vec<Report> {
        let mut reports = Vec::new();
        self.seen.retain_mut(|seen| {
            if seen.until > now {
                return true;
            }
            let Some(report) = seen.report() else {
                return false;
            };
            reports.push(report);
            seen.window = Span(seen.window.0.saturating_mul(2)).min(LONGEST_WINDOW);
            seen.until = now + seen.window;
            true
        });
        if let Some((count, _)) = self.others.take_if(|(_, until)| *until <= now) {
            reports.push(Report::Others(count));
        }
        reports
    }

    /// Reports of all counted refusals, when the client has disconnected.
    pub(super) fn finish(&mut self) -> Vec<Report> {
        let mut reports: Vec<Report> = self.seen.iter_mut().filter_map(Seen::report).collect();
        self.seen.clear();
        reports.extend(self.others.take().map(|(count, _)| Report::Others(count)));
        reports
    }
}

impl Seen {
    /// Whether both are the same refusal: fields other than the path (an offset, a length) may differ.
    fn is_same(&self, other: &RefusedLine) -> bool {
        let line = &self.line;
        (line.command, &line.share, &line.path, &line.user)
            == (other.command, &other.share, &other.path, &other.user)
            && (&line.status, &line.why) == (&other.status, &other.why)
    }

    fn report(&mut self) -> Option<Report> {
        let repeated = std::mem::take(&mut self.count);
        (repeated > 0).then(|| {
            Report::Refusal(Box::new(RefusedLine {
                repeated,
                ..self.line.clone()
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn refusal(path: &str) -> RefusedLine {
        RefusedLine {
            command: "OPEN",
            path: Some(path.into()),
            why: "the share is read-only".into(),
            ..RefusedLine::default()
        }
    }

    #[test]
    fn the_first_is_reported_at_once_and_the_others_as_one_number() {
        let (mut repeats, now) = (Repeats::default(), Time(1_000));
        assert!(repeats.take(now, refusal("A")).is_some());
        for offset in 0..312 {
            let again = RefusedLine {
                fields: format!("offset={offset}"),
                ..refusal("A")
            };
            assert_eq!(repeats.take(now, again), None);
        }
        assert!(repeats.take(now, refusal("B")).is_some());
        assert_eq!(repeats.due(now), []);
        let later = repeats.deadline().unwrap();
        let reports = repeats.due(later);
        let [Report::Refusal(line)] = &reports[..] else {
            panic!("{reports:?}");
        };
        assert_eq!((line.repeated, line.fields.as_str()), (312, "offset=311"));
        assert!(line.to_string().ends_with("repeated 312 times"));
    }

    #[test]
    fn a_refusal_without_repetition_is_forgotten_and_reported_at_once_when_it_returns() {
        let (mut repeats, now) = (Repeats::default(), Time(1_000));
        repeats.take(now, refusal("A"));
        repeats.take(now, refusal("A"));
        let first = repeats.deadline().unwrap();
        assert_eq!(repeats.due(first).len(), 1);
        let second = repeats.deadline().unwrap();
        assert_eq!((second - first).0, 2 * FIRST_WINDOW.0);
        assert_eq!(repeats.due(second), []);
        assert_eq!(repeats.deadline(), None);
        assert!(repeats.take(second, refusal("A")).is_some());
    }

    #[test]
    fn a_flood_of_different_refusals_takes_bounded_memory_and_is_counted() {
        let (mut repeats, now) = (Repeats::default(), Time(1_000));
        let reported = (0..10_000)
            .filter_map(|n| repeats.take(now, refusal(&n.to_string())))
            .count();
        assert_eq!((reported, repeats.seen.len()), (DISTINCT, DISTINCT));
        assert_eq!(repeats.finish(), [Report::Others(10_000 - 32)]);
        assert_eq!(repeats.deadline(), None);
    }
}
