//! When data must be on the disk before the reply, and what a failed sync means. docs/durability.md is the contract.
//!
//! Without `strict sync` nothing waits for the disk, as with smbd: neither FLUSH nor write-through, and `sync always` has
//! no effect (smb.conf(5) of Samba 4.17, `strict sync`, `sync always`).

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

/// NT's mode bit of an open whose writes all go through to the disk ([MS-FSCC] 2.4.26).
pub const FILE_WRITE_THROUGH: u32 = 0x0000_0002;

/// Whether a write must be on the disk before its reply: because the request asks for it, because the open was made so
/// or told so (SET_FILE_INFORMATION), or because the share does so always.
pub fn is_write_through(file: &OpenFile, asked: bool) -> bool {
    let options = &file.share.options;
    let wanted = asked || file.mode & FILE_WRITE_THROUGH != 0;
    options.strict_sync && wanted || options.syncs_always()
}

/// After a write or a change of the length: syncs if it must go through to the disk.
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

/// FLUSH: waits until everything written to the file is on the disk, through whichever open, if the share takes flushes
/// at their word (`strict sync`). smbd flushes through opens that only read, too.
///
/// # Errors
/// `INVALID_HANDLE`; what the file system says, now or at an earlier sync of this open.
pub fn flush(call: &Call<'_>, fid: Fid) -> Result<()> {
    flush_open(&call.conn.server, call.file(fid)?)
}

fn flush_open(server: &Server, opened: &OpenFile) -> Result<()> {
    match opened.share.options.strict_sync {
        true => sync(server, opened),
        false => Ok(()),
    }
}

/// Flushes all files that the process has open on the connection, whatever their tree. One that fails does not keep the
/// others from being flushed.
///
/// # Errors
/// The first error ([MS-CIFS] 3.3.5.8), a failed write behind included.
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

/// The error of a failed sync that may have lost data of an open about to be closed, if its client has not heard of it.
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

/// Syncs the file and, once for each open and after each rename, the folder that holds its name: POSIX does not promise
/// that an fsync of a new file keeps its name.
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
        // A folder that may not be read, that a local program has moved away, or that cannot be synced at all: the data
        // is on the disk, and an error would not improve the name's chances.
        Ok(()) | Err(VfsError::Denied | VfsError::NotFound | VfsError::Unsupported) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Syncs a file that the server itself has written, as COPY does, where the share puts every change on the disk.
///
/// # Errors
/// What the file system says.
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
