//! Notices that others can cause at will: the first is reported at once, repetitions only as a number once a minute.

use std::time::{Duration, Instant};

/// Different notices that are counted separately; further ones are only counted together.
const DISTINCT: usize = 32;
/// How long repetitions are counted before their number is reported.
const WINDOW: Duration = Duration::from_secs(60);

/// The notices of the last minute.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    seen: Vec<Seen>,
    /// Notices beyond [`DISTINCT`], and until when they are counted.
    others: Option<(u64, Instant)>,
}

#[derive(Debug)]
struct Seen {
    text: String,
    count: u64,
    until: Instant,
}

impl Repeated {
    /// Whether a notice has to be reported now.
    pub(super) fn take(&mut self, now: Instant, text: &str) -> bool {
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.text == text) {
            seen.count = seen.count.saturating_add(1);
            return false;
        }
        let until = now + WINDOW;
        if self.seen.len() >= DISTINCT {
            let (count, _) = self.others.get_or_insert((0, until));
            *count = count.saturating_add(1);
            return false;
        }
        self.seen.push(Seen {
            text: text.into(),
            count: 0,
            until,
        });
        true
    }

    /// When [`Self::due`] must be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let seen = self.seen.iter().map(|seen| seen.until);
        seen.chain(self.others.map(|(_, until)| until)).min()
    }

    /// The numbers of the windows that have ended. A notice that was not repeated is forgotten.
    pub(super) fn due(&mut self, now: Instant) -> Vec<String> {
        let mut texts = Vec::new();
        self.seen.retain_mut(|seen| {
            if seen.until > now {
                return true;
            }
            texts.extend(seen.report());
            seen.until = now + WINDOW;
            std::mem::take(&mut seen.count) > 0
        });
        let others = self.others.take_if(|(_, until)| *until <= now);
        texts.extend(others.map(|(count, _)| left_out(count)));
        texts
    }

    /// The numbers of all windows, at the end.
    pub(super) fn finish(&mut self) -> Vec<String> {
        let mut texts: Vec<String> = self.seen.iter().filter_map(Seen::report).collect();
        texts.extend(self.others.take().map(|(count, _)| left_out(count)));
        self.seen.clear();
        texts
    }
}

impl Seen {
    fn report(&self) -> Option<String> {
        let (text, count) = (&self.text, self.count);
        let times = if count == 1 { "time" } else { "times" };
        (count > 0).then(|| format!("{text} ({count} more {times})"))
    }
}

fn left_out(count: u64) -> String {
    format!(
        "{count} more notices about names and commands were left out: more than {DISTINCT} different ones in a minute"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_notice_is_reported_at_once_and_its_repetitions_as_a_number() {
        let (mut repeated, now) = (Repeated::default(), Instant::now());
        assert!(repeated.take(now, "A was refused"));
        assert!(repeated.take(now, "B was refused"));
        for _ in 0..3000 {
            assert!(!repeated.take(now, "A was refused"));
        }
        assert!(repeated.due(now).is_empty());
        let later = repeated.deadline().unwrap();
        assert_eq!(repeated.due(later), ["A was refused (3000 more times)"]);
        assert!(repeated.take(later, "B was refused"), "B is forgotten");
        assert!(!repeated.take(later, "A was refused"), "A goes on");
        assert_eq!(repeated.finish(), ["A was refused (1 more time)"]);
        assert_eq!(repeated.deadline(), None);
    }

    #[test]
    fn many_different_notices_take_bounded_memory_and_are_counted() {
        let (mut repeated, now) = (Repeated::default(), Instant::now());
        let reported = (0..10_000)
            .filter(|n| repeated.take(now, &n.to_string()))
            .count();
        assert_eq!((reported, repeated.seen.len()), (DISTINCT, DISTINCT));
        let later = repeated.deadline().unwrap();
        assert_eq!(repeated.due(later), [left_out(9968)]);
        assert_eq!(repeated.deadline(), None);
    }
}
