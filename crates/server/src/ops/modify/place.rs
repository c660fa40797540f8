//! Where a change happens, and what every change checks first.

use crate::ops::locate::Finder;
use crate::{
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

/// To read what is there.
pub(super) const READ: OpenHow = OpenHow {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
};

/// How a change went that did not fail.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It is done.
    Done,
    /// It waits for another to give up an oplock or close a file, and has changed nothing yet.
    Park(Park),
}

/// A share's folder, as a change reaches it.
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

    /// The folder of the request's tree, to be changed.
    ///
    /// # Errors
    /// As [`Self::of`]; `ACCESS_DENIED` if the client may only read; `CANCELLED` if the change waited and was cancelled.
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

    /// What finds names here.
    pub fn finder<'a>(&'a self, call: &'a Call<'_>) -> Finder<'a> {
        Finder {
            server: &call.conn.server,
            share: &self.share,
            vfs: &*self.vfs,
            now: call.now,
            exact: call.is_case_exact(&self.share),
        }
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

/// Whether the client knows long names; one that does not means 8.3 names ([MS-CIFS] 2.2.4.7.1, SMB_FLAGS2_LONG_NAMES).
pub(in crate::ops) fn knows_long_names(call: &Call<'_>) -> bool {
    call.header.flags2.has(Flags2::LONG_NAMES)
}

/// What `fid` has open, and may delete.
///
/// # Errors
/// `INVALID_HANDLE`; `INVALID_DEVICE_REQUEST` for pipes and print jobs; `ACCESS_DENIED` if it may not delete.
pub(super) fn open_to_delete(call: &Call<'_>, fid: Fid) -> Result<(OpenId, Arc<dyn VfsFile>)> {
    let opened = call.file(fid)?;
    let open = opened.open.ok_or(Status::INVALID_DEVICE_REQUEST)?;
    let file = opened.file.clone().ok_or(Status::INVALID_DEVICE_REQUEST)?;
    if opened.access & access::DELETE == 0 {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    Ok((open, file))
}

/// The name of the stream that a path names, where the share keeps streams.
///
/// # Errors
/// `OBJECT_NAME_INVALID` where it does not.
pub(super) fn stream_of<'a>(place: &Place, path: &'a ClientPath) -> Result<Option<&'a str>> {
    match path.kind() {
        PathKind::Stream(name) if place.share.options.streams => Ok(Some(name)),
        _ => no_stream(path).map(|()| None),
    }
}

/// Refuses streams where a file or folder is meant.
pub(super) fn no_stream(path: &ClientPath) -> Result<()> {
    match path.kind() {
        PathKind::Plain | PathKind::Data => Ok(()),
        PathKind::Stream(_) => Err(Status::OBJECT_NAME_INVALID.into()),
    }
}

/// Ends a change that was parked and then cancelled.
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
