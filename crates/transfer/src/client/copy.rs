//! Copies that leave no partial file under the final name, and can be gone on with.

mod fetch;
mod store;

pub use fetch::{Fetch, fetch};
pub use store::{Store, store};

use std::{io, path::Path};

use coax_client::profile::{BlockSize, Profile};

use super::{Error, error::plain};

/// A copy that is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Where the copy went on; 0 if it is new.
    pub resumed_from: u64,
    /// It was read back and compared.
    pub verified: bool,
}

/// A copy that failed.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct CopyError {
    /// Why.
    pub fault: Fault,
    /// What is there to go on with.
    pub kept: Option<Kept>,
}

/// The part of a copy that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where.
    pub at: String,
    /// Bytes.
    pub bytes: u64,
    /// The next copy of the same file goes on by itself, without being told to.
    pub goes_on: bool,
}

/// Why a copy failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Connection or server.
    #[error(transparent)]
    Client(#[from] Error),
    /// The local side.
    #[error("{0}")]
    Local(String),
    /// The copy's length is not the file's.
    #[error("the copy has {copied} bytes and the file {expected}")]
    Size {
        /// Bytes of the copy.
        copied: u64,
        /// Bytes of the file.
        expected: u64,
    },
    /// The file is not what it was when the copy began.
    #[error("the file changed while it was copied")]
    Changed,
    /// Reading back gave other bytes.
    #[error("read back, the copy differs from byte {at} on")]
    Differs {
        /// The first byte that differs, counted from 0.
        at: u64,
    },
    /// Another program is at the same copy.
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

/// Bytes that may be missing before the end of a copy that was cut off: what was under way at once.
fn under_way(in_flight: u16, block: BlockSize, raw_block: u32) -> u64 {
    let block = match block {
        BlockSize::Bytes(bytes) => bytes,
        BlockSize::Buffer(_) => 0xffff,
    };
    u64::from(in_flight).saturating_mul(u64::from(block.max(raw_block)))
}

fn reads_under_way(profile: &Profile) -> u64 {
    let read = &profile.read;
    under_way(read.in_flight.most, *read.block, *read.raw_block)
}

fn writes_under_way(profile: &Profile) -> u64 {
    let write = &profile.write;
    under_way(write.in_flight.most, *write.block, *write.raw_block)
}

#[cfg(test)]
mod tests;
