//! Removes files marked for deletion at their last close.

use crate::{
    act::{Act, Deed},
    context::Context,
    error::{Because, Error, Result},
    event::Event,
    names::attributes::Attributes,
    names_cache::Change,
    ops::{
        self,
        attributes::{Facts, name_of, parent_of},
        locate::Finder,
    },
    reason::Reason,
    server::Server,
    share::Share,
    table::Doomed,
    vfs::{FileId, Vfs, VfsError},
};
use alloc::{format, sync::Arc};
use coax_wire::{header::Uid, status::Status, time::Time};

/// Removes a name that is due for deletion from the file system, the folder's index and the tables, and notifies
/// watchers of the folder.
///
/// # Errors
/// File system errors; the tables have removed it in any case.
pub(in crate::ops) fn remove_doomed(
    conn: &Context,
    (uid, share): (Uid, &Share),
    doomed: &Doomed,
    now: Time,
) -> Result<()> {
    let server = &conn.server;
    let share = home_of(server, share, doomed);
    let removed = match share.vfs() {
        Some(vfs) => remove_name(server, share, &**vfs, doomed, now),
        None => Err(Status::ACCESS_DENIED.because(Reason::NoFiles)),
    };
    server.locked(|tables| {
        tables.finish_delete(doomed.file);
        if removed.is_ok() && doomed.stream.is_none() {
            tables.report_removed(doomed.share, &doomed.path, doomed.is_directory);
        }
    });
    if removed != Err(VfsError::NotFound.into()) {
        conn.record(uid, || act(share, doomed, removed));
    }
    removed
}

/// The share of the name. The last close may come from another share of the same disk, where the path means another file.
fn home_of<'a>(server: &'a Server, share: &'a Share, doomed: &Doomed) -> &'a Share {
    let is_home = |other: &&'a Arc<Share>| other.id == doomed.share;
    match server.shares.iter().find(is_home) {
        Some(home) if share.id != doomed.share => home,
        _ => share,
    }
}

fn act(share: &Share, doomed: &Doomed, removed: Result<()>) -> Act {
    let deed = match doomed.is_directory {
        true => Deed::RemoveDirectory,
        false => Deed::Delete,
    };
    let path = match &doomed.stream {
        Some(stream) => format!("{}:{stream}", doomed.path),
        None => doomed.path.clone(),
    };
    Act {
        failed: removed.err().map(Error::status),
        ..Act::done(deed, &share.name, &path, doomed.is_directory)
    }
}

/// The same without a reply that could report a failure: a log event does.
pub(in crate::ops) fn remove_doomed_for_others(
    conn: &mut Context,
    (uid, share): (Uid, &Share),
    doomed: &Doomed,
    now: Time,
) {
    let removed = remove_doomed(conn, (uid, share), doomed, now);
    note_not_deleted(conn, share, &doomed.path, removed);
}

/// Logs that a deletion failed.
pub(in crate::ops) fn note_not_deleted(
    conn: &mut Context,
    share: &Share,
    path: &str,
    removed: Result<()>,
) {
    let Err(error) = removed else { return };
    // A name that no longer exists needs no deletion.
    if error != VfsError::NotFound.into() {
        conn.events.push_back(Event::NotDeleted {
            share: share.name.clone(),
            path: path.into(),
            status: error.status(),
        });
    }
}

pub(super) fn remove_name(
    server: &Server,
    share: &Share,
    vfs: &dyn Vfs,
    doomed: &Doomed,
    now: Time,
) -> Result<()> {
    let path = doomed.path.as_str();
    if let Some(stream) = &doomed.stream {
        let base = ops::streams::open_base(vfs, path)?;
        check_same(base.stat()?.id, doomed)?;
        return Ok(ops::streams::remove(&*base, stream)?);
    }
    let finder = Finder {
        server,
        share,
        vfs,
        now,
        exact: true,
    };
    let change = Change::Removed(name_of(path));
    finder.changing(parent_of(path), change, || {
        check_same(vfs.stat(path)?.id, doomed)?;
        if doomed.is_directory {
            Ok(vfs.remove_dir(path)?)
        } else {
            Ok(vfs.remove_file(path)?)
        }
    })
}

/// Refuses to delete another file than the marked one. A rename outside this server, or through a share of another
/// folder, does not change the path in the tables, and the old name may belong to another file since.
fn check_same(found: FileId, doomed: &Doomed) -> Result<()> {
    match found == doomed.file.object() {
        true => Ok(()),
        false => Err(Status::OBJECT_NAME_NOT_FOUND.because(Reason::NameTaken)),
    }
}

pub(super) fn check_deletable(share: &Share, facts: &Facts) -> Result<()> {
    let read_only = facts.attributes.contains(Attributes::READONLY);
    if read_only && !facts.is_directory() && !share.options.delete_readonly {
        return Err(Status::CANNOT_DELETE.because(Reason::ReadOnlyKept));
    }
    Ok(())
}
