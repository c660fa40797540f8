//! File metadata from the kernel.

use coax_server::vfs::{FileId, FsTime, Kind, Space, Stat, VfsResult};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, FileType, Statx, StatxFlags, StatxTimestamp},
};

use super::errno::error;

const NANOS: i64 = 1_000_000_000;
/// Linux counts blocks of a file in this many bytes, whatever the file system's own are.
const STAT_BLOCK: u64 = 512;

/// Metadata of a name in a folder, without following a symbolic link.
pub(super) fn stat_at(folder: impl AsFd, name: &[u8]) -> VfsResult<(Stat, FileType)> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    convert(&rustix::fs::statx(folder, name, flags, wanted()).map_err(error)?)
}

/// Current metadata of an open file, folder or path.
pub(super) fn stat_of(fd: &OwnedFd) -> VfsResult<Stat> {
    let statx = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, wanted()).map_err(error)?;
    convert(&statx).map(|(stat, _)| stat)
}

/// Whether the object is a file, a folder or neither, with the cheapest call.
pub(super) fn kind_of(fd: &OwnedFd) -> VfsResult<Kind> {
    let stat = rustix::fs::fstat(fd).map_err(error)?;
    Ok(kind(FileType::from_raw_mode(stat.st_mode)))
}

/// Space on the file system of `fd`; all zero if the file system does not count it (ramfs).
pub(super) fn space(fd: impl AsFd) -> VfsResult<Space> {
    let statvfs = rustix::fs::fstatvfs(fd).map_err(error)?;
    Ok(Space {
        total: statvfs.f_blocks.saturating_mul(statvfs.f_frsize),
        free: statvfs.f_bavail.saturating_mul(statvfs.f_frsize),
    })
}

fn wanted() -> StatxFlags {
    StatxFlags::BASIC_STATS | StatxFlags::BTIME
}

fn convert(statx: &Statx) -> VfsResult<(Stat, FileType)> {
    let file_type = FileType::from_raw_mode(statx.stx_mode.into());
    let born = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::BTIME);
    let kind = kind(file_type);
    let stat = Stat {
        id: FileId {
            device: rustix::fs::makedev(statx.stx_dev_major, statx.stx_dev_minor),
            inode: statx.stx_ino,
            stream: 0,
        },
        kind,
        size: if kind == Kind::File {
            statx.stx_size
        } else {
            0
        },
        allocated: statx.stx_blocks.saturating_mul(STAT_BLOCK),
        created: born.then(|| time(&statx.stx_btime)),
        modified: time(&statx.stx_mtime),
        accessed: time(&statx.stx_atime),
        changed: time(&statx.stx_ctime),
        links: statx.stx_nlink,
        mode: u32::from(statx.stx_mode) & 0o777,
    };
    Ok((stat, file_type))
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        _ => Kind::Special,
    }
}

fn time(stamp: &StatxTimestamp) -> FsTime {
    FsTime(
        stamp
            .tv_sec
            .saturating_mul(NANOS)
            .saturating_add(stamp.tv_nsec.into()),
    )
}
