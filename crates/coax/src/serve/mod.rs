//! `coax serve`: real sockets, real folders, threads and the clock around the engine.
//!
//! [`listen`] accepts clients; each becomes a [`task`] that sleeps until there is something to do, and then has a thread
//! of the pool serve the client with plain blocking calls ([`link`]). The engine is told the time by one [`clock`] and
//! reaches another client through its bell ([`wake`]). What happens is told by [`report`]. [`names`] answers for our NetBIOS
//! names.

mod build;
pub(crate) mod clock;
mod guess;
mod host;
mod link;
mod listen;
mod log_file;
mod names;
mod outbox;
mod printing;
pub mod report;
mod socket;
mod story;
mod task;
#[cfg(test)]
mod tests;
mod wake;

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use anyhow::{Context, Result};
use coax_netbios::{SessionConfig, Transport};
use coax_server::Server;
use coax_wire::{nbt::session::Framing, time::Span};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use self::{
    host::Host,
    report::{Line, Reporter},
};
use crate::{cli::hello::Bound, config::settings::Settings};

/// Threads that serve clients at the same time; more clients than that take turns.
const THREADS: usize = 512;
/// Threads beyond those, for what cannot wait for a turn.
const SPARE_THREADS: usize = 16;
/// How long clients have to finish when the server shuts down.
const GRACE: Duration = Duration::from_secs(10);

/// A server that accepts clients.
#[derive(Debug)]
pub struct Running {
    runtime: Runtime,
    host: Arc<Host>,
    bound: Bound,
    /// Where names are answered for.
    names: Option<SocketAddr>,
    /// Closed once no client is left.
    gone: mpsc::Receiver<()>,
}

/// Serves until a signal says to stop: the first lets clients finish what they asked, the second does not. `greet` is
/// called once clients can connect.
///
/// # Errors
/// What kept it from starting: a folder, an address, the system.
pub fn run(settings: Settings, greet: impl FnOnce(&Bound)) -> Result<()> {
    let (reporter, trouble) = Reporter::start(&settings)?;
    let running = Running::start(settings, reporter)?;
    trouble
        .into_iter()
        .for_each(|trouble| running.host.reporter.notice(trouble));
    greet(running.bound());
    running.until_signalled()
}

impl Running {
    /// Starts serving.
    ///
    /// # Errors
    /// As [`run`].
    pub fn start(settings: Settings, reporter: Reporter) -> Result<Self> {
        Self::start_with(settings, reporter, THREADS)
    }

    fn start_with(settings: Settings, reporter: Reporter, threads: usize) -> Result<Self> {
        let server = build::server(&settings)?;
        Self::start_server(server, settings, reporter, threads)
    }

    fn start_server(
        server: Server,
        settings: Settings,
        reporter: Reporter,
        threads: usize,
    ) -> Result<Self> {
        raise_file_limit();
        let server = Arc::new(server);
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(threads.saturating_add(SPARE_THREADS))
            .thread_name("coax")
            .enable_all()
            .build()
            .context("the system gives no threads")?;
        let printing = printing::Printing::start(&settings, &reporter)
            .context("the system gives no thread to print with")?;
        let host = Arc::new(Host::new(server, settings, reporter, printing, threads));
        let (alive, gone) = mpsc::channel(1);
        let (bound, names) = runtime.block_on(async { open_doors(&host, alive) })?;
        Ok(Self {
            runtime,
            host,
            bound,
            names,
            gone,
        })
    }

    /// Where it listens.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// Where NetBIOS names are answered for, if they are.
    pub fn names(&self) -> Option<SocketAddr> {
        self.names
    }

    fn until_signalled(mut self) -> Result<()> {
        let runtime = &self.runtime;
        let stop = runtime.block_on(async {
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            self.host
                .reporter
                .notice("stopping; a second signal stops at once");
            self.host.stop();
            tokio::select! {
                _ = self.gone.recv() => {}
                () = tokio::time::sleep(GRACE) => {}
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            Ok(())
        });
        self.runtime.shutdown_background();
        self.host.reporter.flush();
        stop
    }

    /// Stops: no new clients, requests in flight are finished, connections are closed.
    pub fn stop(mut self) {
        self.host.stop();
        let gone = async { tokio::time::timeout(GRACE, self.gone.recv()).await };
        // Clients that take longer are cut off with the runtime.
        let _ = self.runtime.block_on(gone);
        self.runtime.shutdown_background();
        self.host.reporter.flush();
    }
}

fn open_doors(host: &Arc<Host>, alive: mpsc::Sender<()>) -> Result<(Bound, Option<SocketAddr>)> {
    let settings = &host.settings;
    let nbt = settings.listen.nbt.iter().map(|l| (*l, Transport::Nbt139));
    let direct = settings
        .listen
        .direct
        .iter()
        .map(|l| (*l, Transport::Direct445));
    let doors = nbt
        .chain(direct)
        .map(|(listener, transport)| {
            listen::open(listener, transport, &settings.global.socket_options)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut bound = bound_at(&doors)?;
    // Whoever started us waits for this line, so it is the first.
    host.reporter.tell(Line::Listening {
        nbt: bound.nbt.first().map(ToString::to_string),
        direct: bound.direct.first().map(ToString::to_string),
    });
    let numbers = Arc::new(AtomicU64::new(0));
    for door in doors {
        let clients = listen::accept(host.clone(), door, numbers.clone(), alive.clone());
        tokio::spawn(clients);
    }
    let mut names_at = None;
    if let Some(names) = names::Names::open(host) {
        names_at = names.address();
        bound.names = names_at.is_some_and(|address| address.port() == 137);
        tokio::spawn(names.run(host.clone(), alive));
    }
    tokio::spawn(watch_clock(host.clone()));
    Ok((bound, names_at))
}

fn bound_at(doors: &[listen::Door]) -> Result<Bound> {
    let mut bound = Bound::default();
    for door in doors {
        let place: &mut Vec<SocketAddr> = if door.is_nbt() {
            &mut bound.nbt
        } else {
            &mut bound.direct
        };
        place.push(door.address()?);
    }
    Ok(bound)
}

async fn watch_clock(host: Arc<Host>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(60)) => host.clock.correct(),
            () = host.stopped() => return,
        }
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

/// Every client needs a descriptor, and every file it opens: as many as we may have.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If not, clients are fewer; accepting says so when it comes to that.
    let _ = setrlimit(Resource::Nofile, limit);
}
