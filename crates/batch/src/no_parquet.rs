//! In place of the Parquet tables where they were left out.

use std::path::Path;

use coax_report::lab::sweep::Swept;
use serde_json::Value;

use crate::{error::BatchError, shard::Shard};

/// No tables.
#[derive(Debug)]
pub(crate) enum Tables {}

impl Tables {
    pub(crate) fn create(_: &Path, _: Shard) -> Result<Self, BatchError> {
        Err(BatchError::NoParquet)
    }

    pub(crate) fn add(&mut self, _: &Value) -> Result<(), BatchError> {
        match *self {}
    }

    pub(crate) fn finish(self) -> Result<(), BatchError> {
        match self {}
    }
}

/// Writes the table of a sweep.
///
/// # Errors
/// This program was built without Parquet.
pub fn write_swept(_: &Path, _: &Swept) -> Result<(), BatchError> {
    Err(BatchError::NoParquet)
}
