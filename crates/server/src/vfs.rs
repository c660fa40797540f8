//! The file system as the engine sees it: a folder whose contents it can reach and nothing else.
//!
//! Paths are relative to the share's root, components parted by `/`, `""` the root itself; no component is empty, `.`
//! or `..`. Names are Unicode; a file system that holds other bytes maps them reversibly (each stray byte `b` to
//! U+EF00 + b). Calls may block: drivers run an engine where blocking holds up nobody else.
//!
//! Case folding, 8.3 names, wildcards, share modes and DOS attributes are the engine's business, not the file system's.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod faulty;
pub mod path;
pub mod synced;

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{any::Any, fmt::Debug};

/// Why a file operation failed. One table turns it into a status for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VfsError {
    /// No such file or directory, or a folder on the way to it is missing.
    #[error("not found")]
    NotFound,
    /// A folder was needed and something else is there.
    #[error("not a directory")]
    NotADirectory,
    /// A file was needed and a folder is there.
    #[error("is a directory")]
    IsADirectory,
    /// Something of that name is there already.
    #[error("already exists")]
    Exists,
    /// The folder still holds something.
    #[error("directory not empty")]
    NotEmpty,
    /// The file system's permissions forbid it.
    #[error("permission denied")]
    Denied,
    /// The path or a symbolic link on it leaves the share.
    #[error("path leaves the share")]
    Escapes,
    /// The file system is mounted read-only.
    #[error("read-only file system")]
    ReadOnly,
    /// No space, or the quota is spent.
    #[error("disk full")]
    NoSpace,
    /// Too many files open in this process or system.
    #[error("too many open files")]
    TooManyOpen,
    /// The name is longer than the file system takes.
    #[error("name too long")]
    NameTooLong,
    /// The name cannot exist on this file system.
    #[error("invalid name")]
    InvalidName,
    /// The file would grow past what the file system takes.
    #[error("file too large")]
    TooLarge,
    /// Source and target lie on different file systems.
    #[error("crosses file systems")]
    CrossDevice,
    /// In use in a way that forbids this.
    #[error("busy")]
    Busy,
    /// The file system cannot do this at all (for instance no extended attributes).
    #[error("not supported by the file system")]
    Unsupported,
    /// The extended attribute does not exist.
    #[error("no such attribute")]
    NoAttribute,
    /// The share's folder itself was removed.
    #[error("the share's folder is gone")]
    Gone,
    /// Anything else, with the system's error number.
    #[error("input/output error {0}")]
    Io(i32),
}

/// Shorthand for a file operation's outcome.
pub type VfsResult<T> = Result<T, VfsError>;

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A pipe, device or socket: listed never, opened never.
    Special,
}

/// Nanoseconds since 1970 (signed: file systems hold older times), as file systems keep them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FsTime(pub i64);

/// Which object this is, for as long as it exists: the key of the open table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The file system (device).
    pub device: u64,
    /// The object on it (inode).
    pub inode: u64,
    /// Which of its streams: 0 is the object itself, and all that a [`Vfs`] tells of. Others are the engine's
    /// (`ops::streams`).
    pub stream: u64,
}

impl FileId {
    /// The object that a stream belongs to.
    #[must_use]
    pub const fn object(self) -> Self {
        Self { stream: 0, ..self }
    }
}

/// What a file system tells of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Which object.
    pub id: FileId,
    /// File or folder.
    pub kind: Kind,
    /// Length in bytes; 0 for folders.
    pub size: u64,
    /// Bytes taken on the disk.
    pub allocated: u64,
    /// When it was created, if the file system knows.
    pub created: Option<FsTime>,
    /// Last change of contents.
    pub modified: FsTime,
    /// Last read.
    pub accessed: FsTime,
    /// Last change of contents or metadata (Unix ctime).
    pub changed: FsTime,
    /// Hard links.
    pub links: u32,
    /// Unix permission bits (0o777), made up where there are none.
    pub mode: u32,
}

/// How to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OpenHow {
    /// Read data.
    pub read: bool,
    /// Write data.
    pub write: bool,
    /// Create if missing.
    pub create: bool,
    /// Fail with [`VfsError::Exists`] if it is there (with `create`).
    pub exclusive: bool,
    /// Cut to length 0.
    pub truncate: bool,
}

/// Times to set; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SetTimes {
    /// Last read.
    pub accessed: Option<FsTime>,
    /// Last change of contents.
    pub modified: Option<FsTime>,
}

/// Room on the file system, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Space {
    /// Size of the whole.
    pub total: u64,
    /// Free for this server.
    pub free: u64,
}

