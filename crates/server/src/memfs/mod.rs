//! An in-memory file system: for the engine's tests, and for the lab, which must not depend on a disk.
//!
//! It behaves like a disk: an unlinked open file survives, a full disk refuses writes, and names are case-sensitive
//! bytes of UTF-8. In addition it makes calls fail as a test requests ([`Fault`]), counts calls ([`MemFs::calls`]) and
//! uses an external clock ([`MemFs::set_time`], [`MemFs::set_clock`]). A gigabyte of a repeated pattern takes a few
//! kilobytes of memory ([`MemFs::add_pattern`]).
//!
//! Not modelled: symbolic links, special files, owners, and the access time, which only
//! [`SetTimes`](crate::vfs::SetTimes) changes.

mod content;
mod file;
mod node;
mod options;
mod state;

#[cfg(test)]
mod tests;

pub use options::{Call, Fault, MemOptions};

use alloc::{sync::Arc, vec::Vec};
use state::Shared;

use core::fmt::{self, Debug};

use self::{
    content::Content,
    file::{Handle, MemDir, MemFile},
    node::Body,
    state::{Clock, State},
};

use crate::vfs::{FsTime, OpenHow, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult};

/// The file system. A clone is another handle on the same file system.
#[derive(Clone)]
pub struct MemFs {
    shared: Shared,
}

impl Default for MemFs {
    fn default() -> Self {
        Self::new()
    }
}

impl MemFs {
    /// An empty file system with [`MemOptions::default`], at time 0.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(MemOptions::default())
    }

    /// An empty file system.
    #[must_use]
    pub fn with_options(options: MemOptions) -> Self {
        Self {
            shared: Arc::new(spin::Mutex::new(State::new(options))),
        }
    }

    /// Changes the options from now on; the contents stay.
    pub fn set_options(&self, options: MemOptions) {
        self.shared.lock().options = options;
    }

    /// Sets the current time until the next call. Two changes of one object at the same time still differ in
    /// [`Stat::changed`], which always advances.
    pub fn set_time(&self, now: FsTime) {
        self.shared.lock().clock = Clock::Set(now);
    }

    /// Sets a clock that supplies the time of every change. `clock` must not call into this file system.
    pub fn set_clock(&self, clock: impl Fn() -> FsTime + Send + Sync + 'static) {
        self.shared.lock().clock = Clock::Read(Arc::new(clock));
    }

    /// Adds a fault for later calls.
    pub fn inject(&self, fault: Fault) {
        self.shared.lock().faults.push(fault);
    }

    /// Removes all pending faults.
    pub fn clear_faults(&self) {
        self.shared.lock().faults.clear();
    }

    /// The number of calls of this kind, failed ones included.
    #[must_use]
    pub fn calls(&self, call: Call) -> u64 {
        self.shared.lock().calls.get(&call).copied().unwrap_or(0)
    }

    /// Resets all call counters to 0.
    pub fn reset_calls(&self) {
        self.shared.lock().calls.clear();
    }

    /// The number of files and folders, including the root and unlinked open objects.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.shared.lock().nodes.len()
    }

    /// Creates a folder and its parents, without counting or faults.
    ///
    /// # Errors
    /// As [`Vfs::make_dir`], but existing folders are no error.
    pub fn add_dir(&self, path: &str) -> VfsResult<()> {
        self.shared.lock().add_dir(path).map(drop)
    }

    /// Creates or replaces a file with these contents, and creates its parent folders. Without counting or faults.
    ///
    /// # Errors
    /// The error of the path, or [`VfsError::NoSpace`].
    pub fn add_file(&self, path: &str, contents: &[u8]) -> VfsResult<()> {
        let mut content = Content::default();
        content.write(0, contents, true);
        self.shared.lock().add_file(path, content)
    }

    /// Like [`add_file`](Self::add_file), with `len` bytes of repeated `pattern` (zeros if it is empty), which take no
    /// memory.
    ///
    /// # Errors
    /// As [`add_file`](Self::add_file).
    pub fn add_pattern(&self, path: &str, len: u64, pattern: &[u8]) -> VfsResult<()> {
        self.shared
            .lock()
            .add_file(path, Content::patterned(len, pattern))
    }

    /// The whole contents of a file, without counting or faults.
    ///
    /// # Errors
    /// [`VfsError::NotFound`], [`VfsError::IsADirectory`], or [`VfsError::TooLarge`] if it does not fit into memory.
    pub fn contents(&self, path: &str) -> VfsResult<Vec<u8>> {
        let state = self.shared.lock();
        let content = state.content(state.resolve(path)?)?;
        let len = usize::try_from(content.len()).map_err(|_| VfsError::TooLarge)?;
        let mut all = Vec::new();
        all.try_reserve_exact(len).map_err(|_| VfsError::TooLarge)?;
        all.resize(len, 0);
        content.read(0, &mut all);
        Ok(all)
    }
}

impl Debug for MemFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemFs").finish_non_exhaustive()
    }
}

impl Vfs for MemFs {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        let mut state = self.shared.lock();
        state.begin(Call::Open)?;
        let (id, created) = state.open(path, how)?;
        Ok((
            Arc::new(MemFile::new(Handle::new(&self.shared, &mut state, id), how)),
            created,
        ))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        let mut state = self.shared.lock();
        state.begin(Call::OpenDir)?;
        let id = state.resolve(path)?;
        match state.node(id)?.body {
            Body::File(_) => Err(VfsError::NotADirectory),
            Body::Folder { .. } => Ok(Arc::new(MemDir::new(Handle::new(
                &self.shared,
                &mut state,
                id,
            )))),
        }
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        let mut state = self.shared.lock();
        state.begin(Call::Stat)?;
        state.stat(state.resolve(path)?)
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        let mut state = self.shared.lock();
        state.begin_change(Call::MakeDir)?;
        let (parent, name) = state.vacancy(path)?;
        state.insert(
            parent,
            name,
            Body::Folder {
                entries: Default::default(),
                parent,
            },
        )?;
        Ok(())
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        let mut state = self.shared.lock();
        state.begin_change(Call::RemoveFile)?;
        state.remove_file(path)
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        let mut state = self.shared.lock();
        state.begin_change(Call::RemoveDir)?;
        state.remove_dir(path)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        let mut state = self.shared.lock();
        state.begin_change(Call::Rename)?;
        state.rename(from, to, replace)
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        let mut state = self.shared.lock();
        state.begin_change(Call::HardLink)?;
        state.hard_link(from, to)
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        let mut state = self.shared.lock();
        state.begin(Call::Attribute)?;
        let id = state.resolve(path)?;
        state
            .node(id)?
            .attributes
            .get(name)
            .cloned()
            .ok_or(VfsError::NoAttribute)
    }

    fn space(&self) -> VfsResult<Space> {
        let mut state = self.shared.lock();
        state.begin(Call::Space)?;
        let total = state.options.capacity;
        Ok(Space {
            total,
            free: total.saturating_sub(state.used),
        })
    }
}
