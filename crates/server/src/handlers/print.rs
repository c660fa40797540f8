//! Print jobs: OPEN_PRINT_FILE, WRITE_PRINT_FILE, CLOSE_PRINT_FILE, GET_PRINT_QUEUE, and files that DOS and NT clients open
//! on a printer share. [MS-CIFS] 3.3.5.52 to 3.3.5.54.
//!
//! A job is spooled under a hidden name and gets its own when it is closed, so that whoever watches the folder sees whole
//! jobs only. One whose client disappears is thrown away.

use crate::{
    budget::{Lease, Resource},
    conn::{Call, Connection, Flow, Outcome},
    error::Result,
    event::Event,
    files::{OpenFile, OpenKind},
    reason::{Because, Limit, Reason},
    share::ShareKind,
    table::access,
    vfs::{FileId, OpenHow, Vfs, VfsError, VfsFile},
};
use alloc::{format, string::String, sync::Arc};
use coax_wire::{header::Fid, smb::print, status::Status};

/// How many names are tried for a job.
const ATTEMPTS: u64 = 1000;
/// Longest part of a job's name that the client chooses, characters.
const LONGEST_IDENTIFIER: usize = 40;

/// A job being spooled.
#[derive(Debug)]
pub struct Job {
    /// Name while it is spooled.
    spooled_as: String,
    /// Name when it is whole, without number and ending.
    identifier: String,
    /// Bytes so far.
    bytes: u64,
    /// The descriptor of its file.
    _lease: Lease,
}

impl Job {
    /// What the client called it, as far as that can be part of a file's name.
    pub fn name(&self) -> &str {
        &self.identifier
    }
}

/// Whether the tree is a printer's.
pub(super) fn is_printer(call: &Call<'_>) -> bool {
    call.share()
        .is_ok_and(|share| matches!(share.kind, ShareKind::Printer(_)))
}

/// Begins a job. Whoever may connect to a printer may print: `read only` is about the files of its folder, and a printer's
/// section in an ordinary smb.conf leaves it at its default, yes. Samba spools regardless of it, too.
///
/// # Errors
/// What the file system says; too many open files.
pub(super) fn begin(call: &mut Call<'_>, identifier: &str) -> Result<Fid> {
    let (share, vfs) = (call.share()?, call.vfs()?);
    let limit = call.conn.server.config.limits.opens;
    let fid = call.conn.files.free_fid(limit);
    let fid =
        fid.ok_or_else(|| Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))?;
    let lease = call.conn.account.lease(Resource::Opens, 1);
    let lease =
        lease.map_err(|_| Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))?;
    let (spooled_as, file) = spool_file(&*vfs, call.now.0 / 1_000_000)?;
    let header = call.header;
    call.conn.files.insert(OpenFile {
        fid,
        kind: OpenKind::PrintJob(Job {
            spooled_as: spooled_as.clone(),
            identifier: tame(identifier),
            bytes: 0,
            _lease: lease,
        }),
        id: FileId::default(),
        file: Some(file),
        open: None,
        share,
        path: spooled_as,
        access: access::WRITE_DATA | access::APPEND_DATA,
        tid: header.tid,
        uid: header.uid,
        pid: header.pid,
        position: 0,
        stream: Default::default(),
        mode: 0,
        written: false,
    });
    call.chain_fid = Some(fid);
    Ok(fid)
}

