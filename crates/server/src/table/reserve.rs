//! Opens of files that do not exist yet.
//!
//! To create a file, the engine first reserves the row of the open ([`Tables::reserve`]). The row has a provisional
//! [`FileId`], because the file system assigns the identity only when it creates the file. The row counts towards the
//! limits. Other opens of the path wait until the file exists or the creation has failed. So the tables can refuse the
//! open only before any change on the disk, and no client opens the file before the creator's share mode applies.
//! Afterwards [`Tables::created`] assigns the real identity, or [`Tables::withdraw`] removes the row.

use super::{Closed, OpenId, OpenOutcome, OpenRequest, Oplock, Refusal, ShareId, Tables};
use crate::vfs::FileId;
use alloc::string::String;
use coax_wire::{codepage::eq_ignore_case, time::Time};

/// The device of provisional identities. No file system has this number.
const PROVISIONAL: u64 = u64::MAX;

impl Tables {
    /// Reserves the row of an open that will create `request.path`; ignores `request.file` and `request.stream`. Checks
    /// the limits, whether the folder is marked for deletion, and whether another request is creating the path. In that
    /// case [`OpenOutcome::BreakFirst`] stands for the end of that creation.
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

    /// Assigns `file` to a reserved row, because the file now exists; `stream` is its open named stream. Returns the
    /// oplock of the open.
    ///
    /// `None`: another client has opened the file since its creation by another path (a hard link, another share of the
    /// same folder), and the share modes conflict. The row stays reserved.
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

    /// Removes the row of an open that failed. Like [`Self::close`], but the open's own FILE_DELETE_ON_CLOSE deletes
    /// nothing.
    ///
    /// # Errors
    /// [`Refusal::UnknownOpen`].
    pub fn withdraw(&mut self, open: OpenId) -> Result<Closed, Refusal> {
        if let Some(row) = self.opens.get_mut(&open) {
            row.request.delete_on_close = false;
        }
        self.close(open)
    }

    /// Whether a request is creating a file at this path, in any case.
    pub fn is_being_created(&self, share: ShareId, path: &str) -> bool {
        self.creation_at(share, path).is_some()
    }

    /// Parks `request` until the end of a creation at its path, if there is one.
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

    /// The provisional identity of the file under creation at this path. Ignores case: on most shares a name in another
    /// case is the same name, and on the others a short wait does no harm.
    fn creation_at(&self, share: ShareId, path: &str) -> Option<FileId> {
        let first = FileId {
            device: PROVISIONAL,
            ..FileId::default()
        };
        let wanted = self.place(share, path);
        let is_there = |open: &OpenId| {
            self.opens.get(open).is_some_and(|open| {
                let place = self.place(open.request.share, &open.request.path);
                place.space == wanted.space && eq_ignore_case(&place.path, &wanted.path)
            })
        };
        let mut created = self.files.range(first..);
        created
            .find(|(_, file)| file.opens.iter().any(is_there))
            .map(|(id, _)| *id)
    }
}
