//! State that all clients share.

use std::collections::BTreeMap;
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError, RwLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
use std::time::Instant;

use coax_fault::Plan;
use coax_netbios::SessionConfig;
use coax_server::{Server, table::ShareId};
use coax_wire::time::Span;
use tokio::sync::Semaphore;

use coax_clock::Clock;

use super::{
    admission::Admission,
    audit::Audit,
    budgets::means,
    ci::Counts,
    history::History,
    lanes::Lanes,
    pacing::LearnedLimits,
    pcap::Capture,
    phase::{Phases, Stage},
    printing::Printing,
    report::Reporter,
    service::{Follower, Service},
    status::{NetworkStatus, Registry, WinsStatus},
    taps::Recorder,
    totals::Totals,
    tuning::Tuning,
};
use coax_smbconf::settings::Settings;

/// Clients that receive a refusal at the same time; the server closes further connections without a reply.
const REFUSALS: usize = 64;

/// The server state that client tasks use.
#[derive(Debug)]
pub(super) struct Host {
    /// What the configuration decides.
    service: RwLock<Arc<Service>>,
    /// The number of that configuration, to compare without a lock.
    generation: AtomicU64,
    /// The clock.
    pub(super) clock: Arc<Clock>,
    /// Receives the events.
    pub(super) reporter: Reporter,
    /// The threads that serve clients.
    pub(super) pool: Pool,
    /// When it started.
    pub(super) began: Instant,
    /// The connected clients, for `coax status`.
    pub(super) clients: Registry,
    /// The NetBIOS names of the networks, for `coax status`, by who publishes them.
    networks: Mutex<BTreeMap<String, Vec<NetworkStatus>>>,
    wins: Mutex<Option<WinsStatus>>,
    /// Receives finished print jobs.
    pub(super) printing: Printing,
    /// What is known of the cards of clients that were connected.
    pub(super) limits: Arc<LearnedLimits>,
    /// One day of figures.
    pub(super) history: History,
    /// What is counted since the start.
    pub(super) totals: Box<Totals>,
    /// The capture on request, if one is under way.
    pub(super) recorder: Recorder,
    /// The packet capture, if enabled.
    pub(super) capture: Option<Capture>,
    /// The audit log, if there is one.
    pub(super) audit: Option<Arc<Audit>>,
    /// The faults that are injected, if any.
    pub(super) faults: Option<Arc<Plan>>,
    /// What a server for continuous integration counts.
    pub(super) ci: Option<Arc<Counts>>,
    /// Reports changes by local programs, if a share wants that.
    pub(super) local: OnceLock<Arc<dyn Follower>>,
    /// Limits on the number of clients.
    pub(super) admission: Arc<Admission>,
    /// Passes for access to the shares' disks.
    pub(super) lanes: Lanes,
    /// Limits the refusals in progress.
    pub(super) refusals: Arc<Semaphore>,
    /// How long a client may take to log on.
    pub(super) logon_timeout: Span,
    /// Whether the server drains or stops, and which configuration is in force.
    pub(super) phases: Phases,
    stopping: AtomicBool,
    handed_over: AtomicBool,
}

impl Host {
    /// Creates the state of a server that starts.
    pub(super) fn new(
        service: Service,
        reporter: Reporter,
        printing: Printing,
        tuning: Tuning,
    ) -> Self {
        let clients = means(&service.settings).clients();
        Self {
            admission: Admission::new(clients),
            lanes: Lanes::new(disks(&service.server), tuning.passes()),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            logon_timeout: tuning.logon_timeout,
            generation: AtomicU64::new(service.generation),
            service: RwLock::new(Arc::new(service)),
            clock: Arc::new(Clock::new()),
            reporter,
            pool: Pool {
                threads: tuning.threads,
                busy: AtomicUsize::new(0),
                jobs: AtomicUsize::new(0),
            },
            printing,
            began: Instant::now(),
            clients: Registry::default(),
            networks: Mutex::default(),
            wins: Mutex::default(),
            limits: Arc::default(),
            history: History::default(),
            totals: Box::default(),
            recorder: Recorder::default(),
            capture: None,
            audit: None,
            faults: None,
            ci: None,
            local: OnceLock::new(),
            phases: Phases::default(),
            stopping: AtomicBool::new(false),
            handed_over: AtomicBool::new(false),
        }
    }

