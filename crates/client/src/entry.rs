//! Metadata of files and disks from the server.

use alloc::string::String;

/// Attribute of folders ([MS-CIFS] 2.2.1.2.4).
const DIRECTORY: u16 = 0x10;

/// Metadata of a file or folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    /// Time of last write, nanoseconds since 1970 UTC, if the server has one.
    pub modified: Option<i64>,
    /// Creation time, in the same form.
    pub created: Option<i64>,
    /// Time of last access, in the same form.
    pub accessed: Option<i64>,
    /// Length, bytes.
    pub size: u64,
    /// DOS attributes ([MS-CIFS] 2.2.1.2.4).
    pub attributes: u16,
}

impl FileStat {
    /// Whether it is a folder.
    pub fn is_directory(&self) -> bool {
        self.attributes & DIRECTORY != 0
    }
}

/// Size of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskSpace {
    /// Total bytes.
    pub total: u64,
    /// Bytes free.
    pub free: u64,
}

/// One file or folder of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// 8.3 name, if the server sends one.
    pub short_name: String,
    /// Times, size, attributes.
    pub stat: FileStat,
}
