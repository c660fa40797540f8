//! Finds problems of the shares' folders when the server starts.

use std::path::Path;

use rustix::{
    fs::{Access as Want, AtFlags, CWD, IFlags, Mode, OFlags, StatVfs, StatVfsMountFlags},
    io::Errno,
};

pub use super::problem::Problem;
use coax_smbconf::settings::{CaseMode, Settings, ShareSettings};

/// Free space below this is reported if it is also less than 10 % of the disk, bytes.
const LITTLE: u64 = 16 << 20;
/// Free space below this is reported if it is also less than 1 % of the disk, bytes.
const LESS_THAN_A_HUNDREDTH: u64 = 1 << 30;

/// Properties of a folder and its file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The server's user may create files in it, as far as permissions say.
    pub may_write: bool,
    /// The file system is mounted read-only.
    pub read_only: bool,
    /// The file system supports user extended attributes.
    pub keeps_attributes: bool,
    /// File names are case-sensitive.
    pub tells_case: bool,
    /// Bytes free for the server's user, and of all.
    pub space: (u64, u64),
    /// No more files can be created: the file system has no inode left.
    pub out_of_inodes: bool,
}

/// Inspects a folder without changing it.
///
/// # Errors
/// The system's error for the folder.
pub fn look(path: &Path) -> Result<Folder, Errno> {
    let wanted = Want::WRITE_OK | Want::EXEC_OK;
    let access = rustix::fs::accessat(CWD, path, wanted, AtFlags::EACCESS);
    let disk = rustix::fs::statvfs(path)?;
    let mut value = [0_u8; 1];
    let attribute = rustix::fs::getxattr(path, "user.DOSATTRIB", &mut value[..]);
    Ok(Folder {
        may_write: !matches!(access, Err(Errno::ACCESS | Errno::PERM)),
        read_only: access == Err(Errno::ROFS) || disk.f_flag.contains(StatVfsMountFlags::RDONLY),
        keeps_attributes: attribute != Err(Errno::OPNOTSUPP),
        tells_case: tells_case(path),
        space: space(&disk),
        out_of_inodes: disk.f_files > 0 && disk.f_favail == 0,
    })
}

fn space(disk: &StatVfs) -> (u64, u64) {
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    (bytes(disk.f_bavail), bytes(disk.f_blocks))
}

/// Whether names are case-sensitive. Linux flags case-insensitive folders on file systems that support both; FAT, exFAT
/// and NTFS are always case-insensitive.
fn tells_case(path: &Path) -> bool {
    /// FS_CASEFOLD_FL (linux/fs.h).
    const CASEFOLD: u32 = 0x4000_0000;
    /// MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC (linux/magic.h), and ntfs3's.
    const IGNORE_CASE: [u64; 3] = [0x4d44, 0x2011_bab0, 0x7366_746e];
    let kind = rustix::fs::statfs(path).map_or(0, |disk| disk.f_type as u64);
    let folds = || -> Result<bool, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty())?;
        let flags: IFlags = rustix::fs::ioctl_getflags(folder)?;
        Ok(flags.bits() & CASEFOLD != 0)
    };
    !IGNORE_CASE.contains(&kind) && !folds().unwrap_or(false)
}

/// The problems of a share's folder.
pub fn problems(share: &ShareSettings, path: &Path, folder: Folder) -> Vec<Problem> {
    let path = path.display();
    let name = &share.name;
    let mut found = Vec::new();
    let mut add = |text: String, remedy: String| found.push(Problem { text, remedy });
    let writes = writable(share);
    if writes && folder.read_only {
        let text = format!("the file system of {path} is mounted read-only");
        add(
            text,
            format!("mount -o remount,rw, or [{name}] read only = yes"),
        );
    } else if writes && !folder.may_write {
        let text = format!("the server's user may not write in {path}");
        add(
            text,
            format!("grant it with chown, chmod or setfacl, or [{name}] read only = yes"),
        );
    }
    if writes && !folder.read_only {
        space_problems(&path.to_string(), folder, &mut add);
    }
    let wants_attributes = share.ea_support || share.store_dos_attributes || share.keeps_streams();
    if writes && wants_attributes && !folder.keeps_attributes {
        add(
            format!(
                "the file system of {path} keeps no extended attributes (user.*): the DOS attributes hidden, system and archive, \
                 creation times and EAs are lost"
            ),
            format!(
                "use ext4, xfs or btrfs, or [{name}] store dos attributes = no and ea support = no"
            ),
        );
    }
    if share.case_sensitive == CaseMode::Sensitive && !folder.tells_case {
        add(
            format!("the file system of {path} does not tell upper from lower case"),
            format!("[{name}] case sensitive = no"),
        );
    }
    found
}

fn space_problems(path: &str, folder: Folder, add: &mut impl FnMut(String, String)) {
    let (free, total) = folder.space;
    let remedy = || "delete files, or move the share to a larger disk".to_string();
    if folder.out_of_inodes {
        add(
            format!("the file system of {path} has no inodes left"),
            remedy(),
        );
    }
    let is_small = (free < LITTLE && free < total / 10)
        || (free < LESS_THAN_A_HUNDREDTH && free < total / 100);
    match free {
        0 => add(format!("the file system of {path} is full"), remedy()),
        free if is_small => {
            let (free, total) = (free >> 20, total >> 20);
            let text = format!(
                "the file system of {path} is nearly full: {free} MiB of {total} MiB are free"
            );
            add(text, remedy());
        }
        _ => {}
    }
}

