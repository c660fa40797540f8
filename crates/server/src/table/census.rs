//! Counts of all table rows, for reports and for tests that check for leaks.

use super::Tables;
use crate::budget::Resource;

/// The number of rows of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Connections.
    pub connections: usize,
    /// Opens.
    pub opens: usize,
    /// Files that are open or that the server is removing.
    pub files: usize,
    /// Files marked for deletion.
    pub doomed: usize,
    /// Folders watched for changes.
    pub watches: usize,
    /// Deadlines of oplock breaks and waiting locks.
    pub deadlines: usize,
    /// Parked opens that wait for an oplock break, a close or the end of a creation.
    pub tickets: usize,
    /// Files and opens for which the tables keep a last-write time, and files with reserved space.
    pub write_times: usize,
    /// Byte-range locks granted.
    pub locks: usize,
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
            tickets: self.tickets.len(),
            write_times: self.write_times.len(),
            locks: self.total.get(Resource::Locks),
        }
    }
}
