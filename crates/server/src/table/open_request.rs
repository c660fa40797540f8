//! Opens: the request of the engine, and the row in the tables.

use super::{
    ConnId, DenyMode, OpenId, Oplock, OplockWish, Refusal, ShareId, Ticket,
    disk_state::DiskState,
    oplock::Break,
    share_modes::{access, is_executable},
};
use crate::vfs::FileId;
use alloc::string::String;
use coax_wire::time::Time;

/// What an open allows others to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Share access bits ([`super::share`]) of an NT open.
    Nt(u32),
    /// The deny mode of a DOS open.
    Dos(DenyMode),
}

/// A request for one open. The engine has checked that the client may have this access. The file exists, or the engine
/// creates it under a reserved row (`Tables::reserve`).
///
/// Requests without a handle of their own open the same way and close at once. Unlink uses access [`access::DELETE`]
/// and `Sharing::Nt(share::NONE)`. The Rename commands use the same access and share reading and writing. Setting the
/// length by path uses [`access::WRITE_DATA`], shares everything, and sets `overwrites`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// The file or folder.
    pub file: FileId,
    /// The connection.
    pub conn: ConnId,
    /// The session (UID).
    pub uid: u16,
    /// The process (the low 16 bits of the SMB header's PID; the tables ignore the high bits).
    pub pid: u16,
    /// The tree connect (TID).
    pub tree: u16,
    /// The share of `path`.
    pub share: ShareId,
    /// The path of the file, as in [`crate::vfs`], in the spelling of the file system.
    pub path: String,
    /// The named stream of the object; `None` for the file or folder itself.
    pub stream: Option<String>,
    /// Whether it is a folder: folders get no oplocks.
    pub is_directory: bool,
    /// The access mask, with generic bits and MAXIMUM_ALLOWED resolved ([`access`]).
    pub access: u32,
    /// What others may do while this open lasts.
    pub sharing: Sharing,
    /// The requested oplock; [`OplockWish::None`] also if the share has oplocks turned off.
    pub oplock: OplockWish,
    /// The client supports level II oplocks (CAP_LEVEL_II_OPLOCKS) and the share grants them.
    pub level2: bool,
    /// Grant every requested oplock and never break it (smb.conf `fake oplocks`).
    pub fake_oplocks: bool,
    /// The open will replace or truncate the contents (dispositions supersede, overwrite, truncate), so cached contents
    /// become invalid.
    pub overwrites: bool,
    /// FILE_DELETE_ON_CLOSE: closing this open marks the file for deletion.
    pub delete_on_close: bool,
}

/// The result of an open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenOutcome {
    /// The file is open.
    Granted {
        /// The new open.
        open: OpenId,
        /// The granted oplock.
        oplock: Oplock,
        /// The open joins this earlier open of the same process (compatibility mode and FCBs). Both share one file
        /// position. The file must be open for reading and writing on the disk, whatever each open may do.
        joins: Option<OpenId>,
    },
    /// Another open's oplock must break first: park the request until [`super::Event::Retry`].
    BreakFirst {
        /// The ticket of the parked request.
        ticket: Ticket,
        /// The deadline of the holder; see `Tables::next_deadline`.
        deadline: Time,
    },
    /// STATUS_SHARING_VIOLATION, ERRDOS/ERRbadshare.
    SharingViolation,
    /// STATUS_DELETE_PENDING.
    DeletePending,
    /// Refused, independent of other opens.
    Refused(Refusal),
}

/// An open in the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The identity of the open.
    pub id: OpenId,
    /// The request of this open; `path` follows renames.
    pub request: OpenRequest,
    /// The current oplock. During a break it is still the old one.
    pub oplock: Oplock,
    /// The pending break of the oplock.
    pub breaking: Option<Break>,
    /// The open whose file position this one uses: itself, or the open that it joined.
    pub position_of: OpenId,
    /// Offset of the last byte-range lock that failed here.
    pub(super) failed_lock: Option<u64>,
    pub(super) disk: DiskState,
    pub(super) share_access: u32,
}

/// A name to delete now. The file's entry stays and refuses opens with [`OpenOutcome::DeletePending`] until
/// `Tables::finish_delete`. Keep the file open until then, so that the file system does not reuse its [`FileId`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    /// The file.
    pub file: FileId,
    /// The share of the path.
    pub share: ShareId,
    /// The current path.
    pub path: String,
    /// The named stream to remove, without the rest of the file.
    pub stream: Option<String>,
    /// Whether to remove it as a folder.
    pub is_directory: bool,
}

/// The result of a close.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// The name to remove. Call `Tables::finish_delete` afterwards, even if the removal failed.
    pub delete: Option<Doomed>,
}

impl OpenRequest {
    /// The access for share modes: overwriting counts as writing.
    pub(super) fn effective_access(&self) -> u32 {
        if self.overwrites {
            self.access | access::WRITE_DATA
        } else {
            self.access
        }
    }

    /// Whether the open touches attributes only. Such an open breaks no oplock.
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
    /// Whether `request` joins this open: the same process of the same session has the file open for writing in
    /// compatibility mode or by FCB, under the same name. A program opened in compatibility mode is not joined.
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

    /// Whether the open counts neither as a reader of the file nor as a holder of an oplock.
    pub(super) fn is_bystander(&self) -> bool {
        self.oplock == Oplock::None && self.request.only_attributes()
    }
}
