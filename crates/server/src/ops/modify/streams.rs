//! Deletes and renames named streams.

use super::doomed::check_deletable;
use super::place::{Place, Step};
use super::{
    Selection,
    claim::{Claimed, Wish, ask, release, request},
};
use crate::{
    act::Deed,
    context::Call,
    error::{Because, Result},
    names::path::{ClientPath, PathKind},
    ops::{
        attributes::{self, Facts},
        journal::atomically,
        streams::{self, StreamFile},
    },
    reason::Reason,
    table::{OpenId, OpenRequest, Tables},
    vfs::{FileId, Kind, OpenHow, VfsFile},
};
use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
};
use coax_wire::{codepage::eq_ignore_case, header::Fid, status::Status};

/// An existing stream.
struct Found {
    path: String,
    /// The object that it belongs to.
    facts: Facts,
    base: Arc<dyn VfsFile>,
    stream: StreamFile,
}

/// Deletes a stream.
///
/// # Errors
/// `OBJECT_NAME_NOT_FOUND`, `SHARING_VIOLATION`, `DELETE_PENDING`; `CANNOT_DELETE` if the file is read-only.
pub(super) fn delete(
    call: &Call<'_>,
    place: &Place,
    path: &ClientPath,
    name: &str,
) -> Result<Step> {
    let found = find(call, place, path, name)?;
    check_deletable(&place.share, &found.facts)?;
    claiming(call, place, &found, |open| {
        let server = &call.conn.server;
        let marked = server.locked(|tables| tables.set_delete_pending(open, true));
        marked.map_err(|_| Status::INVALID_HANDLE.into())
    })
}

/// Renames a stream that has no opens; the new name is `:NAME`.
///
/// # Errors
/// `INVALID_PARAMETER` unless the new name is a stream of the same file; `OBJECT_NAME_COLLISION`; as [`delete`].
pub(super) fn rename(
    call: &Call<'_>,
    place: &Place,
    path: &ClientPath,
    name: &str,
    new: &Selection,
) -> Result<Step> {
    let found = find(call, place, path, name)?;
    let to = match new {
        Selection::One(new) if new.is_root() => new.kind(),
        _ => return Err(Status::INVALID_PARAMETER.into()),
    };
    let to = match to {
        PathKind::Stream(to) => to,
        PathKind::Data => return Err(Status::OBJECT_NAME_COLLISION.into()),
        PathKind::Plain => return Err(Status::INVALID_PARAMETER.into()),
    };
    claiming(call, place, &found, |_| {
        let (id, from) = (found.facts.stat.id, found.stream.name());
        make_way(call, &found.base, id, (from, to), false)?;
        move_stream(&found.stream, &found.base, to, None)?;
        record_rename(call, place, &found.path, (from, to));
        Ok(())
    })
}

/// Renames the stream that `fid` has open, at `path` and with this name; it stays open. The target may also be the data
/// of an empty, closed file ([MS-FSA] 2.1.5.15.12).
///
/// # Errors
/// `INVALID_PARAMETER` if the target is not empty or is open; `OBJECT_NAME_COLLISION`; `SHARING_VIOLATION` if others
/// have the stream open.
pub(super) fn rename_open(
    call: &mut Call<'_>,
    place: &Place,
    fid: Fid,
    (path, from): (&str, &str),
    new: &ClientPath,
    replace: bool,
) -> Result<()> {
    let to = new_name(new)?;
    let base = streams::open_base(&*place.vfs, path)?;
    let stream = StreamFile::new(base.clone(), from);
    let object = base.stat()?.id;
    let (old_id, new_id) = (
        call.file(fid)?.id,
        to.map_or(object, |to| streams::id_of(object, to)),
    );
    let taken = match to {
        Some(to) => make_way(call, &base, object, (from, to), replace)?,
        None => check_data(&*base, replace).map(|()| None)?,
    };
    let renamed =
        |tables: &mut Tables| tables.rename_stream(old_id, new_id, to.map(ToString::to_string));
    if !call.conn.server.locked(renamed) {
        return Err(Status::SHARING_VIOLATION.because(Reason::Sharing(None)));
    }
    let moved = match to {
        Some(to) => move_stream(&stream, &base, to, taken.as_deref()),
        None => move_to_data(place, path, &stream),
    };
    let Ok(file) = moved else {
        let back =
            |tables: &mut Tables| tables.rename_stream(new_id, old_id, Some(from.to_string()));
        call.conn.server.locked(back);
        return moved.map(drop);
    };
    record_rename(call, place, path, (from, to.unwrap_or_default()));
    let opened = call.file_mut(fid)?;
    opened.id = new_id;
    opened.file = Some(file);
    Ok(())
}

/// Records that a stream was renamed; without a new name it became the file's data.
fn record_rename(call: &Call<'_>, place: &Place, path: &str, (from, to): (&str, &str)) {
    let named = |stream: &str| match stream.is_empty() {
        true => path.to_string(),
        false => format!("{path}:{stream}"),
    };
    place.record(call, (&named(from), false), || Deed::Rename {
        to: named(to),
        replaced: to.is_empty(),
    });
}

