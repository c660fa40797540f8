//! The folder of a change, and the checks common to all changes.

use crate::ops::locate::Finder;
use crate::{
    act::{Act, Deed},
    context::{Call, Park, Retry},
    error::{Because, Result},
    names::path::{ClientPath, PathKind},
    reason::Reason,
    share::Share,
    table::{Forgotten, OpenId, access},
    vfs::{OpenHow, Vfs, VfsFile},
};
use alloc::sync::Arc;
use coax_wire::{
    header::{Fid, Flags2, Tid},
    status::Status,
};

/// Access for reading.
pub(super) const READ: OpenHow = OpenHow {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
};

/// The result of a change that did not fail.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It is done.
    Done,
    /// It waits for another client's oplock or close and has not changed anything.
    Park(Park),
}

/// A share's folder, for changes.
#[derive(Clone, Debug)]
pub struct Place {
    /// The share.
    pub share: Arc<Share>,
    /// Its folder.
    pub vfs: Arc<dyn Vfs>,
}

impl Place {
    /// The folder of the request's tree.
    ///
    /// # Errors
    /// `BAD_TID`; `ACCESS_DENIED` on `IPC$`.
    pub fn of(call: &Call<'_>) -> Result<Self> {
        Self::of_tree(call, call.header.tid)
    }

    /// The folder of the request's tree, for a change.
    ///
    /// # Errors
    /// As [`Self::of`]; `ACCESS_DENIED` if the client may only read; `CANCELLED` if the waiting change was cancelled.
    pub fn to_change(call: &Call<'_>) -> Result<Self> {
        check_cancelled(call)?;
        call.must_write()?;
        Self::of(call)
    }

    /// The folder of another tree of the connection.
    ///
    /// # Errors
    /// As [`Self::of`]; `BAD_UID` if the request's user may not use that tree.
    pub fn of_tree(call: &Call<'_>, tid: Tid) -> Result<Self> {
        let tree = call.tree_of(tid)?;
        let vfs = tree
            .share
            .vfs()
            .ok_or_else(|| Status::ACCESS_DENIED.because(Reason::NoFiles))?;
        Ok(Self {
            share: tree.share.clone(),
            vfs: vfs.clone(),
        })
    }

    /// The name lookup for this folder.
    pub fn finder<'a>(&'a self, call: &'a Call<'_>) -> Finder<'a> {
        Finder {
            server: &call.conn.server,
            share: &self.share,
            vfs: &*self.vfs,
            now: call.now,
            exact: call.is_case_exact(&self.share),
        }
    }

    /// Records a change of the file or folder at `path`, for an audit log.
    pub(super) fn record(
        &self,
        call: &Call<'_>,
        (path, is_directory): (&str, bool),
        deed: impl FnOnce() -> Deed,
    ) {
        let act = || Act::done(deed(), &self.share.name, path, is_directory);
        call.conn.record(call.header.uid, act);
    }

    /// Refuses new names in a folder that is about to be removed.
    ///
    /// # Errors
    /// `DELETE_PENDING`.
    pub(in crate::ops) fn check_folder(&self, call: &Call<'_>, folder: &str) -> Result<()> {
        let server = &call.conn.server;
        if server.locked(|tables| tables.is_folder_doomed(self.share.id, folder)) {
            return Err(Status::DELETE_PENDING.into());
        }
        Ok(())
    }
}

/// Whether the client knows long names; otherwise it uses 8.3 names ([MS-CIFS] 2.2.4.7.1, SMB_FLAGS2_LONG_NAMES).
pub(in crate::ops) fn knows_long_names(call: &Call<'_>) -> bool {
    call.header.flags2.has(Flags2::LONG_NAMES)
}

/// The file that `fid` has open with the DELETE right.
///
/// # Errors
/// `INVALID_HANDLE`; `INVALID_DEVICE_REQUEST` for pipes and print jobs; `ACCESS_DENIED` without the right.
pub(super) fn open_to_delete(call: &Call<'_>, fid: Fid) -> Result<(OpenId, Arc<dyn VfsFile>)> {
    let opened = call.file(fid)?;
    let open = opened.open.ok_or(Status::INVALID_DEVICE_REQUEST)?;
    let file = opened.file.clone().ok_or(Status::INVALID_DEVICE_REQUEST)?;
    if opened.access & access::DELETE == 0 {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    Ok((open, file))
}

/// The stream name in a path, if the share supports streams.
///
/// # Errors
/// `OBJECT_NAME_INVALID` if it does not.
pub(super) fn stream_of<'a>(place: &Place, path: &'a ClientPath) -> Result<Option<&'a str>> {
    match path.kind() {
        PathKind::Stream(name) if place.share.options.streams => Ok(Some(name)),
        _ => no_stream(path).map(|()| None),
    }
}

/// Refuses stream names for commands on files and folders.
pub(super) fn no_stream(path: &ClientPath) -> Result<()> {
    match path.kind() {
        PathKind::Plain | PathKind::Data => Ok(()),
        PathKind::Stream(_) => Err(Status::OBJECT_NAME_INVALID.into()),
    }
}

/// Ends a parked change after its cancellation.
///
/// # Errors
/// `SHARING_VIOLATION` if it waited for a close, else `CANCELLED`.
pub(super) fn check_cancelled(call: &Call<'_>) -> Result<()> {
    let (Some(Retry::Cancelled), Some(ticket)) = (&call.retry, call.ticket) else {
        return Ok(());
    };
    let server = &call.conn.server;
    match server.locked(|tables| tables.forget_parked(ticket)) {
        Forgotten::OpenWaiter => Err(Status::SHARING_VIOLATION.because(Reason::Sharing(None))),
        Forgotten::Other => Err(Status::CANCELLED.into()),
    }
}
