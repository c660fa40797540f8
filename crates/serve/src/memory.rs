//! Keeps what pacing has learned, and the history, in the database of the state folder. A thread of its own opens, reads and
//! writes it, so that a slow or damaged disk delays no client.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use coax_smbconf::{diagnostic::Diagnostic, settings::Settings};
use coax_state::{FILE, OpenError, Opened, Store};

use super::{history::this_minute, host::Host, pacing::LearnedLimits, report::Reporter};

/// The thread's name. [`super::end_with_the_runtime`] leaves out its panics: redb panics on some damaged files, which
/// [`coax_state`] reports as damage.
pub(super) const THREAD: &str = "coax-state";
/// Time between two writes.
const PERIOD: Duration = Duration::from_secs(5);
/// Time between two attempts to open a database that another process uses.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the first clients wait for what is known of them.
const FIRST_READ: Duration = Duration::from_secs(2);
/// How long the end of the server waits for the last write, which is synced: a disk under load takes seconds.
const LAST_WRITE: Duration = Duration::from_secs(10);
const WITHOUT: &str = "what is learned of clients is lost when coax stops";

/// The folder of the database: `coax:state directory`, or the first folder of systemd's `StateDirectory=`.
pub(super) fn folder(settings: &Settings) -> Option<PathBuf> {
    settings
        .global
        .state_directory
        .clone()
        .or_else(|| of_systemd(&std::env::var("STATE_DIRECTORY").ok()?))
}

fn of_systemd(value: &str) -> Option<PathBuf> {
    let first = value.split(':').next()?;
    (!first.is_empty()).then(|| first.into())
}

/// Creates the folder, before the sandbox hides its parent.
pub(super) fn create_folder(settings: &Settings, warnings: &mut Vec<Diagnostic>) {
    let Some(folder) = folder(settings) else {
        return;
    };
    if let Err(error) = std::fs::create_dir_all(&folder) {
        let folder = folder.display();
        let text = format!("the state folder {folder} cannot be created: {error}; {WITHOUT}");
        warnings.push(Diagnostic::warning(text).help(
            "create it and give it to the user who runs coax, or name another one with 'coax:state directory'",
        ));
    }
}

/// The thread that keeps the database. Dropping this writes what is left.
#[derive(Debug)]
pub(super) struct Memory {
    stop: Option<Sender<()>>,
    ended: Receiver<()>,
}

impl Memory {
    /// Starts it, if there is a state folder, and waits a short time until it has read the database.
    pub(super) fn start(host: &Arc<Host>) -> Option<Self> {
        let folder = folder(&host.settings()).filter(|folder| folder.is_dir())?;
        let (stop, stopped) = channel();
        let (ends, ended) = channel();
        let (tried, first) = channel();
        let host = host.clone();
        let keep = move || {
            let _ends = ends;
            let keeper = Keeper {
                limits: &host.limits,
                reporter: &host.reporter,
                folder: &folder,
                told: false,
                tried: Some(tried),
            };
            // Any panic is redb's, on a file that was damaged while it was open.
            if catch_unwind(AssertUnwindSafe(|| keeper.run(&host, &stopped))).is_err() {
                host.history.keep_in(None);
                let path = folder.join(FILE);
                host.reporter
                    .notice(format!("{} is damaged; {WITHOUT}", path.display()));
            }
        };
        let builder = std::thread::Builder::new().name(THREAD.into());
        builder.spawn(keep).ok()?;
        let _ = first.recv_timeout(FIRST_READ);
        Some(Self {
            stop: Some(stop),
            ended,
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.stop = None;
        let _ = self.ended.recv_timeout(LAST_WRITE);
    }
}

struct Keeper<'a> {
    limits: &'a LearnedLimits,
    reporter: &'a Reporter,
    folder: &'a Path,
    /// A problem was reported.
    told: bool,
    /// Dropped after the first attempt to read.
    tried: Option<Sender<()>>,
}

impl Keeper<'_> {
    /// Opens the database and writes changes until the server stops, or another process has taken over.
    fn run(mut self, host: &Host, stopped: &Receiver<()>) {
        let mut store: Option<Arc<Store>> = None;
        let mut minute = this_minute();
        loop {
            if store.is_none() {
                match self.open() {
                    Ok(opened) => {
                        store = opened.map(Arc::new);
                        host.history.keep_in(store.clone());
                    }
                    Err(error) => {
                        self.tell(format!("cannot be used: {error}"));
                        return;
                    }
                }
            }
            self.tried = None;
            let period = if store.is_some() { PERIOD } else { AGAIN };
            let goes_on = stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout);
            let ends = !goes_on || host.is_handed_over();
            if let Some(store) = &store {
                self.write(store);
                if ends || this_minute() != minute {
                    self.write_history(host, store, minute);
                    minute = this_minute();
                }
            }
            if ends {
                // Another process may use the file once nobody holds it.
                host.history.keep_in(None);
                return;
            }
        }
    }

    /// Opens the database and recalls its clients; `None` while another process uses it.
    fn open(&mut self) -> Result<Option<Store>, OpenError> {
        let Opened { store, set_aside } = match Store::open(self.folder) {
            Ok(opened) => opened,
            Err(OpenError::InUse) => {
                self.tell("is in use by another server".into());
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if let Some(aside) = set_aside {
            let (file, name) = (self.folder.join(FILE), aside.path);
            self.reporter.notice(format!(
                "{} cannot be used: {}; it was renamed to {}, and a new one begins",
                file.display(),
                aside.reason,
                name.display()
            ));
        }
        match store.clients(coax_clock::wall_s()) {
            Ok(clients) => {
                self.limits.recall(&clients);
                if std::mem::take(&mut self.told) {
                    let file = self.folder.join(FILE);
                    let text = format!("{} is free now and used", file.display());
                    self.reporter.notice(text);
                }
            }
            Err(error) => self.tell(format!("cannot be read: {error}")),
        }
        Ok(Some(store))
    }

    fn write(&mut self, store: &Store) {
        let changes = self.limits.take_changes();
        if changes.is_empty() {
            return;
        }
        match store.write_clients(coax_clock::wall_s(), &changes.clients, &changes.gone) {
            Ok(()) => self.told = false,
            Err(error) => {
                self.limits.give_back(changes);
                self.tell(format!("cannot be written: {error}"));
            }
        }
    }

    fn write_history(&mut self, host: &Host, store: &Store, minute: u64) {
        let Some(sample) = host.history.collect(host.clients.samples(), minute) else {
            return;
        };
        match store.write_minute(this_minute(), sample.clone()) {
            Ok(()) => self.told = false,
            Err(error) => {
                host.history.give_back(sample);
                self.tell(format!("cannot be written: {error}"));
            }
        }
    }

    /// Reports a problem with the database, once.
    fn tell(&mut self, problem: String) {
        if !self.told {
            let file = self.folder.join(FILE);
            let text = format!("{} {problem}; {WITHOUT}", file.display());
            self.reporter.notice(text);
        }
        self.told = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_may_name_several_folders() {
        assert_eq!(
            of_systemd("/var/lib/a:/var/lib/b"),
            Some("/var/lib/a".into())
        );
        assert_eq!(of_systemd(""), None);
    }
}
