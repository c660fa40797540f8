//! Threads and periods.

use std::time::Duration;

use coax_wire::time::Span;

/// Threads that serve clients at the same time; more clients than that take turns.
const THREADS: usize = 512;
/// How long a client may take to log on, or to connect a share where nobody logs on.
const LOGON_TIMEOUT: Span = Span::from_secs(10);
/// How often it is looked whether the shares' folders are there.
const FOLDER_PERIOD: Duration = Duration::from_secs(5);

/// What tests set otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Threads that serve clients.
    pub(super) threads: usize,
    /// How long a client may take to log on.
    pub(super) logon_timeout: Span,
    /// How often the shares' folders are looked at.
    pub(super) folder_period: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            threads: THREADS,
            logon_timeout: LOGON_TIMEOUT,
            folder_period: FOLDER_PERIOD,
        }
    }
}

impl Tuning {
    /// How many threads may be in one share's disk.
    pub(super) fn passes(&self) -> usize {
        (self.threads / 8).clamp(1, 64)
    }
}
