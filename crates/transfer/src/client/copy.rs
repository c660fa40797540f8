//! Copies that leave no partial file under the final name and can be resumed.

mod destination;
mod fetch;
mod part;
mod store;

pub use fetch::fetch;
pub use part::final_path;
pub use store::{Store, store};

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use coax_client::profile::{BlockSize, Profile};

use super::{Error, error::plain};

/// A copy from the server to a file.
#[derive(Clone, Debug)]
pub struct Fetch<'a> {
    /// Path in the share.
    pub path: &'a str,
    /// The local file.
    pub to: &'a Path,
    /// The [`final_path`] of every file that the same run creates. None of them becomes a partial
    /// file.
    pub targets: &'a HashSet<PathBuf>,
    /// Resume a partial file even if nothing shows that it belongs to the same source file.
    pub resume: bool,
    /// Read the file again and compare.
    pub verify: bool,
}

/// A completed copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Offset at which the copy was resumed; 0 for a new copy.
    pub resumed_from: u64,
    /// The copy was read back and compared.
    pub verified: bool,
}

/// A copy that failed.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct CopyError {
    /// The cause.
    pub fault: Fault,
    /// The partial copy that can be resumed.
    pub kept: Option<Kept>,
}

/// A partial copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its path.
    pub at: String,
    /// Its length, bytes.
    pub bytes: u64,
    /// The next copy of the same file resumes it without an option.
    pub goes_on: bool,
}

/// Why a copy failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The connection failed or the server returned an error.
    #[error(transparent)]
    Client(#[from] Error),
    /// A local operation failed.
    #[error("{0}")]
    Local(String),
    /// The length of the copy differs from the length of the file.
    #[error("the copy has {copied} bytes and the file {expected}")]
    Size {
        /// Bytes of the copy.
        copied: u64,
        /// Bytes of the file.
        expected: u64,
    },
    /// The file changed during the copy.
    #[error("the file changed while it was copied")]
    Changed,
    /// The verification read different bytes.
    #[error("read back, the copy differs from byte {at} on")]
    Differs {
        /// Offset of the first different byte.
        at: u64,
    },
    /// Another program writes the same copy.
    #[error("another program is copying to {0}")]
    Busy(String),
}

impl From<Fault> for CopyError {
    fn from(fault: Fault) -> Self {
        Self { fault, kept: None }
    }
}

impl From<Error> for CopyError {
    fn from(error: Error) -> Self {
        Fault::from(error).into()
    }
}

fn local(path: &Path, error: &io::Error) -> Fault {
    Fault::Local(format!("{}: {}", path.display(), plain(error)))
}

/// Maximum number of bytes that may be missing before the end of an interrupted copy: the data in flight at one time.
fn under_way(in_flight: u16, block: &BlockSize, raw_block: u32) -> u64 {
    let block = match block {
        BlockSize::Bytes(bytes) => *bytes,
        BlockSize::Buffer(_) => 0xffff,
        BlockSize::Sizes(sizes) => sizes.largest(),
    };
    u64::from(in_flight).saturating_mul(u64::from(block.max(raw_block)))
}

fn reads_under_way(profile: &Profile) -> u64 {
    let read = &profile.read;
    under_way(read.in_flight.most, &read.block, *read.raw_block)
}

fn writes_under_way(profile: &Profile) -> u64 {
    let write = &profile.write;
    under_way(write.in_flight.most, &write.block, *write.raw_block)
}

#[cfg(test)]
mod fetch_tests;
#[cfg(test)]
mod tests;
