//! When data must be on disk before the reply, and the consequences of a failed sync. docs/durability.md is the
//! contract.
//!
//! Without `strict sync` no request waits for the disk, as in smbd: FLUSH and write-through do not sync, and `sync
//! always` has no effect (smb.conf(5) of Samba 4.17, `strict sync`, `sync always`).

use crate::{
    Server,
    context::Call,
    context::Context,
    error::Result,
    files::OpenFile,
    share::ShareOptions,
    vfs::{OpenHow, VfsError, VfsFile, path::split},
};
use coax_wire::header::Fid;

/// NT's mode bit of an open with write-through for all writes ([MS-FSCC] 2.4.26).
pub const FILE_WRITE_THROUGH: u32 = 0x0000_0002;

/// Whether a write must be on disk before its reply: because of the request, the mode of the open (SET_FILE_INFORMATION
/// can change it), or the share.
pub fn is_write_through(file: &OpenFile, asked: bool) -> bool {
    let options = &file.share.options;
    let wanted = asked || file.mode & FILE_WRITE_THROUGH != 0;
    options.strict_sync && wanted || options.syncs_always()
}

/// Called after a write or a change of the length: syncs a write-through.
///
/// # Errors
/// As [`flush`].
pub fn after_write(call: &Call<'_>, fid: Fid, asked: bool) -> Result<()> {
    let opened = call.file(fid)?;
    match is_write_through(opened, asked) {
        true => sync(&call.conn.server, opened),
        false => Ok(()),
    }
}

/// FLUSH: waits until all data written to the file through any open is on disk, if the share has `strict sync`. Like
/// smbd, it also flushes through read-only opens.
///
/// # Errors
/// `INVALID_HANDLE`; file system errors, now or at an earlier sync of this open.
pub fn flush(call: &Call<'_>, fid: Fid) -> Result<()> {
    flush_open(&call.conn.server, call.file(fid)?)
}

fn flush_open(server: &Server, opened: &OpenFile) -> Result<()> {
    match opened.share.options.strict_sync {
        true => sync(server, opened),
        false => Ok(()),
    }
}

/// Flushes all files that the process has open on the connection, on any tree. After a failure it continues with the
/// other files.
///
/// # Errors
/// The first error ([MS-CIFS] 3.3.5.8), including a failed write-behind.
pub fn flush_all(call: &mut Call<'_>) -> Result<()> {
    let (pid, uid) = (call.header.pid, call.header.uid);
    let of_process = |file: &OpenFile| (file.pid, file.uid) == (pid, uid);
    let mut fids = call.conn.files.fids_where(of_process);
    fids.sort_unstable_by_key(|fid| fid.0);
    let mut outcome = Ok(());
    for fid in fids {
        let Some(opened) = call.conn.files.find_mut(fid) else {
            continue;
        };
        let behind = opened.stream.failed.take();
        let flushed = flush_open(&call.conn.server, opened);
        outcome = outcome
            .and(behind.map_or(Ok(()), |status| Err(status.into())))
            .and(flushed);
    }
    outcome
}

/// Reports a failed sync that may have lost data of an open about to be closed, unless a reply has already reported it.
///
/// # Errors
/// That error.
pub fn unreported_failure(conn: &Context, opened: &OpenFile) -> Result<()> {
    let failure = opened.open.and_then(|open| {
        conn.server
            .locked(|tables| tables.unreported_sync_failure(open))
    });
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// Syncs the file. Once for each open and after each rename, it also syncs the folder that contains its name: POSIX
/// does not guarantee that an fsync of a new file makes its name durable.
fn sync(server: &Server, opened: &OpenFile) -> Result<()> {
    let Some(file) = &opened.file else {
        return Ok(());
    };
    let Some(open) = opened.open else {
        return Ok(file.sync()?);
    };
    let unsynced_name = server.locked(|tables| tables.begin_sync(open))?;
    if let Err(error) = file.sync() {
        server.locked(|tables| tables.sync_failed(open, error));
        return Err(error.into());
    }
    let Some(path) = unsynced_name else {
        return Ok(());
    };
    sync_folder_of(opened, &path)?;
    server.locked(|tables| tables.name_synced(open, &path));
    Ok(())
}

fn sync_folder_of(opened: &OpenFile, path: &str) -> Result<()> {
    let (Some(vfs), Some((folder, _))) = (opened.share.vfs(), split(path)) else {
        return Ok(());
    };
    let read = OpenHow {
        read: true,
        ..OpenHow::default()
    };
    match vfs.open(folder, read).and_then(|(folder, _)| folder.sync()) {
        // The folder may be unreadable, moved by a local program, or not syncable at all. The data is on disk, and an
        // error would not make the name more durable.
        Ok(()) | Err(VfsError::Denied | VfsError::NotFound | VfsError::Unsupported) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Syncs a file that the server itself has written, as COPY does, if the share syncs every change.
///
/// # Errors
/// File system errors.
pub fn after_copy(options: &ShareOptions, file: &dyn VfsFile) -> Result<()> {
    match options.syncs_always() {
        true => Ok(file.sync()?),
        false => Ok(()),
    }
}

#[cfg(test)]
#[path = "durability_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
