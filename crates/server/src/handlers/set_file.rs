//! Changes of file metadata: TRANS2_SET_PATH_INFORMATION, TRANS2_SET_FILE_INFORMATION ([MS-CIFS] 3.3.5.57.8,
//! 3.3.5.57.10).

use super::{
    information::dos_changes,
    open::{client_path, parse_path, path_rules, path_status},
    transaction::{TransFlow, TransReply, Transaction},
};
use crate::{
    context::Call,
    error::Result,
    names::{
        attributes::Attributes,
        path::{ClientPath, Wildcards},
    },
    ops::{
        attributes::parent_of,
        close, durability, eas,
        journal::atomically,
        metadata::{Changes, Subject, WRITE_EA, set_end_of_file},
        modify::{self, Step},
        open::{OpenSpec, Opening, Wanted, open},
        print,
        transfer::set_allocation,
    },
    table::{NotifyFilter, Sharing, access, share},
};
use alloc::{format, vec, vec::Vec};
use coax_wire::{
    header::Fid,
    info::{
        ea,
        set_file::{Basic, Rename, SetFile},
    },
    status::Status,
    time::TimeChange,
};

/// Offset of the path in the parameters.
const PATH_AT: usize = 6;
/// Levels that only opens can set ([MS-CIFS] 2.2.2.3.4): disposition, allocation, end of file.
const BY_FID_ONLY: core::ops::RangeInclusive<u16> = 0x0102..=0x0104;
/// Settable mode bits ([MS-FSCC] 2.4.31), and two mutually exclusive ones.
const MODES: u32 = 0x3e;
const SYNCHRONOUS: u32 = 0x30;

/// The offset of a bad extended attribute; servers always send 0.
fn done() -> TransFlow {
    TransReply::new(vec![0, 0], Vec::new()).into()
}

/// TRANS2_SET_FILE_INFORMATION.
///
/// # Errors
/// `INVALID_HANDLE`, `INVALID_LEVEL`, `ACCESS_DENIED`, `INVALID_PARAMETER`, `DISK_FULL`; file system errors.
pub fn by_fid(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let mut parameters = whole.parameters();
    let fid = Fid(parameters.u16("FID")?);
    let code = parameters.u16("information level")?;
    call.file(fid)?;
    let wanted = SetFile::parse(code, &whole.data, whole.unicode)?.ok_or(Status::INVALID_LEVEL)?;
    if print::set(call, fid, &wanted)?.is_some() {
        return Ok(done());
    }
    match wanted {
        SetFile::InfoStandard(times) => {
            let changes = dos_changes(call, &times);
            change_open(call, fid, &changes)?;
        }
        SetFile::Basic(basic) => {
            let subject = Subject::of(call, fid)?;
            let changes = basic_changes(&subject, &basic)?;
            change_open(call, fid, &changes)?;
        }
        SetFile::InfoSetEas(list) => set_eas(call, &Subject::of(call, fid)?, list)?,
        SetFile::Disposition(delete) => modify::set_delete_pending(call, fid, delete)?,
        SetFile::Allocation(len) => {
            set_allocation(call, fid, len)?;
            durability::after_write(call, fid, false)?;
        }
        SetFile::EndOfFile(len) => {
            set_end_of_file(call, fid, len)?;
            durability::after_write(call, fid, false)?;
        }
        SetFile::Rename(rename) => {
            let subject = Subject::of(call, fid)?;
            let new = new_path(call, &subject.path, &rename)?;
            modify::rename_open(call, fid, &new, rename.replace)?;
        }
        SetFile::Position(position) => {
            let fid = call.file(fid)?.fid;
            call.conn
                .files
                .reposition(fid, |opened| opened.position = position);
        }
        SetFile::Mode(mode) => call.file_mut(fid)?.mode = legal_mode(mode)?,
    }
    Ok(done())
}

/// TRANS2_SET_PATH_INFORMATION.
///
/// # Errors
/// Path errors; as [`by_fid`]; `SHARING_VIOLATION` from the open that the change needs.
pub fn by_path(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let code = whole.parameters().u16("information level")?;
    let path = client_path(call, whole.string(PATH_AT), Wildcards::Refuse)?;
    let wanted = SetFile::parse(code, &whole.data, whole.unicode)?.ok_or(Status::INVALID_LEVEL)?;
    let only_fid = BY_FID_ONLY.contains(&code);
    match wanted {
        SetFile::InfoStandard(times) => {
            let changes = dos_changes(call, &times);
            Subject::at(call, &path)?.change(call, &changes)?;
        }
        SetFile::Basic(basic) => {
            let subject = Subject::at(call, &path)?;
            subject.change(call, &basic_changes(&subject, &basic)?)?;
        }
        SetFile::InfoSetEas(list) => set_eas(call, &Subject::at(call, &path)?, list)?,
        SetFile::Disposition(delete) => {
            return opened(call, path, access::DELETE, only_fid, |call, fid| {
                modify::set_delete_pending(call, fid, delete)
            });
        }
        SetFile::Allocation(len) => {
            return opened(call, path, access::WRITE_DATA, only_fid, |call, fid| {
                set_allocation(call, fid, len)
            });
        }
        SetFile::EndOfFile(len) => {
            return opened(call, path, access::WRITE_DATA, only_fid, |call, fid| {
                set_end_of_file(call, fid, len)
            });
        }
        SetFile::Rename(rename) => return rename_path(call, &path, &rename),
        // The open closes at once, so its state does not matter.
        SetFile::Position(_) => drop(Subject::at(call, &path)?),
        SetFile::Mode(mode) => {
            legal_mode(mode)?;
            Subject::at(call, &path)?;
        }
    }
    Ok(done())
}

