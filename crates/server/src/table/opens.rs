//! Opens: granting, closing, deleting on close.

use super::open_request::{Closed, Doomed, Open, OpenOutcome, OpenRequest};
use super::{
    ConnId, File, OpenId, Oplock, OwnKind, Refusal, ShareId, Tables,
    disk_state::DiskState,
    share_modes::{access, share_conflict},
};
use crate::vfs::FileId;
use coax_wire::time::Time;

enum Fit {
    Fits,
    Joins(OpenId),
    Conflicts,
}

impl Tables {
    /// Opens a file. Checks, in this order: limits, a creation at the same path, a trim, pending deletion, share modes, oplocks of others.
    pub fn open(&mut self, now: Time, request: &OpenRequest) -> OpenOutcome {
        if let Err(refusal) = self.may_open(request.conn) {
            return OpenOutcome::Refused(refusal);
        }
        if let Some(wait) = self.wait_for_creation(now, request) {
            return wait;
        }
        if let Some(wait) = self.wait_for_trim(now, request) {
            return wait;
        }
        if self.is_delete_pending(request.file) {
            return OpenOutcome::DeletePending;
        }
        match self.fit(request) {
            Fit::Joins(first) => {
                if request.overwrites {
                    self.break_level2(request.file);
                }
                self.grant(request, Oplock::None, Some(first))
            }
            Fit::Conflicts => {
                match self.holder(request.file, |open| open.oplock == Oplock::Batch) {
                    Some(holder) => self.break_first(now, request, holder),
                    None => {
                        self.probe_siblings(now, request.conn, request.file);
                        OpenOutcome::SharingViolation
                    }
                }
            }
            Fit::Fits => {
                if !request.only_attributes() {
                    if let Some(holder) = self.holder(request.file, |open| open.oplock.excludes()) {
                        return self.break_first(now, request, holder);
                    }
                    if request.overwrites {
                        self.break_level2(request.file);
                    }
                }
                let oplock = self.oplock_for(request);
                self.grant(request, oplock, None)
            }
        }
    }

    /// Whether share modes and pending deletions would allow `request` now. Breaks no oplock.
    pub fn would_fit(&self, request: &OpenRequest) -> bool {
        !self.is_delete_pending(request.file) && !matches!(self.fit(request), Fit::Conflicts)
    }

    /// Closes an open. Removes its locks, waiting locks and notifications; requests that waited for its oplock may
    /// retry.
    pub fn close(&mut self, id: OpenId) -> Result<Closed, Refusal> {
        if !self.opens.contains_key(&id) {
            return Err(Refusal::UnknownOpen);
        }
        self.drop_locks(id);
        self.unwatch(id);
        self.finish_break(id, Oplock::None);
        let open = self.opens.remove(&id).ok_or(Refusal::UnknownOpen)?;
        let request = &open.request;
        self.paths
            .remove(self.place(request.share, &request.path), id);
        if request.access & access::WRITING != 0 {
            self.note_own(request.share, &request.path, OwnKind::Modified);
        }
        self.count_open(request.conn, id, false);
        if let Some(file) = self.files.get_mut(&request.file) {
            file.opens.remove(&id);
            // Commands that replace contents and close at once, such as COPY, end here.
            if request.overwrites {
                file.resizes = file.resizes.wrapping_add(1);
            }
            if request.delete_on_close && file.doomed.is_none() {
                self.mark(request.file, Some(request.doomed()));
            }
        }
        self.forget_trimmer(request.file, id);
        self.wake_open_waiters(request.file);
        let delete = self.settle(request.file);
        Ok(Closed {
            delete: self.settle_object(request.file, delete),
        })
    }

    /// Marks the file of `id` for deletion at its last close, or removes the mark (SetFileDispositionInformation,
    /// [MS-FSCC] 2.4.11). An open made with FILE_DELETE_ON_CLOSE still marks the file when it closes.
    ///
    /// The caller has checked that the open may delete, that the file is not read-only, and that a folder is empty.
    pub fn set_delete_pending(&mut self, id: OpenId, pending: bool) -> Result<(), Refusal> {
        let request = &self.opens.get(&id).ok_or(Refusal::UnknownOpen)?.request;
        self.mark(request.file, pending.then(|| request.doomed()));
        Ok(())
    }

    /// Whether the file is marked for deletion, or the engine is deleting it. Opens of it fail with
    /// STATUS_DELETE_PENDING; so do opens of new names in it if it is a folder.
    ///
    /// A stream goes with the file it belongs to.
    pub fn is_delete_pending(&self, file: FileId) -> bool {
        [file, file.object()].iter().any(|id| {
            let entry = self.files.get(id);
            entry.is_some_and(|file| file.deleting || file.doomed.is_some())
        })
    }

