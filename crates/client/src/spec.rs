//! A copy that is to be made.

use alloc::string::String;

pub use coax_catalog::direction::Direction;

/// What to do with a file that is there already, when copying to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replace,
    /// It is kept, and the copy refused.
    Keep,
    /// Its beginning is kept, and the copy goes on behind it.
    Resume,
}

/// A copy of one file's data.
#[derive(Clone, Debug)]
pub struct CopySpec {
    /// Which way.
    pub direction: Direction,
    /// The file on the server.
    pub path: String,
    /// Where to begin, bytes; more than 0 to go on with a broken copy.
    pub from: u64,
    /// The local file's length, when copying to the server; `None` copies until the local end, which is unknown.
    pub size: Option<u64>,
    /// The local file may be read at any offset, and handed to the kernel.
    pub seekable: bool,
    /// Time of last write to set on the server, nanoseconds since 1970.
    pub modified: Option<i64>,
    /// DOS attributes of a file that is made.
    pub attributes: u16,
    /// When the file is there already.
    pub existing: Existing,
}

impl CopySpec {
    /// A copy from the server.
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            direction: Direction::ToClient,
            path: path.into(),
            from: 0,
            size: None,
            seekable: true,
            modified: None,
            attributes: 0,
            existing: Existing::Keep,
        }
    }

    /// A copy of `size` bytes to the server, replacing what is there.
    pub fn put(path: impl Into<String>, size: u64) -> Self {
        Self {
            direction: Direction::ToServer,
            size: Some(size),
            attributes: ATTRIBUTE_ARCHIVE,
            existing: Existing::Replace,
            ..Self::get(path)
        }
    }
}

/// The archive attribute, which DOS sets on every file that is written ([MS-CIFS] 2.2.1.2.4).
const ATTRIBUTE_ARCHIVE: u16 = 0x20;
