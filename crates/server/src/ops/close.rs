//! Closing opens.

use crate::{
    conn::Connection,
    error::Result,
    files::OpenFile,
    share::Access,
    table::access,
    tree::Tree,
    vfs::{FsTime, SetTimes, VfsResult},
};
use coax_wire::{header::Fid, status::Status, time::Time};

/// Closes an open; `modified` is the time of last write that the client asks for. Locks go, watches end, and the file
/// is deleted if that was due.
///
/// # Errors
/// `INVALID_HANDLE`; what the file system says of a time that cannot be set. The FID is gone in any case.
pub fn close(conn: &mut Connection, fid: Fid, modified: Option<FsTime>, now: Time) -> Result<()> {
    let file = conn.files.remove(fid).ok_or(Status::INVALID_HANDLE)?;
    let timed = settle(conn, &file, modified, now);
    release(conn, &file, now);
    crate::handlers::print::end(conn, &file);
    conn.handle_wake(now);
    Ok(timed?)
}

/// Closes all that the connection holds.
pub fn close_everything(conn: &mut Connection, now: Time) {
    for fid in conn.files.fids_where(|_| true) {
        let _ = close(conn, fid, None, now);
    }
}

/// Sets the time of last write that the client asks for, or that its writes make ([`crate::table::Tables`]), and gives
/// back what was reserved and not written to.
fn settle(conn: &Connection, file: &OpenFile, asked: Option<FsTime>, now: Time) -> VfsResult<()> {
    let (Some(opened), Some(open)) = (&file.file, file.open) else {
        return Ok(());
    };
    let may_write = |tree: &Tree| tree.access == Access::Write;
    let asked = asked.filter(|_| conn.trees.find(file.tid).is_some_and(may_write));
    let (frees, modified) = conn.server.locked(|tables| {
        let frees = tables.ends_reservation(open);
        (frees, tables.closing_write_time(now, open, asked))
    });
    if frees && file.access & access::WRITE_DATA != 0 {
        // Nothing is lost if it cannot be given back.
        let _ = opened.stat().and_then(|stat| opened.set_len(stat.size));
    }
    if modified.is_none() {
        return Ok(());
    }
    let set = opened.set_times(SetTimes {
        modified,
        accessed: None,
    });
    // Where only the owner may set times, the disk's own time of the last write is right enough.
    if asked.is_some() { set } else { Ok(()) }
}

/// Gives up the open's row in the tables; what is to be deleted now goes. The client was told at its request what it
/// may expect: if the file system refuses, there is nobody left to tell.
fn release(conn: &Connection, file: &OpenFile, now: Time) {
    let Some(open) = file.open else { return };
    let closed = conn.server.locked(|tables| tables.close(open));
    if let Ok(Some(doomed)) = closed.map(|closed| closed.delete) {
        let _ = super::modify::remove_doomed(&conn.server, &file.share, &doomed, now);
    }
}