/// A folder tree that a share offers. Implementations confine every path beneath their root.
pub trait Vfs: Send + Sync + Debug {
    /// Opens a file. A folder opens too, if `how` asks neither to write nor to create; it can then be statted, synced
    /// and have its times and attributes set. The flag says whether this call created it.
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)>;
    /// Opens a folder for listing.
    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>>;
    /// What lies at `path`, following symbolic links that stay beneath the root.
    fn stat(&self, path: &str) -> VfsResult<Stat>;
    /// Creates a folder.
    fn make_dir(&self, path: &str) -> VfsResult<()>;
    /// Removes a file (never a folder).
    fn remove_file(&self, path: &str) -> VfsResult<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &str) -> VfsResult<()>;
    /// Renames a file or folder; with `replace` over an existing file, else [`VfsError::Exists`], atomically.
    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()>;
    /// Makes `to` another name of the file `from`.
    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()>;
    /// One extended attribute, by its full name (`user.…`).
    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>>;
    /// The same, of what was at `path` as `stat` just before: file systems may remember it for as long as that stays.
    fn attribute_in(&self, path: &str, stat: &Stat, name: &str) -> VfsResult<Vec<u8>> {
        let _ = stat;
        self.attribute(path, name)
    }
    /// What [`VfsDir::tells_changes_after`] says of the folder at `path`, which is now as `stat` says.
    fn tells_changes_after(&self, path: &str, stat: &Stat) -> bool {
        self.open_dir(path)
            .is_ok_and(|dir| dir.tells_changes_after(stat))
    }
    /// Room on the file system.
    fn space(&self) -> VfsResult<Space>;
}

/// An open file or folder. It stays usable after a rename, and after its name is removed.
pub trait VfsFile: Send + Sync + Debug {
    /// Reads at `offset`; short only at the end of the file.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize>;
    /// Writes all of `data` at `offset`, or says how many bytes of it are in the file when it failed.
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)>;
    /// What it is now.
    fn stat(&self) -> VfsResult<Stat>;

    /// Its length, bytes: [`Self::stat`]'s, perhaps at less cost.
    ///
    /// # Errors
    /// Only if the disk fails.
    fn size(&self) -> VfsResult<u64> {
        Ok(self.stat()?.size)
    }
    /// Sets the length; a longer file reads as zeros. Space for an extension is really reserved: a full disk is
    /// [`VfsError::NoSpace`] now and the length stays as it was. A length that is no larger frees what was reserved
    /// beyond it.
    fn set_len(&self, len: u64) -> VfsResult<()>;
    /// Reserves space up to `len` without changing the length.
    fn reserve(&self, len: u64) -> VfsResult<()>;
    /// Sets the length as [`Self::set_len`] does, but without reserving space where the file system allows that.
    ///
    /// # Errors
    /// As [`Self::set_len`].
    fn set_len_sparse(&self, len: u64) -> VfsResult<()> {
        self.set_len(len)
    }
    /// Reserves the space between `from` and `to` without changing the length.
    ///
    /// # Errors
    /// As [`Self::reserve`].
    fn reserve_range(&self, from: u64, to: u64) -> VfsResult<()> {
        let _ = from;
        self.reserve(to)
    }
    /// Waits until contents and metadata are on the disk. A folder's contents are its names. [`VfsError::Unsupported`]
    /// if the file system cannot do that for this object.
    fn sync(&self) -> VfsResult<()>;
    /// Sets times.
    fn set_times(&self, times: SetTimes) -> VfsResult<()>;
    /// Sets the Unix permission bits' owner-write bit.
    fn set_writable(&self, writable: bool) -> VfsResult<()>;
    /// One extended attribute, by its full name (`user.…`).
    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>>;
    /// Sets (or creates) one.
    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()>;
    /// Has `change` make a new value of the one there is, with no other change of it in between.
    ///
    /// # Errors
    /// [`VfsError::NoAttribute`]; those of `change` and of setting it.
    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()>;
    /// Removes one.
    fn remove_attribute(&self, name: &str) -> VfsResult<()>;
    /// Full names of all extended attributes.
    fn attribute_names(&self) -> VfsResult<Vec<String>>;
    /// For drivers: the concrete file, so that a reply's data can go from page cache to socket in the kernel.
    fn as_any(&self) -> &dyn Any;
}

/// A folder open for listing.
pub trait VfsDir: Send + Sync + Debug {
    /// The names in it, in the file system's order, without `.` and `..`.
    fn names(&self) -> VfsResult<Vec<String>>;
    /// What lies under one of its names, and that object's extended attribute `attribute` if it has it.
    fn entry(&self, name: &str, attribute: Option<&str>) -> VfsResult<(Stat, Option<Vec<u8>>)>;
    /// Whether what lies under one of its names, and is now as `stat` says, may have extended attributes other than
    /// `besides`: told without opening it, by file systems that can.
    fn may_have_attributes(&self, name: &str, stat: &Stat, besides: &str) -> bool {
        let _ = (name, stat, besides);
        true
    }
    /// The folder's own state: while `modified` and `changed` stay, its list of names has not changed, if
    /// [`tells_changes_after`](Self::tells_changes_after) it.
    fn stat(&self) -> VfsResult<Stat>;
    /// Will every change of the list of names made after `stat` (this folder's, and not an old one) show in its times?
    /// Not where the file system's clock ticks slowly and `stat` shows a change in the current tick: who remembers a
    /// listing by these times then looks once more when they have settled, 2.5 seconds later at the latest.
    fn tells_changes_after(&self, stat: &Stat) -> bool {
        let _ = stat;
        true
    }
}
