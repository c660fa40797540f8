//! Changes of a file's metadata that happen all or not at all.
//!
//! A [`Journal`] passes changes on to a file and remembers what was there before, so that several of them (attributes,
//! times, extended attributes, streams) can be taken back when one fails. Contents are not journalled: who changes both
//! changes the contents last.

use crate::{
    error::Result,
    vfs::{SetTimes, Stat, VfsError, VfsFile, VfsResult},
};
use alloc::{
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::any::Any;

/// What undoes one change.
#[derive(Debug)]
enum Undo {
    /// The attribute had this value, or did not exist.
    Attribute(String, Option<Vec<u8>>),
    Writable(bool),
    Times(SetTimes),
}

/// A file whose metadata changes can be taken back.
#[derive(Debug)]
pub struct Journal {
    file: Arc<dyn VfsFile>,
    undo: spin::Mutex<Vec<Undo>>,
}

/// Runs `work`, which changes the file's metadata. If it fails, what it changed is as it was before.
///
/// # Errors
/// Those of `work`.
pub fn atomically<T>(
    file: &Arc<dyn VfsFile>,
    work: impl FnOnce(&Arc<Journal>) -> Result<T>,
) -> Result<T> {
    let journal = Journal::new(file.clone());
    let done = work(&journal);
    if done.is_err() {
        journal.roll_back();
    }
    done
}

impl Journal {
    /// A journal of a file, empty.
    pub fn new(file: Arc<dyn VfsFile>) -> Arc<Self> {
        Arc::new(Self {
            file,
            undo: spin::Mutex::new(Vec::new()),
        })
    }

    /// Takes all changes back, the latest first. A change that cannot be taken back stays.
    pub fn roll_back(&self) {
        let undo = core::mem::take(&mut *self.undo.lock());
        for change in undo.into_iter().rev() {
            // The caller reports the failure that made this necessary, which is more to the point than this one.
            let _ = match change {
                Undo::Attribute(name, Some(value)) => self.file.set_attribute(&name, &value),
                Undo::Attribute(name, None) => self.file.remove_attribute(&name),
                Undo::Writable(writable) => self.file.set_writable(writable),
                Undo::Times(times) => self.file.set_times(times),
            };
        }
    }

    fn note(&self, undo: Undo) {
        self.undo.lock().push(undo);
    }

    /// Changes one attribute.
    fn change(&self, name: &str, change: impl FnOnce() -> VfsResult<()>) -> VfsResult<()> {
        let before = match self.file.attribute(name) {
            Ok(value) => Some(value),
            Err(VfsError::NoAttribute | VfsError::Unsupported) => None,
            Err(error) => return Err(error),
        };
        // Noted first: a change may be made and still fail, when it cannot be synced.
        self.note(Undo::Attribute(name.to_string(), before));
        change()
    }
}

impl VfsFile for Journal {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        self.file.read_at(offset, buf)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> core::result::Result<(), (usize, VfsError)> {
        self.file.write_at(offset, data)
    }

    fn stat(&self) -> VfsResult<Stat> {
        self.file.stat()
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        self.file.set_len(len)
    }

    fn reserve(&self, len: u64) -> VfsResult<()> {
        self.file.reserve(len)
    }

    fn set_len_sparse(&self, len: u64) -> VfsResult<()> {
        self.file.set_len_sparse(len)
    }

    fn reserve_range(&self, from: u64, to: u64) -> VfsResult<()> {
        self.file.reserve_range(from, to)
    }

    fn sync(&self) -> VfsResult<()> {
        self.file.sync()
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        let before = self.file.stat()?;
        self.note(Undo::Times(SetTimes {
            accessed: times.accessed.map(|_| before.accessed),
            modified: times.modified.map(|_| before.modified),
        }));
        self.file.set_times(times)
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        let before = self.file.stat()?.mode & 0o200 != 0;
        self.note(Undo::Writable(before));
        self.file.set_writable(writable)
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        self.file.attribute(name)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        self.change(name, || self.file.set_attribute(name, value))
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        self.change(name, || self.file.update_attribute(name, change))
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        self.change(name, || self.file.remove_attribute(name))
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        self.file.attribute_names()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
