//! The root folder of a share, beneath which every path is looked up.

use std::path::Path;

use coax_server::vfs::{Kind, OpenHow, Stat, VfsError, VfsResult, path};
use rustix::{
    fd::{AsFd, AsRawFd, OwnedFd},
    fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags},
    io::Errno,
};

use super::{
    DiskOptions,
    cache::AttributeCache,
    clock,
    errno::{opening, renaming},
    name,
    stat::{self, stat_at, stat_of},
};

/// Maximum number of lookup attempts: the kernel aborts a lookup (`EAGAIN`) when a concurrent rename affects the path.
const LOOKUPS: usize = 32;
/// Maximum number of open-or-create attempts: another process may create or remove the file between the two steps.
const CREATIONS: usize = 8;

/// The share's open folder and the lookup rules for paths beneath it.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) fd: OwnedFd,
    /// Its device and the type of its file system.
    pub(super) file_system: (u64, u64),
    resolve: ResolveFlags,
    file_mode: Mode,
    pub(super) dir_mode: Mode,
    pub(super) attributes: AttributeCache,
    /// Files that have user attributes other than the one in `attributes`.
    pub(super) others: AttributeCache,
}

/// A name in a folder beneath the root.
pub(super) struct Place<'a> {
    root: &'a Root,
    parent: Option<OwnedFd>,
    pub(super) name: std::borrow::Cow<'a, [u8]>,
}

impl Place<'_> {
    pub(super) fn folder(&self) -> &OwnedFd {
        self.parent.as_ref().unwrap_or(&self.root.fd)
    }
}

impl Root {
    /// Opens the folder at `path`.
    pub(super) fn open(path: &Path, options: DiskOptions) -> Result<Self, String> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| e.to_string())?;
        let device = stat_of(&fd).map_err(|e| e.to_string())?.id.device;
        let root = Self {
            file_system: (device, clock::file_system(&fd)),
            fd,
            resolve: resolve_flags(options),
            file_mode: Mode::from_raw_mode(options.file_mode),
            dir_mode: Mode::from_raw_mode(options.dir_mode),
            attributes: AttributeCache::default(),
            others: AttributeCache::default(),
        };
        root.probe()?;
        Ok(root)
    }

    /// Checks that the system has the required features.
    fn probe(&self) -> Result<(), String> {
        match rustix::fs::openat2(
            &self.fd,
            ".",
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            self.resolve,
        ) {
            Ok(_) => {}
            Err(Errno::NOSYS) => {
                return Err("this kernel has no openat2, without which paths cannot be kept inside the share: \
                            Linux 5.6 or newer has it, unless a systemd unit says RestrictSUIDSGID=yes, which forbids it"
                    .into());
            }
            Err(Errno::PERM) => {
                return Err("openat2 is forbidden here, probably by the container's seccomp filter; allow it".into());
            }
            Err(other) => return Err(other.to_string()),
        }
        let own = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        rustix::fs::stat(own)
            .map(drop)
            .map_err(|e| format!("/proc is needed, and is not mounted here ({e})"))
    }

    /// Opens a path beneath the root.
    pub(super) fn look_up(&self, path: &str, flags: OFlags, mode: Mode) -> VfsResult<OwnedFd> {
        let bytes = name::encode(path);
        let bytes = if bytes.is_empty() {
            b".".as_slice()
        } else {
            &bytes
        };
        for _ in 0..LOOKUPS {
            match rustix::fs::openat2(&self.fd, bytes, flags | OFlags::CLOEXEC, mode, self.resolve)
            {
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::LOOP) if self.resolve.contains(ResolveFlags::NO_SYMLINKS) => {
                    return Err(VfsError::Denied);
                }
                outcome => return outcome.map_err(opening),
            }
        }
        Err(VfsError::Busy)
    }

    /// Splits a path other than the root into its opened parent folder and the name.
    pub(super) fn place<'a>(&'a self, path: &'a str) -> VfsResult<Place<'a>> {
        let (parent, name) = path::split(path).ok_or(VfsError::Busy)?;
        let parent = match parent {
            "" => None,
            parent => {
                Some(self.look_up(parent, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?)
            }
        };
        Ok(Place {
            root: self,
            parent,
            name: name::encode(name),
        })
    }

    pub(super) fn open_file(&self, path: &str, how: OpenHow) -> VfsResult<(OwnedFd, bool)> {
        let flags = open_flags(how);
        let exclusive = OFlags::CREATE | OFlags::EXCL;
        if !how.create {
            return self.open_existing(path, how, flags).map(|fd| (fd, false));
        }
        if how.exclusive {
            return self
                .look_up(path, flags | exclusive, self.file_mode)
                .map(|fd| (fd, true));
        }
        for _ in 0..CREATIONS {
            match self.look_up(path, flags, Mode::empty()) {
                Err(VfsError::NotFound) => {}
                Ok(fd) if stat::kind_of(&fd)? == Kind::Directory => {
                    return Err(VfsError::IsADirectory);
                }
                outcome => return outcome.map(|fd| (fd, false)),
            }
            match self.look_up(path, flags | exclusive, self.file_mode) {
                Err(VfsError::Exists) => {}
                outcome => return outcome.map(|fd| (fd, true)),
            }
        }
        // A symbolic link to a missing name beneath the root: creates the file at the target.
        self.look_up(path, flags | OFlags::CREATE, self.file_mode)
            .map(|fd| (fd, true))
    }

    /// A file without read and write permission can still be opened for its metadata.
    fn open_existing(&self, path: &str, how: OpenHow, flags: OFlags) -> VfsResult<OwnedFd> {
        match self.look_up(path, flags, Mode::empty()) {
            Err(VfsError::Denied) if how == OpenHow::default() => {
                self.look_up(path, OFlags::PATH, Mode::empty())
            }
            outcome => outcome,
        }
    }

    pub(super) fn stat(&self, path: &str) -> VfsResult<Stat> {
        if path.is_empty() {
            return stat_of(&self.fd);
        }
        if !path.contains('/') {
            let (stat, file_type) = stat_at(&self.fd, &name::encode(path))?;
            if !file_type.is_symlink() {
                return Ok(stat);
            }
        }
        stat_of(&self.look_up(path, OFlags::PATH, Mode::empty())?)
    }
}

