//! Renames by path, by pattern and by open file; hard links.

use super::place::{Place, Step, knows_long_names, no_stream, open_to_delete, stream_of};
use super::{
    Selection,
    claim::{Wish, claiming, must_fit, settle, too_late_to_park},
    create::reserve,
    matching::{Match, NamePattern, folder_of, matches},
    streams,
};
use crate::vfs::path::join;
use crate::{
    act::Deed,
    context::{Call, Park},
    error::{Because, Result},
    names::{
        attributes::{Attributes, SearchAttributes},
        path::{ClientPath, PathRules},
        wildcard::expand_destination,
    },
    names_cache::Change,
    ops::attributes::{self, Facts, name_of, parent_of},
    reason::Reason,
    table::{BreakOutcome, Oplock, Tables},
    vfs::{Kind, Stat, Vfs},
};
use alloc::string::String;
use coax_wire::{codepage::eq_ignore_case, header::Fid, status::Status};

/// The source of a rename.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// Its path.
    pub(super) path: &'a str,
    /// Its name as the client wrote or sees it.
    pub(super) shown: &'a str,
    /// Its attributes.
    pub(super) facts: &'a Facts,
}

/// The object at the target of a rename.
#[derive(Debug)]
pub(super) enum Target {
    /// The source itself, under this exact name.
    Itself,
    /// Nothing, or the source in another case: the path is available.
    Free(String),
    /// Another file or folder.
    Taken(String, Stat),
}

/// Renames a file or folder, or all that match a pattern and `search`, until one cannot be renamed. A pattern in `new`
/// is filled in from each old name ([MS-CIFS] 3.3.5.10).
///
/// # Errors
/// `OBJECT_NAME_NOT_FOUND`; `NO_SUCH_FILE` if nothing matches, or if the search attributes exclude a hidden or system
/// file; `OBJECT_NAME_COLLISION`, `SHARING_VIOLATION`; `ACCESS_DENIED` for a folder with open files, or for a move into
/// itself.
pub fn rename(
    call: &Call<'_>,
    old: &Selection,
    new: &Selection,
    search: SearchAttributes,
    rules: PathRules,
) -> Result<Step> {
    let place = Place::to_change(call)?;
    match old {
        Selection::One(path) => {
            if let Some(name) = stream_of(&place, path)? {
                return streams::rename(call, &place, path, name, new);
            }
            let shown = path.last().unwrap_or_default();
            let (real, facts) = find_source(call, &place, path, search)?;
            let source = Source {
                path: &real,
                shown,
                facts: &facts,
            };
            rename_one(call, &place, &source, &new_path(new, shown, rules)?)
        }
        Selection::Many(path) => {
            let folder = folder_of(call, &place, path)?;
            let pattern = NamePattern::new(call, &path.pattern);
            let found = matches(call, &place, &folder, &pattern, search)?;
            rename_all(call, &place, &found, new, rules)
        }
    }
}

fn rename_all(
    call: &Call<'_>,
    place: &Place,
    found: &[Match],
    new: &Selection,
    rules: PathRules,
) -> Result<Step> {
    if found.is_empty() {
        return Err(Status::NO_SUCH_FILE.into());
    }
    let objects = found.iter().map(|found| (&*found.path, &found.facts.stat));
    if let Some(park) = settle(call, place, objects, Wish::RENAME) {
        return Ok(Step::Park(park));
    }
    for Match { path, shown, facts } in found {
        let source = Source { path, shown, facts };
        let target = new_path(new, shown, rules)?;
        let step = rename_one(call, place, &source, &target)?;
        too_late_to_park(call, step)?;
    }
    Ok(Step::Done)
}

