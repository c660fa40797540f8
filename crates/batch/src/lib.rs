//! Explains many captures on all processors.
//!
//! Files and folders go in. For each capture the object of `coax explain --json` comes out, as a file of its own in a folder
//! ([`Job::out`]), as a line ([`Job::ndjson`]), and as rows of tables ([`Job::parquet`]). Results do not depend on the number of threads.
//! A capture that cannot be read, or that makes the analyser panic, fails alone. A run that was interrupted goes on where it stopped.

mod captures;
mod error;
mod folder;
mod input;
mod job;
mod ordered;
mod outputs;
mod shard;
mod stream;
#[cfg(feature = "parquet")]
mod swept;
pub mod tables;

#[cfg(not(feature = "parquet"))]
mod no_parquet;
#[cfg(feature = "parquet")]
mod parquet;

pub use error::{BatchError, Failure};
pub use job::{Job, Progress, Totals};
pub use shard::Shard;
pub use stream::{Stream, find};
#[cfg(feature = "parquet")]
pub use swept::write_swept;

#[cfg(not(feature = "parquet"))]
pub use no_parquet::write_swept;
