//! A file system whose changes of names and attributes reach the disk before they return: for shares with `sync
//! always`.
//!
//! A change of a name syncs its folder; a change of attributes, times or length syncs the file. The engine syncs
//! contents itself, because it must know whose data a failed sync may have lost (`ops::durability`). Samba syncs
//! neither folders nor attributes with any setting.

use super::{
    OpenHow, SetTimes, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult, path::split,
};
use alloc::{string::String, sync::Arc, vec::Vec};
use core::any::Any;

/// The wrapper.
#[derive(Debug)]
pub struct SyncedVfs {
    inner: Arc<dyn Vfs>,
}

#[derive(Debug)]
struct SyncedFile {
    inner: Arc<dyn VfsFile>,
}

const READ: OpenHow = OpenHow {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
};

impl SyncedVfs {
    /// Wraps a file system.
    #[must_use]
    pub fn new(inner: Arc<dyn Vfs>) -> Self {
        Self { inner }
    }

    /// Opens the folder of `path` before the change. Otherwise a lack of descriptors could make a completed change
    /// fail. `None` for the root, and for an unreadable folder, which cannot be synced.
    fn folder_of(&self, path: &str) -> VfsResult<Option<Arc<dyn VfsFile>>> {
        let Some((folder, _)) = split(path) else {
            return Ok(None);
        };
        match self.inner.open(folder, READ) {
            Ok((folder, _)) => Ok(Some(folder)),
            Err(VfsError::Denied) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn changing(&self, path: &str, change: impl FnOnce() -> VfsResult<()>) -> VfsResult<()> {
        self.changing_done(path, change)?
    }

    /// Like `changing`, for a new name. If the folder sync fails, it removes the name again: an error means that the
    /// name does not exist.
    fn adding(
        &self,
        path: &str,
        add: impl FnOnce() -> VfsResult<()>,
        take_back: impl FnOnce() -> VfsResult<()>,
    ) -> VfsResult<()> {
        let synced = self.changing_done(path, add)?;
        if synced.is_err() {
            let _ = take_back();
        }
        synced
    }

    /// Makes a change and returns the result of its sync.
    ///
    /// # Errors
    /// The errors of the change, which then has no effect.
    fn changing_done(
        &self,
        path: &str,
        change: impl FnOnce() -> VfsResult<()>,
    ) -> VfsResult<VfsResult<()>> {
        let folder = self.folder_of(path)?;
        change()?;
        Ok(sync_folder(folder.as_deref()))
    }
}

/// Syncs a folder if its file system supports that.
fn sync_folder(folder: Option<&dyn VfsFile>) -> VfsResult<()> {
    match folder.map(VfsFile::sync) {
        None | Some(Ok(()) | Err(VfsError::Unsupported)) => Ok(()),
        Some(Err(error)) => Err(error),
    }
}

impl Vfs for SyncedVfs {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        let folder = match how.create {
            true => self.folder_of(path)?,
            false => None,
        };
        let (inner, created) = self.inner.open(path, how)?;
        if !created {
            if how.truncate {
                inner.sync()?;
            }
            return Ok((Arc::new(SyncedFile { inner }), false));
        }
        let synced = inner.sync().and_then(|()| sync_folder(folder.as_deref()));
        if synced.is_err() {
            let _ = self.inner.remove_file(path);
        }
        synced?;
        Ok((Arc::new(SyncedFile { inner }), true))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        self.inner.open_dir(path)
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        self.inner.stat(path)
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        self.adding(
            path,
            || self.inner.make_dir(path),
            || self.inner.remove_dir(path),
        )
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        self.changing(path, || self.inner.remove_file(path))
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        self.changing(path, || self.inner.remove_dir(path))
    }

    fn is_link(&self, path: &str) -> bool {
        self.inner.is_link(path)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        let (old, new) = (self.folder_of(from)?, self.folder_of(to)?);
        self.inner.rename(from, to, replace)?;
        // The new name first: a power failure between the syncs may leave both names, but never neither.
        let one = split(from).map(|(folder, _)| folder) == split(to).map(|(folder, _)| folder);
        let synced = sync_folder(new.as_deref()).and_then(|()| match one {
            true => Ok(()),
            false => sync_folder(old.as_deref()),
        });
        if synced.is_err() && !replace {
            let _ = self.inner.rename(to, from, false);
        }
        synced
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        self.adding(
            to,
            || self.inner.hard_link(from, to),
            || self.inner.remove_file(to),
        )
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        self.inner.attribute(path, name)
    }

    fn attribute_in(&self, path: &str, stat: &Stat, name: &str) -> VfsResult<Vec<u8>> {
        self.inner.attribute_in(path, stat, name)
    }

    fn tells_changes_after(&self, path: &str, stat: &Stat) -> bool {
        self.inner.tells_changes_after(path, stat)
    }

    fn space(&self) -> VfsResult<Space> {
        self.inner.space()
    }
}

impl SyncedFile {
    fn changing(&self, change: impl FnOnce(&dyn VfsFile) -> VfsResult<()>) -> VfsResult<()> {
        change(&*self.inner)?;
        self.inner.sync()
    }
}

impl VfsFile for SyncedFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        self.inner.read_at(offset, buf)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)> {
        self.inner.write_at(offset, data)
    }

    fn stat(&self) -> VfsResult<Stat> {
        self.inner.stat()
    }

    fn size(&self) -> VfsResult<u64> {
        self.inner.size()
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        self.changing(|file| file.set_len(len))
    }

    fn set_len_sparse(&self, len: u64) -> VfsResult<()> {
        self.changing(|file| file.set_len_sparse(len))
    }

    // A reservation guarantees no contents and need not survive.
    fn reserve(&self, len: u64) -> VfsResult<()> {
        self.inner.reserve(len)
    }

    fn reserve_range(&self, from: u64, to: u64) -> VfsResult<()> {
        self.inner.reserve_range(from, to)
    }

    fn sync(&self) -> VfsResult<()> {
        self.inner.sync()
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        self.changing(|file| file.set_times(times))
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        self.changing(|file| file.set_writable(writable))
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        self.inner.attribute(name)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        self.changing(|file| file.set_attribute(name, value))
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        self.changing(|file| file.update_attribute(name, change))
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        self.changing(|file| file.remove_attribute(name))
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        self.inner.attribute_names()
    }

    fn as_any(&self) -> &dyn Any {
        // A driver needs the wrapped file to send it from the page cache.
        self.inner.as_any()
    }
}
