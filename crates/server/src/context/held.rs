//! What a connection holds at the moment: for reports, and for tests that nothing leaks.

use super::{Context, reply::Transmit};

/// Counts of what a connection holds; each is bounded by [`crate::config::Limits`], `queued_bytes` by the driver, which
/// takes no message while replies wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Open files, folders, pipes and print jobs.
    pub opens: usize,
    /// Logged-on sessions and log-ons in progress.
    pub sessions: usize,
    /// Connected trees.
    pub trees: usize,
    /// Searches kept open.
    pub searches: usize,
    /// Requests parked.
    pub parked: usize,
    /// Transactions whose secondaries are awaited.
    pub transactions: usize,
    /// Replies not yet taken by the driver, bytes.
    pub queued_bytes: usize,
}

impl Context {
    /// What the connection holds now.
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
