//! The file system interface of the engine: one folder tree, and no access outside it.
//!
//! Paths are relative to the share's root, with components separated by `/`; `""` is the root itself. No component is
//! empty, `.` or `..`. Names are Unicode. A file system with other bytes in its names maps them reversibly (each stray
//! byte `b` to U+EF00 + b). Calls may block: a driver runs the engine where blocking delays no other client.
//!
//! The engine implements case folding, 8.3 names, wildcards, share modes and DOS attributes, not the file system.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "conformance"))]
pub mod faulty;
pub mod path;
pub mod synced;

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{any::Any, fmt::Debug};

/// The error of a file operation. One table maps it to a status for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VfsError {
    /// No such file or directory, or a missing folder in the path.
    #[error("not found")]
    NotFound,
    /// The object is not a folder.
    #[error("not a directory")]
    NotADirectory,
    /// The object is a folder.
    #[error("is a directory")]
    IsADirectory,
    /// The name already exists.
    #[error("already exists")]
    Exists,
    /// The folder is not empty.
    #[error("directory not empty")]
    NotEmpty,
    /// The permissions of the file system forbid the operation.
    #[error("permission denied")]
    Denied,
    /// The path or a symbolic link on it leaves the share.
    #[error("path leaves the share")]
    Escapes,
    /// The file system is mounted read-only.
    #[error("read-only file system")]
    ReadOnly,
    /// No space, or quota exceeded.
    #[error("disk full")]
    NoSpace,
    /// Too many files open in this process or system.
    #[error("too many open files")]
    TooManyOpen,
    /// The name is longer than the file system allows.
    #[error("name too long")]
    NameTooLong,
    /// The name is illegal on this file system.
    #[error("invalid name")]
    InvalidName,
    /// The file would exceed the maximum size of the file system.
    #[error("file too large")]
    TooLarge,
    /// Source and target lie on different file systems.
    #[error("crosses file systems")]
    CrossDevice,
    /// The object is in use.
    #[error("busy")]
    Busy,
    /// The file system does not support the operation (for instance no extended attributes).
    #[error("not supported by the file system")]
    Unsupported,
    /// The extended attribute does not exist.
    #[error("no such attribute")]
    NoAttribute,
    /// The share's root folder no longer exists.
    #[error("the share's folder is gone")]
    Gone,
    /// Anything else, with the system's error number.
    #[error("input/output error {0}")]
    Io(i32),
}

/// The result of a file operation.
pub type VfsResult<T> = Result<T, VfsError>;

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A pipe, device or socket: never listed, never opened.
    Special,
}

/// A file time: nanoseconds since 1970 (signed, because file systems have older times).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FsTime(pub i64);

/// The identity of an object during its lifetime: the key of the open table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The file system (device).
    pub device: u64,
    /// The object on it (inode).
    pub inode: u64,
    /// The stream of the object: 0 is the object itself, and a [`Vfs`] returns only that. The engine assigns the other
    /// numbers (`ops::streams`).
    pub stream: u64,
}

impl FileId {
    /// The object that a stream belongs to.
    #[must_use]
    pub const fn object(self) -> Self {
        Self { stream: 0, ..self }
    }
}

/// The metadata of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The identity of the object.
    pub id: FileId,
    /// File or folder.
    pub kind: Kind,
    /// Length in bytes; 0 for folders.
    pub size: u64,
    /// Bytes allocated on the disk.
    pub allocated: u64,
    /// The creation time, if the file system has one.
    pub created: Option<FsTime>,
    /// Last change of contents.
    pub modified: FsTime,
    /// Last read.
    pub accessed: FsTime,
    /// Last change of contents or metadata (Unix ctime).
    pub changed: FsTime,
    /// Hard links.
    pub links: u32,
    /// Unix permission bits (0o777), emulated on other systems.
    pub mode: u32,
}

/// The mode of an open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OpenHow {
    /// Read data.
    pub read: bool,
    /// Write data.
    pub write: bool,
    /// Create if missing.
    pub create: bool,
    /// Fail with [`VfsError::Exists`] if the file exists (with `create`).
    pub exclusive: bool,
    /// Truncate to length 0.
    pub truncate: bool,
}

/// Times to set; `None` leaves a time unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SetTimes {
    /// Last read.
    pub accessed: Option<FsTime>,
    /// Last change of contents.
    pub modified: Option<FsTime>,
}

/// Space on the file system, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Space {
    /// Total size.
    pub total: u64,
    /// Free for this server.
    pub free: u64,
}

