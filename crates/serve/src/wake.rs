//! Wakes the task of a client when another connection has something for it.

use std::sync::atomic::{AtomicBool, Ordering};

use coax_server::table::Wake;
use tokio::sync::Notify;

/// Wakes a client's task, whether the task waits for the socket or for a thread that serves the client. No wake-up is lost:
/// the flag stays set until the task takes it.
#[derive(Debug, Default)]
pub(super) struct Waker {
    pending: AtomicBool,
    notify: Notify,
}

impl Waker {
    /// Whether it was woken since the last call.
    pub(super) fn take(&self) -> bool {
        self.pending.load(Ordering::Relaxed) && self.pending.swap(false, Ordering::AcqRel)
    }

    /// Whether a wake-up waits to be taken.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire)
    }

    /// Makes the task run again although its mailbox is empty.
    pub(super) fn nudge(&self) {
        self.notify.notify_one();
    }

    /// Waits for a wake-up or a nudge; returns at once if there was one since the last call.
    pub(super) async fn woken(&self) {
        self.notify.notified().await;
    }
}

impl Wake for Waker {
    fn wake(&self) {
        self.pending.store(true, Ordering::Release);
        self.notify.notify_one();
    }
}