/// Why a share is read-only in practice although the settings allow writing.
pub fn why_not_writable(share: &ShareSettings) -> Option<&'static str> {
    let folder = look(Path::new(&share.path.replace("%%", "%"))).ok()?;
    write_obstacle(share, folder)
}

fn write_obstacle(share: &ShareSettings, folder: Folder) -> Option<&'static str> {
    if !share.available || !writable(share) {
        None
    } else if folder.read_only {
        Some("the file system is mounted read-only")
    } else if !folder.may_write {
        Some("the server's user may not write in the folder")
    } else {
        None
    }
}

/// Whether the settings allow any user to write.
pub fn writable(share: &ShareSettings) -> bool {
    share.printable || !share.read_only || !share.write_list.is_empty()
}

/// The problems of all shares' folders, as share, folder and problem.
pub(super) fn all(settings: &Settings) -> Vec<(String, String, Problem)> {
    let mut found = Vec::new();
    for share in settings.shares.iter().filter(|share| share.available) {
        let Ok(path) = super::share_path::path(settings, share) else {
            continue;
        };
        let mut problems = match look(Path::new(&path)) {
            Ok(folder) => problems(share, Path::new(&path), folder),
            Err(error) => vec![Problem {
                text: format!("cannot look at {path}: {error}"),
                remedy: "name a folder that exists and that the server's user may read".into(),
            }],
        };
        problems.extend(super::spool::problems(share, Path::new(&path)));
        found.extend(
            problems
                .into_iter()
                .map(|problem| (share.name.clone(), path.clone(), problem)),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use coax_smbconf::load::load_text;

    const GOOD: Folder = Folder {
        may_write: true,
        read_only: false,
        keeps_attributes: true,
        tells_case: true,
        space: (1 << 40, 1 << 41),
        out_of_inodes: false,
    };

    fn texts(conf: &str, folder: Folder) -> Vec<String> {
        let conf = format!("[DATA]\npath = /srv\n{conf}\n");
        let settings = load_text("t", &conf).settings;
        let found = problems(&settings.shares[0], Path::new("/srv"), folder);
        found
            .into_iter()
            .map(|problem| format!("{}; {}", problem.text, problem.remedy))
            .collect()
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_not_announced_as_writable() {
        let share = |conf: &str| {
            let conf = format!("[DATA]\npath = /\nguest ok = yes\n{conf}");
            load_text("t", &conf).settings.shares[0].clone()
        };
        let denied = Folder {
            may_write: false,
            ..GOOD
        };
        let mounted = Folder {
            read_only: true,
            ..GOOD
        };
        let writable = share("read only = no\n");
        assert_eq!(write_obstacle(&writable, GOOD), None);
        let why = |folder| write_obstacle(&writable, folder).unwrap();
        assert!(why(denied).contains("may not write in the folder"));
        assert!(why(mounted).contains("mounted read-only"));
        assert_eq!(write_obstacle(&share(""), denied), None);
    }

    #[test]
    fn a_good_folder_has_no_problem_and_a_read_only_share_needs_no_right_to_write() {
        assert_eq!(texts("read only = no", GOOD), [""; 0]);
        let bad = Folder {
            may_write: false,
            read_only: true,
            space: (0, 1 << 40),
            ..GOOD
        };
        assert_eq!(texts("read only = yes", bad), [""; 0]);
        assert_eq!(texts("write list = ann", bad).len(), 1);
    }

    #[test]
    fn each_problem_is_one_line_with_its_remedy() {
        for (folder, problem, remedy) in [
            (
                Folder {
                    may_write: false,
                    ..GOOD
                },
                "the server's user may not write in /srv",
                "chown",
            ),
            (
                Folder {
                    read_only: true,
                    may_write: false,
                    ..GOOD
                },
                "mounted read-only",
                "remount",
            ),
            (
                Folder {
                    keeps_attributes: false,
                    ..GOOD
                },
                "no extended attributes",
                "store dos attributes = no",
            ),
            (
                Folder {
                    space: (0, 1 << 30),
                    ..GOOD
                },
                "is full",
                "delete files",
            ),
            (
                Folder {
                    space: (900 << 20, 1 << 40),
                    ..GOOD
                },
                "900 MiB of 1048576 MiB",
                "delete files",
            ),
            (
                Folder {
                    out_of_inodes: true,
                    ..GOOD
                },
                "no inodes left",
                "delete files",
            ),
        ] {
            let found = texts("read only = no", folder);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].contains(problem) && found[0].contains(remedy),
                "{found:?}"
            );
        }
        let folded = Folder {
            tells_case: false,
            ..GOOD
        };
        assert_eq!(texts("read only = no", folded), [""; 0]);
        let tiny_and_empty = Folder {
            space: (8 << 20, 8 << 20),
            ..GOOD
        };
        assert_eq!(texts("read only = no", tiny_and_empty), [""; 0]);
        assert_eq!(texts("case sensitive = yes", folded).len(), 1);
    }

    #[test]
    fn a_folder_of_our_own_is_writable_and_procfs_keeps_no_attributes() {
        let folder = tempfile::tempdir().unwrap();
        let seen = look(folder.path()).unwrap();
        assert!(seen.may_write && !seen.read_only && seen.tells_case && seen.space.1 > 0);
        assert!(!look(Path::new("/proc")).unwrap().keeps_attributes);
        assert_eq!(look(Path::new("/no/such/folder")), Err(Errno::NOENT));
    }
}
