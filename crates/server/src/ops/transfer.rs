//! Reading and writing open files: rights, byte-range locks, full disks.

use super::{durability, trim};
use crate::{
    context::{Call, Context, Tail},
    error::{Because, Result},
    files::{KnownLength, OpenFile},
    reason::Reason,
    table::{LockRange, NotifyFilter, OpenId, access},
    vfs::{Stat, VfsFile, VfsResult},
};
use alloc::sync::Arc;
use coax_wire::{header::Fid, status::Status};

/// Smallest read that may go from page cache to socket in the kernel, bytes.
const SENDFILE_MIN: usize = 16_384;
/// Most pages that a kernel moves without copying in one call (Linux: the slots of a pipe). A larger range takes
/// several calls, and copying it is cheaper (docs/evidence/performance.md).
const SENDFILE_PAGES: u64 = 16;
/// Page size, bytes.
const PAGE: u64 = 4096;

/// The result of a read: data in memory, or a range of the file.
#[derive(Debug)]
pub struct Read {
    /// The data.
    pub tail: Tail,
}

impl Read {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.tail.len()
    }
}

/// An open with the right for this I/O, and what the I/O needs of it, so that it is looked up by its FID once.
#[derive(Clone, Debug)]
struct Ready {
    fid: Fid,
    file: Arc<dyn VfsFile>,
    open: OpenId,
    obeys_locks: bool,
    sendfile: bool,
    reserves: bool,
    written: bool,
    known: KnownLength,
}

/// Reads up to `len` bytes at `offset`; fewer only at the end of the file.
///
/// # Errors
/// `INVALID_HANDLE`, `ACCESS_DENIED`, `FILE_LOCK_CONFLICT`, `INVALID_DEVICE_REQUEST` on folders; file system errors.
pub fn read(call: &mut Call<'_>, fid: Fid, offset: u64, len: usize) -> Result<Read> {
    let ready = ready(call, fid, access::READ_DATA)?;
    check_locks(call, &ready, offset, len as u64, false)?;
    if len == 0 {
        return Ok(Read { tail: Tail::None });
    }
    let fid = ready.fid;
    let read = fetch(call.conn, ready, offset, len)?;
    let end = offset.saturating_add(read.len() as u64);
    let files = &mut call.conn.files;
    if let Some(opened) = files.find_mut(fid) {
        opened.moved.add_read(read.len());
    }
    files.reposition(fid, |opened| {
        opened.position = end;
        opened.stream.position = end;
    });
    Ok(read)
}

fn fetch(conn: &mut Context, ready: Ready, offset: u64, len: usize) -> Result<Read> {
    if ready.sendfile && is_for_the_kernel(offset, len) {
        let size = ready.file.size()?;
        let len = size.saturating_sub(offset).min(len as u64) as usize;
        if len >= SENDFILE_MIN {
            return Ok(Read {
                tail: Tail::File {
                    file: ready.file,
                    offset,
                    len,
                },
            });
        }
    }
    let mut data = conn.spare_buffer(len);
    let got = ready.file.read_at(offset, &mut data)?;
    data.truncate(got);
    Ok(Read {
        tail: Tail::Bytes(data),
    })
}

/// Whether the kernel sends a range of a file at less cost than reading and sending it. The part before the first whole
/// page does not count, because it is sent with the reply's head.
fn is_for_the_kernel(offset: u64, len: usize) -> bool {
    let uneven = (PAGE - offset % PAGE) % PAGE;
    let pages = (len as u64).saturating_sub(uneven).div_ceil(PAGE);
    len >= SENDFILE_MIN && pages <= SENDFILE_PAGES
}

/// Writes `data` at `offset` and returns how many bytes of it are in the file.
///
/// If the disk fills up during the write, the short count reports it, so that the server acknowledges only written
/// data. If nothing was written, the error is `DISK_FULL`. With `through` the client wants the data on disk before the
/// reply; see [`durability::is_write_through`].
///
/// # Errors
/// As [`read`]; `DISK_FULL`; errors of a sync, now or earlier.
pub fn write(
    call: &mut Call<'_>,
    fid: Fid,
    offset: u64,
    data: &[u8],
    through: bool,
) -> Result<usize> {
    let written = write_part(call, fid, offset, data)?;
    durability::after_write(call, fid, through)?;
    Ok(written)
}

