//! What can prevent the use of the database.

use std::path::PathBuf;

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
pub struct StoreError(pub(crate) Box<redb::Error>);

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}
