//! How a file system in memory behaves: its room, its time, its faults.

use super::node;
use crate::vfs::{VfsError, VfsResult, path};
use core::fmt::Debug;

/// One kind of call, to count it or to make it fail. Calls on paths and on open files of one purpose are one kind.
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

/// A failure to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which calls it counts and strikes; `None` all of them.
    pub call: Option<Call>,
    /// So many calls pass before it strikes.
    pub skip: u64,
    /// So many calls then fail; after that it is spent.
    pub times: u64,
    /// What they fail with.
    pub error: VfsError,
    /// Of a write that is struck, so many bytes are in the file all the same.
    pub written: usize,
}

impl Fault {
    /// The next call of this kind fails once.
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

/// How a [`MemFs`] behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemOptions {
    /// Room for contents, bytes; accounted in clusters of 4,096, holes included.
    pub capacity: u64,
    /// Keep what is written. If not, written bytes read as zeros (or what was there) and cost no memory: for
    /// measurements that copy gigabytes.
    pub keep_contents: bool,
    /// Refuse every change with [`VfsError::ReadOnly`].
    pub read_only: bool,
    /// The device number that objects report ([`crate::vfs::FileId::device`]). Two file systems of one server must differ
    /// in it, as two disks do.
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

/// The names on the way to a path, checked.
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
