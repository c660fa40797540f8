//! Opens of files that do not exist yet.
//!
//! Who creates a file reserves the open's row first ([`Tables::reserve`]). The row has a provisional [`FileId`], because
//! the file system gives the file its identity only when it creates it. It counts towards the limits, and other opens of
//! the path wait until the file is there or the creation has failed. So the tables can refuse the open only before the
//! disk is touched, and nobody opens a file between its creation and the creator's share mode. Afterwards
//! [`Tables::created`] gives the row its real identity, or [`Tables::withdraw`] gives the row back.

use super::{Closed, OpenId, OpenOutcome, OpenRequest, Oplock, Refusal, ShareId, Tables};
use crate::vfs::FileId;
use alloc::string::String;
use coax_wire::time::Time;

/// The device of provisional identities. No file system has this number.
const PROVISIONAL: u64 = u64::MAX;

impl Tables {
    /// Reserves the row of an open that is going to create `request.path`; `request.file` and `request.stream` are not
    /// looked at. Checks the limits, whether the folder is about to be removed, and whether the path is being created
    /// already: [`OpenOutcome::BreakFirst`] then stands for the end of that creation.
    pub fn reserve(&mut self, now: Time, request: &OpenRequest) -> OpenOutcome {
        if let Err(refusal) = self.may_open(request.conn) {
            return OpenOutcome::Refused(refusal);
        }
        let folder = request
            .path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        if self.is_folder_doomed(request.share, folder) {
            return OpenOutcome::DeletePending;
        }
        if let Some(wait) = self.wait_for_creation(now, request) {
            return wait;
        }
        let file = FileId {
            device: PROVISIONAL,
            inode: self.next_id(),
            stream: 0,
        };
        let reserved = OpenRequest {
            file,
            stream: None,
            ..request.clone()
        };
        self.grant(&reserved, Oplock::None, None)
    }

    /// The file of a reserved row exists now and is `file`; `stream` is the named stream of it that is open. Returns the
    /// oplock that comes with the open.
    ///
    /// `None`: somebody who reached the file by another path (a hard link, another share of the same folder) has opened
    /// it since it was created, and share modes exclude this open. The row stays reserved.
    pub fn created(
        &mut self,
        open: OpenId,
        file: FileId,
        stream: Option<String>,
    ) -> Option<Oplock> {
        let row = self.opens.get(&open)?;
        let provisional = row.request.file;
        let request = OpenRequest {
            file,
            stream,
            ..row.request.clone()
        };
        let oplock = self.oplock_beside(&request)?;
        self.wake_open_waiters(provisional);
        self.files.remove(&provisional);
        self.files.entry(file).or_default().opens.insert(open);
        let row = self.opens.get_mut(&open)?;
        row.oplock = if request.fake_oplocks {
            Oplock::None
        } else {
            oplock
        };
        row.request = request;
        Some(oplock)
    }

    /// Gives back the row of an open that did not come about: as [`Self::close`], but the open's own
    /// FILE_DELETE_ON_CLOSE deletes nothing.
    ///
    /// # Errors
    /// [`Refusal::UnknownOpen`].
    pub fn withdraw(&mut self, open: OpenId) -> Result<Closed, Refusal> {
        if let Some(row) = self.opens.get_mut(&open) {
            row.request.delete_on_close = false;
        }
        self.close(open)
    }

    /// Whether a file is being created at this path.
    pub fn is_being_created(&self, share: ShareId, path: &str) -> bool {
        self.creation_at(share, path).is_some()
    }

    /// Has `request` wait for the end of a creation at its path, if there is one.
    pub(super) fn wait_for_creation(
        &mut self,
        now: Time,
        request: &OpenRequest,
    ) -> Option<OpenOutcome> {
        let file = self.creation_at(request.share, &request.path)?;
        let deadline = now + self.config.break_timeout;
        let ticket = self.add_open_waiter(request.conn, file, deadline);
        Some(OpenOutcome::BreakFirst { ticket, deadline })
    }

    /// The provisional identity of what is being created at this path.
    fn creation_at(&self, share: ShareId, path: &str) -> Option<FileId> {
        let first = FileId {
            device: PROVISIONAL,
            ..FileId::default()
        };
        // Almost always nothing is being created, and no path need be compared.
        self.files.range(first..).next()?;
        let rows = self.opens_at(share, path);
        let mut files = rows.iter().filter_map(|open| self.opens.get(open));
        files
            .find(|open| open.request.file.device == PROVISIONAL)
            .map(|open| open.request.file)
    }
}
