//! The parameters of a copy.

use alloc::string::String;

pub use coax_catalog::direction::Direction;

/// What to do if the file exists, in a copy to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Replace it.
    Replace,
    /// Keep it and fail.
    Keep,
    /// Keep its beginning and append the rest.
    Resume,
}

/// A copy of one file's data.
#[derive(Clone, Debug)]
pub struct CopySpec {
    /// The direction.
    pub direction: Direction,
    /// The file on the server.
    pub path: String,
    /// Start offset, bytes; more than 0 to resume an interrupted copy.
    pub from: u64,
    /// The local file's length in a copy to the server; `None` copies until the end of the local data. In a copy from
    /// the server, the size from an earlier reply, if there is one: a size that the open reply cannot hold is an error.
    pub size: Option<u64>,
    /// The local file supports random access, and the kernel can send it.
    pub seekable: bool,
    /// Time of last write to set on the server, nanoseconds since 1970.
    pub modified: Option<i64>,
    /// DOS attributes of a new file.
    pub attributes: u16,
    /// What to do if the file exists.
    pub existing: Existing,
    /// In a copy from the server: if its size came in a field of 32 bits, check with a read that the file ends there.
    /// Servers before NT report the size modulo 4 GiB.
    pub checks_end: bool,
    /// The number of the first request, where the profile has a list of sizes
    /// ([`BlockSize::Sizes`](coax_catalog::profile::BlockSize::Sizes)).
    pub first_request: u64,
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
            checks_end: false,
            first_request: 0,
        }
    }

    /// A copy of `size` bytes to the server, which replaces an existing file.
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

/// The archive attribute, which DOS sets on every written file ([MS-CIFS] 2.2.1.2.4).
const ATTRIBUTE_ARCHIVE: u16 = 0x20;
