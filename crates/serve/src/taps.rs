//! The captures that a client's bytes go to.
//!
//! Each link looks, before it reads, whether a recording has begun. It joins between two messages, so that the capture begins with a
//! whole one.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use super::{
    pcap::{Capture, Tap},
    trace::Selection,
};

/// The recording under way.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// Counts beginnings and ends.
    serial: AtomicU64,
    current: Mutex<Option<Current>>,
}

#[derive(Debug)]
struct Current {
    capture: Capture,
    client: Option<u64>,
}

impl Recorder {
    /// Begins the recording that `start` makes; `None` if one is under way.
    ///
    /// # Errors
    /// Those of `start`.
    pub(super) fn begin<E>(
        &self,
        client: Option<u64>,
        start: impl FnOnce() -> Result<Capture, E>,
    ) -> Result<Option<Capture>, E> {
        let mut current = lock(&self.current);
        if current.is_some() {
            return Ok(None);
        }
        let capture = start()?;
        *current = Some(Current {
            capture: capture.clone(),
            client,
        });
        self.serial.fetch_add(1, Ordering::Release);
        Ok(Some(capture))
    }

    /// Ends it.
    pub(super) fn end(&self) {
        *lock(&self.current) = None;
        self.serial.fetch_add(1, Ordering::Release);
    }
}

/// The captures that one client's bytes go to.
#[derive(Debug, Default)]
pub(super) struct Taps {
    /// That of `--pcap`.
    fixed: Option<Mutex<Tap>>,
    /// The recording's.
    recorded: Mutex<Option<Box<Tap>>>,
    /// Whether there is a recording's.
    is_recorded: AtomicBool,
    /// The serial number of the recorder that was last followed.
    seen: AtomicU64,
}

impl Taps {
    /// With the tap of `--pcap`.
    pub(super) fn new(fixed: Option<Tap>) -> Self {
        Self {
            fixed: fixed.map(Mutex::new),
            ..Self::default()
        }
    }

    /// Whether any capture wants the bytes.
    pub(super) fn is_on(&self) -> bool {
        self.fixed.is_some() || self.is_recorded.load(Ordering::Acquire)
    }

    /// The client sent these bytes.
    pub(super) fn received(&self, bytes: &[u8]) {
        self.each(|tap| tap.received(bytes));
    }

    /// The kernel took these bytes for the client.
    pub(super) fn sent(&self, bytes: &[u8]) {
        self.each(|tap| tap.sent(bytes));
    }

    /// The client's name is known.
    pub(super) fn decide(&self, captured: bool) {
        if let Some(fixed) = &self.fixed {
            lock(fixed).decide(captured);
        }
    }

    /// The connection has ended.
    pub(super) fn end(&self) {
        self.each(Tap::end);
    }

    /// Whether a recording has begun or ended since [`Self::follow`].
    pub(super) fn is_outdated(&self, recorder: &Recorder) -> bool {
        recorder.serial.load(Ordering::Acquire) != self.seen.load(Ordering::Relaxed)
    }

    /// Joins the recording under way, or leaves the last one. `ends` are client and server.
    pub(super) fn follow(
        &self,
        recorder: &Recorder,
        number: u64,
        ends: Option<(SocketAddr, SocketAddr)>,
    ) {
        // Held until the tap is in its place, so that the end of the recording finds it there.
        let current = lock(&recorder.current);
        self.seen
            .store(recorder.serial.load(Ordering::Acquire), Ordering::Relaxed);
        let meant = |one: &&Current| one.client.is_none_or(|client| client == number);
        let tap = current.as_ref().filter(meant).zip(ends);
        let tap = tap.map(|(current, (client, server))| {
            let capture = current.capture.clone();
            Box::new(Tap::new(capture, client, server, Selection::Yes))
        });
        self.put(tap);
    }

    /// The recording has ended.
    pub(super) fn end_recording(&self) {
        self.put(None);
    }

    fn put(&self, tap: Option<Box<Tap>>) {
        let mut recorded = lock(&self.recorded);
        self.is_recorded.store(tap.is_some(), Ordering::Release);
        *recorded = tap;
    }

    fn each(&self, mut act: impl FnMut(&mut Tap)) {
        if let Some(fixed) = &self.fixed {
            act(&mut lock(fixed));
        }
        if self.is_recorded.load(Ordering::Acquire)
            && let Some(tap) = &mut *lock(&self.recorded)
        {
            act(tap);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "tests/taps.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