fn spool_file(vfs: &dyn Vfs, seed: u64) -> Result<(String, Arc<dyn VfsFile>)> {
    let how = OpenHow {
        read: true,
        write: true,
        create: true,
        exclusive: true,
        truncate: false,
    };
    for number in 0..ATTEMPTS {
        let name = format!(".coax-{}.spool", seed.wrapping_add(number));
        match vfs.open(&name, how) {
            Ok((file, _)) => return Ok((name, file)),
            Err(VfsError::Exists) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Status::QUEUE_FULL.into())
}

/// What a client calls its job, as part of a file's name: letters, digits and a few signs, no path. It begins with neither a
/// dot, which would hide it, nor a dash, which a print command would take for an option.
fn tame(identifier: &str) -> String {
    let last = identifier.rsplit(['\\', '/', ':']).next().unwrap_or("");
    let tamed: String = last
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(LONGEST_IDENTIFIER)
        .collect();
    let tamed = tamed.trim_matches('.').trim_start_matches(['-', '.']);
    if tamed.is_empty() {
        "job".into()
    } else {
        tamed.into()
    }
}

/// Appends to a job, wherever the client says its data belongs: printers do not seek. `None`: `fid` is no job.
///
/// # Errors
/// What the file system says.
pub(crate) fn append(call: &mut Call<'_>, fid: Fid, data: &[u8]) -> Result<Option<usize>> {
    let Ok(opened) = call.file_mut(fid) else {
        return Ok(None);
    };
    let (OpenKind::PrintJob(job), Some(file)) = (&mut opened.kind, &opened.file) else {
        return Ok(None);
    };
    let written = match file.write_at(job.bytes, data) {
        Ok(()) => data.len(),
        Err((0, error)) => return Err(error.into()),
        Err((written, _)) => written,
    };
    job.bytes = job.bytes.saturating_add(written as u64);
    Ok(Some(written))
}

/// A job is closed: it appears under its own name and is reported. If the connection is gone, or nothing was written,
/// it goes instead. It also goes if it cannot be handed over: its client gets an error and prints again.
///
/// # Errors
/// `QUEUE_FULL`; what the file system says.
pub(crate) fn end(conn: &mut Connection, file: &OpenFile) -> Result<()> {
    let (OpenKind::PrintJob(job), Some(vfs)) = (&file.kind, file.share.vfs()) else {
        return Ok(());
    };
    if conn.is_closing() || job.bytes == 0 {
        return Ok(vfs.remove_file(&job.spooled_as)?);
    }
    let path = hand_over(&**vfs, job).inspect_err(|_| {
        let _ = vfs.remove_file(&job.spooled_as);
    })?;
    conn.server
        .locked(|tables| tables.report_created(file.share.id, &path, false));
    conn.events.push_back(Event::Printed {
        share: file.share.name.clone(),
        path,
        name: job.identifier.clone(),
    });
    Ok(())
}

/// Gives a whole job its own name.
fn hand_over(vfs: &dyn Vfs, job: &Job) -> Result<String> {
    for number in 1..=ATTEMPTS {
        let path = format!("{}-{number:03}.prn", job.identifier);
        match vfs.rename(&job.spooled_as, &path, false) {
            Err(VfsError::Exists) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => return Ok(path),
        }
    }
    Err(Status::QUEUE_FULL.into())
}

/// OPEN_PRINT_FILE.
pub fn open_print_file(call: &mut Call<'_>) -> Outcome {
    let request = print::Open::parse(&call.block, call.unicode())?;
    must_be_printer(call)?;
    let identifier = call.text(request.identifier);
    let fid = begin(call, &identifier)?;
    print::emit_open_response(fid, call.out());
    Ok(Flow::Done)
}

/// WRITE_PRINT_FILE.
pub fn write_print_file(call: &mut Call<'_>) -> Outcome {
    let request = print::Write::parse(&call.block)?;
    match append(call, request.fid, request.data)? {
        None => Err(Status::INVALID_HANDLE.into()),
        Some(written) if written < request.data.len() => Err(Status::DISK_FULL.into()),
        Some(_) => call.done_empty(),
    }
}

/// CLOSE_PRINT_FILE. What is no job is not closed, and refused with the general error of servers (raw.close).
pub fn close_print_file(call: &mut Call<'_>) -> Outcome {
    let opened = call.file(Fid(call.block.word(0)?))?;
    if !matches!(opened.kind, OpenKind::PrintJob(_)) {
        return Err(Status::INVALID_SMB.into());
    }
    let fid = opened.fid;
    let now = call.now;
    crate::ops::close::close(call.conn, fid, None, now)?;
    call.done_empty()
}

/// GET_PRINT_QUEUE: a job leaves the queue when it is whole, so the queue is empty.
pub fn get_print_queue(call: &mut Call<'_>) -> Outcome {
    must_be_printer(call)?;
    print::emit_empty_queue(call.out());
    Ok(Flow::Done)
}

/// SEND_SINGLE_BLOCK: messages between users, which this server does not take (ERRmsgoff, core protocol section 6.1).
pub fn messages(_call: &mut Call<'_>) -> Outcome {
    Err(Status::MESSAGES_OFF.into())
}

fn must_be_printer(call: &Call<'_>) -> Result<()> {
    if is_printer(call) {
        Ok(())
    } else {
        Err(Status::BAD_DEVICE_TYPE.because(Reason::NotAPrinter))
    }
}

#[cfg(test)]
#[path = "print_tests.rs"]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
