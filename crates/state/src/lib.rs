//! What the server remembers across restarts: the limits that pacing has learned of each client.
//!
//! One file, `coax.redb`, in the state folder. It is an embedded database (redb) because a crash at any instant must leave
//! the last complete state, and redb needs no C compiler. The server works without it: whatever prevents its
//! use is an [`OpenError`], and a damaged file or one of a newer version is renamed, never deleted.

mod clients;
mod file;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use clients::{AGE_MAX_S, CLIENTS_MAX, Client};
use redb::Database;

/// The name of the file in the state folder.
pub const FILE: &str = "coax.redb";
/// The version of the tables. A file with a higher one was written by a newer program.
pub const FORMAT: u64 = 1;

/// The open database.
#[derive(Debug)]
pub struct Store(Database);

/// A database that could be opened.
#[derive(Debug)]
pub struct Opened {
    /// The database.
    pub store: Store,
    /// The earlier file, if it could not be used.
    pub set_aside: Option<SetAside>,
}

/// A file that could not be used and got another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its new name.
    pub path: PathBuf,
    /// Why it could not be used.
    pub reason: String,
}

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("another server uses it")]
    InUse,
    /// The file or its folder cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It cannot be used and could not be renamed.
    #[error("{reason}, and it cannot be renamed: {error}")]
    Stuck {
        /// Why it cannot be used.
        reason: String,
        /// Why it cannot be renamed.
        error: std::io::Error,
    },
}

/// A change could not be written, or the rows not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(Box<redb::Error>);

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}

impl Store {
    /// Opens the database in `folder`, or creates it. A damaged file, or one of a newer version, is renamed first.
    ///
    /// # Errors
    /// Another process uses it, or the folder does not permit it.
    pub fn open(folder: &Path) -> Result<Opened, OpenError> {
        file::open(&folder.join(FILE))
    }
}
