//! Sync errors of open files. After a failed fsync the kernel marks the pages that it could not write as clean. A later
//! fsync then succeeds although the data is lost. So every open that wrote to the file gets the error and accepts no
//! more writes.

use super::disk_state::Failure;
use super::{OpenId, Tables};
use crate::vfs::{FileId, VfsError};
use alloc::string::String;

impl Tables {
    /// Notes that `open` is about to write or to change the length. Returns the number of length changes so far: while
    /// that number stays the same, the file has not become shorter.
    ///
    /// # Errors
    /// The error of an earlier sync that may have lost data of this open. It stays until the client opens the file
    /// anew.
    pub fn begin_write(&mut self, open: OpenId) -> Result<u64, VfsError> {
        let Some(open) = self.opens.get_mut(&open) else {
            return Ok(0);
        };
        open.disk.wrote = true;
        open.disk.report()?;
        let file = self.files.get(&open.request.file);
        Ok(file.map_or(0, |file| file.resizes))
    }

    /// Notes that a request set the length of a file or replaced its contents.
    pub fn resized(&mut self, file: FileId) {
        if let Some(file) = self.files.get_mut(&file) {
            file.resizes = file.resizes.wrapping_add(1);
        }
    }

    /// Notes that the server is about to sync the file of `open`. Returns the path if the server must also sync its
    /// folder, because it has not done so since the open or since the last rename.
    ///
    /// # Errors
    /// As [`Self::begin_write`].
    pub fn begin_sync(&mut self, open: OpenId) -> Result<Option<String>, VfsError> {
        let Some(open) = self.opens.get_mut(&open) else {
            return Ok(None);
        };
        open.disk.report()?;
        Ok((!open.disk.name_synced).then(|| open.request.path.clone()))
    }

    /// Notes that the server has synced the folder of `path` for `open`.
    pub fn name_synced(&mut self, open: OpenId, path: &str) {
        if let Some(open) = self.opens.get_mut(&open)
            && open.request.path == path
        {
            open.disk.name_synced = true;
        }
    }

    /// Notes that a sync through `by` failed with `error`, which the server now reports to its client. From now on all
    /// opens that wrote to the file or to one of its streams fail.
    pub fn sync_failed(&mut self, by: OpenId, error: VfsError) {
        let Some(file) = self.opens.get(&by).map(|open| open.request.file) else {
            return;
        };
        let opens = self.opens_of_object(file);
        for id in opens {
            let Some(open) = self.opens.get_mut(&id) else {
                continue;
            };
            if id == by || open.disk.wrote {
                let reported = id == by;
                open.disk.failure.get_or_insert(Failure { error, reported });
            }
        }
    }

    /// The error of a failed sync that the server has not yet reported on `open`. The close is the last chance to
    /// report it.
    pub fn unreported_sync_failure(&self, open: OpenId) -> Option<VfsError> {
        let failure = self.opens.get(&open)?.disk.failure?;
        (!failure.reported).then_some(failure.error)
    }

    fn opens_of_object(&self, file: FileId) -> alloc::vec::Vec<OpenId> {
        let first = file.object();
        let last = FileId {
            stream: u64::MAX,
            ..file
        };
        let files = self.files.range(first..=last);
        files.flat_map(|(_, file)| &file.opens).copied().collect()
    }
}
