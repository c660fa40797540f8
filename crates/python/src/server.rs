//! A server in this process, for tests.
//!
//! It does not enter the sandbox of `coax serve`, which would confine the whole Python process for good, and it handles no signals.

use std::{
    collections::VecDeque,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use coax_logon::accounts::User;
use coax_serve::{Running, report::Reporter, users::Page};
use coax_smbconf::{
    diagnostic::Severity,
    load::load,
    settings::{GuestAccess, Listener, Listeners, Settings},
    share_argument::ShareArg,
};
use coax_wire::codepage::CodePage;
use pyo3::prelude::*;

use crate::{
    errors::ServeError,
    work::{Stop, attended},
};

/// Events that are kept.
const KEPT: usize = 10_000;

/// A server that runs until it is stopped.
#[pyclass(frozen, module = "coax._coax")]
#[derive(Debug)]
pub(crate) struct Server {
    running: Mutex<Option<Running>>,
    reporter: Reporter,
    events: Events,
    /// `smb://HOST:PORT/SHARE`.
    #[pyo3(get)]
    url: String,
    /// The address.
    #[pyo3(get)]
    host: String,
    /// The TCP port.
    #[pyo3(get)]
    port: u16,
    /// The name of the share.
    #[pyo3(get)]
    share: String,
    /// What of the options has no effect.
    #[pyo3(get)]
    warnings: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Events(Arc<Mutex<VecDeque<String>>>);

impl Events {
    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: String) {
        let mut kept = self.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(event);
    }
}

#[pymethods]
impl Server {
    /// The events so far (docs/events.md), one JSON object each; at most the last 10,000.
    fn events(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.reporter.flush());
        self.events.lock().iter().cloned().collect()
    }

    /// Stops it. Clients that are connected get a short time to finish.
    fn stop(&self, py: Python<'_>) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        py.detach(|| running.map_or((), Running::stop));
    }
}

/// What to serve.
#[derive(FromPyObject)]
pub(crate) struct Wanted {
    folder: PathBuf,
    share: Option<String>,
    guest: String,
    users: Vec<(String, String)>,
    options: Vec<String>,
    host: IpAddr,
    port: u16,
}

/// Serves a folder until [`Server::stop`].
#[pyfunction]
pub(crate) fn serve(py: Python<'_>, wanted: Wanted) -> PyResult<Server> {
    attended(py, move |_: &Stop| started(wanted))?.map_err(ServeError::new_err)
}

fn started(wanted: Wanted) -> Result<Server, String> {
    let (settings, warnings) = settings(wanted)?;
    let share = settings.shares.first().map(|share| share.name.clone());
    let share = share.unwrap_or_default();
    let events = Events::default();
    let kept = events.clone();
    let reporter = Reporter::to(move |told| {
        if let Some(event) = told.json() {
            kept.add(event);
        }
    });
    let reporter = reporter.map_err(|error| format!("the system gives no thread: {error}"))?;
    let running =
        Running::start(settings, reporter.clone()).map_err(|error| format!("{error:#}"))?;
    let address = running.bound().nbt.first().copied();
    let address: SocketAddr = address.ok_or("the server has no address")?;
    Ok(Server {
        running: Mutex::new(Some(running)),
        reporter,
        events,
        url: format!("smb://{address}/{share}"),
        host: address.ip().to_string(),
        port: address.port(),
        share,
        warnings,
    })
}

fn settings(wanted: Wanted) -> Result<(Settings, Vec<String>), String> {
    let mut options = vec!["map to guest = Bad User".to_owned()];
    options.extend(wanted.options);
    let loaded = load(None, &options);
    let (errors, warnings): (Vec<_>, Vec<_>) = loaded
        .diagnostics
        .iter()
        .partition(|one| one.severity == Severity::Error);
    if let Some(error) = errors.first() {
        return Err(error.in_one_line());
    }
    let warnings = warnings.into_iter().map(|one| one.in_one_line()).collect();
    let guest: GuestAccess = wanted.guest.parse()?;
    let mut share = ShareArg::of_folder(&wanted.folder).map_err(|why| why.in_one_line())?;
    if let Some(name) = wanted.share {
        share.name = format!("{name}=/").parse::<ShareArg>()?.name;
    }
    let share = share.settings(guest, &loaded.template);
    let mut settings = loaded.settings;
    settings.shares = vec![share.map_err(|why| why.in_one_line())?];
    let page = Page(CodePage::from_number(settings.global.dos_charset).unwrap_or_default());
    let users = wanted.users.iter();
    settings.users = users
        .map(|(name, password)| User::with_password(name, password, &page))
        .collect();
    let at = SocketAddr::new(wanted.host, wanted.port);
    settings.listen = Listeners {
        nbt: vec![Listener::exactly(at)],
        direct: Vec::new(),
        names: None,
        netbeui: Vec::new(),
        ipx: Vec::new(),
    };
    Ok((settings, warnings))
}
