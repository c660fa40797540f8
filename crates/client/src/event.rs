//! Operations (input) and events (output).

use crate::{
    entry::{DiskSpace, Entry, FileStat},
    error::Error,
    job_id::JobId,
    link::Link,
    spec::CopySpec,
};
use alloc::{boxed::Box, string::String, vec::Vec};

/// An operation in the share. Paths are relative to the share, separated by `/` or `\`.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Copy a file's data.
    Copy(CopySpec),
    /// List a folder; the last component may contain wildcards.
    List {
        /// Pattern, such as `GAMES/*`.
        pattern: String,
    },
    /// Query times, size and attributes of a file or folder.
    Stat {
        /// Path.
        path: String,
    },
    /// Delete a file.
    Delete {
        /// Path.
        path: String,
    },
    /// Create a folder.
    MakeDirectory {
        /// Path.
        path: String,
    },
    /// Remove an empty folder.
    RemoveDirectory {
        /// Path.
        path: String,
    },
    /// Rename a file or folder.
    Rename {
        /// Old path.
        from: String,
        /// New path.
        to: String,
    },
    /// Set the time of last write, and attributes.
    SetStat {
        /// Path.
        path: String,
        /// Nanoseconds since 1970; `None` does not change it.
        modified: Option<i64>,
        /// DOS attributes; `None` does not change them.
        attributes: Option<u16>,
    },
    /// Query size and free space of the share's disk.
    DiskSpace,
    /// List the server's shares; the connection must be to `IPC$`.
    Shares,
    /// List the servers or workgroups that a browser knows; the connection must be to `IPC$`.
    Servers {
        /// Bits of types, of which a server has at least one ([MS-RAP] 2.5.5.1).
        kinds: u32,
        /// The workgroup; `None`: the browser's own.
        domain: Option<String>,
    },
}

/// The result of an operation.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Success without a result.
    Done,
    /// The number of copied bytes, counted from the start offset.
    Copied {
        /// Bytes.
        bytes: u64,
        /// The server's time of last write, nanoseconds since 1970, if a reply contained it.
        modified: Option<i64>,
        /// DOS attributes of the file on the server, if a reply contained them.
        attributes: Option<u16>,
    },
    /// The entries of the folder.
    Entries(Vec<Entry>),
    /// The file.
    Stat(FileStat),
    /// The disk.
    DiskSpace(DiskSpace),
    /// The shares: name, kind (0 disk, 1 printer, 2 device, 3 IPC; 0x8000_0000 hidden), comment.
    Shares(Vec<(String, u32, String)>),
    /// The servers or workgroups.
    Servers(Vec<ListedServer>),
}

/// A server or workgroup in a browse list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedServer {
    /// Its name.
    pub name: String,
    /// Version of its system.
    pub version: (u8, u8),
    /// Bits of its type ([MS-RAP] 2.5.5.1).
    pub kind: u32,
    /// Its comment; of a workgroup the master browser.
    pub comment: String,
}

/// An event.
#[derive(Clone, Debug)]
pub enum Event {
    /// The share is connected; operations start.
    Connected(Box<Link>),
    /// An operation ended.
    Done {
        /// The operation.
        job: JobId,
        /// The result.
        result: Result<Outcome, Error>,
    },
    /// Progress of a copy: bytes acknowledged so far.
    Progress {
        /// The operation.
        job: JobId,
        /// Bytes.
        bytes: u64,
    },
    /// The connection is closed; all remaining operations have ended.
    Closed(Error),
}