/// The stream's name in the target path of a rename; `None`: the file's own data.
fn new_name(new: &ClientPath) -> Result<Option<&str>> {
    match (new.is_root(), new.kind()) {
        (true, PathKind::Stream(to)) => Ok(Some(to.as_str())),
        (true, PathKind::Data) => Ok(None),
        _ => Err(Status::INVALID_PARAMETER.into()),
    }
}

fn find(call: &Call<'_>, place: &Place, path: &ClientPath, name: &str) -> Result<Found> {
    let located = place.finder(call).locate(path)?;
    let stat = located.existing()?;
    let facts = attributes::facts_at(&*place.vfs, &place.share, &located.path, stat)?;
    let base = streams::open_base(&*place.vfs, &located.path)?;
    let stream = streams::find(&base, name)?.ok_or(Status::OBJECT_NAME_NOT_FOUND)?;
    Ok(Found {
        path: located.path,
        facts,
        base,
        stream,
    })
}

/// Runs `work` while the stream has no other opens.
fn claiming(
    call: &Call<'_>,
    place: &Place,
    found: &Found,
    work: impl FnOnce(OpenId) -> Result<()>,
) -> Result<Step> {
    let name = found.stream.name();
    let whole = request(
        call,
        place,
        (&found.path, &found.facts.stat),
        Wish::DELETE_FILE,
    );
    let wanted = OpenRequest {
        file: streams::id_of(whole.file, name),
        stream: Some(name.to_string()),
        is_directory: false,
        ..whole
    };
    let open = match ask(call, &wanted)? {
        Claimed::Yes(open) => open,
        Claimed::Park(park) => return Ok(Step::Park(park)),
    };
    let worked = work(open);
    let released = release(call, place, open);
    worked.and(released).map(|()| Step::Done)
}

/// Checks whether the stream `from` may be renamed to `to`. Returns the stored name of a stream that it replaces.
fn make_way(
    call: &Call<'_>,
    base: &Arc<dyn VfsFile>,
    object: FileId,
    (from, to): (&str, &str),
    replace: bool,
) -> Result<Option<String>> {
    let Some(taken) = streams::find(base, to)? else {
        return Ok(None);
    };
    if eq_ignore_case(from, to) {
        return Ok(None);
    }
    if !replace {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    let id = streams::id_of(object, to);
    let server = &call.conn.server;
    let is_open = server.locked(|tables| tables.opens_of_file(id).next().is_some());
    if is_open || !taken.contents()?.is_empty() {
        return Err(Status::INVALID_PARAMETER.into());
    }
    Ok(Some(taken.name().to_string()))
}

/// A stream may replace only the data of an empty file; a folder has no data.
fn check_data(base: &dyn VfsFile, replace: bool) -> Result<()> {
    let stat = base.stat()?;
    if stat.kind != Kind::File {
        return Err(Status::OBJECT_NAME_INVALID.into());
    }
    if !replace {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    match stat.size {
        0 => Ok(()),
        _ => Err(Status::INVALID_PARAMETER.into()),
    }
}

fn copy(from: &StreamFile, base: &Arc<dyn VfsFile>, to: &str) -> Result<()> {
    let contents = from.contents()?;
    let new = StreamFile::create(base.clone(), to)?;
    Ok(new.write_at(0, &contents).map_err(|(_, error)| error)?)
}

/// Removes the renamed or replaced stream, unless it is the new stream itself.
fn remove_others(base: &dyn VfsFile, names: [Option<&str>; 2], new: &str) -> Result<()> {
    let gone = names.into_iter().flatten().filter(|name| *name != new);
    for name in gone {
        streams::remove(base, name)?;
    }
    Ok(())
}

fn move_stream(
    stream: &StreamFile,
    base: &Arc<dyn VfsFile>,
    to: &str,
    taken: Option<&str>,
) -> Result<Arc<dyn VfsFile>> {
    atomically(base, |journal| {
        let base: Arc<dyn VfsFile> = journal.clone();
        copy(stream, &base, to)?;
        remove_others(&*base, [Some(stream.name()), taken], to)
    })?;
    Ok(Arc::new(StreamFile::new(base.clone(), to)))
}

fn move_to_data(place: &Place, path: &str, stream: &StreamFile) -> Result<Arc<dyn VfsFile>> {
    let how = OpenHow {
        read: true,
        write: true,
        ..OpenHow::default()
    };
    let (file, _) = place.vfs.open(path, how)?;
    let contents = stream.contents()?;
    let moved = file
        .write_at(0, &contents)
        .map_err(|(_, error)| error)
        .and_then(|()| streams::remove(&*file, stream.name()));
    if moved.is_err() {
        // It was empty before.
        let _ = file.set_len(0);
    }
    moved?;
    Ok(file)
}
