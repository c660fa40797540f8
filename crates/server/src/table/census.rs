//! Counts of all rows, for reports, and for tests that nothing leaks.

use super::Tables;

/// How many rows there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Connections.
    pub connections: usize,
    /// Opens.
    pub opens: usize,
    /// Files that are open or are being removed.
    pub files: usize,
    /// Files marked for deletion.
    pub doomed: usize,
    /// Folders watched for changes.
    pub watches: usize,
    /// Deadlines of oplock breaks and waiting locks.
    pub deadlines: usize,
}

impl Tables {
    /// Counts all rows.
    pub fn census(&self) -> Census {
        Census {
            connections: self.connections.len(),
            opens: self.opens.len(),
            files: self.files.len(),
            doomed: self.doomed.len(),
            watches: self.watches.len(),
            deadlines: self.deadlines.len(),
        }
    }
}
