//! What an open knows of the disk beneath it.

use crate::vfs::VfsError;

/// What an open knows of the disk beneath it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskState {
    /// The client has written through this open.
    pub(super) wrote: bool,
    /// The folder has been synced since the open, and since the last rename.
    pub(super) name_synced: bool,
    pub(super) failure: Option<Failure>,
}

/// A sync of the file failed after this open had written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) error: VfsError,
    /// A request on this open was answered with the error.
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

    /// The file or a folder above it was renamed.
    pub(super) fn renamed(&mut self) {
        self.name_synced = false;
    }
}
