//! Threads and periods.

use std::time::Duration;

use coax_wire::time::Span;

/// Threads that serve clients at the same time; additional clients take turns.
const THREADS: usize = 512;
/// Time limit to log on, or to connect to a share without logging on.
const LOGON_TIMEOUT: Span = Span::from_secs(10);
/// Interval between checks of the shares' folders.
const FOLDER_PERIOD: Duration = Duration::from_secs(5);

/// Values that tests override.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Threads that serve clients.
    pub(super) threads: usize,
    /// How long a client may take to log on.
    pub(super) logon_timeout: Span,
    /// Interval between checks of the shares' folders.
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
