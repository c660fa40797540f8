//! The time limit for a client to log on.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use coax_wire::time::{Span, Time};

use super::{outcome::End, story::Story};

/// Time limit after a refused log-on: the user may be typing a password.
const TYPING: Span = Span::from_secs(60);
/// Time limit while the server delays a log-on after failed ones. The longest delay is 30 s.
const DELAYED: Span = Span::from_secs(60);

/// Measures the time until a client logs on, or connects to a share without logging on.
#[derive(Debug)]
pub(super) struct LogonTimer {
    connected: Time,
    limit: Span,
    known: AtomicBool,
    /// Nanoseconds.
    due: AtomicU64,
}

impl LogonTimer {
    /// Starts the timer for a client that connected at `now`.
    pub(super) fn start(now: Time, limit: Span) -> Self {
        Self {
            connected: now,
            limit,
            known: AtomicBool::new(false),
            due: AtomicU64::new((now + limit).0),
        }
    }

    /// Whether the client has logged on.
    pub(super) fn is_known(&self) -> bool {
        self.known.load(Ordering::Acquire)
    }

    /// When the client is disconnected if it has not logged on.
    pub(super) fn due(&self) -> Option<Time> {
        (!self.is_known()).then(|| Time(self.due.load(Ordering::Acquire)))
    }

    /// The reason to disconnect the client, if its time is over.
    pub(super) fn overdue(&self, now: Time) -> Option<End> {
        let due = self.due().filter(|due| *due <= now)?;
        let seconds = Duration::from_nanos((due - self.connected).0).as_secs();
        Some(End::Because(format!(
            "it did not log on within {seconds} s"
        )))
    }

    /// Records the client's state; `delayed`: the server delays its log-on, and what the time is now. Returns whether it has
    /// just logged on.
    pub(super) fn note(&self, story: &Story, delayed: Option<Time>) -> bool {
        if self.is_known() {
            return false;
        }
        if !story.is_known() {
            let typed = story
                .was_refused()
                .then(|| self.connected + self.limit.max(TYPING));
            let answered = delayed.map(|now| now + DELAYED);
            if let Some(due) = typed.max(answered) {
                self.due.fetch_max(due.0, Ordering::AcqRel);
            }
        }
        self.known.store(story.is_known(), Ordering::Release);
        story.is_known()
    }
}
