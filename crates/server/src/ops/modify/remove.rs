//! Deletes files and folders, at once or at the last close.

use super::doomed::check_deletable;
use super::place::{Place, READ, Step, no_stream, open_to_delete, stream_of};
use super::{
    Selection,
    claim::{Wish, claiming, settle, too_late_to_park},
    matching::{Match, NamePattern, folder_of, matches},
    streams,
};
use crate::{
    context::Call,
    error::{Because, Result},
    names::{attributes::SearchAttributes, path::ClientPath},
    ops::{
        attributes::{self, Facts},
        print,
    },
    reason::Reason,
    vfs::{Kind, Vfs},
};
use coax_wire::{header::Fid, status::Status};

/// Removes an empty folder.
///
/// # Errors
/// `OBJECT_NAME_NOT_FOUND`, `NOT_A_DIRECTORY`, `DIRECTORY_NOT_EMPTY`, `SHARING_VIOLATION`; `ACCESS_DENIED` for the
/// share's root.
pub fn remove_dir(call: &Call<'_>, path: &ClientPath) -> Result<Step> {
    let place = Place::to_change(call)?;
    no_stream(path)?;
    if path.is_root() {
        return Err(Status::ACCESS_DENIED.because(Reason::ShareRoot));
    }
    let located = place.finder(call).locate(path)?;
    let stat = located.existing()?;
    if stat.kind != Kind::Directory {
        return Err(Status::NOT_A_DIRECTORY.into());
    }
    let server = &call.conn.server;
    claiming(
        call,
        &place,
        (&located.path, &stat),
        Wish::REMOVE_DIR,
        |open| {
            check_empty(&*place.vfs, &located.path)?;
            let _ = server.locked(|tables| tables.set_delete_pending(open, true));
            Ok(())
        },
    )
}

/// Deletes a file, or all files that match a pattern and `search`, until one cannot be deleted ([MS-CIFS] 3.3.5.9). It
/// never deletes folders.
///
/// # Errors
/// `OBJECT_NAME_NOT_FOUND`; `NO_SUCH_FILE` if nothing matches or the search attributes exclude the file;
/// `FILE_IS_A_DIRECTORY`, `CANNOT_DELETE` (read-only), `SHARING_VIOLATION`.
pub fn delete(call: &Call<'_>, selection: &Selection, search: SearchAttributes) -> Result<Step> {
    if let Selection::One(path) = selection {
        check_printer(call, path)?;
    }
    let place = Place::to_change(call)?;
    match selection {
        Selection::One(path) => delete_one(call, &place, path, search),
        Selection::Many(path) => {
            let folder = folder_of(call, &place, path)?;
            let pattern = NamePattern::new(call, &path.pattern);
            let mut found = matches(call, &place, &folder, &pattern, search)?;
            found.retain(|found| !found.facts.is_directory());
            delete_all(call, &place, &found)
        }
    }
}

/// On a read-only printer share, a missing name is reported as missing. A job is spooled under a name of its own, so a
/// client that deletes the file it printed to finds nothing, whatever its rights.
fn check_printer(call: &Call<'_>, path: &ClientPath) -> Result<()> {
    if print::is_printer(call) && call.must_write().is_err() {
        let place = Place::of(call)?;
        place.finder(call).locate(path)?.existing()?;
    }
    Ok(())
}

fn delete_one(
    call: &Call<'_>,
    place: &Place,
    path: &ClientPath,
    search: SearchAttributes,
) -> Result<Step> {
    if let Some(name) = stream_of(place, path)? {
        return streams::delete(call, place, path, name);
    }
    let located = place.finder(call).locate(path)?;
    let stat = located.existing()?;
    let facts = attributes::facts_at(&*place.vfs, &place.share, &located.path, stat)?;
    if facts.is_directory() {
        return Err(Status::FILE_IS_A_DIRECTORY.into());
    }
    if !search.admits(facts.attributes) {
        return Err(Status::NO_SUCH_FILE.into());
    }
    delete_file(call, place, &located.path, &facts)
}

fn delete_all(call: &Call<'_>, place: &Place, found: &[Match]) -> Result<Step> {
    if found.is_empty() && call.retry.is_none() {
        return Err(Status::NO_SUCH_FILE.into());
    }
    let objects = found.iter().map(|found| (&*found.path, &found.facts.stat));
    if let Some(park) = settle(call, place, objects, Wish::DELETE_FILE) {
        return Ok(Step::Park(park));
    }
    for Match { path, facts, .. } in found {
        match delete_file(call, place, path, facts) {
            Err(error) if error.status() == Status::OBJECT_NAME_NOT_FOUND => {}
            Err(error) => return Err(error),
            Ok(step) => too_late_to_park(call, step)?,
        }
    }
    Ok(Step::Done)
}

fn delete_file(call: &Call<'_>, place: &Place, path: &str, facts: &Facts) -> Result<Step> {
    if facts.stat.kind != Kind::File {
        return Err(Status::ACCESS_DENIED.because(Reason::NotAFile));
    }
    // The file stays open until its name is removed from disk and tables, so that no other file gets its identity.
    let held = place.vfs.open(path, READ).ok();
    let server = &call.conn.server;
    let step = claiming(
        call,
        place,
        (path, &facts.stat),
        Wish::DELETE_FILE,
        |open| {
            check_deletable(&place.share, facts)?;
            let _ = server.locked(|tables| tables.set_delete_pending(open, true));
            Ok(())
        },
    );
    drop(held);
    step
}

/// Marks an open file or folder for deletion at its last close, or clears the mark (FileDispositionInformation,
/// [MS-FSCC] 2.4.11).
///
/// # Errors
/// `INVALID_HANDLE`; `ACCESS_DENIED` without the DELETE right; `CANNOT_DELETE` for a read-only file and the share's
/// root; `DIRECTORY_NOT_EMPTY`.
pub fn set_delete_pending(call: &Call<'_>, fid: Fid, pending: bool) -> Result<()> {
    let (open, file) = open_to_delete(call, fid)?;
    let place = Place::to_change(call)?;
    let server = &call.conn.server;
    let path = server
        .locked(|tables| tables.get(open).map(|open| open.request.path.clone()))
        .ok_or(Status::INVALID_HANDLE)?;
    if pending {
        if path.is_empty() {
            return Err(Status::CANNOT_DELETE.because(Reason::ShareRoot));
        }
        let facts = attributes::facts_of(&*file, &place.share, &path)?;
        check_deletable(&place.share, &facts)?;
        if facts.is_directory() {
            check_empty(&*place.vfs, &path)?;
        }
    }
    server
        .locked(|tables| tables.set_delete_pending(open, pending))
        .map_err(|_| Status::INVALID_HANDLE.into())
}

/// A symbolic link can be removed whatever is in the folder to which it leads.
fn check_empty(vfs: &dyn Vfs, path: &str) -> Result<()> {
    if vfs.is_link(path) || vfs.open_dir(path)?.names()?.is_empty() {
        return Ok(());
    }
    Err(Status::DIRECTORY_NOT_EMPTY.into())
}
