//! Print jobs: start, append, close.

use super::attributes::Facts;
use crate::{
    act::{Act, Deed},
    budget::Resource,
    context::{Call, Context},
    error::{Because, Result},
    event::Event,
    files::{OpenFile, OpenKind},
    print_job::Job,
    reason::{Limit, Reason},
    share::ShareKind,
    table::access,
    vfs::FileId,
};
use alloc::{string::String, vec::Vec};
use coax_wire::{header::Fid, info::set_file::SetFile, status::Status};

/// Whether the tree is a printer's.
pub fn is_printer(call: &Call<'_>) -> bool {
    call.share()
        .is_ok_and(|share| matches!(share.kind, ShareKind::Printer(_)))
}

/// Starts a job. Every user who may connect to a printer may print. `read only` covers only the files of the spool
/// folder, and ordinary printer sections leave it at its default, yes. Samba ignores it for spooling too.
///
/// # Errors
/// File system errors; too many open files.
pub fn begin(call: &mut Call<'_>, identifier: &str) -> Result<Fid> {
    let (share, vfs) = (call.share()?, call.vfs()?);
    let limit = call.conn.server.config.limits.opens;
    let fid = call.conn.files.free_fid(limit);
    let fid =
        fid.ok_or_else(|| Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))?;
    let lease = call.conn.account.lease(Resource::Opens, 1);
    let lease =
        lease.map_err(|_| Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))?;
    let (job, file) = Job::begin(&*vfs, identifier, call.now.0 / 1_000_000, lease)?;
    let path = job.spooled_as().into();
    let header = call.header;
    call.conn.files.insert(OpenFile {
        fid,
        kind: OpenKind::PrintJob(job),
        id: FileId::default(),
        file: Some(file),
        open: None,
        share,
        path,
        access: access::WRITE_DATA | access::APPEND_DATA,
        tid: header.tid,
        uid: header.uid,
        pid: header.pid,
        position: 0,
        stream: Default::default(),
        mode: 0,
        written: false,
        moved: Default::default(),
        counted: Default::default(),
    });
    call.chain_fid = Some(fid);
    record(call, fid);
    Ok(fid)
}

fn record(call: &Call<'_>, fid: Fid) {
    let Ok(file) = call.file(fid) else { return };
    call.conn.record(file.uid, || {
        let deed = Deed::Open {
            open: None,
            created: true,
            truncated: false,
            reads: false,
            writes: true,
        };
        Act::done(deed, &file.share.name, &file.path, false)
    });
}

/// Whether `fid` is a job of the header's user and tree.
pub fn is_job(call: &Call<'_>, fid: Fid) -> bool {
    call.file(fid)
        .is_ok_and(|file| matches!(file.kind, OpenKind::PrintJob(_)))
}

/// On a printer, the names under which the jobs of the header's user are being spooled; nobody sees another's.
pub fn own_jobs(call: &Call<'_>) -> Option<Vec<String>> {
    if !is_printer(call) {
        return None;
    }
    let header = call.header;
    let own = |file: &&OpenFile| (file.tid, file.uid) == (header.tid, header.uid);
    let files = call.conn.files.iter().filter(own);
    let names = files.filter_map(|file| match &file.kind {
        OpenKind::PrintJob(job) => Some(String::from(job.spooled_as())),
        _ => None,
    });
    Some(names.collect())
}

/// The times and the size of a job so far. `None`: `fid` is no job.
///
/// # Errors
/// `INVALID_HANDLE`; file system errors.
pub fn facts(call: &Call<'_>, fid: Fid) -> Result<Option<Facts>> {
    let opened = call.file(fid)?;
    let (OpenKind::PrintJob(job), Some(file)) = (&opened.kind, &opened.file) else {
        return Ok(None);
    };
    let facts = Facts::new(&opened.share, job.name(), file.stat()?, None);
    let seen = facts.seen(&call.conn.server, &opened.share, call.now);
    Ok(Some(seen))
}

/// Changes a job as far as a printer can: a deletion at the close cancels the job. Times, attributes and mode have no
/// effect; neither have an allocation and an end of file that keep what was spooled, which programs that copy a file set
/// first. `None`: `fid` is no job.
///
/// # Errors
/// `INVALID_HANDLE`; `INVALID_DEVICE_REQUEST` for what a printer cannot do: truncation, names, extended attributes.
pub fn set(call: &mut Call<'_>, fid: Fid, change: &SetFile<'_>) -> Result<Option<()>> {
    let OpenKind::PrintJob(job) = &mut call.file_mut(fid)?.kind else {
        return Ok(None);
    };
    match *change {
        SetFile::Disposition(delete) => job.cancel(delete),
        SetFile::Allocation(len) | SetFile::EndOfFile(len) if len >= job.bytes() => {}
        SetFile::Allocation(_)
        | SetFile::EndOfFile(_)
        | SetFile::InfoSetEas(_)
        | SetFile::Rename(_) => return Err(Status::INVALID_DEVICE_REQUEST.into()),
        SetFile::InfoStandard(_) | SetFile::Basic(_) | SetFile::Position(_) | SetFile::Mode(_) => {}
    }
    Ok(Some(()))
}

/// Appends to a job and ignores the offset: printers do not seek. `None`: `fid` is no job.
///
/// # Errors
/// File system errors.
pub fn append(call: &mut Call<'_>, fid: Fid, data: &[u8]) -> Result<Option<usize>> {
    let Ok(opened) = call.file_mut(fid) else {
        return Ok(None);
    };
    let (OpenKind::PrintJob(job), Some(file)) = (&mut opened.kind, &opened.file) else {
        return Ok(None);
    };
    let spooled = job.append(&**file, data)?;
    opened.moved.add_written(spooled);
    Ok(Some(spooled))
}

/// Closes a job: it gets its final name, and an event reports it. If the connection is gone, or the job is empty, it is
/// deleted. A job that cannot be renamed is deleted too: its client gets an error and prints again.
///
/// # Errors
/// `QUEUE_FULL`; file system errors.
pub fn end(conn: &mut Context, file: &OpenFile) -> Result<()> {
    let (OpenKind::PrintJob(job), Some(vfs)) = (&file.kind, file.share.vfs()) else {
        return Ok(());
    };
    let Some(path) = job.finish(&**vfs, !conn.is_closing())? else {
        return Ok(());
    };
    conn.server
        .locked(|tables| tables.report_created(file.share.id, &path, false));
    conn.events.push_back(Event::Printed {
        share: file.share.name.clone(),
        path,
        name: job.name().into(),
    });
    Ok(())
}
