//! Names: CREATE_DIRECTORY, DELETE_DIRECTORY, CHECK_DIRECTORY, DELETE, RENAME, NT_RENAME, COPY, MOVE. [MS-CIFS] 3.3.5.3,
//! 3.3.5.4, 3.3.5.9, 3.3.5.10, 3.3.5.19, 3.3.5.53.

use super::open::{client_path, path_rules, path_status};
use crate::{
    context::{Call, Flow, Outcome},
    error::{Because, Error, Result},
    names::{
        attributes::SearchAttributes,
        path::{ClientPath, Wildcards},
        wildcard::has_wildcards,
    },
    ops::modify::{self, Copied, CopyFailure, CopySpec, IfTaken, Place, Selection, Step},
    reason::Reason,
    share::Access,
    vfs::Kind,
};
use alloc::vec::Vec;
use coax_wire::{
    block::WireStr,
    header::Tid,
    smb::{
        copy::{self, open_function},
        delete, directory,
        rename::{self, level},
    },
    status::Status,
};

/// CREATE_DIRECTORY. If the name exists, a client without NT statuses gets ERRnoaccess, which DOS's MKDIR expects (*SMB
/// Core Protocol* 5.8); NT servers answer so in all dialects.
pub fn create_directory(call: &mut Call<'_>) -> Outcome {
    let request = directory::Request::parse(&call.block, call.unicode())?;
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    modify::make_dir(call, &path, &[]).map_err(|error| {
        let taken = [(Status::OBJECT_NAME_COLLISION, Status::DOS_NO_ACCESS)];
        in_dos(call, error, &taken)
    })?;
    call.done_empty()
}

/// DELETE_DIRECTORY. The core protocol defines ERRbadpath for this command but not ERRbadfile (*SMB Core Protocol*
/// 5.9).
pub fn delete_directory(call: &mut Call<'_>) -> Outcome {
    let request = directory::Request::parse(&call.block, call.unicode())?;
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    let step = modify::remove_dir(call, &path).map_err(|error| match call.conn.client.dialect {
        Some(dialect) if dialect.dos => {
            let missing = [(Status::OBJECT_NAME_NOT_FOUND, Status::BAD_PATH)];
            in_dos(call, error, &missing)
        }
        _ => error,
    })?;
    finish(call, step)
}

/// CHECK_DIRECTORY. Clients check each folder of a path and stop at ERRbadpath, so every missing component gets that
/// error ([MS-CIFS] 2.2.4.17.2).
pub fn check_directory(call: &mut Call<'_>) -> Outcome {
    check(call).map_err(|error| {
        let bad_path = [
            (Status::OBJECT_NAME_NOT_FOUND, Status::BAD_PATH),
            (Status::OBJECT_NAME_INVALID, Status::BAD_PATH),
            (Status::NOT_A_DIRECTORY, Status::BAD_PATH),
        ];
        in_dos(call, error, &bad_path)
    })?;
    call.done_empty()
}

fn check(call: &Call<'_>) -> Result<()> {
    let request = directory::Request::parse(&call.block, call.unicode())?;
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    let place = Place::of(call)?;
    let stat = place.finder(call).locate(&path)?.existing()?;
    if stat.kind != Kind::Directory {
        return Err(Status::NOT_A_DIRECTORY.into());
    }
    Ok(())
}

/// DELETE.
pub fn delete(call: &mut Call<'_>) -> Outcome {
    let request = delete::Request::parse(&call.block, call.unicode())?;
    let files = selection(call, request.path)?;
    let search = SearchAttributes(request.search_attributes);
    let step = modify::delete(call, &files, search)?;
    finish(call, step)
}

/// RENAME.
pub fn rename(call: &mut Call<'_>) -> Outcome {
    let request = rename::Request::parse(&call.block, call.unicode())?;
    let old = selection(call, request.old)?;
    let new = match stream_beside(call, request.new)? {
        Some(stream) => Selection::One(stream),
        None => selection(call, request.new)?,
    };
    if matches!(&old, Selection::One(_)) && has_nt_wildcards(&new) {
        return Err(Status::OBJECT_NAME_INVALID.into());
    }
    let search = SearchAttributes(request.search_attributes);
    rename_files(call, &old, &new, search)
}

