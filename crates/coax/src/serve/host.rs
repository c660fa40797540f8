//! What all clients share.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use coax_netbios::SessionConfig;
use coax_server::{
    Server,
    table::{Exclusive, Tables},
};
use tokio::sync::watch;

use super::{clock::Clock, printing::Printing, report::Reporter};
use crate::config::settings::Settings;

/// Most clients at once where the settings name no number.
const MAX_CLIENTS: usize = 20_000;

/// The server as its clients' tasks see it.
#[derive(Debug)]
pub(super) struct Host {
    /// The engine's shared half.
    pub(super) server: Arc<Server>,
    /// The clock.
    pub(super) clock: Arc<Clock>,
    /// Where events are told.
    pub(super) reporter: Reporter,
    /// The threads that serve clients.
    pub(super) pool: Pool,
    /// Where finished print jobs go.
    pub(super) printing: Printing,
    /// How it was configured.
    pub(super) settings: Settings,
    /// How sessions are held.
    pub(super) session: SessionConfig,
    stopping: AtomicBool,
    stop: watch::Sender<bool>,
    clients: AtomicUsize,
}

impl Host {
    /// A server at its start, with `threads` threads for clients.
    pub(super) fn new(
        server: Arc<Server>,
        settings: Settings,
        reporter: Reporter,
        printing: Printing,
        threads: usize,
    ) -> Self {
        Self {
            session: super::session_config(&settings),
            server,
            clock: Arc::new(Clock::new()),
            reporter,
            pool: Pool {
                threads,
                busy: AtomicUsize::new(0),
                jobs: AtomicUsize::new(0),
            },
            printing,
            settings,
            stopping: AtomicBool::new(false),
            stop: watch::Sender::new(false),
            clients: AtomicUsize::new(0),
        }
    }

    /// Whether it is shutting down.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Tells everybody to finish.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.send_replace(true);
    }

    /// Waits until [`Self::stop`].
    pub(super) async fn stopped(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Counts a client in, if there is room.
    pub(super) fn admit(self: &Arc<Self>) -> Option<Seat> {
        let limit = match usize::try_from(self.settings.global.max_clients) {
            Ok(0) | Err(_) => MAX_CLIENTS,
            Ok(limit) => limit,
        };
        let seat = Seat(self.clone());
        (self.clients.fetch_add(1, Ordering::Relaxed) < limit).then_some(seat)
    }
}

/// A client's place among those that are counted.
pub(super) struct Seat(Arc<Host>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The threads that serve clients, counted: tokio runs them.
#[derive(Debug)]
pub(super) struct Pool {
    threads: usize,
    busy: AtomicUsize,
    /// Work given to a thread so far.
    jobs: AtomicUsize,
}

impl Pool {
    /// Whether somebody waits, or will soon, for a thread to become free.
    pub(super) fn is_crowded(&self) -> bool {
        self.busy.load(Ordering::Relaxed) >= self.threads
    }

    /// How often work was given to a thread so far.
    #[cfg(test)]
    pub(super) fn jobs(&self) -> usize {
        self.jobs.load(Ordering::Relaxed)
    }

    /// Runs `work` on one of the threads.
    ///
    /// # Errors
    /// `work` panicked, or the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, tokio::task::JoinError> {
        let _busy = Busy::new(&self.busy);
        self.jobs.fetch_add(1, Ordering::Relaxed);
        tokio::task::spawn_blocking(work).await
    }
}

struct Busy<'a>(&'a AtomicUsize);

impl<'a> Busy<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The shared tables behind a mutex. A panic while they were locked leaves them usable: they hold no invariant across
/// fields that their own methods do not restore.
#[derive(Debug, Default)]
pub(super) struct SharedTables(Mutex<Tables>);

impl SharedTables {
    /// Takes over the tables.
    pub(super) fn new(tables: Tables) -> Self {
        Self(Mutex::new(tables))
    }
}

impl Exclusive for SharedTables {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Random bytes from the system, for challenges and the like.
pub(super) fn random<const N: usize>() -> Result<[u8; N], rustix::io::Errno> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled = filled.saturating_add(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(bytes)
}