fn resolve_flags(options: DiskOptions) -> ResolveFlags {
    let mut flags = ResolveFlags::NO_MAGICLINKS;
    flags.set(ResolveFlags::BENEATH, !options.wide_links);
    flags.set(ResolveFlags::NO_SYMLINKS, !options.follow_symlinks);
    flags
}

/// `O_NONBLOCK`: opening a pipe must not block before its type is known.
fn open_flags(how: OpenHow) -> OFlags {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags |= match (how.read, how.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    flags.set(OFlags::TRUNC, how.truncate);
    flags
}

pub(super) fn rename_into_vacancy(old: &Place<'_>, new: &Place<'_>) -> VfsResult<()> {
    let (from, to) = (old.folder().as_fd(), new.folder().as_fd());
    match rustix::fs::renameat_with(from, &*old.name, to, &*new.name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_with_a_check(old, new),
        outcome => outcome.map_err(renaming),
    }
}

/// Renames on file systems that cannot rename without replacing. A file uses a second link, which fails if the target
/// exists. A folder uses a check first; at worst the rename replaces an empty folder created in between.
pub(super) fn rename_with_a_check(old: &Place<'_>, new: &Place<'_>) -> VfsResult<()> {
    let (from, to) = (old.folder(), new.folder());
    if !stat_at(from, &old.name)?.1.is_dir() {
        match rustix::fs::linkat(from, &*old.name, to, &*new.name, AtFlags::empty()) {
            Ok(()) => {
                let unlinked = rustix::fs::unlinkat(from, &*old.name, AtFlags::empty());
                if unlinked.is_err() {
                    // A failed rename must leave one name.
                    let _ = rustix::fs::unlinkat(to, &*new.name, AtFlags::empty());
                }
                return unlinked.map_err(renaming);
            }
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {}
            Err(other) => return Err(renaming(other)),
        }
    }
    match stat_at(to, &new.name) {
        Ok(_) => Err(VfsError::Exists),
        Err(VfsError::NotFound) => {
            rustix::fs::renameat(from, &*old.name, to, &*new.name).map_err(renaming)
        }
        Err(other) => Err(other),
    }
}
