//! Opens: as asked for, and as the tables know them.

use super::{
    ConnId, DenyMode, OpenId, Oplock, OplockWish, Refusal, ShareId, Ticket,
    disk_state::DiskState,
    oplock::Break,
    share_modes::{access, is_executable},
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
    pub(super) fn effective_access(&self) -> u32 {
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

    pub(super) fn share_access(&self) -> u32 {
        match self.sharing {
            Sharing::Nt(bits) => bits,
            Sharing::Dos(deny) => deny.share(self.access, is_executable(&self.path)),
        }
    }

    pub(super) fn joining(&self) -> Option<DenyMode> {
        match self.sharing {
            Sharing::Dos(deny) if deny.joins() => Some(deny),
            _ => None,
        }
    }

    pub(super) fn doomed(&self) -> Doomed {
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
    pub(super) fn takes_in(&self, request: &OpenRequest) -> bool {
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