/// The file or folder at a path, if the search attributes include it. A folder named without a pattern is always
/// included.
///
/// # Errors
/// As [`rename`].
pub(super) fn find_source(
    call: &Call<'_>,
    place: &Place,
    path: &ClientPath,
    search: SearchAttributes,
) -> Result<(String, Facts)> {
    let located = place.finder(call).locate(path)?;
    let stat = located.existing()?;
    let facts = attributes::facts_at(&*place.vfs, &place.share, &located.path, stat)?;
    let judged = facts.attributes.without(Attributes::DIRECTORY);
    if !search.admits(judged) && !search.admits(facts.attributes) {
        return Err(Status::NO_SUCH_FILE.into());
    }
    if path.is_root() {
        return Err(Status::ACCESS_DENIED.because(Reason::ShareRoot));
    }
    if stat.kind == Kind::Special {
        return Err(Status::ACCESS_DENIED.because(Reason::SpecialFile));
    }
    Ok((located.path, facts))
}

fn new_path(new: &Selection, shown: &str, rules: PathRules) -> Result<ClientPath> {
    match new {
        Selection::One(path) => Ok(path.clone()),
        Selection::Many(path) => {
            let name = expand_destination(&path.pattern, shown);
            let child = path.folder.child(&name, rules);
            child.map_err(|_| Status::OBJECT_NAME_INVALID.into())
        }
    }
}

/// Renames one file or folder by its path. All opens of it must share deletion.
fn rename_one(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    new: &ClientPath,
) -> Result<Step> {
    no_stream(new)?;
    let object = (source.path, &source.facts.stat);
    claiming(call, place, object, Wish::RENAME, |_| {
        match target_of(call, place, source, new)? {
            Target::Itself => Ok(()),
            Target::Taken(..) => Err(Status::OBJECT_NAME_COLLISION.into()),
            Target::Free(to) => move_name(call, place, source, &to, false),
        }
    })
}

/// Renames by path for SetPathInformation (FileRenameInformation, [MS-FSCC] 2.4.42): breaks only batch oplocks.
///
/// # Errors
/// As [`rename`] and [`rename_open`].
pub fn rename_path(
    call: &Call<'_>,
    old: &ClientPath,
    new: &ClientPath,
    replace: bool,
) -> Result<Step> {
    let place = Place::to_change(call)?;
    no_stream(old)?;
    let any = SearchAttributes(0x0016);
    let (path, facts) = find_source(call, &place, old, any)?;
    let server = &call.conn.server;
    let (id, conn) = (facts.stat.id, call.conn.id);
    let broken = server.locked(|tables| tables.break_batch(call.now, conn, id, Oplock::None));
    if let BreakOutcome::Wait { ticket, deadline } = broken {
        let deadline = Some(deadline);
        return Ok(Step::Park(Park { ticket, deadline }));
    }
    let step = must_fit(call, &place, (&path, &facts.stat), Wish::RENAME_SHARED)?;
    if matches!(step, Step::Park(_)) {
        return Ok(step);
    }
    let source = Source {
        path: &path,
        shown: old.last().unwrap_or_default(),
        facts: &facts,
    };
    rename_to(call, &place, &source, new, replace).map(|()| Step::Done)
}

/// Renames the file that `fid` has open (FileRenameInformation, [MS-FSCC] 2.4.42). It breaks no oplock.
///
/// # Errors
/// `INVALID_HANDLE`; `ACCESS_DENIED` without the DELETE right, if the target is open, read-only or a folder, or for
/// folders as in [`rename`]; `OBJECT_NAME_COLLISION`.
pub fn rename_open(call: &mut Call<'_>, fid: Fid, new: &ClientPath, replace: bool) -> Result<()> {
    let (open, file) = open_to_delete(call, fid)?;
    let place = Place::to_change(call)?;
    let server = &call.conn.server;
    let now_at = |tables: &mut Tables| {
        let request = &tables.get(open)?.request;
        Some((request.path.clone(), request.stream.clone()))
    };
    let (path, stream) = server.locked(now_at).ok_or(Status::INVALID_HANDLE)?;
    if path.is_empty() && stream.is_none() {
        return Err(Status::ACCESS_DENIED.because(Reason::ShareRoot));
    }
    if let Some(stream) = &stream {
        return streams::rename_open(call, &place, fid, (&path, stream), new, replace);
    }
    let facts = attributes::facts_of(&*file, &place.share, &path)?;
    let source = Source {
        path: &path,
        shown: name_of(&path),
        facts: &facts,
    };
    rename_to(call, &place, &source, new, replace)
}

