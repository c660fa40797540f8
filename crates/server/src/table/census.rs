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

/// What the tables remember on purpose after its cause is gone. Each number is bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// Addresses with connections, which share a budget.
    pub addresses: usize,
    /// Addresses from which log-ons failed,
    pub failed_addresses: usize,
    /// and users whose log-ons failed.
    pub failed_users: usize,
    /// Log-ons that wait for the close of other connections.
    pub evictions: usize,
    /// Folders whose names are indexed.
    pub folders: usize,
    /// Removed files whose long names may come back.
    pub removed_names: usize,
}

impl Tables {
    /// Counts what is remembered.
    pub fn remembered(&self) -> Remembered {
        Remembered {
            addresses: self.addresses.len(),
            failed_addresses: self.failed_log_ons.addresses.len(),
            failed_users: self.failed_log_ons.users.len(),
            evictions: self.evictions.0.len(),
            folders: self.names.folders(),
            removed_names: self.tunnel.len(),
        }
    }

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
