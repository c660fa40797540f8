//! `coax serve`: real sockets, real folders, threads and the clock around the engine.
//!
//! [`listen`] accepts clients; each becomes a [`task`] that sleeps until there is something to do, and then has a
//! thread of the pool serve the client with plain blocking calls ([`link`]). One [`coax_clock::Clock`] gives the engine
//! the time; the engine reaches another client through that client's waker ([`wake`]). [`local`] reports changes that
//! local programs make in folders that clients watch. [`report`] writes events. [`netbios`] answers NetBIOS name queries
//! for the server's names.

// Only `coax` uses this crate: its pages lead through private modules too.
#![allow(rustdoc::private_intra_doc_links)]

mod accounts;
mod admission;
mod advice;
mod audit;
mod begin;
mod bound;
mod budgets;
mod build;
mod carrier;
pub mod ci;
mod command_queues;
pub mod commands;
mod folder;
mod folders;
mod guess;
mod guest;
mod handed;
mod history;
pub mod holder;
pub mod homes;
mod host;
mod ipx;
mod lanes;
mod link;
mod listen;
mod local;
mod log_file;
mod logon_timer;
mod memory;
mod message_files;
mod messages;
mod netbeui;
mod netbios;
mod notify;
mod operate;
mod outbox;
mod outcome;
mod pacing;
mod panics;
mod pcap;
mod phase;
pub mod prepare;
mod printing;
pub mod probe;
mod problem;
mod profiles;
mod random;
mod recording;
mod refuse;
mod rejected;
mod reload;
mod repeats;
pub mod report;
pub mod sandbox;
mod service;
mod share_path;
mod shared_tables;
mod signals;
mod socket;
mod spool;
mod stations;
pub mod status;
mod story;
mod takeover;
mod taps;
mod task;
#[cfg(test)]
mod tests;
mod totals;
mod trace;
mod tuning;
pub mod users;
mod view;
mod waits;
mod wake;
pub mod web;

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use anyhow::{Context, Error, Result};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

use self::{
    audit::Audit,
    build::Built,
    ci::{CiStart, Counts, Ended, Watch},
    commands::Runner,
    host::Host,
    memory::Memory,
    operate::{GRACE, Offer, Operation},
    prepare::{Parts, Prepared, Sockets},
    reload::Reloader,
    report::{Line, Reporter},
    sandbox::privileges::Account,
    service::Service,
    signals::Signals,
    takeover::Takeover,
    tuning::Tuning,
};
pub use self::{
    bound::Bound,
    probe::why_not_writable,
    recording::Recording,
    reload::Read,
    totals::{OTHER, SystemStatus, TotalsStatus, TrafficStatus},
    view::View,
};
use coax_ethernet::Station;
use coax_fault::{Fault, Plan};
use coax_smbconf::settings::{AuditTarget, Settings};

/// Additional threads for work that must not queue behind clients.
const SPARE_THREADS: usize = 16;
/// Interval between checks for a step of the wall clock. File times that the engine generates can be wrong for this
/// long.
const WALL_CLOCK_PERIOD: Duration = Duration::from_secs(10);

/// A server that accepts clients.
#[derive(Debug)]
pub struct Running {
    runtime: Runtime,
    host: Arc<Host>,
    /// What is remembered across restarts.
    memory: Option<Memory>,
    bound: Bound,
    /// Stations without TCP/IP.
    stations: Vec<Station>,
    /// The door of the web page, until it is shown.
    web: Option<web::Opened>,
    /// Address of the name service.
    names: Option<SocketAddr>,
    /// Closed once no client is left.
    gone: mpsc::Receiver<()>,
}

/// How a server starts, apart from its settings.
pub struct Start {
    /// Reads the settings again, at a hang-up signal.
    pub read: Read,
    /// Replace the server that runs, and take its sockets over.
    pub takeover: bool,
    /// The faults to inject.
    pub faults: Vec<Fault>,
    /// Serve the continuous integration of a client.
    pub ci: Option<CiStart>,
    /// Shows the web page, if there is to be one.
    pub page: Option<web::Page>,
}