    /// What the configuration in force decides.
    pub(super) fn service(&self) -> Arc<Service> {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        service.clone()
    }

    /// The engine's constant half.
    pub(super) fn server(&self) -> Arc<Server> {
        self.service().server.clone()
    }

    /// The settings in force.
    pub(super) fn settings(&self) -> Arc<Settings> {
        self.service().settings.clone()
    }

    /// The NetBIOS names of the networks, as last published.
    pub(super) fn networks(&self) -> Vec<NetworkStatus> {
        let networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        networks.values().flatten().cloned().collect()
    }

    /// Publishes the NetBIOS names of the networks of `publisher`: empty for TCP/IP, or a station.
    pub(super) fn publish_networks(&self, publisher: &str, networks: Vec<NetworkStatus>) {
        let mut all = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(publisher.to_owned(), networks);
    }

    /// The WINS server, as last published.
    pub(super) fn wins(&self) -> Option<WinsStatus> {
        let wins = self.wins.lock().unwrap_or_else(PoisonError::into_inner);
        wins.clone()
    }

    /// Publishes what the WINS server does.
    pub(super) fn publish_wins(&self, status: WinsStatus) {
        let mut wins = self.wins.lock().unwrap_or_else(PoisonError::into_inner);
        *wins = Some(status);
    }

    /// Configuration of the session layer.
    pub(super) fn session(&self) -> SessionConfig {
        self.service().session
    }

    /// The number of the configuration in force.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Puts another configuration in force.
    pub(super) fn put_in_force(&self, service: Service) {
        let generation = service.generation;
        self.lanes.add(disks(&service.server));
        if let Some(local) = self.local.get() {
            local.follow(&service.server);
        }
        let service = Arc::new(service);
        *self.service.write().unwrap_or_else(PoisonError::into_inner) = service;
        self.generation.store(generation, Ordering::Release);
        self.phases.begin(generation);
    }

    /// Opens log files again by their names.
    pub(super) fn reopen_logs(&self) {
        self.audit.iter().for_each(|audit| audit.reopen());
        self.reporter.reopen();
    }

    /// The server's end: waits, for a limited time, until log lines and captured packets are written.
    pub(super) fn flush(&self) {
        self.audit.iter().for_each(|audit| audit.finish());
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
        self.phases.enter(Stage::Stopping);
    }

    /// Accepts no further clients and lets the connected ones finish.
    pub(super) fn drain(&self) {
        self.phases.enter(Stage::Draining);
    }

    /// As [`Self::drain`]: another process has the listening sockets.
    pub(super) fn hand_over(&self) {
        self.handed_over.store(true, Ordering::Release);
        self.drain();
    }

    /// Whether another process has the listening sockets.
    pub(super) fn is_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Whether clients that are not busy must leave.
    pub(super) fn is_draining(&self) -> bool {
        self.phases.now().stage >= Stage::Draining
    }

    /// Sets the engine's time stamps to the wall clock `wall_ns`. Deadlines do not change.
    pub(super) fn follow_wall_clock(&self, wall_ns: u64) {
        let offset = self.clock.wall_offset_ns(wall_ns);
        self.server()
            .locked(|tables| tables.set_wall_offset(offset));
    }

    /// Waits until [`Self::stop`].
    pub(super) async fn stopped(&self) {
        self.phases.reaches(Stage::Stopping).await;
    }

    /// Waits until [`Self::drain`] or [`Self::stop`].
    pub(super) async fn drained(&self) {
        self.phases.reaches(Stage::Draining).await;
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
    pub(super) fn is_crowded(&self, inside: impl FnOnce() -> usize) -> bool {
        let busy = self.busy.load(Ordering::Relaxed);
        // Counting the others costs more than this, and usually there are threads enough without them.
        busy >= self.threads && busy >= self.threads.saturating_add(inside())
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
