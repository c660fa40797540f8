//! An open file on disk.

use std::{
    any::Any,
    sync::{Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard},
};

use coax_server::vfs::{FsTime, OpenHow, SetTimes, Stat, VfsError, VfsFile, VfsResult};
use rustix::{
    fd::OwnedFd,
    fs::{FallocateFlags, Mode, SeekFrom, Timespec, Timestamps, UTIME_OMIT, XattrFlags},
    io::Errno,
};

use super::{
    attribute,
    errno::error,
    stat::{space, stat_of},
};

/// Maximum file length: the kernel's offsets are signed.
const MAX_LEN: u64 = i64::MAX as u64;
/// Extensions above this query the free space before they reserve it: a reservation that fails half-way temporarily
/// takes space that others need.
const ASK_FIRST: u64 = 64 << 20;
/// Maximum extension written as zeros where the file system cannot reserve space. Zeros have the same effect.
const ZEROS_AT_MOST: u64 = 64 << 20;
const ZEROS_IN_A_WRITE: u64 = 64 * 1024;
/// Locks for read-modify-write changes of attributes, selected by file: the system can only replace attributes.
static UPDATES: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
/// Locks for the length, selected by file. Writes and length changes share a lock; an extension with zeros holds it alone:
/// it may write zeros only beyond the end, and the end must not move meanwhile. Changes by other programs are not excluded.
static LENGTHS: [RwLock<()>; 64] = [const { RwLock::new(()) }; 64];
const OWNER_WRITE: u32 = 0o200;
const NANOS: i64 = 1_000_000_000;

/// An open file or folder of a [`DiskFs`](super::DiskFs).
#[derive(Debug)]
pub struct DiskFile {
    fd: OwnedFd,
    /// The access that the open requested. The kernel is more lenient: it allows reads on a file opened for neither
    /// reading nor writing.
    how: OpenHow,
    /// The file's lock in [`LENGTHS`]; found when first needed.
    length: OnceLock<&'static RwLock<()>>,
}

impl DiskFile {
    pub(super) fn new(fd: OwnedFd, how: OpenHow) -> Self {
        let length = OnceLock::new();
        Self { fd, how, length }
    }

    /// The descriptor, for `sendfile` from the page cache to a socket.
    #[must_use]
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    fn extend(&self, now: &Stat, len: u64) -> VfsResult<()> {
        let (old, held) = (now.size, now.allocated.max(now.size));
        if len.saturating_sub(held) > ASK_FIRST {
            self.ask_for_room(len.saturating_sub(held))?;
        }
        let keep = FallocateFlags::KEEP_SIZE;
        match retry(|| rustix::fs::fallocate(&self.fd, keep, old, len.saturating_sub(old))) {
            Ok(()) => self.truncate(len),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.extend_unreserved(len),
            Err(other) => Err(error(other)),
        }
    }

    /// Extends a file on file systems that cannot reserve space. Other clients may have extended it since the caller
    /// queried its length; it keeps what they wrote.
    pub(super) fn extend_unreserved(&self, len: u64) -> VfsResult<()> {
        let _alone = self
            .length()
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let old = self.size()?;
        if len <= old || len.saturating_sub(old) > ZEROS_AT_MOST {
            self.ask_for_room(len.saturating_sub(old))?;
            return self.truncate_locked(len);
        }
        let mut zeros = vec![0; len.saturating_sub(old).min(ZEROS_IN_A_WRITE) as usize];
        let mut at = old;
        while at < len {
            zeros.truncate(len.saturating_sub(at).min(ZEROS_IN_A_WRITE) as usize);
            if let Err((_, why)) = self.write_locked(at, &zeros) {
                self.truncate_locked(old)?;
                return Err(why);
            }
            at = at.saturating_add(zeros.len() as u64);
        }
        Ok(())
    }

    fn ask_for_room(&self, bytes: u64) -> VfsResult<()> {
        let space = space(&self.fd)?;
        if space.total > 0 && bytes > space.free {
            Err(VfsError::NoSpace)
        } else {
            Ok(())
        }
    }

    fn must_be_writable(&self) -> VfsResult<()> {
        if self.how.write {
            Ok(())
        } else {
            Err(VfsError::Denied)
        }
    }

    /// The lock of the file's length.
    pub(super) fn length(&self) -> &'static RwLock<()> {
        self.length.get_or_init(|| {
            let inode = rustix::fs::fstat(&self.fd).map_or(0, |stat| stat.st_ino);
            let [first, ..] = &LENGTHS;
            let lock = LENGTHS.get((inode % LENGTHS.len() as u64) as usize);
            lock.unwrap_or(first)
        })
    }

    fn share_length(&self) -> RwLockReadGuard<'static, ()> {
        self.length().read().unwrap_or_else(PoisonError::into_inner)
    }

    fn truncate(&self, len: u64) -> VfsResult<()> {
        let _shared = self.share_length();
        self.truncate_locked(len)
    }

    fn truncate_locked(&self, len: u64) -> VfsResult<()> {
        retry(|| rustix::fs::ftruncate(&self.fd, len)).map_err(error)
    }

    /// Writes all of `data`. On failure returns how much of it was written.
    fn write_locked(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)> {
        let mut done = 0;
        while let Some(rest) = data.get(done..).filter(|rest| !rest.is_empty()) {
            match retry(|| rustix::io::pwrite(&self.fd, rest, offset.saturating_add(done as u64))) {
                Ok(0) => return Err((done, VfsError::NoSpace)),
                Ok(n) => done = done.saturating_add(n),
                Err(other) => return Err((done, error(other))),
            }
        }
        Ok(())
    }
}