/// Writes a part of the data without a sync; more data follows.
///
/// # Errors
/// As [`read`]; `DISK_FULL`; errors of an earlier sync.
pub fn write_part(call: &mut Call<'_>, fid: Fid, offset: u64, data: &[u8]) -> Result<usize> {
    if let Some(spooled) = super::print::append(call, fid, data)? {
        return Ok(spooled);
    }
    let ready = ready(call, fid, access::WRITE_DATA | access::APPEND_DATA)?;
    check_locks(call, &ready, offset, data.len() as u64, true)?;
    if data.is_empty() {
        return Ok(0);
    }
    let resizes = prepare_write(call, &ready)?;
    let end = offset.saturating_add(data.len() as u64);
    let size = reserve_gap(call, &ready, ((offset, end), resizes))?;
    let written = match ready.file.write_at(offset, data) {
        Ok(()) => data.len(),
        Err((0, error)) => return Err(error.into()),
        Err((written, _)) => written,
    };
    let end = offset.saturating_add(written as u64);
    let files = &mut call.conn.files;
    files.reposition(ready.fid, |opened| opened.stream.position = end);
    if let Some(opened) = files.find_mut(ready.fid) {
        opened.moved.add_written(written);
        opened.stream.known = KnownLength {
            bytes: size.max(end),
            resizes,
        };
    }
    Ok(written)
}

/// Before a write beyond the end of the file: reserves the space up to the end of the write (`strict allocate`). A full
/// disk is then an error now, and the length stays; without the reservation a later write into the gap would fail.
/// Returns a lower bound of the file's length.
fn reserve_gap(
    call: &Call<'_>,
    ready: &Ready,
    ((offset, end), resizes): ((u64, u64), u64),
) -> Result<u64> {
    let known = if ready.known.resizes == resizes {
        ready.known.bytes
    } else {
        0
    };
    // Writes at the end or the beginning need no system call.
    if !ready.reserves || offset <= known {
        return Ok(known);
    }
    let size = ready.file.size()?;
    if offset > size {
        let reserved = ready.file.reserve_range(size, end);
        or_give_back(call, ready, reserved)?;
    }
    Ok(size)
}

/// Frees the space of a reservation that failed half-way.
fn or_give_back(call: &Call<'_>, ready: &Ready, reserved: VfsResult<()>) -> VfsResult<()> {
    if reserved.is_err() {
        trim::give_back(&call.conn.server, ready.open, &*ready.file);
    }
    reserved
}

/// Whether `len` bytes at `offset` may be written now. A print job takes all data.
///
/// # Errors
/// As [`write`].
pub fn check_write(call: &Call<'_>, fid: Fid, offset: u64, len: u64) -> Result<()> {
    if super::print::is_job(call, fid) {
        return Ok(());
    }
    let ready = ready(call, fid, access::WRITE_DATA | access::APPEND_DATA)?;
    check_locks(call, &ready, offset, len, true)
}

/// Reports once that an earlier write-behind on this FID has failed.
///
/// # Errors
/// That failure; `INVALID_HANDLE`.
pub fn report_failure(call: &mut Call<'_>, fid: Fid) -> Result<()> {
    if call.file(fid)?.stream.failed.is_none() {
        return Ok(());
    }
    match call.file_mut(fid)?.stream.failed.take() {
        Some(status) => Err(status.into()),
        None => Ok(()),
    }
}

/// Sets the file's length. `strict allocate` reserves the space: a full disk is an error now, and the length stays.
///
/// # Errors
/// As [`write`].
pub fn set_len(call: &mut Call<'_>, fid: Fid, len: u64) -> Result<()> {
    let ready = ready(call, fid, access::WRITE_DATA | access::APPEND_DATA)?;
    let before = ready.file.stat()?;
    let (from, to) = (before.size.min(len), before.size.max(len));
    check_locks(call, &ready, from, to.saturating_sub(from), true)?;
    prepare_change(call, &ready, NotifyFilter::SIZE)?;
    match before.size == len {
        true => {}
        false if ready.reserves => or_give_back(call, &ready, ready.file.set_len(len))?,
        false => ready.file.set_len_sparse(len)?,
    }
    note_resize(call, fid, ready.open, &before)
}

