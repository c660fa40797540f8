//! How other connections' doings reach a client's task.

use std::sync::atomic::{AtomicBool, Ordering};

use coax_server::table::Wake;
use tokio::sync::Notify;

/// A client's bell: rung by whoever has something for it, heard by its task, whether that waits for the socket or for a
/// thread that is serving the client. A ring is never lost: the flag stays until somebody takes it.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: AtomicBool,
    notify: Notify,
}

impl Bell {
    /// Whether it rang since this was last asked.
    pub(super) fn take(&self) -> bool {
        self.rung.load(Ordering::Relaxed) && self.rung.swap(false, Ordering::AcqRel)
    }

    /// Whether it rang and nobody has taken that yet.
    pub(super) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    /// Makes the task look again, without there being anything in the mailbox.
    pub(super) fn nudge(&self) {
        self.notify.notify_one();
    }

    /// Waits for a ring or a nudge; returns at once if there was one since the last time.
    pub(super) async fn heard(&self) {
        self.notify.notified().await;
    }
}

impl Wake for Bell {
    fn wake(&self) {
        self.rung.store(true, Ordering::Release);
        self.notify.notify_one();
    }
}