/// Whether a new name has characters that NT clients write only into search patterns. As the name of one file, `a<` is
/// a mistake and not a pattern to fill in.
fn has_nt_wildcards(new: &Selection) -> bool {
    matches!(new, Selection::Many(path) if path.pattern.contains(['<', '>', '"']))
}

/// If the new name exists, an NT client without NT statuses gets ERRrename, as from NT servers.
fn rename_files(
    call: &mut Call<'_>,
    old: &Selection,
    new: &Selection,
    search: SearchAttributes,
) -> Outcome {
    let rules = path_rules(call);
    let step = modify::rename(call, old, new, search, rules).map_err(|error| {
        let taken = [(Status::OBJECT_NAME_COLLISION, Status::DOS_RENAME_EXISTS)];
        in_dos(call, error, &taken)
    })?;
    finish(call, step)
}

/// NT_RENAME: renames, links or copies one file. Servers answer undefined levels with `ACCESS_DENIED` and the reserved
/// level with `INVALID_PARAMETER`.
pub fn nt_rename(call: &mut Call<'_>) -> Outcome {
    let request = rename::NtRequest::parse(&call.block, call.unicode())?;
    if has_wildcards(&call.text(request.old)) || has_wildcards(&call.text(request.new)) {
        return Err(Status::OBJECT_PATH_SYNTAX_BAD.into());
    }
    let old = client_path(call, request.old, Wildcards::Refuse)?;
    let new = match stream_beside(call, request.new)? {
        Some(stream) => stream,
        None => {
            let new = client_path(call, request.new, Wildcards::Refuse)?;
            into_root(call, new, &old)?
        }
    };
    let search = SearchAttributes(request.search_attributes);
    match request.level {
        level::RENAME_FILE => {
            rename_files(call, &Selection::One(old), &Selection::One(new), search)
        }
        level::SET_LINK_INFO => {
            modify::hard_link(call, &old, &new, search)?;
            call.done_empty()
        }
        level::COPY_FILE => nt_copy(call, old, new, search),
        level::MOVE_CLUSTER_INFO => Err(Status::INVALID_PARAMETER.into()),
        _ => Err(Status::ACCESS_DENIED.into()),
    }
}

/// An empty new name means the old name in the share's root ([MS-CIFS] 2.2.4.66).
fn into_root(call: &Call<'_>, new: ClientPath, old: &ClientPath) -> Result<ClientPath> {
    match old.last() {
        Some(name) if new.is_root() => {
            let child = new.child(name, path_rules(call));
            child.map_err(|error| path_status(error).into())
        }
        _ => Ok(new),
    }
}

fn nt_copy(
    call: &mut Call<'_>,
    old: ClientPath,
    new: ClientPath,
    search: SearchAttributes,
) -> Outcome {
    let spec = CopySpec {
        source: Selection::One(old),
        target: new,
        target_place: Place::to_change(call)?,
        search,
        rules: path_rules(call),
        if_taken: IfTaken::Fail,
        create: true,
        must_be_file: true,
        must_be_directory: false,
        source_ascii: false,
        target_ascii: false,
        tree: false,
        need_eas: false,
        moves: false,
    };
    match modify::copy(call, &spec).map_err(|failure| failure.error)? {
        Copied::Files(_) => call.done_empty(),
        Copied::Park(park) => Ok(Flow::Park(park)),
    }
}

/// COPY.
pub fn copy(call: &mut Call<'_>) -> Outcome {
    copy_or_move(call, false)
}

/// MOVE.
pub fn r#move(call: &mut Call<'_>) -> Outcome {
    copy_or_move(call, true)
}

fn copy_or_move(call: &mut Call<'_>, moves: bool) -> Outcome {
    let request = copy::Request::parse(&call.block, call.unicode())?;
    let spec = copy_spec(call, &request, moves)?;
    match modify::copy(call, &spec) {
        Ok(Copied::Park(park)) => Ok(Flow::Park(park)),
        Ok(Copied::Files(count)) => {
            copy::emit_response(count, &[], call.out());
            Ok(Flow::Done)
        }
        Err(CopyFailure {
            error,
            copied,
            file,
        }) => {
            let failed = file
                .map(|path| failed_path(call, &path))
                .unwrap_or_default();
            copy::emit_response(copied, &failed, call.out());
            call.report_refusal(error);
            Ok(Flow::DoneWith(error.status()))
        }
    }
}

