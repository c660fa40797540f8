//! Which opens may trust the disk: after a failed fsync the kernel marks the pages it could not write as clean, so a
//! later fsync succeeds although the data is lost. Every open that wrote to the file is told, and writes no more.

use super::disk_state::Failure;
use super::{OpenId, Tables};
use crate::vfs::{FileId, VfsError};
use alloc::string::String;

impl Tables {
    /// Notes that `open` is about to write, or to change the length. Returns how often the length was set or cut before:
    /// while that number stays, the file is no shorter than it was.
    ///
    /// # Errors
    /// The error of an earlier sync that may have lost data of this open. It stands until the client opens the file
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

    /// The length of a file was set, or its contents were replaced.
    pub fn resized(&mut self, file: FileId) {
        if let Some(file) = self.files.get_mut(&file) {
            file.resizes = file.resizes.wrapping_add(1);
        }
    }

    /// Notes that the file of `open` is about to be synced. Returns the path whose folder must be synced as well, if
    /// that has not been done since the open or since the last rename.
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

    /// The folder that holds `path` has been synced for `open`.
    pub fn name_synced(&mut self, open: OpenId, path: &str) {
        if let Some(open) = self.opens.get_mut(&open)
            && open.request.path == path
        {
            open.disk.name_synced = true;
        }
    }

    /// A sync through `by` failed with `error`, which its client is told now. All opens that wrote to the file or to
    /// one of its streams fail from now on.
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

    /// The error of a failed sync that no request on `open` was answered with: its close is the last chance.
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
