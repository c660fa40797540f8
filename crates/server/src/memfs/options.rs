//! Options of an in-memory file system: space, time, faults.

use super::node;
use crate::vfs::{VfsError, VfsResult, path};
use core::fmt::Debug;

/// The kind of a call, to count it or to make it fail. Calls on paths and on open files with one purpose are one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is the method of its name in `vfs`")]
pub enum Call {
    Open,
    OpenDir,
    Stat,
    MakeDir,
    RemoveFile,
    RemoveDir,
    Rename,
    HardLink,
    Attribute,
    SetAttribute,
    RemoveAttribute,
    AttributeNames,
    Space,
    ReadAt,
    WriteAt,
    SetLen,
    Reserve,
    Sync,
    SetTimes,
    SetWritable,
    Names,
    Entry,
}

/// A fault for later calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of call that it counts and makes fail; `None` for all kinds.
    pub call: Option<Call>,
    /// The number of calls that pass first.
    pub skip: u64,
    /// The number of calls that fail then. Afterwards the fault is used up.
    pub times: u64,
    /// The error of these calls.
    pub error: VfsError,
    /// The number of bytes that a failing write still stores.
    pub written: usize,
}

impl Fault {
    /// Makes the next call of this kind fail once.
    #[must_use]
    pub fn next(call: Call, error: VfsError) -> Self {
        Self {
            call: Some(call),
            skip: 0,
            times: 1,
            error,
            written: 0,
        }
    }
}

/// The options of a `MemFs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemOptions {
    /// Capacity for contents in bytes, allocated in clusters of 4,096, holes included.
    pub capacity: u64,
    /// Keep written data. Otherwise written bytes read as zeros (or the previous contents) and take no memory: for
    /// measurements that copy gigabytes.
    pub keep_contents: bool,
    /// Refuse every change with [`VfsError::ReadOnly`].
    pub read_only: bool,
    /// The device number of all objects ([`crate::vfs::FileId::device`]). Two file systems of one server must have
    /// different numbers, like two disks.
    pub device: u64,
}

impl Default for MemOptions {
    fn default() -> Self {
        Self {
            capacity: 1 << 40,
            keep_contents: true,
            read_only: false,
            device: node::DEVICE,
        }
    }
}

/// Checks a path and returns its components.
pub(super) fn components(path: &str) -> VfsResult<impl Iterator<Item = &str>> {
    path::check(path)?;
    if path
        .split('/')
        .any(|name| name.len() > path::MAX_NAME_BYTES)
    {
        return Err(VfsError::NameTooLong);
    }
    Ok(path.split('/').filter(|name| !name.is_empty()))
}