/// The zero-terminated path of the file that failed, in the client's syntax.
fn failed_path(call: &mut Call<'_>, path: &str) -> Vec<u8> {
    let unicode = call.unicode();
    let mut bytes = Vec::new();
    // The string begins after the word count, one word and the byte count.
    if unicode && call.out().len().saturating_add(5) % 2 == 1 {
        bytes.push(0);
    }
    bytes.extend(call.encode(&alloc::format!("\\{}", path.replace('/', "\\"))));
    bytes.extend(if unicode { &[0, 0][..] } else { &[0] });
    bytes
}

fn copy_spec(call: &Call<'_>, request: &copy::Request<'_>, moves: bool) -> Result<CopySpec> {
    let has = |bit: u16| request.flags & bit != 0;
    let tree = has(copy::flags::TREE) && !moves;
    let contradicts = has(copy::flags::MUST_BE_FILE) && has(copy::flags::MUST_BE_DIRECTORY);
    let not_for_trees = has(copy::flags::MUST_BE_FILE) || has(copy::flags::SOURCE_ASCII);
    if contradicts || (tree && not_for_trees) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let if_taken = match request.open_function & open_function::IF_EXISTS {
        open_function::FAIL => IfTaken::Fail,
        open_function::APPEND if !moves => IfTaken::Append,
        open_function::TRUNCATE => IfTaken::Truncate,
        _ => return Err(Status::INVALID_PARAMETER.into()),
    };
    let source = selection(call, request.source)?;
    // A copy by name ignores attributes; a copy by pattern takes the files that DIR lists.
    let search = match source {
        Selection::One(_) => SearchAttributes(0x16),
        Selection::Many(_) => SearchAttributes(0),
    };
    Ok(CopySpec {
        source,
        target: client_path(call, request.target, Wildcards::Refuse)?,
        target_place: target_place(call, request.tid2)?,
        search,
        rules: path_rules(call),
        if_taken,
        create: moves || request.open_function & open_function::CREATE != 0,
        must_be_file: has(copy::flags::MUST_BE_FILE),
        must_be_directory: has(copy::flags::MUST_BE_DIRECTORY),
        source_ascii: !moves && has(copy::flags::SOURCE_ASCII),
        target_ascii: !moves && has(copy::flags::TARGET_ASCII),
        tree,
        need_eas: has(copy::flags::NEED_EAS),
        moves,
    })
}

/// The second tree; the request's user needs write access to it.
fn target_place(call: &Call<'_>, tid2: Tid) -> Result<Place> {
    let tid = if tid2 == copy::SAME_TREE {
        call.header.tid
    } else {
        tid2
    };
    if call.tree_of(tid)?.access < Access::Write {
        return Err(Status::ACCESS_DENIED.because(Reason::ReadOnlyTree));
    }
    Place::of_tree(call, tid)
}

/// What a path selects; its last component may be a pattern.
fn selection(call: &Call<'_>, raw: WireStr<'_>) -> Result<Selection> {
    Selection::parse(&call.text(raw), path_rules(call)).map_err(|error| path_status(error).into())
}

/// The target stream of a rename, if the new name is a stream.
fn stream_beside(call: &Call<'_>, raw: WireStr<'_>) -> Result<Option<ClientPath>> {
    let stream = ClientPath::stream_beside(&call.text(raw), path_rules(call));
    stream.map_err(|error| path_status(error).into())
}

fn finish(call: &mut Call<'_>, step: Step) -> Outcome {
    match step {
        Step::Done => call.done_empty(),
        Step::Park(park) => Ok(Flow::Park(park)),
    }
}

/// The DOS error of a command whose error table differs from the general one, for clients without NT statuses.
pub(super) fn in_dos(call: &Call<'_>, error: Error, table: &[(Status, Status)]) -> Error {
    let status = error.status();
    match table.iter().find(|(general, _)| *general == status) {
        Some((_, own)) if !call.nt_status() => error.with_status(*own),
        _ => error,
    }
}

#[cfg(test)]
#[path = "namespace_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;

#[cfg(test)]
#[path = "spelling_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod spelling_tests;
