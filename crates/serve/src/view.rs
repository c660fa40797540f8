//! What the web page sees of the server, and what it may ask for.

use std::sync::Arc;

use coax_server::vfs::Space;
use coax_smbconf::settings::Settings;

use super::{
    host::Host,
    recording::{self, Recording},
    status::{self, HistoryStatus, Status},
    totals::TotalsStatus,
};

/// A view of a running server. No call waits for a client for more than some milliseconds, except [`Self::space`], which
/// waits for a disk.
#[derive(Clone, Debug)]
pub struct View {
    host: Arc<Host>,
}

impl View {
    pub(super) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }

    /// What the server does now, as `coax status --json`.
    pub fn status(&self) -> Status {
        status::look(&self.host)
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.host.settings()
    }

    /// What was counted since the start.
    pub fn totals(&self) -> TotalsStatus {
        self.host.totals.status(&self.host.server().shares)
    }

    /// The last day, as `coax status --history --json`; `None` without a state folder or with a damaged database.
    pub fn history(&self) -> Option<HistoryStatus> {
        status::day(&self.host).ok()
    }

    /// Size of the disk of a share, and what is free. It may wait for the disk for ever.
    pub fn space(&self, share: &str) -> Option<Space> {
        let server = self.host.server();
        let mut shares = server.shares.iter();
        shares.find(|one| one.name == share)?.vfs()?.space().ok()
    }

    /// Begins to record one client, or all.
    ///
    /// # Errors
    /// A recording is under way, or the system has no memory for one.
    pub fn record(&self, client: Option<u64>, limit: u64) -> Result<Recording, String> {
        recording::begin(&self.host, client, limit)
    }

    /// Writes to the log.
    pub fn notice(&self, text: impl Into<String>) {
        self.host.reporter.notice(text);
    }

    /// Waits until the page must end: the server stops, or another process has taken over.
    pub async fn ended(&self) {
        self.host.drained().await;
        if !self.host.is_handed_over() {
            self.host.stopped().await;
        }
    }
}