    /// Whether the folder at this path is marked for deletion. The server then creates nothing in it.
    pub fn is_folder_doomed(&self, share: ShareId, folder: &str) -> bool {
        let mut doomed = self
            .doomed
            .iter()
            .filter_map(|file| self.files.get(file)?.doomed.as_ref());
        let place = self.place(share, folder);
        let is_it = |doomed: &Doomed| self.place(doomed.share, &doomed.path) == place;
        doomed.any(|doomed| doomed.is_directory && is_it(doomed))
    }

    /// Notes that the engine has removed the name given in [`Closed::delete`], or has failed to.
    pub fn finish_delete(&mut self, file: FileId) {
        if self.files.get(&file).is_some_and(|entry| entry.deleting) {
            self.files.remove(&file);
        }
    }

    /// Looks up an open.
    pub fn get(&self, open: OpenId) -> Option<&Open> {
        self.opens.get(&open)
    }

    /// All opens of a file, oldest first.
    pub fn opens_of_file(&self, file: FileId) -> impl Iterator<Item = &Open> {
        let opens = self
            .files
            .get(&file)
            .into_iter()
            .flat_map(|file| &file.opens);
        opens.filter_map(|open| self.opens.get(open))
    }

    /// The number of opens of all connections.
    pub fn open_count(&self) -> usize {
        self.opens.len()
    }

    /// The connection whose open conflicts with `request` by its share mode.
    pub fn sharing_holder(&self, request: &OpenRequest) -> Option<ConnId> {
        let wanted = (request.effective_access(), request.share_access());
        self.opens_of_file(request.file)
            .find(|open| share_conflict((open.request.access, open.share_access), wanted))
            .map(|open| open.request.conn)
    }

    /// Whether an open of another connection conflicts with `request`.
    pub(super) fn others_forbid(&self, request: &OpenRequest) -> bool {
        let wanted = (request.effective_access(), request.share_access());
        self.opens_of_file(request.file).any(|open| {
            open.request.conn != request.conn
                && share_conflict((open.request.access, open.share_access), wanted)
        })
    }

    fn fit(&self, request: &OpenRequest) -> Fit {
        let wanted = (request.effective_access(), request.share_access());
        let conflict =
            |open: &Open| share_conflict((open.request.access, open.share_access), wanted);
        if self.streams_forbid(request) {
            return Fit::Conflicts;
        }
        if !self.opens_of_file(request.file).any(conflict) {
            return Fit::Fits;
        }
        let first = self
            .opens_of_file(request.file)
            .find(|open| open.takes_in(request));
        first.map_or(Fit::Conflicts, |open| Fit::Joins(open.id))
    }

    /// The oplock for an open that breaks none. `None` if it would have to break one, or on a sharing violation.
    pub(super) fn oplock_beside(&self, request: &OpenRequest) -> Option<Oplock> {
        let fits = !self.is_delete_pending(request.file)
            && !self.must_wait_for_trim(request)
            && !matches!(self.fit(request), Fit::Conflicts)
            && self
                .holder(request.file, |open| open.oplock.excludes())
                .is_none();
        fits.then(|| self.oplock_for(request))
    }

    pub(super) fn grant(
        &mut self,
        request: &OpenRequest,
        oplock: Oplock,
        joins: Option<OpenId>,
    ) -> OpenOutcome {
        let id = OpenId(self.next_id());
        let kept = if request.fake_oplocks {
            Oplock::None
        } else {
            oplock
        };
        let joined = joins.and_then(|first| self.opens.get(&first));
        let position_of = joined.map_or(id, |open| open.position_of);
        let share_access = request.share_access();
        let request = request.clone();
        self.paths
            .insert(self.place(request.share, &request.path), id);
        self.count_open(request.conn, id, true);
        self.files.entry(request.file).or_default().opens.insert(id);
        let open = Open {
            id,
            request,
            oplock: kept,
            breaking: None,
            position_of,
            failed_lock: None,
            disk: DiskState::default(),
            share_access,
        };
        self.opens.insert(id, open);
        OpenOutcome::Granted {
            open: id,
            oplock,
            joins,
        }
    }

    fn mark(&mut self, id: FileId, doomed: Option<Doomed>) {
        let pending = doomed.is_some();
        self.files.entry(id).or_default().doomed = doomed;
        if pending {
            self.doomed.insert(id);
            self.end_watches_of(id);
        } else {
            self.doomed.remove(&id);
        }
    }

    /// After a close: removes the row of a file without opens, or returns the name to delete.
    pub(super) fn settle(&mut self, id: FileId) -> Option<Doomed> {
        let file = self.files.get(&id).filter(|file| file.opens.is_empty())?;
        let doomed = file.doomed.clone();
        if doomed.is_some() && self.has_open_streams(id) {
            return None;
        }
        self.doomed.remove(&id);
        if doomed.is_some() {
            let deleting = File {
                deleting: true,
                ..File::default()
            };
            self.files.insert(id, deleting);
        } else {
            self.files.remove(&id);
        }
        doomed
    }
}
