//! A share's folder on a real disk. The kernel keeps every path beneath it.
//!
//! The root stays open, and `openat2` looks up every path with `RESOLVE_BENEATH`: no `..`, symbolic link or concurrent
//! rename leads out of the share. Operations on a name (create a folder, rename, remove) open the parent folder this
//! way and then use a single component, which cannot leave the folder.
//!
//! The kernel follows symbolic links that stay beneath the root; absolute links never do, by its rule. Listings omit
//! links that leave the share or have no target. Pipes, sockets and devices are neither listed nor opened.
//!
//! Needs Linux 5.6 (`openat2`) and `/proc`.

mod attribute;
mod cache;
mod clock;
mod dir;
mod errno;
mod file;
mod name;
mod options;
mod root;
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
    fd::AsRawFd,
    fs::{AtFlags, CWD, Mode, OFlags},
    io::Errno,
};

pub use self::name::decode as decode_name;
pub use self::{
    dir::DiskDir,
    file::DiskFile,
    options::DiskOptions,
    shared::{Claim, DiskFs, RootChange},
};
use self::{
    errno::{opening, renaming},
    root::{Place, Root, rename_into_vacancy},
    stat::stat_at,
};

/// Why a folder cannot be shared.
#[derive(Debug, thiserror::Error)]
#[error("cannot share {}: {reason}", path.display())]
pub struct DiskError {
    /// The folder.
    pub path: PathBuf,
    /// The problem with the folder or with this system.
    pub reason: String,
}

/// An open folder on disk.
#[derive(Debug)]
struct Folder {
    root: Arc<Root>,
    max_disk: Option<u64>,
}

impl Folder {
    /// Opens the folder at `root`.
    fn open_at(root: &Path, options: DiskOptions) -> Result<Self, DiskError> {
        let refuse = |reason: String| DiskError {
            path: root.to_owned(),
            reason,
        };
        let root = Root::open(root, options).map_err(refuse)?;
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
        match rustix::fs::unlinkat(at.folder(), &*at.name, AtFlags::REMOVEDIR) {
            Err(Errno::NOTDIR) if is_link(&at) => {
                rustix::fs::unlinkat(at.folder(), &*at.name, AtFlags::empty())
            }
            outcome => outcome,
        }
        .map_err(opening)
    }

    fn is_link(&self, path: &str) -> bool {
        path::check(path).is_ok() && self.root.place(path).is_ok_and(|at| is_link(&at))
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

fn is_link(at: &Place<'_>) -> bool {
    stat_at(at.folder(), &at.name).is_ok_and(|(_, file_type)| file_type.is_symlink())
}
