//! A connection's current resources: for reports, and for leak tests.

use super::{Context, reply::Transmit};

/// Counts of a connection's resources. [`crate::config::Limits`] bounds each count. The driver bounds `queued_bytes`:
/// it takes no message while replies wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Open files, folders, pipes and print jobs.
    pub opens: usize,
    /// Logged-on sessions and log-ons in progress.
    pub sessions: usize,
    /// Connected trees.
    pub trees: usize,
    /// Open searches.
    pub searches: usize,
    /// Requests parked.
    pub parked: usize,
    /// Incomplete transactions.
    pub transactions: usize,
    /// Replies not yet taken by the driver, bytes.
    pub queued_bytes: usize,
}

impl Context {
    /// Counts of the connection's current resources.
    pub fn held(&self) -> Held {
        Held {
            opens: self.files.len(),
            sessions: self.sessions.len(),
            trees: self.trees.len(),
            searches: self.searches.len(),
            parked: self.parked.len(),
            transactions: self.transactions.len(),
            queued_bytes: self.transmits.iter().map(Transmit::len).sum(),
        }
    }
}
