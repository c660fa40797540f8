//! Opens: granting, closing, deleting on close.

use super::{
    ConnId, DenyMode, File, OpenId, Oplock, OplockWish, OwnKind, Refusal, ShareId, Tables, Ticket,
    durability::DiskState,
    oplocks::Break,
    share_modes::{access, is_executable, share_conflict},
};
use crate::vfs::FileId;
use alloc::string::String;
use coax_wire::time::Time;

/// What an open lets others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Share access bits ([`super::share`]) of an NT open.
    Nt(u32),
    /// The deny mode of a DOS open.
    Dos(DenyMode),
}

/// One open asked for. The client may have this access to the file, which exists, or is created under a row that was
/// reserved ([`Tables::reserve`]).
///
/// What has no handle of its own asks the same way and closes at once: unlink and rename with access
/// [`access::DELETE`] and `Sharing::Nt(share::NONE)` (unlink), reading and writing shared (rename by the Rename
/// commands); setting the length by path with [`access::WRITE_DATA`], all shared, and `overwrites`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// Which file or folder.
    pub file: FileId,
    /// For which connection,
    pub conn: ConnId,
    /// session (UID),
    pub uid: u16,
    /// process (the low 16 bits of the SMB header's PID; the high ones are not looked at)
    pub pid: u16,
    /// and tree connect (TID).
    pub tree: u16,
    /// The share `path` belongs to.
    pub share: ShareId,
    /// Where the file is, as in [`crate::vfs`], in the spelling of the file system.
    pub path: String,
    /// The named stream of what lies there; `None` for the file or folder itself.
    pub stream: Option<String>,
    /// Whether it is a folder: those get no oplocks.
    pub is_directory: bool,
    /// Access mask, generic bits and MAXIMUM_ALLOWED resolved ([`access`]).
    pub access: u32,
    /// What others may do meanwhile.
    pub sharing: Sharing,
    /// The oplock the client asks for; [`OplockWish::None`] also where the share has oplocks turned off.
    pub oplock: OplockWish,
    /// The client knows level II oplocks (CAP_LEVEL_II_OPLOCKS) and the share grants them.
    pub level2: bool,
    /// Grant whatever is asked for and never break it (smb.conf `fake oplocks`).
    pub fake_oplocks: bool,
    /// The open will replace or cut the contents (dispositions supersede, overwrite, truncate): caches of it are void.
    pub overwrites: bool,
    /// FILE_DELETE_ON_CLOSE: closing this open marks the file for deletion.
    pub delete_on_close: bool,
}

/// How an open ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenOutcome {
    /// It is open.
    Granted {
        /// Its identity.
        open: OpenId,
        /// The oplock that comes with it.
        oplock: Oplock,
        /// It joins this earlier open of the same process (compatibility mode and FCBs): both have one file position,
        /// and the file must be open for reading and writing underneath, whatever each may do.
        joins: Option<OpenId>,
    },
    /// Another's oplock must be broken first: park the request until [`super::Event::Retry`].
    BreakFirst {
        /// Park it under this.
        ticket: Ticket,
        /// When the holder's time is up; see [`Tables::next_deadline`].
        deadline: Time,
    },
    /// STATUS_SHARING_VIOLATION, ERRDOS/ERRbadshare.
    SharingViolation,
    /// STATUS_DELETE_PENDING.
    DeletePending,
    /// Refused whatever else is open.
    Refused(Refusal),
}

/// An open, as the tables know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its identity.
    pub id: OpenId,
    /// What was asked for; `path` follows renames.
    pub request: OpenRequest,
    /// The oplock it has now (while it is being broken, still the old one).
    pub oplock: Oplock,
    /// The oplock is being broken.
    pub breaking: Option<Break>,
    /// The open whose file position this one shares: its own, or that of the open it joined.
    pub position_of: OpenId,
    /// Offset of the last byte-range lock that failed here.
    pub(super) failed_lock: Option<u64>,
    pub(super) disk: DiskState,
    pub(super) share_access: u32,
}

/// A name whose deletion falls due. The file's entry stays, refusing opens with [`OpenOutcome::DeletePending`], until
/// [`Tables::finish_delete`]; keep the file open until then, so that its [`FileId`] is not used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    /// Which file.
    pub file: FileId,
    /// The share the path belongs to.
    pub share: ShareId,
    /// Its path now.
    pub path: String,
    /// Remove this named stream of it, and leave the rest.
    pub stream: Option<String>,
    /// Remove it as a folder.
    pub is_directory: bool,
}

/// What closing brought about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Remove this name, then call [`Tables::finish_delete`], whether it could be removed or not.
    pub delete: Option<Doomed>,
}

impl OpenRequest {
    /// Access as share modes see it: overwriting writes.
    fn effective_access(&self) -> u32 {
        if self.overwrites {
            self.access | access::WRITE_DATA
        } else {
            self.access
        }
    }

    /// Touches attributes only: disturbs nobody's oplock.
    pub(super) fn only_attributes(&self) -> bool {
        let access = self.effective_access();
        access & access::ATTRIBUTES_ONLY != 0 && access & !access::ATTRIBUTES_ONLY == 0
    }

    fn share_access(&self) -> u32 {
        match self.sharing {
            Sharing::Nt(bits) => bits,
            Sharing::Dos(deny) => deny.share(self.access, is_executable(&self.path)),
        }
    }

    fn joining(&self) -> Option<DenyMode> {
        match self.sharing {
            Sharing::Dos(deny) if deny.joins() => Some(deny),
            _ => None,
        }
    }

    fn doomed(&self) -> Doomed {
        Doomed {
            file: self.file,
            share: self.share,
            path: self.path.clone(),
            stream: self.stream.clone(),
            is_directory: self.is_directory,
        }
    }
}

