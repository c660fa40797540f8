//! Notices that others can cause at will: the first is reported at once, repetitions only as a number once a minute.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use coax_wire::time::{Span, Time};

use super::super::repeats::{DISTINCT, Repeatable, Repeats, Report, Windows};

/// How long repetitions of a notice are counted before their number is reported.
const WINDOWS: Windows = Windows {
    first: Span::from_secs(60),
    longest: Span::from_secs(60),
};

/// The notices of late.
#[derive(Debug)]
pub(super) struct Notices {
    /// The begin of the time by which they are counted.
    began: Instant,
    repeats: Mutex<Repeats<Repeated>>,
}

impl Default for Notices {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            repeats: Mutex::new(Repeats::new(WINDOWS)),
        }
    }
}

impl Notices {
    /// Counts a notice; returns it if it must be reported now.
    pub(super) fn take(&self, text: String) -> Option<String> {
        let first = self.repeats().take(self.now(), Repeated(text));
        first.map(|Repeated(text)| text)
    }

    /// How long until [`Self::due`] has something to report.
    pub(super) fn wait(&self) -> Option<Duration> {
        let deadline = self.repeats().deadline()?;
        Some(Duration::from_nanos(
            deadline.0.saturating_sub(self.now().0),
        ))
    }

    /// The numbers of the windows that have ended; of all, at the end.
    pub(super) fn due(&self, has_ended: bool) -> Vec<String> {
        let reports = match has_ended {
            true => self.repeats().finish(),
            false => self.repeats().due(self.now()),
        };
        reports.into_iter().map(counted).collect()
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn repeats(&self) -> MutexGuard<'_, Repeats<Repeated>> {
        self.repeats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repeated(String);

impl Repeatable for Repeated {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

/// The notice with a number.
fn counted(report: Report<Repeated>) -> String {
    match report {
        Report::Repeated(Repeated(text), count) => {
            let times = if count == 1 { "time" } else { "times" };
            format!("{text} ({count} more {times})")
        }
        Report::Others(count) => format!(
            "{count} more notices about names and commands were left out: more than {DISTINCT} different ones in a minute"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_notices() {
        let of = |count| counted(Report::Repeated(Repeated("A was refused".into()), count));
        assert_eq!(of(1), "A was refused (1 more time)");
        assert_eq!(of(3000), "A was refused (3000 more times)");
        assert!(counted(Report::Others(9968)).starts_with("9968 more notices"));
    }
}
