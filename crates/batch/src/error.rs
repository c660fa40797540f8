//! What can go wrong.

use std::path::PathBuf;

/// A run that cannot begin, or cannot write what it found.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// A result cannot be written.
    #[error("{} cannot be written: {reason}", path.display())]
    Write {
        /// Where it was to go.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// This program was built without Parquet.
    #[error(
        "this coax was built without Parquet, as packages are; use --ndjson or the Python package, or build coax from source"
    )]
    NoParquet,
}

/// A capture or a folder that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}