impl VfsFile for DiskFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        if !self.how.read {
            return Err(VfsError::Denied);
        }
        // The kernel refuses a range that ends beyond the largest file, even where there is nothing to read.
        let most = usize::try_from(MAX_LEN.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(buf.len());
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..most).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(done as u64);
            match retry(|| rustix::io::pread(&self.fd, &mut *rest, at)).map_err(error)? {
                0 => break,
                n => done = done.saturating_add(n),
            }
        }
        Ok(done)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)> {
        self.must_be_writable().map_err(|why| (0, why))?;
        let end = offset.checked_add(data.len() as u64);
        end.filter(|end| *end <= MAX_LEN)
            .ok_or((0, VfsError::TooLarge))?;
        let _shared = self.share_length();
        self.write_locked(offset, data)
    }

    fn stat(&self) -> VfsResult<Stat> {
        stat_of(&self.fd)
    }

    fn size(&self) -> VfsResult<u64> {
        // Costs a third of `statx`. It moves the descriptor's position, which this module does not use.
        rustix::fs::seek(&self.fd, SeekFrom::End(0)).map_err(error)
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        self.must_be_writable()?;
        if len > MAX_LEN {
            return Err(VfsError::TooLarge);
        }
        let now = stat_of(&self.fd)?;
        if len > now.size {
            self.extend(&now, len)
        } else {
            self.truncate(len)
        }
    }

    fn reserve(&self, len: u64) -> VfsResult<()> {
        self.must_be_writable()?;
        if len > MAX_LEN {
            return Err(VfsError::TooLarge);
        }
        let held = stat_of(&self.fd)?.allocated;
        let missing = len.saturating_sub(held);
        if missing > ASK_FIRST {
            self.ask_for_room(missing)?;
        }
        if len == 0 {
            return Ok(());
        }
        match retry(|| rustix::fs::fallocate(&self.fd, FallocateFlags::KEEP_SIZE, 0, len)) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.ask_for_room(missing),
            Err(other) => Err(error(other)),
            Ok(()) => Ok(()),
        }
    }

    fn set_len_sparse(&self, len: u64) -> VfsResult<()> {
        self.must_be_writable()?;
        if len > MAX_LEN {
            return Err(VfsError::TooLarge);
        }
        self.truncate(len)
    }

    fn reserve_range(&self, from: u64, to: u64) -> VfsResult<()> {
        self.must_be_writable()?;
        if to > MAX_LEN {
            return Err(VfsError::TooLarge);
        }
        let len = to.saturating_sub(from);
        if len > ASK_FIRST {
            self.ask_for_room(len)?;
        }
        match retry(|| rustix::fs::fallocate(&self.fd, FallocateFlags::KEEP_SIZE, from, len)) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.ask_for_room(len),
            Err(other) => Err(error(other)),
            Ok(()) => Ok(()),
        }
    }

    fn sync(&self) -> VfsResult<()> {
        retry(|| rustix::fs::fsync(&self.fd)).map_err(|errno| match errno {
            // fsync(2): objects, or file systems, that have no such thing.
            Errno::INVAL | Errno::ROFS => VfsError::Unsupported,
            other => error(other),
        })
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        let times = Timestamps {
            last_access: timespec(times.accessed),
            last_modification: timespec(times.modified),
        };
        rustix::fs::futimens(&self.fd, &times).map_err(error)
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        let old = rustix::fs::fstat(&self.fd).map_err(error)?.st_mode & 0o7777;
        let new = if writable {
            old | OWNER_WRITE
        } else {
            old & !OWNER_WRITE
        };
        if new == old {
            return Ok(());
        }
        rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(new)).map_err(error)
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        attribute::of_fd(&self.fd, name)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        rustix::fs::fsetxattr(&self.fd, name, value, XattrFlags::empty()).map_err(error)
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        let inode = stat_of(&self.fd)?.id.inode;
        let turn = UPDATES.get((inode % UPDATES.len() as u64) as usize);
        let _turn = turn.map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        let mut value = self.attribute(name)?;
        change(&mut value)?;
        self.set_attribute(name, &value)
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        rustix::fs::fremovexattr(&self.fd, name).map_err(error)
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        attribute::names_of(&self.fd)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Repeats the call when a signal interrupts it.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}

fn timespec(time: Option<FsTime>) -> Timespec {
    match time {
        Some(FsTime(nanos)) => Timespec {
            tv_sec: nanos.div_euclid(NANOS),
            tv_nsec: nanos.rem_euclid(NANOS),
        },
        None => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
    }
}