/// Changes times and attributes through an open. The next write through it counts as a first write again.
fn change_open(call: &mut Call<'_>, fid: Fid, changes: &Changes) -> Result<()> {
    let subject = Subject::of(call, fid)?;
    subject.must_have(call, access::WRITE_ATTRIBUTES)?;
    subject.change(call, changes)?;
    if changes.modified == TimeChange::Resume {
        call.file_mut(fid)?.written = false;
    }
    Ok(())
}

/// Decodes FileBasicInformation ([MS-FSA] 2.1.5.15.2).
fn basic_changes(subject: &Subject, basic: &Basic) -> Result<Changes> {
    let sent = Attributes(basic.attributes);
    let is_directory = subject.facts.is_directory();
    let wrong = if is_directory {
        sent.contains(Attributes::TEMPORARY)
    } else {
        sent.contains(Attributes::DIRECTORY)
    };
    if wrong {
        return Err(Status::INVALID_PARAMETER.into());
    }
    Ok(Changes {
        created: basic.created.change(),
        accessed: basic.accessed.change(),
        modified: basic.modified.change(),
        changed: basic.changed.change(),
        attributes: (sent != Attributes::NONE).then_some(sent.0),
    })
}

fn set_eas(call: &Call<'_>, subject: &Subject, list: &[u8]) -> Result<()> {
    if subject.stream.is_some() {
        return Err(Status::INVALID_PARAMETER.into());
    }
    subject.must_have(call, WRITE_EA)?;
    let changes = ea::parse_list(list).map_err(|_| Status::EA_LIST_INCONSISTENT)?;
    eas::check(&changes)?;
    atomically(&subject.file(call)?, |file| {
        eas::set(call, &**file, &changes)
    })?;
    call.conn.server.locked(|tables| {
        tables.report_modified(subject.share.id, &subject.path, NotifyFilter::EA);
    });
    Ok(())
}

fn legal_mode(mode: u32) -> Result<u32> {
    if mode & !MODES != 0 || mode & SYNCHRONOUS == SYNCHRONOUS {
        return Err(Status::INVALID_PARAMETER.into());
    }
    Ok(mode)
}

/// Decodes the target of a rename: a plain name in the same folder. Rejects others as NT servers do.
fn new_path(call: &Call<'_>, old: &str, rename: &Rename<'_>) -> Result<ClientPath> {
    if rename.root != 0 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let name = call.text(rename.name);
    if name.contains(['\\', '/']) {
        return Err(Status::NOT_SUPPORTED.into());
    }
    let beside = ClientPath::stream_beside(&name, path_rules(call)).map_err(path_status)?;
    if let Some(stream) = beside {
        return Ok(stream);
    }
    let folder = parent_of(old).replace('/', "\\");
    parse_path(call, &format!("{folder}\\{name}"), Wildcards::Refuse)
}

fn rename_path(call: &mut Call<'_>, old: &ClientPath, rename: &Rename<'_>) -> Result<TransFlow> {
    let subject = Subject::at(call, old)?;
    let new = new_path(call, &subject.path, rename)?;
    match modify::rename_path(call, old, &new, rename.replace)? {
        Step::Done => Ok(done()),
        Step::Park(park) => Ok(TransFlow::Park(park)),
    }
}

/// Opens the file, runs `work` through the open and closes it, so that changes by path respect share modes and oplocks.
/// With `refuse` it only opens the file: NT servers detect an invalid level for paths after the open.
fn opened(
    call: &mut Call<'_>,
    path: ClientPath,
    rights: u32,
    refuse: bool,
    work: impl FnOnce(&mut Call<'_>, Fid) -> Result<()>,
) -> Result<TransFlow> {
    let chained = call.chain_fid;
    let spec = OpenSpec {
        wanted: Wanted::Either,
        resizes: rights & access::WRITE_DATA != 0,
        ..OpenSpec::existing(path, rights, Sharing::Nt(share::ALL))
    };
    let fid = match open(call, &spec)? {
        Opening::Park(park) => return Ok(TransFlow::Park(park)),
        Opening::Opened(opened) => opened.fid,
    };
    let worked = if refuse {
        Err(Status::INVALID_LEVEL.into())
    } else {
        work(call, fid)
    };
    call.chain_fid = chained;
    let now = call.now;
    let closed = close::close(call.conn, fid, None, now);
    worked?;
    closed?;
    Ok(done())
}

#[cfg(test)]
#[path = "set_file_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
