//! Files whose reserved space the engine is freeing.
//!
//! Meanwhile nobody else may extend the file: opens wait, except those for attributes only.

use super::{OpenId, OpenOutcome, OpenRequest, Tables};
use crate::vfs::FileId;
use coax_wire::time::Time;

impl Tables {
    /// Marks the file of `open` if it has no other open: others wait until [`Self::end_trim`] or until `open` is closed.
    /// Returns whether the engine may truncate the file to its length now. If not, the last close does it.
    pub fn begin_trim(&mut self, open: OpenId) -> bool {
        let Some(file) = self.get(open).map(|open| open.request.file) else {
            return false;
        };
        let is_only = self.opens_of_file(file).nth(1).is_none();
        match self.files.get_mut(&file).filter(|_| is_only) {
            Some(row) => row.trimmer = Some(open),
            None => self.note_reserved(file),
        }
        is_only
    }

    /// Removes the mark of [`Self::begin_trim`]; waiting opens retry.
    pub fn end_trim(&mut self, open: OpenId) {
        let Some(file) = self.get(open).map(|open| open.request.file) else {
            return;
        };
        self.forget_trimmer(file, open);
        self.wake_open_waiters(file);
    }

    pub(super) fn forget_trimmer(&mut self, file: FileId, open: OpenId) {
        if let Some(row) = self.files.get_mut(&file)
            && row.trimmer == Some(open)
        {
            row.trimmer = None;
        }
    }

    /// Whether an open must wait for the end of a trim.
    pub(super) fn must_wait_for_trim(&self, request: &OpenRequest) -> bool {
        let row = self.files.get(&request.file);
        row.is_some_and(|row| row.trimmer.is_some()) && !request.only_attributes()
    }

    /// Parks `request` until the end of a trim of its file, if there is one.
    pub(super) fn wait_for_trim(
        &mut self,
        now: Time,
        request: &OpenRequest,
    ) -> Option<OpenOutcome> {
        if !self.must_wait_for_trim(request) {
            return None;
        }
        let deadline = now + self.config.break_timeout;
        let ticket = self.add_open_waiter(request.conn, request.file, deadline);
        Some(OpenOutcome::BreakFirst { ticket, deadline })
    }
}
