//! Creates folders, and files without an open: targets of copies.

use super::claim::{Wish, request};
use super::place::{Place, no_stream};
use crate::{
    act::Deed,
    context::Call,
    error::{Because, Result},
    names::path::ClientPath,
    names_cache::Change,
    ops::{
        attributes::{name_of, parent_of},
        eas, security,
        streams::open_base,
    },
    reason::{Limit, Reason},
    table::{OpenId, OpenOutcome, Refusal},
    vfs::{Kind, Stat},
};
use coax_wire::{info::ea::Ea, status::Status};

/// Creates a folder with these extended attributes.
///
/// # Errors
/// `OBJECT_NAME_COLLISION`, `OBJECT_PATH_NOT_FOUND`, `DELETE_PENDING`; `ACCESS_DENIED` if the parent's descriptor does
/// not allow adding a folder; those of [`eas::set`]; file system errors. On failure the folder does not exist.
pub fn make_dir(call: &Call<'_>, path: &ClientPath, eas: &[Ea<'_>]) -> Result<()> {
    let place = Place::to_change(call)?;
    no_stream(path)?;
    let finder = place.finder(call);
    let located = finder.locate(path)?;
    if located.stat.is_some() {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    let path = finder.spelling(&located.path);
    make_dir_at(call, &place, &path, eas)
}

/// The same, of a path that is known to be free.
///
/// # Errors
/// As [`make_dir`].
pub(super) fn make_dir_at(
    call: &Call<'_>,
    place: &Place,
    path: &str,
    eas: &[Ea<'_>],
) -> Result<()> {
    let described = security::of_folder_to_grow(call, &*place.vfs, parent_of(path), true)?;
    creating(call, place, path, Kind::Directory, || {
        place.vfs.make_dir(path)?;
        if described.is_none() && eas.is_empty() {
            return Ok(());
        }
        let dressed = open_base(&*place.vfs, path)
            .map_err(Into::into)
            .and_then(|new| {
                if let Some(folder) = &described {
                    security::inherit(call, &place.share, &*new, folder, true)?;
                }
                eas::set(call, &*new, eas)
            });
        if dressed.is_err() {
            let _ = place.vfs.remove_dir(path);
        }
        dressed
    })
}

/// Runs `work`, which creates the file or folder at `path`, or fails and leaves nothing there. Other opens and creates
/// of the same path wait meanwhile. Watchers are notified of the new name.
///
/// # Errors
/// `DELETE_PENDING` if the folder is about to be removed; `OBJECT_NAME_COLLISION` if another client creates the same
/// path; `TOO_MANY_OPENED_FILES`; those of `work`.
pub(super) fn creating<T>(
    call: &Call<'_>,
    place: &Place,
    path: &str,
    kind: Kind,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let (server, share) = (&call.conn.server, place.share.id);
    let row = reserve(call, place, (path, kind), Wish::CREATE)?;
    let (finder, change) = (place.finder(call), Change::Added(name_of(path)));
    // Another request may have created the name in another case since the lookup.
    let made = match finder.occupant(path) {
        Ok(None) => finder.changing(parent_of(path), change, work),
        Ok(Some(_)) => Err(Status::OBJECT_NAME_COLLISION.into()),
        Err(error) => Err(error),
    };
    server.locked(|tables| {
        // A row without a file has no pending deletion.
        let _ = tables.withdraw(row);
        if made.is_ok() {
            tables.report_created(share, path, kind == Kind::Directory);
        }
    });
    if made.is_ok() && kind == Kind::Directory {
        place.record(call, (path, true), || Deed::MakeDirectory);
    }
    made
}

/// Reserves the path of a new name. No other request creates it, in any case, until the row is withdrawn.
///
/// # Errors
/// As [`creating`].
pub(super) fn reserve(
    call: &Call<'_>,
    place: &Place,
    (path, kind): (&str, Kind),
    wish: Wish,
) -> Result<OpenId> {
    let nothing = Stat {
        id: Default::default(),
        kind,
        size: 0,
        allocated: 0,
        created: None,
        modified: Default::default(),
        accessed: Default::default(),
        changed: Default::default(),
        links: 0,
        mode: 0,
    };
    let request = request(call, place, (path, &nothing), wish);
    call.conn
        .server
        .locked(|tables| match tables.reserve(call.now, &request) {
            OpenOutcome::Granted { open, .. } => Ok(open),
            OpenOutcome::BreakFirst { ticket, .. } => {
                tables.forget_parked(ticket);
                Err(Status::OBJECT_NAME_COLLISION.into())
            }
            OpenOutcome::SharingViolation => Err(Status::SHARING_VIOLATION.into()),
            OpenOutcome::DeletePending => Err(Status::DELETE_PENDING.into()),
            OpenOutcome::Refused(Refusal::TooManyOpens) => {
                Err(Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))
            }
            OpenOutcome::Refused(_) => {
                Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Waits)))
            }
        })
}
