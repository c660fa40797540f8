//! A client as `coax status` shows it.

use std::{
    sync::{Arc, TryLockError, Weak},
    time::Duration,
};

use rustix::net::Shutdown;

use super::Link;
use crate::status::{ClientStatus, Shown};

/// How often the client's state is tried, and the pause between: a thread has it for 20 ms at most, unless it is in a disk.
const TRIES: usize = 8;
const PAUSE: Duration = Duration::from_millis(5);

impl Link {
    /// Lists the client for `coax status` until it is dropped.
    pub(crate) fn list(self: &Arc<Self>) {
        let client: Weak<dyn Shown> = Arc::<Self>::downgrade(self);
        self.host.clients.enter(self.number, client);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.host.clients.leave(self.number);
    }
}

impl Shown for Link {
    fn show(&self) -> ClientStatus {
        for _ in 0..TRIES {
            let inner = match self.inner.try_lock() {
                Ok(inner) => inner,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
            };
            return inner.story.status(inner.outbox.sent_total());
        }
        ClientStatus {
            client: self.number,
            address: self.address.clone(),
            busy: true,
            ..ClientStatus::default()
        }
    }

    fn disconnect(&self) {
        // the client's task sees the end of the stream
        let _ = rustix::net::shutdown(self, Shutdown::Both);
    }
}
