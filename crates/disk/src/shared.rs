//! A share's folder that may disappear and come back: a disk that is mounted late, a folder that is restored.
//!
//! The folder stays open, so that a rename cannot redirect the share unnoticed. If it was removed, every operation
//! fails with [`VfsError::Gone`] until a folder exists at its path again, which the share then uses.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use coax_server::vfs::{FileId, OpenHow, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult};
use rustix::{
    fd::OwnedFd,
    fs::{FlockOperation, Mode, OFlags},
    io::Errno,
};

use super::{DiskError, DiskOptions, Folder};

/// A share's folder as the engine's file system.
#[derive(Debug)]
pub struct DiskFs {
    path: PathBuf,
    options: DiskOptions,
    folder: RwLock<Arc<Folder>>,
    /// The last result of [`Self::check`]: the folder's id, or `None` if it is missing.
    last: Mutex<Option<FileId>>,
}

/// A change of a share's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootChange {
    /// The folder was removed.
    Gone,
    /// A folder exists at the path again.
    Back,
    /// Another folder is at the path: it was replaced, or a disk was mounted there.
    Replaced,
    /// A folder exists at the path again, or was replaced, and cannot be read.
    Unreadable(String),
}

/// Whether another server has the same folder.
#[derive(Debug)]
pub enum Claim {
    /// This server has the lock as long as it keeps this descriptor.
    Ours(OwnedFd),
    /// Another server has the lock.
    Theirs,
    /// The file system does not support the lock.
    Unknown,
}

impl DiskFs {
    /// Shares the folder `root`.
    ///
    /// # Errors
    /// The folder does not open, the kernel has no `openat2`, or `/proc` is missing.
    pub fn new(root: &Path, options: DiskOptions) -> Result<Self, DiskError> {
        let folder = Folder::open_at(root, options)?;
        Ok(Self {
            path: root.to_owned(),
            options,
            last: Mutex::new(folder.id()),
            folder: RwLock::new(Arc::new(folder)),
        })
    }

    /// Checks whether the folder still exists and is still the one at its path; returns the change since the last call.
    /// Call it every few seconds.
    pub fn check(&self) -> Option<RootChange> {
        let now = self.look().and_then(|folder| folder.id());
        let mut last = self.last();
        let before = std::mem::replace(&mut *last, now);
        drop(last);
        match (before, now) {
            (None, None) => None,
            (Some(_), None) => Some(RootChange::Gone),
            (Some(before), Some(now)) if before == now => None,
            (before, Some(_)) => Some(match self.folder().probe() {
                Err(error) => RootChange::Unreadable(error.to_string()),
                Ok(_) if before.is_none() => RootChange::Back,
                Ok(_) => RootChange::Replaced,
            }),
        }
    }

    /// The folder's id, if it exists.
    pub fn id(&self) -> Option<FileId> {
        self.folder().id()
    }

    /// Claims the folder for this server by an advisory lock (flock), shared if the share is read-only.
    pub fn claim(&self, writes: bool) -> Claim {
        let Ok(folder) = self.folder().probe() else {
            return Claim::Unknown;
        };
        let how = match writes {
            true => FlockOperation::NonBlockingLockExclusive,
            false => FlockOperation::NonBlockingLockShared,
        };
        match rustix::fs::flock(&folder, how) {
            Ok(()) => Claim::Ours(folder),
            Err(Errno::WOULDBLOCK) => Claim::Theirs,
            Err(_) => Claim::Unknown,
        }
    }

    /// Switches to the folder at the path; `None` if there is none.
    fn look(&self) -> Option<Arc<Folder>> {
        let current = self.folder();
        let there = Folder::open_at(&self.path, self.options).ok();
        match there {
            Some(there) if there.id().is_some() && there.id() != current.id() => {
                let there = Arc::new(there);
                let mut folder = self.folder.write().unwrap_or_else(PoisonError::into_inner);
                *folder = there.clone();
                Some(there)
            }
            // A renamed folder still exists.
            _ => current.id().is_some().then_some(current),
        }
    }

    fn with<T>(&self, work: impl Fn(&Folder) -> VfsResult<T>) -> VfsResult<T> {
        let folder = self.folder();
        match work(&folder) {
            Err(VfsError::NotFound | VfsError::Gone | VfsError::Io(_)) if folder.id().is_none() => {
                let there = self.look().ok_or(VfsError::Gone)?;
                work(&there)
            }
            outcome => outcome,
        }
    }

    pub(super) fn folder(&self) -> Arc<Folder> {
        let folder = self.folder.read();
        folder.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn last(&self) -> MutexGuard<'_, Option<FileId>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folder {
    /// The folder's id, unless it was removed.
    fn id(&self) -> Option<FileId> {
        let stat = super::stat::stat_of(&self.root.fd).ok()?;
        (stat.links > 0).then_some(stat.id)
    }

    /// Opens the folder for reading.
    fn probe(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.root.fd, ".", flags, Mode::empty())
    }

