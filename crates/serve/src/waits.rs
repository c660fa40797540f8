//! What a client waits for: [`coax_waits`] with the server's clock and the kernel's counters.
//!
//! The account exists once the client uses a share, and is dropped when the client has been idle for a minute, so that an idle
//! connection costs a pointer.

use std::{
    os::fd::AsFd,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use coax_cause::Account;
use coax_clock::Clock;
use coax_waits::{Meter, Request};
use coax_wire::time::Time;

use super::pacing;

/// Whether accounts are kept: always, except for measurements of what they cost (tests/live/cost.py).
fn is_on() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| std::env::var_os("COAX_ACCOUNT").is_none_or(|value| value != "off"))
}

/// What was sent of the replies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Bytes that the connection had sent before,
    pub(super) before: u64,
    /// and has sent now.
    pub(super) now: u64,
    /// Nothing is left to send.
    pub(super) all: bool,
}

/// The account of one client.
#[derive(Debug, Default)]
pub(super) struct Waits(Mutex<Option<Box<Meter>>>);

impl Waits {
    /// Bytes were read; `whole`: they end with the end of a message. Returns whether time was charged.
    pub(super) fn received(
        &self,
        now: Time,
        bytes: usize,
        whole: bool,
        socket: &impl AsFd,
    ) -> bool {
        let mut meter = self.lock();
        let Some(meter) = meter.as_mut() else {
            return false;
        };
        let is_due = meter.received(now, bytes, whole);
        if is_due {
            meter.sample(now, pacing::kernel(socket));
        }
        is_due
    }

    /// The server begins to work on a message.
    pub(super) fn request(&self, now: Time, message: &[u8], uses_a_share: bool) {
        let mut meter = self.lock();
        if meter.is_none() && uses_a_share && is_on() {
            *meter = Some(Box::new(Meter::new(now)));
        }
        if let Some(meter) = &mut *meter {
            meter.request(now, Request::of(message));
        }
    }

    /// Replies were handed to the kernel. `served`: when the engine had done what it can, and whether a request waits for another
    /// client.
    pub(super) fn handed(
        &self,
        clock: &Clock,
        served: Option<(Time, bool)>,
        sent: &Sent,
        socket: &impl AsFd,
    ) {
        let Some(meter) = &mut *self.lock() else {
            return;
        };
        if let Some((then, parked)) = served {
            meter.served(then, parked);
        }
        let now = clock.now();
        let slow = meter.handed_slowly(now);
        let slow = slow.then(|| (sent.before, pacing::kernel(socket)));
        let bytes = sent.now.saturating_sub(sent.before);
        meter.handed(now, bytes, sent.all, slow);
    }

    /// A request that waits for another client is tried again.
    pub(super) fn resumed(&self, now: Time) {
        if let Some(meter) = &mut *self.lock() {
            meter.resumed(now);
        }
    }

    /// Drops the account of a client that has been idle for a minute.
    pub(super) fn tidy(&self, now: Time) {
        let mut meter = self.lock();
        if meter.as_ref().is_some_and(|meter| meter.is_old(now)) {
            *meter = None;
        }
    }

    /// What was charged since this was last called.
    pub(super) fn take_charged(&self) -> Option<Account> {
        self.lock().as_mut().map(|meter| meter.take_charged())
    }

    /// The account now, with the wait that is not over yet.
    pub(super) fn now(&self, now: Time, socket: &impl AsFd) -> Option<Meter> {
        let meter = self.lock().as_deref().cloned();
        meter.map(|meter| meter.looked_at(now, pacing::kernel(socket)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Meter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