/// Serves until a stop signal. After the first signal clients finish; the second signal stops at once. `greet` runs once
/// clients can connect.
///
/// # Errors
/// The reason the server could not start: a folder, an address, or the system.
pub fn run(settings: Settings, start: Start, greet: impl FnOnce(&Bound)) -> Result<Finish> {
    let Prepared {
        parts,
        log,
        mut warnings,
    } = begin::prepared(&settings, start.takeover)?;
    memory::create_folder(&settings, &mut warnings);
    // Both affect the whole process only while it has a single thread.
    let capture = open_capture(&settings)?;
    let Confined {
        runner,
        report,
        reach,
    } = confine(&settings)?;
    let reporter = Reporter::start(&settings, log)?;
    panics::end_with_the_runtime(&reporter);
    let tuning = Tuning::default();
    let threads = Threads::new(tuning, parts.built.folders.len())?;
    // The handlers are installed before the server announces that it runs.
    let signals = threads.runtime.block_on(async { Signals::new() })?;
    let control = begin::control(&settings, &parts)?;
    let parts = Parts {
        runner,
        capture,
        ..parts
    };
    let under_test = UnderTest::of(&start);
    let mut running = Running::start_on(threads, parts, settings, (reporter, under_test))?;
    running.show(start.page);
    running.introduce(start.ci.as_ref(), &start.faults);
    running.host.reporter.notice(report.to_string());
    for warning in warnings {
        running.host.reporter.notice(warning.in_one_line());
    }
    greet(running.bound());
    notify::ready(start.takeover);
    let reloader = Reloader::new(start.read, reach, tuning.folder_period);
    running.until_signalled(signals, reloader, (control, start.ci))
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// As it was told to.
    Done,
    /// The test of a client has not passed: the summary says why.
    Problems,
}

/// What is special about a server that tests clients.
#[derive(Debug, Default)]
struct UnderTest {
    faults: Option<Arc<Plan>>,
    counts: Option<Arc<Counts>>,
}

impl UnderTest {
    fn of(start: &Start) -> Self {
        let has_faults = !start.faults.is_empty();
        Self {
            faults: has_faults.then(|| Arc::new(Plan::new(start.faults.clone()))),
            counts: start.ci.as_ref().map(|_| Arc::default()),
        }
    }
}

/// The runtime, and how it serves clients.
struct Threads {
    runtime: Runtime,
    tuning: Tuning,
}

impl Threads {
    /// Creates threads for clients of `shares` shares. Threads that a hung disk can block come in addition.
    fn new(tuning: Tuning, shares: usize) -> Result<Self> {
        let in_disks = shares.saturating_add(1).saturating_mul(tuning.passes());
        let threads = tuning.threads.saturating_add(SPARE_THREADS);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(threads.saturating_add(in_disks))
            .thread_name("coax")
            .enable_all()
            .build()
            .context("the system gives no threads")?;
        Ok(Self { runtime, tuning })
    }
}

impl Running {
    /// Starts serving.
    ///
    /// # Errors
    /// The same as [`run`].
    pub fn start(settings: Settings, reporter: Reporter) -> Result<Self> {
        let Prepared { parts, .. } = Prepared::new(&settings)?;
        let threads = Threads::new(Tuning::default(), parts.built.folders.len())?;
        Self::start_on(threads, parts, settings, (reporter, UnderTest::default()))
    }

    fn start_on(
        threads: Threads,
        mut parts: Parts,
        settings: Settings,
        (reporter, under_test): (Reporter, UnderTest),
    ) -> Result<Self> {
        let printing = printing::Printing::start(&settings, &reporter, parts.runner)
            .context("the system gives no thread to print with")?;
        let Threads { runtime, tuning } = threads;
        let web = parts.sockets.web.take();
        let capture = parts
            .capture
            .map(|target| pcap::Capture::start(target, reporter.clone()))
            .transpose()
            .context("cannot begin the capture")?;
        let audit = parts
            .audit
            .map(|sink| Audit::start(sink, &settings, reporter.clone()))
            .transpose()
            .context("the system gives no thread for the audit log")?;
        let Built {
            server,
            folders,
            numbers,
        } = parts.built;
        let service = Service::new(server, settings, folders.clone(), numbers, 0);
        let mut host = Host::new(service, reporter, printing, tuning);
        (host.capture, host.audit) = (capture, audit.map(Arc::new));
        (host.faults, host.ci) = (under_test.faults, under_test.counts);
        let host = Arc::new(host);
        let (alive, gone) = mpsc::channel(1);
        let entering = Entering {
            account: parts.account,
            takeover: parts.takeover,
        };
        let opening = async { open_doors(&host, parts.sockets, entering, alive) };
        let Doors {
            mut bound,
            names,
            stations,
            memory,
        } = runtime.block_on(opening)?;
        bound.web = web.as_ref().map(web::Opened::address);
        if let Some(listener) = parts.status {
            status::serve(&host, listener);
        }
        runtime.block_on(async { folders::watch(&host, folders, tuning.folder_period) });
        Ok(Self {
            memory,
            runtime,
            host,
            bound,
            stations,
            web,
            names,
            gone,
        })
    }