    /// Checks that the folder exists: a removed folder still opens and lists as empty.
    fn must_be_there(&self, path: &str) -> VfsResult<()> {
        match path.is_empty() && self.id().is_none() {
            true => Err(VfsError::Gone),
            false => Ok(()),
        }
    }
}

impl Vfs for DiskFs {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        self.with(|folder| folder.open(path, how))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        self.with(|folder| {
            folder.must_be_there(path)?;
            folder.open_dir(path)
        })
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        self.with(|folder| match folder.stat(path)? {
            Stat { links: 0, .. } if path.is_empty() => Err(VfsError::Gone),
            stat => Ok(stat),
        })
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        self.with(|folder| folder.make_dir(path))
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        self.with(|folder| folder.remove_file(path))
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        self.with(|folder| folder.remove_dir(path))
    }

    fn is_link(&self, path: &str) -> bool {
        self.with(|folder| Ok(folder.is_link(path)))
            .unwrap_or(false)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        self.with(|folder| folder.rename(from, to, replace))
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        self.with(|folder| folder.hard_link(from, to))
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        self.with(|folder| folder.attribute(path, name))
    }

    fn attribute_in(&self, path: &str, stat: &Stat, name: &str) -> VfsResult<Vec<u8>> {
        self.with(|folder| folder.attribute_in(path, stat, name))
    }

    fn tells_changes_after(&self, path: &str, stat: &Stat) -> bool {
        self.folder().tells_changes_after(path, stat)
    }

    fn space(&self) -> VfsResult<Space> {
        self.with(|folder| {
            folder.must_be_there("")?;
            folder.space()
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::{
        thread::sleep,
        time::{Duration, Instant},
    };

    fn shared() -> (tempfile::TempDir, PathBuf, DiskFs) {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("share");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("A"), b"one").unwrap();
        let disk = DiskFs::new(&path, DiskOptions::default()).unwrap();
        (parent, path, disk)
    }

    fn create(disk: &DiskFs) -> VfsResult<()> {
        let how = OpenHow {
            write: true,
            create: true,
            ..OpenHow::default()
        };
        disk.open("NEW", how).map(drop)
    }

    #[test]
    fn a_folder_that_was_removed_is_an_error_and_not_an_empty_folder() {
        let (_parent, path, disk) = shared();
        std::fs::remove_dir_all(&path).unwrap();
        assert_eq!(disk.open_dir("").unwrap_err(), VfsError::Gone);
        assert_eq!(disk.stat("").unwrap_err(), VfsError::Gone);
        assert_eq!(disk.stat("A").unwrap_err(), VfsError::Gone);
        assert_eq!(disk.space().unwrap_err(), VfsError::Gone);
        assert_eq!(disk.make_dir("B").unwrap_err(), VfsError::Gone);
        assert_eq!(create(&disk).unwrap_err(), VfsError::Gone);
    }

    #[test]
    fn a_restored_folder_is_used_at_once_and_each_change_is_reported_once() {
        let (_parent, path, disk) = shared();
        assert_eq!(disk.check(), None);
        std::fs::remove_dir_all(&path).unwrap();
        assert_eq!(disk.check(), Some(RootChange::Gone));
        assert_eq!(disk.check(), None);
        std::fs::create_dir(&path).unwrap();
        create(&disk).unwrap();
        assert!(path.join("NEW").exists());
        assert_eq!(disk.check(), Some(RootChange::Back));
        assert_eq!(disk.check(), None);
    }

    #[test]
    fn a_missing_file_is_not_reported_as_a_missing_folder() {
        let (_parent, _path, disk) = shared();
        assert_eq!(disk.stat("NOT-THERE").unwrap_err(), VfsError::NotFound);
        assert_eq!(disk.check(), None);
    }

    #[test]
    fn a_replaced_folder_is_detected_and_a_moved_folder_is_kept() {
        let (parent, path, disk) = shared();
        std::fs::rename(&path, parent.path().join("aside")).unwrap();
        assert_eq!(disk.check(), None);
        assert_eq!(disk.stat("A").unwrap().size, 3);
        std::fs::create_dir(&path).unwrap();
        assert_eq!(disk.check(), Some(RootChange::Replaced));
        assert_eq!(disk.stat("A").unwrap_err(), VfsError::NotFound);
    }

    #[test]
    fn a_second_claim_of_a_folder_fails_until_the_first_is_released() {
        let (_parent, path, disk) = shared();
        let other = DiskFs::new(&path, DiskOptions::default()).unwrap();
        let first = disk.claim(true);
        assert!(matches!(first, Claim::Ours(_)));
        assert!(matches!(other.claim(true), Claim::Theirs));
        assert!(matches!(other.claim(false), Claim::Theirs));
        drop(first);
        // A process that another test starts keeps its copy of the lock until its exec closes it.
        let until = Instant::now() + Duration::from_secs(30);
        let claimed = |disk: &DiskFs| loop {
            match disk.claim(false) {
                Claim::Theirs if Instant::now() < until => sleep(Duration::from_millis(5)),
                claim => break claim,
            }
        };
        let readers = (claimed(&disk), claimed(&other));
        assert!(matches!(readers, (Claim::Ours(_), Claim::Ours(_))));
    }
}
