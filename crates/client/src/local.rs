//! The local side of copies, as the engine sees it.

use crate::job_id::JobId;
use alloc::string::String;

/// Why a local file cannot be read or written; the message is the driver's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LocalError {
    /// What happened, in words.
    pub message: String,
    /// Whether the local disk is full.
    pub disk_full: bool,
}

/// Reads and writes the local ends of copies.
pub trait LocalFiles {
    /// Bytes of the server's file have come. Offsets of a copy to the client may come out of order.
    ///
    /// # Errors
    /// [`LocalError`]; the copy then ends with it.
    fn write(&mut self, job: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError>;

    /// Fills `buffer` from `offset` as far as there is data, and says how much there was. Offsets only grow.
    ///
    /// # Errors
    /// [`LocalError`]; the copy then ends with it.
    fn read(&mut self, job: JobId, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError>;
}

/// No files: for connections that copy nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl LocalFiles for NoFiles {
    fn write(&mut self, _: JobId, _: u64, _: &[u8]) -> Result<(), LocalError> {
        Ok(())
    }

    fn read(&mut self, _: JobId, _: u64, _: &mut [u8]) -> Result<usize, LocalError> {
        Ok(0)
    }
}
