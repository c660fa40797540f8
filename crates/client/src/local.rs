//! The interface between the engine and the local files of copies.

use crate::job_id::JobId;
use alloc::string::String;

/// Why a local file cannot be read or written; the driver supplies the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LocalError {
    /// The message.
    pub message: String,
    /// Whether the local disk is full.
    pub disk_full: bool,
}

/// Reads and writes the local ends of copies.
pub trait LocalFiles {
    /// Writes bytes of the server's file. In a copy to the client, offsets may be out of order.
    ///
    /// # Errors
    /// [`LocalError`], which ends the copy.
    fn write(&mut self, job: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError>;

    /// Reads from `offset` into `buffer` and returns the number of bytes. Offsets only increase.
    ///
    /// # Errors
    /// [`LocalError`], which ends the copy.
    fn read(&mut self, job: JobId, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError>;
}

/// For connections without copies.
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
