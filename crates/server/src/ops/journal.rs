//! Atomic changes of a file's metadata.
//!
//! A [`Journal`] applies changes to a file and records the old values. So it can undo several changes (attributes,
//! times, extended attributes, streams) if one fails. It does not cover contents: callers that change both change the
//! contents last.

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

/// The undo record of one change.
#[derive(Debug)]
enum Undo {
    /// The attribute's old value, or that it did not exist.
    Attribute(String, Option<Vec<u8>>),
    Writable(bool),
    Times(SetTimes),
}

/// A file whose metadata changes can be undone.
#[derive(Debug)]
pub struct Journal {
    file: Arc<dyn VfsFile>,
    undo: spin::Mutex<Vec<Undo>>,
}

/// Runs `work`, which changes the file's metadata. If it fails, undoes its changes.
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
    /// An empty journal of a file.
    pub fn new(file: Arc<dyn VfsFile>) -> Arc<Self> {
        Arc::new(Self {
            file,
            undo: spin::Mutex::new(Vec::new()),
        })
    }

    /// Undoes all changes, the latest first. A change that cannot be undone stays.
    pub fn roll_back(&self) {
        let undo = core::mem::take(&mut *self.undo.lock());
        for change in undo.into_iter().rev() {
            // The caller reports the original failure, which matters more than this one.
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
        // Recorded first: a change may take effect and still fail, if its sync fails.
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
