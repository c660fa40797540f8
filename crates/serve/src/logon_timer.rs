//! How long a client may be connected before it logs on.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use coax_wire::time::{Span, Time};

use super::{outcome::End, story::Story};

/// How long a client may take to log on after a refusal: somebody may be typing a password.
const TYPING: Span = Span::from_secs(60);

/// The time until a client has logged on, or connected a share without.
#[derive(Debug)]
pub(super) struct LogonTimer {
    connected: Time,
    limit: Span,
    known: AtomicBool,
    /// Nanoseconds.
    due: AtomicU64,
}

impl LogonTimer {
    /// A client connected at `now` and has `limit`.
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

    /// When the client is given up unless it logs on before.
    pub(super) fn due(&self) -> Option<Time> {
        (!self.is_known()).then(|| Time(self.due.load(Ordering::Acquire)))
    }

    /// Why the client is given up, if its time is over.
    pub(super) fn overdue(&self, now: Time) -> Option<End> {
        let due = self.due().filter(|due| *due <= now)?;
        let seconds = Duration::from_nanos((due - self.connected).0).as_secs();
        Some(End::Because(format!(
            "it did not log on within {seconds} s"
        )))
    }

    /// Whether the client has logged on just now.
    pub(super) fn note(&self, story: &Story) -> bool {
        if self.is_known() {
            return false;
        }
        if !story.is_known() && story.was_refused() {
            let typed = self.connected + self.limit.max(TYPING);
            self.due.store(typed.0, Ordering::Release);
        }
        self.known.store(story.is_known(), Ordering::Release);
        story.is_known()
    }
}
