//! Closes opens.

use crate::{
    act::{Act, Deed},
    context::{Context, Leaving},
    error::Result,
    event::Event,
    files::{OpenFile, OpenKind},
    share::Access,
    table::Tables,
    vfs::{FsTime, SetTimes, VfsResult},
};
use alloc::{format, string::String, vec::Vec};
use coax_wire::{
    header::{Fid, Tid},
    status::Status,
    time::Time,
};

/// Closes an open; `modified` is the last write time that the client sends. This releases locks, ends watches, and
/// deletes a file that is marked for deletion.
///
/// # Errors
/// `INVALID_HANDLE` for an unknown FID. The file system's error if the pending deletion, the print job or the time
/// stamp fails. The error of an earlier failed sync, unless a reply has already reported it. The close frees the FID in
/// every case. If the deletion failed, clients can open the file again.
pub fn close(conn: &mut Context, fid: Fid, modified: Option<FsTime>, now: Time) -> Result<()> {
    let file = conn.files.remove(fid).ok_or(Status::INVALID_HANDLE)?;
    let ended = end(conn, &file, modified, now);
    ended.deleted.and(ended.printed).and(ended.synced)?;
    Ok(ended.timed?)
}

/// The results of the parts of a close.
struct Ended {
    deleted: Result<()>,
    printed: Result<()>,
    /// An earlier sync that may have lost data, unless a reply has already reported it.
    synced: Result<()>,
    timed: VfsResult<()>,
}

fn end(conn: &mut Context, file: &OpenFile, modified: Option<FsTime>, now: Time) -> Ended {
    let synced = super::durability::unreported_failure(conn, file);
    let timed = settle(conn, file, modified, now);
    record(conn, file);
    conn.count_moved(file);
    let deleted = release(conn, file, now);
    let printed = super::print::end(conn, file);
    conn.handle_wake(now);
    Ended {
        deleted,
        printed,
        synced,
        timed,
    }
}

fn record(conn: &Context, file: &OpenFile) {
    if matches!(file.kind, OpenKind::Pipe(_)) {
        return;
    }
    let is_directory = matches!(file.kind, OpenKind::Directory);
    conn.record(file.uid, || {
        let open = file.open.map(|open| open.0);
        let moved = file.moved;
        let stream = |tables: &mut Tables| tables.get(file.open?)?.request.stream.clone();
        let mut path = now_at(conn, file);
        if let Some(stream) = conn.server.locked(stream) {
            path = format!("{path}:{stream}");
        }
        let deed = Deed::Close { open, moved };
        Act::done(deed, &file.share.name, &path, is_directory)
    });
}

/// Closes opens without a CLOSE request: no reply can report a failure, so the log does.
pub fn close_unasked(conn: &mut Context, fids: Vec<Fid>, now: Time) {
    for fid in fids {
        let Some(file) = conn.files.remove(fid) else {
            continue;
        };
        let path = now_at(conn, &file);
        let ended = end(conn, &file, None, now);
        super::modify::note_not_deleted(conn, &file.share, &path, ended.deleted);
        if let (OpenKind::PrintJob(job), Err(error)) = (&file.kind, ended.printed) {
            conn.events.push_back(Event::NotPrinted {
                share: file.share.name.clone(),
                name: job.name().into(),
                status: error.status(),
            });
        }
    }
}

/// The current path of an open's file.
fn now_at(conn: &Context, file: &OpenFile) -> String {
    let row = |tables: &mut Tables| Some(tables.get(file.open?)?.request.path.clone());
    conn.server.locked(row).unwrap_or_else(|| file.path.clone())
}

/// Closes all open files of the connection.
pub fn close_everything(conn: &mut Context, now: Time) {
    let fids = conn.files.fids_where(|_| true);
    close_unasked(conn, fids, now);
}

/// Closes the open files of a session or tree and cancels its waiting requests. It also cancels a request that waited
/// for one of these files to close: otherwise that request would outlive its session or tree.
pub fn leave(conn: &mut Context, now: Time, leaving: Leaving) {
    let fids = conn.files.fids_where(|file| leaving.opened(file));
    conn.set_leaving(Some(leaving));
    close_unasked(conn, fids, now);
    conn.cancel_where(now, |header| leaving.asked(header));
    conn.set_leaving(None);
}

/// Disconnects a tree: closes its open files, searches and waiting requests.
pub fn leave_tree(conn: &mut Context, now: Time, tid: Tid) {
    conn.transactions.retain(|pending| !pending.is_of(tid));
    conn.searches.close_where(|search| search.tid == tid);
    leave(conn, now, Leaving::Tree(tid));
    if let Some(share) = conn.trees.remove(tid) {
        let id = conn.id;
        conn.server.locked(|tables| tables.drop_tree(id, share.id));
    }
}

/// Sets the last write time that the client sends, or that its writes cause ([`crate::table::Tables`]), and releases
/// reserved space that was not written.
fn settle(conn: &Context, file: &OpenFile, asked: Option<FsTime>, now: Time) -> VfsResult<()> {
    let (Some(opened), Some(open)) = (&file.file, file.open) else {
        return Ok(());
    };
    let tree = conn.authorize(file.uid, file.tid);
    let may_write = tree.is_ok_and(|tree| tree.access == Access::Write);
    let asked = asked.filter(|_| may_write);
    let (trims, modified) = conn.server.locked(|tables| {
        let trims = tables.ends_reservation(open);
        (trims, tables.closing_write_time(now, open, asked))
    });
    if trims {
        super::trim::trim(&**opened);
    }
    if modified.is_none() {
        return Ok(());
    }
    let set = opened.set_times(SetTimes {
        modified,
        accessed: None,
    });
    // If only the owner may set times, the disk's own last write time is accurate enough.
    if asked.is_some() { set } else { Ok(()) }
}

/// Removes the open's row from the tables; deletes a file that is now due for deletion.
///
/// # Errors
/// File system errors of the deletion.
fn release(conn: &Context, file: &OpenFile, now: Time) -> Result<()> {
    let Some(open) = file.open else { return Ok(()) };
    let closed = conn.server.locked(|tables| tables.close(open));
    match closed.map(|closed| closed.delete) {
        Ok(Some(doomed)) => {
            super::modify::remove_doomed(conn, (file.uid, &file.share), &doomed, now)
        }
        _ => Ok(()),
    }
}
