//! Opening: OPEN, CREATE, CREATE_NEW, CREATE_TEMPORARY, OPEN_ANDX, NT_CREATE_ANDX. [MS-CIFS] 3.3.5.5, 3.3.5.35,
//! 3.3.5.51.

use crate::{
    context::{Call, Flow, Outcome},
    error::{Because, Result},
    files::OpenKind,
    names::{
        attributes::Attributes,
        path::{ClientPath, PathError, PathRules, Wildcards},
    },
    ops::{
        attributes::Facts,
        durability, eas,
        open::{Action, IfExists, OpenSpec, Opened, Opening, Wanted, open as open_file},
        streams,
    },
    reason::Reason,
    table::{DenyMode, Oplock, OplockWish, Sharing, Tables, access},
    vfs::FsTime,
};
use alloc::string::String;
use coax_wire::{
    block::WireStr,
    dialect::Generation,
    header::{Fid, Flags},
    smb::{
        nt_create_andx::{self as nt, options},
        open::{Create, Open, OpenResponse, emit_create_response, emit_create_temporary_response},
        open_andx::{self, AccessMode},
    },
    status::Status,
    time::{FileTime, TimeChange, Utime, ZoneMinutesWest},
};

/// Maximal access rights in OPEN_ANDX's extended reply, for users and guests alike ([MS-SMB] 2.2.4.1.2): the standard
/// rights.
const STANDARD_RIGHTS: u32 = 0x001f_0000;
/// Rights of a DOS open for reading and for writing ([MS-CIFS] 2.2.4.3.1).
const READ_RIGHTS: u32 = 0x0012_0089;
const WRITE_RIGHTS: u32 = 0x0012_0116;

/// Decodes a string of the request as a path.
///
/// # Errors
/// `OBJECT_NAME_INVALID`, `OBJECT_PATH_SYNTAX_BAD`, `OBJECT_PATH_NOT_FOUND`.
pub(super) fn client_path(
    call: &Call<'_>,
    raw: WireStr<'_>,
    wildcards: Wildcards,
) -> Result<ClientPath> {
    parse_path(call, &call.text(raw), wildcards)
}

/// Decodes text as a path.
///
/// # Errors
/// As [`client_path`].
pub(super) fn parse_path(call: &Call<'_>, text: &str, wildcards: Wildcards) -> Result<ClientPath> {
    ClientPath::parse(text, path_rules(call), wildcards).map_err(|error| path_status(error).into())
}

/// The path syntax that this client uses.
pub(super) fn path_rules(call: &Call<'_>) -> PathRules {
    if call.generation() == Generation::Nt {
        PathRules::NT
    } else {
        PathRules::DOS
    }
}

/// The status of a malformed path.
pub(super) fn path_status(error: PathError) -> Status {
    match error {
        PathError::NameInvalid => Status::OBJECT_NAME_INVALID,
        PathError::PathSyntaxBad => Status::OBJECT_PATH_SYNTAX_BAD,
        PathError::PathNotFound => Status::OBJECT_PATH_NOT_FOUND,
    }
}

/// Converts a time that LAN Manager dialects send: local seconds.
pub(super) fn utime(call: &Call<'_>, time: FsTime) -> Utime {
    Utime::from_unix_ns(
        time.0,
        ZoneMinutesWest(call.conn.server.config.time_zone_minutes),
    )
}

/// A time to set, if the client sends one.
pub(super) fn set_time(call: &Call<'_>, time: Utime) -> Option<FsTime> {
    match time.change(ZoneMinutesWest(call.conn.server.config.time_zone_minutes)) {
        TimeChange::Set(ns) => Some(FsTime(ns)),
        _ => None,
    }
}