fn rename_to(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    new: &ClientPath,
    replace: bool,
) -> Result<()> {
    no_stream(new)?;
    match target_of(call, place, source, new)? {
        Target::Itself => Ok(()),
        Target::Free(to) => move_name(call, place, source, &to, false),
        Target::Taken(..) if !replace => Err(Status::OBJECT_NAME_COLLISION.into()),
        Target::Taken(to, stat) => {
            check_replaceable(call, place, source, (&to, stat))?;
            move_name(call, place, source, &to, true)
        }
    }
}

/// Replaces only a target file that is closed and writable, and only with a file. A target that is the source file by
/// another hard link may be open under the source's name.
pub(super) fn check_replaceable(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    (path, stat): (&str, Stat),
) -> Result<()> {
    let facts = attributes::facts_at(&*place.vfs, &place.share, path, stat)?;
    let (server, share) = (&call.conn.server, place.share.id);
    let is_source = stat.id == source.facts.stat.id;
    let is_open = server.locked(|tables| match is_source {
        true => tables.is_open_path(share, path),
        false => {
            tables.opens_of_file(stat.id).next().is_some() || tables.is_being_created(share, path)
        }
    });
    // With one hard link, one of the names is a symbolic link to the other, and the rename could lose the file.
    let is_link = is_source && stat.links < 2;
    let refused = is_link
        || stat.kind != Kind::File
        || source.facts.is_directory()
        || facts.attributes.contains(Attributes::READONLY);
    if is_open || refused {
        return Err(Status::ACCESS_DENIED.because(Reason::NotReplaceable));
    }
    Ok(())
}

/// Locates the target `new` of this source.
///
/// # Errors
/// As [`crate::ops::locate::Finder::locate`].
pub(super) fn target_of(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    new: &ClientPath,
) -> Result<Target> {
    let finder = place.finder(call);
    let located = finder.locate(new)?;
    let last = new.last().unwrap_or_default();
    match located.stat {
        None if !knows_long_names(call) && eq_ignore_case(last, source.shown) => {
            // A client of 8.3 names moves the file without a new name: the long name stays.
            let parent = parent_of(&located.path);
            Ok(Target::Free(join(parent, name_of(source.path))))
        }
        None if source.facts.is_directory() => Ok(Target::Free(finder.spelling(&located.path))),
        None => Ok(Target::Free(finder.reborn(&located.path).0)),
        Some(stat) if located.path != source.path => Ok(Target::Taken(located.path, stat)),
        Some(_) if last == source.shown || !eq_ignore_case(last, name_of(source.path)) => {
            Ok(Target::Itself)
        }
        Some(_) => {
            let to = finder.spelling(&join(parent_of(source.path), last));
            Ok(match to == source.path {
                true => Target::Itself,
                false => Target::Free(to),
            })
        }
    }
}

/// Renames the source in the file system, the indexes, the tables and for watchers.
///
/// # Errors
/// As [`rename`].
pub(super) fn move_name(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    to: &str,
    replace: bool,
) -> Result<()> {
    let (from, is_directory) = (source.path, source.facts.is_directory());
    let (server, share) = (&call.conn.server, place.share.id);
    if is_directory {
        let inside = to
            .strip_prefix(from)
            .is_some_and(|rest| rest.starts_with('/'));
        if inside {
            return Err(Status::ACCESS_DENIED.because(Reason::IntoItself));
        }
        if server.locked(|tables| tables.is_open_beneath(share, from)) {
            return Err(Status::ACCESS_DENIED.because(Reason::OpenInside));
        }
    }
    place.check_folder(call, parent_of(to))?;
    let change = || change_name(call, place, source, to, replace);
    match replace {
        true => change(),
        false => naming(call, place, source, to, change),
    }
}

