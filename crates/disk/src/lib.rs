//! A share's folder on a real disk, beneath which the kernel keeps every path.
//!
//! The root is held open, and every path is looked up by `openat2` with `RESOLVE_BENEATH`: no `..`, no symbolic link
//! and no folder renamed in the meantime leads out of the share. What acts on a name (create a folder, rename, remove)
//! opens the folder that holds it this way, and then names one component in it, which can lead nowhere.
//!
//! Symbolic links are followed while they stay beneath the root; an absolute one never does, by the kernel's rule. Links
//! that leave the share or lead nowhere are not listed. Pipes, sockets and devices are neither listed nor opened.
//!
//! Needs Linux 5.6 (`openat2`) and `/proc`.

mod attribute;
mod cache;
mod clock;
mod dir;
mod errno;
mod file;
mod name;
mod shared;
mod stat;
#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use coax_server::vfs::{
    Kind, OpenHow, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult, path,
};
use rustix::{
    fd::{AsFd, AsRawFd, OwnedFd},
    fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags},
    io::Errno,
};

pub use self::name::decode as decode_name;
use self::{
    cache::AttributeCache,
    errno::{opening, renaming},
    stat::{stat_at, stat_of},
};
pub use self::{
    dir::DiskDir,
    file::DiskFile,
    shared::{Claim, DiskFs, RootChange},
};

/// The kernel gives up a lookup beneath a folder (`EAGAIN`) when something on the way was renamed meanwhile; so many
/// times it is asked again.
const LOOKUPS: usize = 32;
/// Between "it is not there" and "then create it" somebody may create or remove it; so many times both are tried.
const CREATIONS: usize = 8;

/// How a [`DiskFs`] treats links and what it creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// Follow symbolic links (`follow symlinks`). If not, a path with one on it is [`VfsError::Denied`].
    pub follow_symlinks: bool,
    /// Follow them out of the share too (`wide links`).
    pub wide_links: bool,
    /// Unix permission bits of a new file, before the process' umask.
    pub file_mode: u32,
    /// Unix permission bits of a new folder, before the process' umask.
    pub dir_mode: u32,
    /// The largest disk to admit to, bytes (`max disk size`); `None`: as large as it is.
    pub max_disk: Option<u64>,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            follow_symlinks: true,
            wide_links: false,
            file_mode: 0o644,
            dir_mode: 0o755,
            max_disk: None,
        }
    }
}

/// Why a folder cannot be shared.
#[derive(Debug, thiserror::Error)]
#[error("cannot share {}: {reason}", path.display())]
pub struct DiskError {
    /// The folder.
    pub path: PathBuf,
    /// What is wrong with it, or with this system.
    pub reason: String,
}

/// A folder on disk, held open.
#[derive(Debug)]
struct Folder {
    root: Arc<Root>,
    max_disk: Option<u64>,
}

/// The share's folder, held open, and the rules by which paths are looked up beneath it.
#[derive(Debug)]
struct Root {
    fd: OwnedFd,
    /// Its device, and what kind of file system is there.
    file_system: (u64, u64),
    resolve: ResolveFlags,
    file_mode: Mode,
    dir_mode: Mode,
    attributes: AttributeCache,
    /// Who has attributes of users beside the one in `attributes`.
    others: AttributeCache,
}

impl Folder {
    /// Holds the folder at `root`.
    fn open_at(root: &Path, options: DiskOptions) -> Result<Self, DiskError> {
        let refuse = |reason: String| DiskError {
            path: root.to_owned(),
            reason,
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(root, flags, Mode::empty()).map_err(|e| refuse(e.to_string()))?;
        let device = stat_of(&fd).map_err(|e| refuse(e.to_string()))?.id.device;
        let root = Root {
            file_system: (device, clock::file_system(&fd)),
            fd,
            resolve: resolve_flags(options),
            file_mode: Mode::from_raw_mode(options.file_mode),
            dir_mode: Mode::from_raw_mode(options.dir_mode),
            attributes: AttributeCache::default(),
            others: AttributeCache::default(),
        };
        root.probe().map_err(refuse)?;
        Ok(Self {
            root: Arc::new(root),
            max_disk: options.max_disk,
        })
    }
}

impl Vfs for Folder {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        path::check(path)?;
        let (fd, created) = self.root.open_file(path, how)?;
        if !created && stat::kind_of(&fd)? == Kind::Special {
            return Err(VfsError::Denied);
        }
        Ok((Arc::new(DiskFile::new(fd, how)), created))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        path::check(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = self.root.look_up(path, flags, Mode::empty())?;
        Ok(Arc::new(DiskDir::new(Arc::clone(&self.root), fd, path)))
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        path::check(path)?;
        self.root.stat(path)
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        path::check(path)?;
        let at = self
            .root
            .place(path)
            .map_err(|e| if path.is_empty() { VfsError::Exists } else { e })?;
        rustix::fs::mkdirat(at.folder(), &*at.name, self.root.dir_mode).map_err(opening)
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        path::check(path)?;
        let at = self.root.place(path).map_err(|e| {
            if path.is_empty() {
                VfsError::IsADirectory
            } else {
                e
            }
        })?;
        rustix::fs::unlinkat(at.folder(), &*at.name, AtFlags::empty()).map_err(opening)
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        path::check(path)?;
        let at = self.root.place(path)?;
        rustix::fs::unlinkat(at.folder(), &*at.name, AtFlags::REMOVEDIR).map_err(opening)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        path::check(from)?;
        path::check(to)?;
        let (old, new) = (self.root.place(from)?, self.root.place(to)?);
        if !replace {
            return rename_into_vacancy(&old, &new);
        }
        let (_, file_type) = stat_at(old.folder(), &old.name)?;
        if file_type.is_dir() && from != to {
            return rename_into_vacancy(&old, &new);
        }
        rustix::fs::renameat(old.folder(), &*old.name, new.folder(), &*new.name).map_err(renaming)
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        path::check(from)?;
        path::check(to)?;
        let file = self.root.look_up(from, OFlags::PATH, Mode::empty())?;
        match stat::kind_of(&file)? {
            Kind::Directory => return Err(VfsError::IsADirectory),
            Kind::Special => return Err(VfsError::Denied),
            Kind::File => {}
        }
        let at = self
            .root
            .place(to)
            .map_err(|e| if to.is_empty() { VfsError::Exists } else { e })?;
        let source = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(CWD, source, at.folder(), &*at.name, AtFlags::SYMLINK_FOLLOW)
            .map_err(renaming)
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        path::check(path)?;
        let fd = self.root.look_up(path, OFlags::PATH, Mode::empty())?;
        attribute::of_path_fd(&fd, name)
    }