/// Runs an open and passes the opened file to `reply`.
fn answer(
    call: &mut Call<'_>,
    spec: &OpenSpec,
    reply: impl FnOnce(&mut Call<'_>, &Opened) -> Outcome,
) -> Outcome {
    match open_file(call, spec)? {
        Opening::Park(park) => Ok(Flow::Park(park)),
        Opening::Opened(opened) => reply(call, &opened),
    }
}

/// The DOS access mode for execution.
const EXECUTE: u16 = 3;

/// Decodes a DOS access mode: rights and sharing.
///
/// # Errors
/// `BAD_ACCESS` for modes that do not exist.
fn dos_mode(mode: AccessMode) -> Result<(u32, Sharing)> {
    if mode.is_fcb() {
        return Ok((READ_RIGHTS | WRITE_RIGHTS, Sharing::Dos(DenyMode::Fcb)));
    }
    let rights = match mode.access() {
        0 => READ_RIGHTS,
        1 => WRITE_RIGHTS,
        2 => READ_RIGHTS | WRITE_RIGHTS,
        EXECUTE => READ_RIGHTS | access::EXECUTE,
        _ => return Err(Status::BAD_ACCESS.into()),
    };
    let deny = match mode.sharing() {
        0 => DenyMode::Compatibility,
        1 => DenyMode::All,
        2 => DenyMode::Write,
        3 => DenyMode::Read,
        4 => DenyMode::None,
        _ => return Err(Status::BAD_ACCESS.into()),
    };
    Ok((rights, Sharing::Dos(deny)))
}

/// The NT write-through mode bit for the write-through bit of a DOS access mode. [MS-CIFS] 2.2.4.3.1: the data is on
/// disk when the server replies. smbd 4.17 ignores the bit.
fn dos_mode_bits(mode: AccessMode) -> u32 {
    match mode.write_through() {
        true => durability::FILE_WRITE_THROUGH,
        false => 0,
    }
}

/// The oplock that the header flags of a core open request.
fn core_oplock(call: &Call<'_>) -> OplockWish {
    match (
        call.header.flags.has(Flags::OPLOCK),
        call.header.flags.has(Flags::OPBATCH),
    ) {
        (true, true) => OplockWish::Batch,
        (true, false) => OplockWish::Exclusive,
        _ => OplockWish::None,
    }
}

fn grant_core_oplock(call: &mut Call<'_>, oplock: Oplock) {
    call.reply.oplock_flags = match oplock {
        Oplock::Batch => Flags::OPLOCK | Flags::OPBATCH,
        Oplock::Exclusive => Flags::OPLOCK,
        Oplock::None | Oplock::LevelII => 0,
    };
}

/// Opens hidden and system files without regard to the search attributes, as real servers do. DOS redirectors copy the
/// search attributes from DOS, which always sends 0x16.
pub fn open(call: &mut Call<'_>) -> Outcome {
    let request = Open::parse(&call.block, call.unicode())?;
    if call.share()?.is_ipc() {
        return super::pipe::open(call, &request);
    }
    if crate::ops::print::is_printer(call) {
        let name = call.text(request.path);
        let fid = crate::ops::print::begin(call, &name)?;
        return job_opened(call, fid, request.access_mode);
    }
    let (rights, sharing) = dos_mode(AccessMode(request.access_mode))?;
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    let mut spec = OpenSpec::existing(path, rights, sharing);
    spec.oplock = core_oplock(call);
    spec.mode = dos_mode_bits(AccessMode(request.access_mode));
    answer(call, &spec, |call, opened| {
        grant_core_oplock(call, opened.oplock);
        let response = OpenResponse {
            fid: opened.fid,
            attributes: opened.facts.attributes.to_smb(),
            modified: utime(call, opened.facts.stat.modified),
            size: opened.facts.size().min(u64::from(u32::MAX)) as u32,
            access_mode: mode_told(call, request.access_mode, opened.access),
        };
        response.emit(call.out());
        Ok(Flow::Done)
    })
}

/// The access field of OPEN's reply. Core clients and opens of file control blocks (which ask for any access) get 0, 1
/// or 2 (core protocol 5.1). Others get the requested mode with its sharing bits, as from Windows (raw.open openold).
fn mode_told(call: &Call<'_>, asked: u16, granted: u32) -> u16 {
    const BY_CONTROL_BLOCK: u16 = 0xff;
    if call.generation() <= Generation::CorePlus || asked & 0xff == BY_CONTROL_BLOCK {
        return granted_mode(granted);
    }
    asked
}

fn job_opened(call: &mut Call<'_>, fid: Fid, access_mode: u16) -> Outcome {
    let response = OpenResponse {
        fid,
        attributes: 0,
        modified: Utime(0),
        size: 0,
        access_mode,
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

/// CREATE: truncates an existing file.
pub fn create(call: &mut Call<'_>) -> Outcome {
    create_file(call, IfExists::Overwrite)
}

/// CREATE_NEW: fails if the file exists.
pub fn create_new(call: &mut Call<'_>) -> Outcome {
    create_file(call, IfExists::Fail)
}

fn create_file(call: &mut Call<'_>, if_exists: IfExists) -> Outcome {
    let request = Create::parse(&call.block, call.unicode())?;
    if crate::ops::print::is_printer(call) {
        let name = call.text(request.path);
        let fid = crate::ops::print::begin(call, &name)?;
        emit_create_response(fid, call.out());
        return Ok(Flow::Done);
    }
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    let spec = core_create(call, path, request.attributes, request.time, if_exists)?;
    answer(call, &spec, |call, opened| {
        grant_core_oplock(call, opened.oplock);
        emit_create_response(opened.fid, call.out());
        Ok(Flow::Done)
    })
}

fn core_create(
    call: &Call<'_>,
    path: ClientPath,
    attributes: u16,
    time: Utime,
    if_exists: IfExists,
) -> Result<OpenSpec> {
    if attributes & Attributes::VOLUME.0 as u16 != 0 {
        return Err(Status::ACCESS_DENIED.because(Reason::VolumeLabel));
    }
    let sharing = Sharing::Dos(DenyMode::Compatibility);
    Ok(OpenSpec {
        if_exists,
        create: true,
        attributes: Attributes(u32::from(attributes)),
        modified: set_time(call, time),
        oplock: core_oplock(call),
        ..OpenSpec::existing(path, READ_RIGHTS | WRITE_RIGHTS, sharing)
    })
}

/// CREATE_TEMPORARY: creates a file with an unused name in the given folder, or a print job of that name.
pub fn create_temporary(call: &mut Call<'_>) -> Outcome {
    const ATTEMPTS: u64 = 100;
    let request = Create::parse(&call.block, call.unicode())?;
    let folder = call.text(request.path);
    let seed = call.now.0 / 1_000_000;
    let unused = |number: u64| alloc::format!("TMP{:05X}", seed.wrapping_add(number) & 0xf_ffff);
    if crate::ops::print::is_printer(call) {
        let name = unused(call.conn.files.len() as u64);
        let fid = crate::ops::print::begin(call, &name)?;
        emit_create_temporary_response(fid, name.as_bytes(), call.out());
        return Ok(Flow::Done);
    }
    for number in 0..ATTEMPTS {
        let name = unused(number);
        let path = parse_path(call, &alloc::format!("{folder}\\{name}"), Wildcards::Refuse)?;
        let spec = core_create(call, path, request.attributes, request.time, IfExists::Fail)?;
        match open_file(call, &spec) {
            Err(error) if error.status() == Status::OBJECT_NAME_COLLISION => {}
            Err(error) => return Err(error),
            Ok(Opening::Park(park)) => return Ok(Flow::Park(park)),
            Ok(Opening::Opened(opened)) => {
                emit_create_temporary_response(opened.fid, name.as_bytes(), call.out());
                return Ok(Flow::Done);
            }
        }
    }
    Err(Status::OBJECT_NAME_COLLISION.into())
}

/// OPEN_ANDX.
pub fn open_andx(call: &mut Call<'_>) -> Outcome {
    let request = open_andx::Request::parse(&call.block, call.unicode())?;
    if call.share()?.is_ipc() {
        return super::pipe::open_andx(call, &request);
    }
    if crate::ops::print::is_printer(call) {
        return begin_print_job(call, &request);
    }
    let path = client_path(call, request.path, Wildcards::Refuse)?;
    let spec = open_andx_spec(call, &request, path)?;
    answer(call, &spec, |call, opened| {
        let extended = request.flags & open_andx::flags::EXTENDED_RESPONSE != 0;
        let facts = &opened.facts;
        let response = open_andx::Response {
            fid: opened.fid,
            attributes: facts.attributes.to_smb(),
            modified: utime(call, facts.stat.modified),
            size: facts.size().min(u64::from(u32::MAX)) as u32,
            access: granted_mode(opened.access),
            resource_type: 0,
            pipe_state: 0,
            action: open_action(opened),
            extended: extended.then_some((STANDARD_RIGHTS, 0)),
        };
        response.emit(call.out());
        Ok(Flow::Done)
    })
}

/// OPEN_ANDX on a printer: starts a job and ignores the name.
fn begin_print_job(call: &mut Call<'_>, request: &open_andx::Request<'_>) -> Outcome {
    let name = call.text(request.path);
    let response = open_andx::Response {
        fid: crate::ops::print::begin(call, &name)?,
        attributes: 0,
        modified: Utime(0),
        size: 0,
        access: 1,
        resource_type: 3,
        pipe_state: 0,
        action: 2,
        extended: None,
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

/// Access in the reply: 0 read, 1 write, 2 both.
pub(super) fn granted_mode(rights: u32) -> u16 {
    match (
        rights & access::READ_DATA != 0,
        rights & access::WRITE_DATA != 0,
    ) {
        (true, true) => 2,
        (false, true) => 1,
        _ => 0,
    }
}

/// The action word of OPEN_ANDX and TRANS2_OPEN2: what the open did, and whether it got an oplock.
pub(super) fn open_action(opened: &Opened) -> u16 {
    const OPLOCK_GRANTED: u16 = 0x8000;
    let done = match opened.action {
        Action::Opened => 1,
        Action::Created => 2,
        Action::Overwritten | Action::Superseded => 3,
    };
    if matches!(opened.oplock, Oplock::Exclusive | Oplock::Batch) {
        done | OPLOCK_GRANTED
    } else {
        done
    }
}

pub(super) fn open_andx_spec(
    call: &Call<'_>,
    request: &open_andx::Request<'_>,
    path: ClientPath,
) -> Result<OpenSpec> {
    let (rights, sharing) = dos_mode(request.access_mode)?;
    let (if_exists, create) = match dos_disposition(request.open_mode) {
        // NT servers treat "open for execution, fail if it exists" as create.
        Err(_) if request.open_mode & 0x13 == 0 && request.access_mode.access() == EXECUTE => {
            (IfExists::Fail, true)
        }
        disposition => disposition?,
    };
    let oplock = match (
        request.flags & open_andx::flags::OPLOCK,
        request.flags & open_andx::flags::OPBATCH,
    ) {
        (_, bits) if bits != 0 => OplockWish::Batch,
        (bits, _) if bits != 0 => OplockWish::Exclusive,
        _ => OplockWish::None,
    };
    Ok(OpenSpec {
        if_exists,
        create,
        attributes: Attributes(u32::from(request.attributes)),
        created: set_time(call, request.created),
        oplock,
        length: u64::from(request.allocation),
        mode: dos_mode_bits(request.access_mode),
        ..OpenSpec::existing(path, rights, sharing)
    })
}

/// The open mode of OPEN_ANDX ([MS-CIFS] 2.2.4.41.1).
///
/// # Errors
/// `BAD_ACCESS` if the mode neither opens nor creates.
pub(super) fn dos_disposition(open_mode: u16) -> Result<(IfExists, bool)> {
    let create = open_mode & 0x10 != 0;
    match open_mode & 0x3 {
        0 if create => Ok((IfExists::Fail, true)),
        1 => Ok((IfExists::Open, create)),
        2 => Ok((IfExists::Overwrite, create)),
        _ => Err(Status::BAD_ACCESS.into()),
    }
}

/// NT_CREATE_ANDX.
pub fn nt_create_andx(call: &mut Call<'_>) -> Outcome {
    let request = nt::Request::parse(&call.block, call.unicode())?;
    if call.share()?.is_ipc() {
        return super::pipe::nt_create_andx(call, &request);
    }
    let text = call.text(request.path);
    if crate::ops::print::is_printer(call) {
        super::print::nt_begin(call, &text)?.emit(call.out());
        return Ok(Flow::Done);
    }
    let spec = nt_spec(call, &request, &text)?;
    answer(call, &spec, |call, opened| {
        let extended = request.flags & nt::flags::EXTENDED_RESPONSE != 0;
        let response = nt_response(call, opened, extended);
        response.emit(call.out());
        Ok(Flow::Done)
    })
}

/// Decodes an open from the fields of NT_CREATE_ANDX and NT_TRANSACT_CREATE.
///
/// # Errors
/// `INVALID_PARAMETER` for combinations that [MS-CIFS] 2.2.4.64.1 forbids; path errors.
pub(super) fn nt_spec(call: &Call<'_>, request: &nt::Request<'_>, text: &str) -> Result<OpenSpec> {
    let path = parse_path(call, &rooted(call, request.root, text)?, Wildcards::Refuse)?;
    let (if_exists, create) = match request.disposition {
        0 => (IfExists::Supersede, true),
        1 => (IfExists::Open, false),
        2 => (IfExists::Fail, true),
        3 => (IfExists::Open, true),
        4 => (IfExists::Overwrite, false),
        5 => (IfExists::Overwrite, true),
        _ => return Err(Status::INVALID_PARAMETER.into()),
    };
    check_nt_options(request)?;
    let wanted = nt_wanted(request);
    let oplock = match (
        request.flags & nt::flags::OPLOCK,
        request.flags & nt::flags::OPBATCH,
    ) {
        (_, bits) if bits != 0 => OplockWish::Batch,
        (bits, _) if bits != 0 => OplockWish::Exclusive,
        _ => OplockWish::None,
    };
    Ok(OpenSpec {
        access: request.access,
        if_exists,
        create,
        attributes: Attributes(request.attributes),
        wanted,
        oplock,
        delete_on_close: request.options & options::DELETE_ON_CLOSE != 0,
        allocation: request.allocation,
        mode: request.options & 0x003e,
        ..OpenSpec::existing(path, 0, Sharing::Nt(request.share_access & 0x7))
    })
}

fn nt_wanted(request: &nt::Request<'_>) -> Wanted {
    if request.options & options::DIRECTORY != 0 {
        Wanted::Directory
    } else if request.options & options::NON_DIRECTORY != 0 {
        Wanted::File
    } else {
        Wanted::Either
    }
}

fn check_nt_options(request: &nt::Request<'_>) -> Result<()> {
    const DELETE: u32 = 0x0001_0000;
    const IMPLIES_DELETE: u32 = 0x1200_0000;
    // Option bits above 24 are undefined; only local callers use FILE_RESERVE_OPFILTER.
    const INVALID_OPTIONS: u32 = 0xff10_0000;
    // FILE_SYNCHRONOUS_IO_ALERT and _NONALERT require SYNCHRONIZE, which generic rights include.
    const SYNCHRONOUS: u32 = 0x30;
    const MAY_SYNCHRONIZE: u32 = 0xf010_0000;
    let has = |bits: u32| request.options & bits != 0;
    if has(options::DIRECTORY) && has(options::NON_DIRECTORY) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    if has(options::DIRECTORY) && matches!(request.disposition, 0 | 4 | 5) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    if has(options::DELETE_ON_CLOSE) && request.access & (DELETE | IMPLIES_DELETE) == 0 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    if has(INVALID_OPTIONS) || has(SYNCHRONOUS) && request.access & MAY_SYNCHRONIZE == 0 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    if has(options::OPEN_BY_FILE_ID) {
        return Err(Status::NOT_SUPPORTED.into());
    }
    if request.share_access & !0x7 != 0 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    Ok(())
}

/// The path relative to the share's root. The folder of a RootDirectoryFid may have been renamed since it was opened.
fn rooted(call: &Call<'_>, root: u32, text: &str) -> Result<String> {
    if root == 0 {
        return Ok(text.into());
    }
    let fid = u16::try_from(root).map_err(|_| Status::INVALID_HANDLE)?;
    let folder = call.file(coax_wire::header::Fid(fid))?;
    if !matches!(folder.kind, OpenKind::Directory) {
        return Err(Status::INVALID_HANDLE.into());
    }
    let open = folder.open.ok_or(Status::INVALID_HANDLE)?;
    let path = call.conn.server.locked(|tables: &mut Tables| {
        let row = tables.get(open)?;
        Some(row.request.path.replace('/', "\\"))
    });
    let folder = path.ok_or(Status::INVALID_HANDLE)?;
    Ok(alloc::format!("{folder}\\{text}"))
}

/// File status flags of an extended reply: no extended attributes, no named streams, no reparse point ([MS-SMB]
/// 2.2.4.9.2).
fn file_status(call: &Call<'_>, opened: &Opened) -> u16 {
    const NO_EAS: u16 = 1;
    const NO_SUBSTREAMS: u16 = 2;
    const NO_REPARSE_TAG: u16 = 4;
    let mut status = NO_REPARSE_TAG;
    let Ok(Some(file)) = call.file(opened.fid).map(|open| &open.file) else {
        return status;
    };
    if eas::list(call, &**file).is_ok_and(|list| list.is_empty()) {
        status |= NO_EAS;
    }
    if streams::names(&**file).is_ok_and(|names| names.is_empty()) {
        status |= NO_SUBSTREAMS;
    }
    status
}

/// The reply to an NT create.
pub(super) fn nt_response(call: &Call<'_>, opened: &Opened, extended: bool) -> nt::Response {
    let facts: &Facts = &opened.facts;
    let time = |time: FsTime| FileTime::from_unix_ns(time.0);
    nt::Response {
        oplock: match opened.oplock {
            Oplock::None => 0,
            Oplock::Exclusive => 1,
            Oplock::Batch => 2,
            Oplock::LevelII => 3,
        },
        fid: opened.fid,
        action: opened.action as u32,
        created: time(facts.created),
        accessed: time(facts.stat.accessed),
        modified: time(facts.stat.modified),
        changed: time(facts.stat.changed),
        attributes: facts.attributes.to_ext(),
        allocation: facts.allocation(),
        size: facts.size(),
        resource_type: 0,
        pipe_state: if extended {
            file_status(call, opened)
        } else {
            0
        },
        directory: facts.is_directory(),
        extended: extended.then_some((opened.access, 0)),
    }
}

#[cfg(test)]
#[path = "open_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