/// Runs `work`, which gives the source the new name `to`. No other request creates the name meanwhile, and the lookup
/// of it is repeated: without both, two requests at the same time could create names that differ only in case.
///
/// # Errors
/// `OBJECT_NAME_COLLISION`; those of `work`.
fn naming(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    to: &str,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let finder = place.finder(call);
    if finder.exact {
        return work();
    }
    let row = match reserve(call, place, (to, source.facts.stat.kind), Wish::RENAME) {
        // A rename opens nothing, so a full table does not forbid it. Then only the file system guards the name.
        Err(error) if error.status() == Status::TOO_MANY_OPENED_FILES => return work(),
        row => row?,
    };
    let is_source = |name: &str| join(parent_of(to), name) == source.path;
    let worked = match finder.occupant(to) {
        Ok(Some(name)) if !is_source(&name) => Err(Status::OBJECT_NAME_COLLISION.into()),
        Ok(_) => work(),
        Err(error) => Err(error),
    };
    // A row without a file has no pending deletion.
    let _ = call
        .conn
        .server
        .locked(|tables: &mut Tables| tables.withdraw(row));
    worked
}

fn change_name(
    call: &Call<'_>,
    place: &Place,
    source: &Source<'_>,
    to: &str,
    replace: bool,
) -> Result<()> {
    let (from, is_directory) = (source.path, source.facts.is_directory());
    let (server, share) = (&call.conn.server, place.share.id);
    let finder = place.finder(call);
    let work = || rename_on_disk(&*place.vfs, source, to, replace);
    if parent_of(from) == parent_of(to) {
        let change = Change::Renamed(name_of(from), name_of(to));
        finder.changing(parent_of(from), change, work)?;
    } else {
        let (gone, come) = (Change::Removed(name_of(from)), Change::Added(name_of(to)));
        finder.changing(parent_of(from), gone, || {
            finder.changing(parent_of(to), come, work)
        })?;
    }
    server.locked(|tables| {
        if replace {
            tables.report_removed(share, to, false);
        }
        tables.rename_paths(share, from, to);
        tables.report_renamed(share, from, to, is_directory);
    });
    place.record(call, (from, is_directory), || Deed::Rename {
        to: to.into(),
        replaced: replace,
    });
    Ok(())
}

/// If both names are hard links of one file, rename(2) succeeds and leaves both, so the old one is removed here.
fn rename_on_disk(vfs: &dyn Vfs, source: &Source<'_>, to: &str, replace: bool) -> Result<()> {
    let (from, id) = (source.path, source.facts.stat.id);
    vfs.rename(from, to, replace)?;
    if replace && vfs.stat(from).is_ok_and(|stat| stat.id == id) {
        vfs.remove_file(from)?;
    }
    Ok(())
}

/// Creates the hard link `new` to the file `old` (NT_RENAME with SMB_NT_RENAME_SET_LINK_INFO, [MS-CIFS] 3.3.5.53).
///
/// # Errors
/// As [`rename`]; `FILE_IS_A_DIRECTORY`; `NOT_SUPPORTED` if the file system has no links.
pub fn hard_link(
    call: &Call<'_>,
    old: &ClientPath,
    new: &ClientPath,
    search: SearchAttributes,
) -> Result<()> {
    let place = Place::to_change(call)?;
    no_stream(old)?;
    no_stream(new)?;
    let (from, facts) = find_source(call, &place, old, search)?;
    if facts.is_directory() {
        return Err(Status::FILE_IS_A_DIRECTORY.into());
    }
    let finder = place.finder(call);
    let located = finder.locate(new)?;
    if located.stat.is_some() {
        return Err(Status::OBJECT_NAME_COLLISION.into());
    }
    let to = finder.reborn(&located.path).0;
    place.check_folder(call, parent_of(&to))?;
    let source = Source {
        path: &from,
        shown: name_of(&from),
        facts: &facts,
    };
    naming(call, &place, &source, &to, || {
        finder.changing(parent_of(&to), Change::Added(name_of(&to)), || {
            Ok(place.vfs.hard_link(&from, &to)?)
        })
    })?;
    let server = &call.conn.server;
    server.locked(|tables| tables.report_created(place.share.id, &to, false));
    place.record(call, (&from, false), || Deed::Link { to });
    Ok(())
}
