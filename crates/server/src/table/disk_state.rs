//! What the tables record of writes and syncs through one open.

use crate::vfs::VfsError;

/// Writes and syncs through one open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskState {
    /// The client has written through this open.
    pub(super) wrote: bool,
    /// The server has synced the folder since the open and since the last rename.
    pub(super) name_synced: bool,
    pub(super) failure: Option<Failure>,
}

/// A sync of the file failed after this open had written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) error: VfsError,
    /// The server has answered a request on this open with the error.
    pub(super) reported: bool,
}

impl DiskState {
    pub(super) fn report(&mut self) -> Result<(), VfsError> {
        let Some(failure) = &mut self.failure else {
            return Ok(());
        };
        failure.reported = true;
        Err(failure.error)
    }

    /// Notes a rename of the file or of a folder above it.
    pub(super) fn renamed(&mut self) {
        self.name_synced = false;
    }
}