impl Open {
    /// Whether the open is that of a process which `request` would join: the same process of the same session has it
    /// open for writing in compatibility mode or by FCB, under the same name. A program opened in compatibility mode
    /// is not joined.
    fn takes_in(&self, request: &OpenRequest) -> bool {
        let own = &self.request;
        let Some(deny) = own.joining() else {
            return false;
        };
        request.joining().is_some()
            && (own.conn, own.uid, own.pid) == (request.conn, request.uid, request.pid)
            && (own.share, &own.path) == (request.share, &request.path)
            && own.access & access::WRITING != 0
            && !(deny == DenyMode::Compatibility && is_executable(&own.path))
    }

    /// It counts neither as a reader of the file nor as a holder of an oplock.
    pub(super) fn is_bystander(&self) -> bool {
        self.oplock == Oplock::None && self.request.only_attributes()
    }
}

enum Fit {
    Fits,
    Joins(OpenId),
    Conflicts,
}

impl Tables {
    /// Opens a file. Checks, in this order: limits, a creation at the same path, pending deletion, share modes, oplocks of others.
    pub fn open(&mut self, now: Time, request: &OpenRequest) -> OpenOutcome {
        if let Err(refusal) = self.may_open(request.conn) {
            return OpenOutcome::Refused(refusal);
        }
        if let Some(wait) = self.wait_for_creation(now, request) {
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

    /// Whether `request` could be opened now as far as share modes and pending deletion go, breaking no oplock.
    pub fn would_fit(&self, request: &OpenRequest) -> bool {
        !self.is_delete_pending(request.file) && !matches!(self.fit(request), Fit::Conflicts)
    }

    /// Closes an open: its locks, waiting locks and notifications go, whoever waited for its oplock may retry.
    pub fn close(&mut self, id: OpenId) -> Result<Closed, Refusal> {
        if !self.opens.contains_key(&id) {
            return Err(Refusal::UnknownOpen);
        }
        self.drop_locks(id);
        self.unwatch(id);
        self.finish_break(id, Oplock::None);
        let open = self.opens.remove(&id).ok_or(Refusal::UnknownOpen)?;
        let request = &open.request;
        self.paths.remove(request.share, &request.path, id);
        if request.access & access::WRITING != 0 {
            self.note_own(request.share, &request.path, OwnKind::Modified);
        }
        self.count_open(request.conn, id, false);
        if let Some(file) = self.files.get_mut(&request.file) {
            file.opens.remove(&id);
            // Commands that replace contents and open nothing for long, as COPY does, end here.
            if request.overwrites {
                file.resizes = file.resizes.wrapping_add(1);
            }
            if request.delete_on_close && file.doomed.is_none() {
                self.mark(request.file, Some(request.doomed()));
            }
        }
        self.wake_suitors(request.file);
        let delete = self.settle(request.file);
        Ok(Closed {
            delete: self.settle_object(request.file, delete),
        })
    }

    /// Marks the file of `id` for deletion when its last open is closed, or takes that back
    /// (SetFileDispositionInformation, [MS-FSCC] 2.4.11). An open made with FILE_DELETE_ON_CLOSE marks it at its close
    /// all the same.
    ///
    /// The caller has checked that the open may delete, that the file is not read-only and a folder is empty.
    pub fn set_delete_pending(&mut self, id: OpenId, pending: bool) -> Result<(), Refusal> {
        let request = &self.opens.get(&id).ok_or(Refusal::UnknownOpen)?.request;
        self.mark(request.file, pending.then(|| request.doomed()));
        Ok(())
    }

    /// Whether the file is marked for deletion (or is just being deleted): opens of it, and of new names in it if it
    /// is a folder, are refused with STATUS_DELETE_PENDING.
    ///
    /// A stream goes with the file it belongs to.
    pub fn is_delete_pending(&self, file: FileId) -> bool {
        [file, file.object()].iter().any(|id| {
            let entry = self.files.get(id);
            entry.is_some_and(|file| file.deleting || file.doomed.is_some())
        })
    }

    /// Whether the folder at this path is marked for deletion: nothing new is made in it.
    pub fn is_folder_doomed(&self, share: ShareId, folder: &str) -> bool {
        let mut doomed = self
            .doomed
            .iter()
            .filter_map(|file| self.files.get(file)?.doomed.as_ref());
        doomed.any(|doomed| {
            doomed.is_directory && (doomed.share, doomed.path.as_str()) == (share, folder)
        })
    }

    /// The name given in [`Closed::delete`] has been removed, or could not be.
    pub fn finish_delete(&mut self, file: FileId) {
        if self.files.get(&file).is_some_and(|entry| entry.deleting) {
            self.files.remove(&file);
        }
    }

    /// An open.
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

    /// Opens of all connections.
    pub fn open_count(&self) -> usize {
        self.opens.len()
    }

    /// The connection whose open forbids `request` by its share mode, if one does.
    pub fn sharing_holder(&self, request: &OpenRequest) -> Option<ConnId> {
        let wanted = (request.effective_access(), request.share_access());
        self.opens_of_file(request.file)
            .find(|open| share_conflict((open.request.access, open.share_access), wanted))
            .map(|open| open.request.conn)
    }

    /// Whether an open of another connection forbids `request`.
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

    /// The oplock of an open that breaks none: `None` if it would have to, or share modes forbid it.
    pub(super) fn oplock_beside(&self, request: &OpenRequest) -> Option<Oplock> {
        let fits = !self.is_delete_pending(request.file)
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
        self.paths.insert(request.share, &request.path, id);
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

    /// After a close: forgets a file nobody has open, or says what to delete.
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