/// Reserves at least `len` bytes of space for the file, or truncates it ([MS-FSA] 2.1.5.15.1). A full disk is an error
/// now.
///
/// # Errors
/// As [`write`].
pub fn set_allocation(call: &mut Call<'_>, fid: Fid, len: u64) -> Result<()> {
    let ready = ready(call, fid, access::WRITE_DATA)?;
    let before = ready.file.stat()?;
    let cuts = len < before.size;
    if cuts {
        set_len(call, fid, len)?;
    } else {
        or_give_back(call, &ready, ready.file.reserve(len))?;
    }
    call.conn
        .server
        .locked(|tables| tables.set_reserved(before.id, len));
    if cuts {
        return Ok(());
    }
    note_resize(call, fid, ready.open, &before)
}

/// After a change of the length: the new time is visible at once, and the next write counts as a first one.
fn note_resize(call: &mut Call<'_>, fid: Fid, open: OpenId, before: &Stat) -> Result<()> {
    let now = call.now;
    call.file_mut(fid)?.written = false;
    call.conn.server.locked(|tables| {
        tables.resized(before.id);
        tables.note_resize(now, open, before);
    });
    Ok(())
}

/// The open, if it is a file with one of the rights in `rights`.
fn ready(call: &Call<'_>, fid: Fid, rights: u32) -> Result<Ready> {
    let opened = call.file(fid)?;
    let (Some(file), Some(open)) = (&opened.file, opened.open) else {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    };
    if matches!(opened.kind, crate::files::OpenKind::Directory) {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    }
    if opened.access & rights == 0 && !reads_for_execution(call, opened, rights) {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    let options = &opened.share.options;
    Ok(Ready {
        fid: opened.fid,
        file: file.clone(),
        open,
        obeys_locks: options.locking && options.strict_locking,
        sendfile: options.use_sendfile && !call.conn.signing.is_active(),
        reserves: options.strict_allocate,
        written: opened.written,
        known: opened.stream.known,
    })
}

fn reads_for_execution(call: &Call<'_>, opened: &OpenFile, rights: u32) -> bool {
    use coax_wire::header::Flags2;
    rights & access::READ_DATA != 0
        && opened.access & access::EXECUTE != 0
        && call.header.flags2.has(Flags2::READ_IF_EXECUTE)
}

fn check_locks(call: &Call<'_>, ready: &Ready, offset: u64, len: u64, write: bool) -> Result<()> {
    if !ready.obeys_locks || len == 0 {
        return Ok(());
    }
    let open = ready.open;
    let pid = (call.header.pid.0 & 0xffff) as u16;
    let range = LockRange {
        offset,
        length: len,
    };
    if call
        .conn
        .server
        .locked(|tables| tables.may_io(open, pid, range, write))
    {
        return Ok(());
    }
    let holder = |tables: &mut crate::table::Tables| tables.io_lock_holder(open, pid, range, write);
    let holder = call.conn.server.locked(holder);
    Err(Status::FILE_LOCK_CONFLICT.because(Reason::Locked(holder)))
}

/// Before a write: as before any change, and records the time of the first write.
fn prepare_write(call: &mut Call<'_>, ready: &Ready) -> Result<u64> {
    if !ready.written {
        let (now, before) = (call.now, ready.file.stat()?);
        call.conn
            .server
            .locked(|tables| tables.note_write(now, ready.open, &before));
    }
    prepare_change(call, ready, NotifyFilter::LAST_WRITE)
}

/// Before a change of the contents: breaks others' read caches, notifies watchers, and marks the open as changed. An
/// open that lost data in a failed sync cannot change anything.
fn prepare_change(call: &mut Call<'_>, ready: &Ready, what: NotifyFilter) -> Result<u64> {
    let open = ready.open;
    let first = !ready.written;
    if let Some(opened) = call.conn.files.find_mut(ready.fid).filter(|_| first) {
        opened.written = true;
    }
    call.conn.server.locked(|tables| {
        let resizes = tables.begin_write(open)?;
        tables.before_write(open);
        if first
            && let Some((share, path)) = tables
                .get(open)
                .map(|o| (o.request.share, o.request.path.clone()))
        {
            tables.report_modified(share, &path, what);
        }
        Ok(resizes)
    })
}