    fn attribute_in(&self, path: &str, stat: &Stat, name: &str) -> VfsResult<Vec<u8>> {
        let read = || match self.attribute(path, name) {
            Ok(value) => Ok(Some(value)),
            Err(VfsError::NoAttribute) => Ok(None),
            Err(other) => Err(other),
        };
        let value = self.root.attributes.try_value(stat, name, read)?;
        value.ok_or(VfsError::NoAttribute)
    }

    fn tells_changes_after(&self, folder: &str, stat: &Stat) -> bool {
        let (device, file_system) = self.root.file_system;
        if stat.id.device == device {
            return clock::settled_on(file_system, stat);
        }
        self.open_dir(folder)
            .is_ok_and(|dir| dir.tells_changes_after(stat))
    }

    fn space(&self) -> VfsResult<Space> {
        let space = stat::space(&self.root.fd)?;
        let most = self.max_disk.unwrap_or(u64::MAX);
        Ok(Space {
            total: space.total.min(most),
            free: space.free.min(most),
        })
    }
}

/// A name in a folder that lies beneath the root.
struct Place<'a> {
    root: &'a Root,
    parent: Option<OwnedFd>,
    name: std::borrow::Cow<'a, [u8]>,
}

impl Place<'_> {
    fn folder(&self) -> &OwnedFd {
        self.parent.as_ref().unwrap_or(&self.root.fd)
    }
}

impl Root {
    /// Does this system have what everything here rests on?
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
                return Err("this kernel has no openat2, without which paths cannot be kept inside the share; \
                            Linux 5.6 or newer has it"
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
    fn look_up(&self, path: &str, flags: OFlags, mode: Mode) -> VfsResult<OwnedFd> {
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

    /// The folder of a path that is not the root itself, and the name in it.
    fn place<'a>(&'a self, path: &'a str) -> VfsResult<Place<'a>> {
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

    fn open_file(&self, path: &str, how: OpenHow) -> VfsResult<(OwnedFd, bool)> {
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
        // A symbolic link to a name beneath the root that is free: the file comes to be there.
        self.look_up(path, flags | OFlags::CREATE, self.file_mode)
            .map(|fd| (fd, true))
    }

    /// What one may neither read nor write one may still look at.
    fn open_existing(&self, path: &str, how: OpenHow, flags: OFlags) -> VfsResult<OwnedFd> {
        match self.look_up(path, flags, Mode::empty()) {
            Err(VfsError::Denied) if how == OpenHow::default() => {
                self.look_up(path, OFlags::PATH, Mode::empty())
            }
            outcome => outcome,
        }
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
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

/// `O_NONBLOCK`: a pipe must not hold up the open that finds out that it is one.
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

fn rename_into_vacancy(old: &Place<'_>, new: &Place<'_>) -> VfsResult<()> {
    let (from, to) = (old.folder().as_fd(), new.folder().as_fd());
    match rustix::fs::renameat_with(from, &*old.name, to, &*new.name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_with_a_check(old, new),
        outcome => outcome.map_err(renaming),
    }
}

/// For file systems that cannot rename without replacing: a file by way of a second link, which fails if something is
/// there; a folder, which at worst replaces an empty folder made in between, after a look.
fn rename_with_a_check(old: &Place<'_>, new: &Place<'_>) -> VfsResult<()> {
    let (from, to) = (old.folder(), new.folder());
    if !stat_at(from, &old.name)?.1.is_dir() {
        match rustix::fs::linkat(from, &*old.name, to, &*new.name, AtFlags::empty()) {
            Ok(()) => {
                let unlinked = rustix::fs::unlinkat(from, &*old.name, AtFlags::empty());
                if unlinked.is_err() {
                    // A rename that fails leaves one name.
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