    /// Opens the door of the web page to `page`.
    fn show(&mut self, page: Option<web::Page>) {
        if let (Some(web), Some(page)) = (self.web.take(), page) {
            let host = self.host.clone();
            self.runtime.block_on(async move { web.show(&host, page) });
        }
    }

    /// The addresses that the server listens on.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The address of the name service, if it runs.
    pub fn names(&self) -> Option<SocketAddr> {
        self.names
    }

    /// Tells scripts what they need for a test, and everybody that faults are injected.
    fn introduce(&self, ci: Option<&CiStart>, faults: &[Fault]) {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        match ci {
            Some(ci) => self
                .host
                .reporter
                .tell(Line::Ci(Box::new(ci.line(&self.bound, faults)))),
            None if faults.is_empty() => {}
            None => self
                .host
                .reporter
                .notice(format!("this server injects faults: {}", faults.join("; "))),
        }
    }

    fn until_signalled(
        mut self,
        signals: Signals,
        reloader: Reloader,
        (control, ci): (Option<Offer>, Option<CiStart>),
    ) -> Result<Finish> {
        let watch = ci.map(|ci| ci.watch).unwrap_or_default();
        let watch = self.runtime.block_on(async { Watch::begin(watch) });
        self.runtime.spawn(notify::keep_alive(self.host.clone()));
        let operation = Operation {
            control,
            host: &self.host,
            signals,
            watch: watch.context("cannot watch the parent process")?,
            ended: Ended::Signal,
            reloader: Arc::new(reloader),
            gone: &mut self.gone,
        };
        let ended = self.runtime.block_on(operation.run());
        // The stations tell their peers that sessions end.
        drop(self.stations);
        drop(self.memory);
        self.runtime.shutdown_background();
        Ok(finish(&self.host, ended))
    }

    /// Stops the server: it accepts no new clients, finishes requests in flight and closes connections.
    pub fn stop(mut self) {
        self.host.stop();
        let gone = async { tokio::time::timeout(GRACE, self.gone.recv()).await };
        // Dropping the runtime disconnects clients that take longer.
        let _ = self.runtime.block_on(gone);
        drop(self.stations);
        drop(self.memory);
        self.runtime.shutdown_background();
        self.host.flush();
    }
}

/// Writes the last lines.
fn finish(host: &Host, ended: Ended) -> Finish {
    let mut finish = Finish::Done;
    if let Some(counts) = &host.ci {
        let seconds = host.began.elapsed().as_secs();
        let summary = counts.summary(host.faults.as_deref(), ended, seconds);
        if summary.exit_code != 0 {
            finish = Finish::Problems;
        }
        host.reporter.tell(Line::Summary(Box::new(summary)));
    }
    host.flush();
    finish
}

/// Opens the capture file before the sandbox restricts file access.
fn open_capture(settings: &Settings) -> Result<Option<pcap::Target>> {
    let Some(pcap) = &settings.pcap else {
        return Ok(None);
    };
    let target = pcap::Target::open(&pcap.path, pcap.limit);
    let target =
        target.with_context(|| format!("cannot write the capture {}", pcap.path.display()))?;
    Ok(Some(target))
}

/// A process in its sandbox.
struct Confined {
    runner: Runner,
    report: sandbox::Report,
    /// The files within reach, if the sandbox limits them.
    reach: Option<sandbox::Policy>,
}

/// Starts the processes that the sandbox would forbid, then enters the sandbox.
fn confine(settings: &Settings) -> Result<Confined> {
    if !settings.global.sandbox {
        return Ok(Confined {
            runner: Runner::default(),
            report: sandbox::Report::off("'coax:sandbox = no'"),
            reach: None,
        });
    }
    let user = settings.global.run_as.as_deref();
    let runner = match printing::is_needed(settings) {
        true => Runner::start(user).context("cannot start the process for print commands")?,
        false => Runner::default(),
    };
    let policy = policy(settings);
    let report = sandbox::enter(&policy);
    let reach = report.limits_files().then_some(policy);
    Ok(Confined {
        runner,
        report,
        reach,
    })
}

