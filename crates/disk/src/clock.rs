//! When a file's ctime reliably changes with every modification.
//!
//! Linux stamps changes from a clock that ticks every 1 to 10 ms: two changes within a tick look like one. Since Linux
//! 6.13 the kernel gives a finer stamp after a stamp was read, but only some file systems do so for every change of a
//! folder (ext4 does; tmpfs does not when a name is removed, seen on 6.18). A stamp older than a tick is always
//! followed by another one.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coax_server::vfs::{FsTime, Stat};
use rustix::fd::AsFd;

const EXT4: u64 = 0xEF53;
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683E;
const TMPFS: u64 = 0x0102_1994;
const OVERLAYFS: u64 = 0x794C_7630;
/// Two clock ticks: for file systems that use the kernel's clock.
const KERNEL_TICK: Duration = Duration::from_millis(20);
/// FAT has a resolution of two seconds, and network file servers use their own clocks.
const WORST_TICK: Duration = Duration::from_millis(2_500);
/// The first kernel with fine-grained time stamps.
const FINE_SINCE: (u32, u32) = (6, 13);

/// Whether any later change will alter the times in `stat`, on any file system.
pub(super) fn settled_anywhere(stat: &Stat) -> bool {
    older_than(stat, WORST_TICK)
}

/// Whether any later change of the folder's names will alter the times in `stat`.
pub(super) fn settled(folder: impl AsFd, stat: &Stat) -> bool {
    settled_anywhere(stat) || settled_on(file_system(folder), stat)
}

/// The file system's type number from `statfs`; 0 if unknown.
pub(super) fn file_system(file: impl AsFd) -> u64 {
    rustix::fs::fstatfs(file).map_or(0, |f| u64::try_from(f.f_type).unwrap_or(0))
}

/// Like [`settled`], for a folder on that file system.
pub(super) fn settled_on(file_system: u64, stat: &Stat) -> bool {
    match file_system {
        EXT4 if kernel_is_fine() => true,
        EXT4 | XFS | BTRFS | TMPFS | OVERLAYFS => older_than(stat, KERNEL_TICK),
        _ => settled_anywhere(stat),
    }
}

fn older_than(stat: &Stat, age: Duration) -> bool {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let latest = now
        .checked_sub(age)
        .and_then(|t| i64::try_from(t.as_nanos()).ok());
    latest.is_some_and(|latest| stat.changed < FsTime(latest))
}

fn kernel_is_fine() -> bool {
    static FINE: OnceLock<bool> = OnceLock::new();
    *FINE.get_or_init(|| {
        let uname = rustix::system::uname();
        version(&uname.release().to_string_lossy()).is_some_and(|v| v >= FINE_SINCE)
    })
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_releases_are_read_as_far_as_they_matter() {
        assert_eq!(version("6.18.44-generic"), Some((6, 18)));
        assert_eq!(version("5.6"), Some((5, 6)));
        assert_eq!(version("6.13-rc1"), Some((6, 13)));
        assert_eq!(version("strange"), None);
    }
}
