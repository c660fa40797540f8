//! State that all clients share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use coax_netbios::SessionConfig;
use coax_server::{Server, table::ShareId};
use coax_wire::{nbt::session::Framing, time::Span};
use tokio::sync::{Semaphore, watch};

use coax_clock::Clock;

use super::{
    admission::Admission, budgets::means, lanes::Lanes, pacing::LearnedLimits, pcap::Capture,
    printing::Printing, report::Reporter, tuning::Tuning,
};
use coax_smbconf::settings::Settings;

/// Clients that receive a refusal at the same time; the server closes further connections without a reply.
const REFUSALS: usize = 64;

/// The server state that client tasks use.
#[derive(Debug)]
pub(super) struct Host {
    /// The engine's shared half.
    pub(super) server: Arc<Server>,
    /// The clock.
    pub(super) clock: Arc<Clock>,
    /// Receives the events.
    pub(super) reporter: Reporter,
    /// The threads that serve clients.
    pub(super) pool: Pool,
    /// Receives finished print jobs.
    pub(super) printing: Printing,
    /// What is known of the cards of clients that were connected.
    pub(super) limits: Arc<LearnedLimits>,
    /// The packet capture, if enabled.
    pub(super) capture: Option<Capture>,
    /// The settings.
    pub(super) settings: Settings,
    /// Configuration of the session layer.
    pub(super) session: SessionConfig,
    /// Limits on the number of clients.
    pub(super) admission: Arc<Admission>,
    /// Passes for access to the shares' disks.
    pub(super) lanes: Lanes,
    /// Limits the refusals in progress.
    pub(super) refusals: Arc<Semaphore>,
    /// How long a client may take to log on.
    pub(super) logon_timeout: Span,
    stopping: AtomicBool,
    stop: watch::Sender<bool>,
}

impl Host {
    /// Creates the state of a server that starts.
    pub(super) fn new(
        server: Arc<Server>,
        settings: Settings,
        reporter: Reporter,
        printing: Printing,
        tuning: Tuning,
    ) -> Self {
        let clients = means(&settings).clients();
        Self {
            admission: Admission::new(clients),
            lanes: Lanes::new(disks(&server), tuning.passes()),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            logon_timeout: tuning.logon_timeout,
            session: session_config(&settings),
            server,
            clock: Arc::new(Clock::new()),
            reporter,
            pool: Pool {
                threads: tuning.threads,
                busy: AtomicUsize::new(0),
                jobs: AtomicUsize::new(0),
            },
            printing,
            limits: Arc::default(),
            capture: None,
            settings,
            stopping: AtomicBool::new(false),
            stop: watch::Sender::new(false),
        }
    }

    /// Waits, for a limited time, until log lines and captured packets are written.
    pub(super) fn flush(&self) {
        self.capture.iter().for_each(Capture::flush);
        self.reporter.flush();
    }

    /// Whether it is shutting down.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Asks all tasks to finish.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.send_replace(true);
    }

    /// Sets the engine's time stamps to the wall clock `wall_ns`. Deadlines do not change.
    pub(super) fn follow_wall_clock(&self, wall_ns: u64) {
        let offset = self.clock.wall_offset_ns(wall_ns);
        self.server.locked(|tables| tables.set_wall_offset(offset));
    }

    /// Waits until [`Self::stop`].
    pub(super) async fn stopped(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }
}

/// The shares that have a disk.
pub(super) fn disks(server: &Server) -> impl Iterator<Item = ShareId> {
    let shares = server.shares.iter();
    shares
        .filter(|share| share.vfs().is_some())
        .map(|share| share.id)
}

/// The threads that serve clients, run by tokio and counted here.
#[derive(Debug)]
pub(super) struct Pool {
    threads: usize,
    busy: AtomicUsize,
    /// Number of jobs given to a thread so far.
    jobs: AtomicUsize,
}

impl Pool {
    /// Whether clients wait, or will soon wait, for a free thread. The `inside` threads that are in a share's disk come
    /// in addition to the others.
    pub(super) fn is_crowded(&self, inside: usize) -> bool {
        self.busy.load(Ordering::Relaxed) >= self.threads.saturating_add(inside)
    }

    /// Number of jobs given to a thread so far.
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

fn session_config(settings: &Settings) -> SessionConfig {
    let keep_alive = match settings.global.keepalive_seconds {
        0 => None,
        seconds => Some(Span::from_secs(u64::from(seconds))),
    };
    SessionConfig {
        keep_alive,
        max_message: Framing::Nbt.max_len(),
        ..SessionConfig::default()
    }
}