/// The folder tree of a share. Implementations confine every path to their root.
pub trait Vfs: Send + Sync + Debug {
    /// Opens a file, or a folder if `how` neither writes nor creates. The caller can stat and sync a folder, and set
    /// its times and attributes. The flag says whether this call created the file.
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)>;
    /// Opens a folder for listing.
    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>>;
    /// The metadata of the object at `path`. Follows symbolic links that stay beneath the root.
    fn stat(&self, path: &str) -> VfsResult<Stat>;
    /// Creates a folder.
    fn make_dir(&self, path: &str) -> VfsResult<()>;
    /// Removes a file (never a folder).
    fn remove_file(&self, path: &str) -> VfsResult<()>;
    /// Removes an empty folder, or a symbolic link that leads to a folder.
    fn remove_dir(&self, path: &str) -> VfsResult<()>;
    /// Whether `path` is a symbolic link.
    fn is_link(&self, path: &str) -> bool {
        let _ = path;
        false
    }
    /// Renames a file or folder atomically. With `replace` it overwrites an existing file, else it fails with
    /// [`VfsError::Exists`].
    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()>;
    /// Creates `to` as a hard link to the file `from`.
    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()>;
    /// Reads an extended attribute by its full name (`user.…`).
    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>>;
    /// Like [`Self::attribute`], for an object whose state was `stat` just before. File systems may cache the value for
    /// that state.
    fn attribute_in(&self, path: &str, stat: &Stat, name: &str) -> VfsResult<Vec<u8>> {
        let _ = stat;
        self.attribute(path, name)
    }
    /// The result of [`VfsDir::tells_changes_after`] for the folder at `path` with the current state `stat`.
    fn tells_changes_after(&self, path: &str, stat: &Stat) -> bool {
        self.open_dir(path)
            .is_ok_and(|dir| dir.tells_changes_after(stat))
    }
    /// The space on the file system.
    fn space(&self) -> VfsResult<Space>;
}

/// An open file or folder. It stays usable after a rename, and after its name is removed.
pub trait VfsFile: Send + Sync + Debug {
    /// Reads at `offset`. A short read means the end of the file.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize>;
    /// Writes all of `data` at `offset`. On an error, returns the number of bytes written.
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)>;
    /// The current metadata.
    fn stat(&self) -> VfsResult<Stat>;

    /// The length in bytes, like [`Self::stat`] but possibly cheaper.
    ///
    /// # Errors
    /// Only if the disk fails.
    fn size(&self) -> VfsResult<u64> {
        Ok(self.stat()?.size)
    }
    /// Sets the length; an extension reads as zeros. The file system must reserve the space of an extension: on a full
    /// disk the call fails with [`VfsError::NoSpace`] and the length does not change. It may then leave space reserved, like
    /// [`Self::reserve`]. A length that is not larger frees
    /// the reserved space beyond it.
    fn set_len(&self, len: u64) -> VfsResult<()>;
    /// Reserves space up to `len` without changing the length. A failed call may leave a part of the space reserved;
    /// setting the current length frees it.
    fn reserve(&self, len: u64) -> VfsResult<()>;
    /// Sets the length like [`Self::set_len`], but without a reservation where the file system allows that.
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
    /// Waits until contents and metadata are on the disk. The contents of a folder are its names.
    /// [`VfsError::Unsupported`] if the file system cannot sync this object.
    fn sync(&self) -> VfsResult<()>;
    /// Sets times.
    fn set_times(&self, times: SetTimes) -> VfsResult<()>;
    /// Sets or clears the owner-write bit of the Unix permissions.
    fn set_writable(&self, writable: bool) -> VfsResult<()>;
    /// Reads an extended attribute by its full name (`user.…`).
    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>>;
    /// Sets or creates an extended attribute.
    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()>;
    /// Replaces the value of an attribute with the result of `change`, atomically.
    ///
    /// # Errors
    /// [`VfsError::NoAttribute`], and the errors of `change` and of the write.
    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()>;
    /// Removes an extended attribute.
    fn remove_attribute(&self, name: &str) -> VfsResult<()>;
    /// Full names of all extended attributes.
    fn attribute_names(&self) -> VfsResult<Vec<String>>;
    /// For drivers: the concrete file, so that the kernel can send the data of a reply from page cache to socket.
    fn as_any(&self) -> &dyn Any;
}

/// A folder open for listing.
pub trait VfsDir: Send + Sync + Debug {
    /// The names in it, in the file system's order, without `.` and `..`.
    fn names(&self) -> VfsResult<Vec<String>>;
    /// The metadata of one of its names, and the value of that object's extended attribute `attribute` if it exists.
    fn entry(&self, name: &str, attribute: Option<&str>) -> VfsResult<(Stat, Option<Vec<u8>>)>;
    /// Whether the object with one of its names, whose current metadata is `stat`, may have extended attributes other
    /// than `besides`. Some file systems can tell without an open.
    fn may_have_attributes(&self, name: &str, stat: &Stat, besides: &str) -> bool {
        let _ = (name, stat, besides);
        true
    }
    /// The folder's own metadata. While `modified` and `changed` stay the same, so does the list of names, provided
    /// that [`tells_changes_after`](Self::tells_changes_after) is true.
    fn stat(&self) -> VfsResult<Stat>;
    /// Whether the folder's times will show every change to the list of names after `stat` (which must be recent).
    /// False if the file system's clock is coarse and `stat` shows a change in the current tick. A cache must then read
    /// the folder again after the tick, at most 2.5 seconds later.
    fn tells_changes_after(&self, stat: &Stat) -> bool {
        let _ = stat;
        true
    }
}
