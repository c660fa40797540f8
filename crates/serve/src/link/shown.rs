//! A client as `coax status` shows it.

use std::{
    sync::{Arc, TryLockError, Weak},
    time::Duration,
};

use coax_server::table::OpenId;
use rustix::net::Shutdown;

use super::Link;
use crate::{
    advice,
    status::{AccountStatus, ClientStatus, Shown},
};

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
        let meter = self.waits.now();
        let now = self.host.clock.now();
        let account = meter.as_ref().map(|meter| AccountStatus::of(meter, now));
        for _ in 0..TRIES {
            let inner = match self.inner.try_lock() {
                Ok(inner) => inner,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
            };
            let mut status = inner.story.status(inner.outbox.sent_total());
            if let (Some(meter), Some(engine)) = (&meter, &inner.engine)
                && let Some(copy) = meter.copy()
            {
                let party = inner.story.party(&status.system);
                let config = &engine.server().config;
                status.advice = advice::first(&party, config, copy, meter.kernel());
            }
            status.account = account;
            return status;
        }
        ClientStatus {
            client: self.number,
            address: self.address.clone(),
            busy: true,
            account,
            ..ClientStatus::default()
        }
    }

    fn close(&self, open: OpenId) {
        self.want_closed(open);
    }

    fn tidy(&self) {
        self.waits.tidy(self.host.clock.now());
    }

    fn disconnect(&self) {
        // the client's task sees the end of the stream
        let _ = rustix::net::shutdown(self, Shutdown::Both);
    }
}