/// The files that a server with these settings needs.
fn policy(settings: &Settings) -> sandbox::Policy {
    let mut policy = sandbox::Policy::new(settings, |share| share_path::path(settings, share).ok());
    let log = report::log_path(settings);
    let folder = log.as_deref().and_then(|path| Path::new(path).parent());
    let state = memory::folder(settings);
    let audit = match &settings.global.audit {
        Some(AuditTarget::File(path)) => path.parent(),
        _ => None,
    };
    let folders = folder.into_iter().chain(state.as_deref()).chain(audit);
    policy.allow(folders, sandbox::Rights::Write);
    policy
}

/// Where clients can connect.
struct Doors {
    bound: Bound,
    names: Option<SocketAddr>,
    stations: Vec<Station>,
    memory: Option<Memory>,
}

/// The last steps before clients are accepted.
struct Entering {
    account: Option<Account>,
    takeover: Option<Takeover>,
}

impl Entering {
    /// Switches to the account and takes over. Returns the user's name, if it is another one.
    fn enter(self) -> Result<Option<String>> {
        if let Some(account) = &self.account {
            account.assume().map_err(Error::msg)?;
        }
        if let Some(takeover) = self.takeover {
            takeover.finish().map_err(Error::msg)?;
        }
        Ok(self.account.map(|account| account.name().to_owned()))
    }
}

fn open_doors(
    host: &Arc<Host>,
    sockets: Sockets,
    entering: Entering,
    alive: mpsc::Sender<()>,
) -> Result<Doors> {
    let mut bound = sockets.bound()?;
    let user = entering.enter()?;
    // Supervisors and scripts wait for this line, so it comes first.
    host.reporter.tell(Line::Listening {
        nbt: bound.nbt.first().map(ToString::to_string),
        direct: bound.direct.first().map(ToString::to_string),
    });
    if let Some(user) = user {
        host.reporter.notice(format!("runs as user {user}"));
    }
    // Before clients are accepted, so that their limits are known.
    let memory = Memory::start(host);
    report_share_problems(host);
    let numbers = Arc::new(AtomicU64::new(0));
    let mut stations = Vec::new();
    for port in sockets.netbeui {
        let name = port.interface().name().to_owned();
        let station = netbeui::start(host, port, numbers.clone(), &alive)
            .map_err(|why| Error::msg(format!("cannot serve NetBEUI on {name}: {why}")))?;
        stations.push(station);
    }
    for port in sockets.ipx {
        let name = port.port.interface().name().to_owned();
        let station = ipx::start(host, port, numbers.clone(), &alive)
            .map_err(|why| Error::msg(format!("cannot serve IPX on {name}: {why}")))?;
        stations.push(station);
    }
    for door in sockets.doors {
        let clients = listen::accept(host.clone(), door, numbers.clone(), alive.clone());
        tokio::spawn(clients);
    }
    let names = sockets.names.map(|at| netbios::Names::start(host, at));
    let names_at = match names {
        Some(Ok(names)) => {
            let at = names.address();
            tokio::spawn(names.run(host.clone(), alive));
            at
        }
        Some(Err(why)) => {
            bound.names = false;
            host.reporter
                .notice(format!("names are not answered for: {why}"));
            None
        }
        None => None,
    };
    tokio::spawn(watch_clock(host.clone()));
    local::start(host);
    Ok(Doors {
        bound,
        names: names_at,
        stations,
        memory,
    })
}

/// Checks the shares' folders under the serving user's account. It uses a separate thread so that a hung disk does not
/// delay the start.
fn report_share_problems(host: &Arc<Host>) {
    let host = host.clone();
    tokio::task::spawn_blocking(move || {
        for (share, path, problem) in probe::all(&host.settings()) {
            host.reporter.tell(Line::ShareProblem {
                share,
                path,
                problem: problem.text,
                remedy: problem.remedy,
            });
        }
    });
}

async fn watch_clock(host: Arc<Host>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(WALL_CLOCK_PERIOD) => {
                host.follow_wall_clock(coax_clock::wall_ns());
                host.clients.tidy();
            }
            () = host.stopped() => return,
        }
    }
}
