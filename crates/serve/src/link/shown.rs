//! A client as `coax status` shows it.

use std::{
    sync::{Arc, MutexGuard, TryLockError, Weak},
    time::Duration,
};

use coax_server::table::OpenId;
use coax_wire::header::Fid;
use rustix::net::Shutdown;

use super::{Inner, Link};
use crate::{
    advice,
    history::Sample,
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

impl Link {
    /// The client's state, unless a thread serves it all the time.
    fn try_inner(&self) -> Option<MutexGuard<'_, Inner>> {
        for _ in 0..TRIES {
            match self.inner.try_lock() {
                Ok(inner) => return Some(inner),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
        None
    }
}

impl Shown for Link {
    fn show(&self) -> ClientStatus {
        let now = self.host.clock.now();
        let meter = self.waits.now(now, &self.socket);
        let mut account = meter.as_ref().map(|meter| AccountStatus::of(meter, now));
        if let Some(inner) = self.try_inner() {
            let mut status = inner.story.status(now, inner.outbox.sent_total());
            if let (Some(meter), Some(engine)) = (&meter, &inner.engine)
                && let Some(copy) = meter.copy()
            {
                let party = inner.story.party(&status.system);
                let config = &engine.server().config;
                status.advice = advice::first(&party, config, copy, meter.kernel());
                if let Some(shown) = account.as_mut().and_then(|account| account.copy.as_mut())
                    && !copy.ended
                {
                    shown.file = engine.path_of(Fid(copy.fid));
                }
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

    fn sample(&self) -> Option<Sample> {
        let mut inner = self.try_inner()?;
        let mut engine = inner.engine.take();
        let sample = Self::sample(self, &mut inner, engine.as_mut());
        inner.engine = engine;
        Some(sample)
    }

    fn close(&self, open: OpenId) {
        self.want_closed(open);
    }

    fn tidy(&self) {
        self.waits.tidy(self.host.clock.now());
    }

    fn end_recording(&self) {
        self.taps.end_recording();
    }

    fn disconnect(&self) {
        // the client's task sees the end of the stream
        let _ = rustix::net::shutdown(self, Shutdown::Both);
    }
}
