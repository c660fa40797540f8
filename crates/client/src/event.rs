//! What goes in and comes out: operations and events.

use crate::{
    entry::{DiskSpace, Entry, FileStat},
    error::Error,
    job_id::JobId,
    link::Link,
    spec::CopySpec,
};
use alloc::{boxed::Box, string::String, vec::Vec};

/// Something to do on the share. Paths are relative to it, parted by `/` or `\`.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Copy a file's data.
    Copy(CopySpec),
    /// What a folder holds; the last part may have wildcards.
    List {
        /// Pattern, such as `GAMES/*`.
        pattern: String,
    },
    /// A file's or folder's times, size and attributes.
    Stat {
        /// Path.
        path: String,
    },
    /// Delete a file.
    Delete {
        /// Path.
        path: String,
    },
    /// Make a folder.
    MakeDirectory {
        /// Path.
        path: String,
    },
    /// Remove an empty folder.
    RemoveDirectory {
        /// Path.
        path: String,
    },
    /// Give a file or folder another name.
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
        /// Nanoseconds since 1970; `None` leaves it.
        modified: Option<i64>,
        /// DOS attributes; `None` leaves them.
        attributes: Option<u16>,
    },
    /// Size and free space of the share's disk.
    DiskSpace,
    /// The server's shares; the connection must be to `IPC$`.
    Shares,
}

/// How an operation ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Done, nothing to tell.
    Done,
    /// So many bytes were copied, from where the copy began.
    Copied {
        /// Bytes.
        bytes: u64,
        /// The server's time of last write, nanoseconds since 1970, if a request told it.
        modified: Option<i64>,
        /// DOS attributes of the file on the server, if a request told them.
        attributes: Option<u16>,
    },
    /// What the folder holds.
    Entries(Vec<Entry>),
    /// The file.
    Stat(FileStat),
    /// The disk.
    DiskSpace(DiskSpace),
    /// The shares: name, kind (0 disk, 1 printer, 2 device, 3 IPC; 0x8000_0000 hidden), comment.
    Shares(Vec<(String, u32, String)>),
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The share is connected; operations begin.
    Connected(Box<Link>),
    /// An operation ended.
    Done {
        /// Which.
        job: JobId,
        /// How.
        result: Result<Outcome, Error>,
    },
    /// A copy moved on: bytes acknowledged so far.
    Progress {
        /// Which.
        job: JobId,
        /// Bytes.
        bytes: u64,
    },
    /// The connection is over, with every operation that was left.
    Closed(Error),
}
