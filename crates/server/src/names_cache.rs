//! Folders' names by every way clients spell them, kept while the folder stays as it is.
//!
//! A folder's index is good while its own times have not changed; where those tick slowly
//! ([`crate::vfs::VfsDir::tells_changes_after`]), it is *settled* only when it was read after the tick. What the engine itself creates, removes and renames
//! it enters into the index ([`NameCache::changed`]), so that a busy folder of 50,000 files is read once.

use crate::{
    names::{index::DirIndex, mangle::ShortName},
    table::ShareId,
    vfs::{FsTime, Stat, VfsDir, VfsResult},
};
use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};

/// A folder's state: while it stays, its names have not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    modified: FsTime,
    changed: FsTime,
}

impl From<&Stat> for Stamp {
    fn from(stat: &Stat) -> Self {
        Self {
            inode: stat.id.inode,
            modified: stat.modified,
            changed: stat.changed,
        }
    }
}

/// How one name of a folder changed.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// It appeared.
    Added(&'a str),
    /// It went.
    Removed(&'a str),
    /// The one became the other.
    Renamed(&'a str, &'a str),
}

/// A folder's state when its names were read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The state.
    pub stamp: Stamp,
    /// Whether every later change will show in the state.
    pub settled: bool,
}

impl Seen {
    /// The state of an open folder, now.
    ///
    /// # Errors
    /// What the file system says.
    pub fn now(dir: &dyn VfsDir) -> VfsResult<Self> {
        let stat = dir.stat()?;
        Ok(Self {
            stamp: Stamp::from(&stat),
            settled: dir.tells_changes_after(&stat),
        })
    }
}

#[derive(Debug)]
struct Entry {
    seen: Seen,
    index: DirIndex,
    used: u64,
}

/// How many names all indexes together may hold before the least used folder is forgotten.
const MAX_NAMES: usize = 2_000_000;
/// How many folders are kept.
const MAX_FOLDERS: usize = 4_096;

/// The indexes of recently used folders, of all shares.
#[derive(Debug, Default)]
pub struct NameCache {
    folders: BTreeMap<(ShareId, String), Entry>,
    names: usize,
    clock: u64,
}

impl NameCache {
    /// Asks `question` of the folder's index, if there is one that is good at `stamp`. The flag says whether it is
    /// settled.
    pub fn ask<T>(
        &mut self,
        share: ShareId,
        folder: &str,
        stamp: Stamp,
        question: impl FnOnce(&DirIndex) -> T,
    ) -> Option<(T, bool)> {
        self.clock = self.clock.wrapping_add(1);
        let entry = self.folders.get_mut(&(share, folder.to_string()))?;
        if entry.seen.stamp != stamp {
            return None;
        }
        entry.used = self.clock;
        Some((question(&entry.index), entry.seen.settled))
    }

    /// Whether the folder is indexed at all, good or not: only then is it worth telling about changes.
    pub fn knows(&self, share: ShareId, folder: &str) -> bool {
        self.folders.contains_key(&(share, folder.to_string()))
    }

    /// The 8.3 name that was generated for a name of the folder; `None` if the name is its own.
    pub fn generated_short(&self, share: ShareId, folder: &str, name: &str) -> Option<ShortName> {
        let entry = self.folders.get(&(share, folder.to_string()))?;
        entry.index.generated_short(entry.index.exact(name)?)
    }

    /// Keeps a folder's index.
    pub fn keep(&mut self, share: ShareId, folder: &str, seen: Seen, index: DirIndex) {
        self.forget(share, folder);
        self.clock = self.clock.wrapping_add(1);
        self.names = self.names.saturating_add(index.len());
        let entry = Entry {
            seen,
            index,
            used: self.clock,
        };
        self.folders.insert((share, folder.to_string()), entry);
        while (self.names > MAX_NAMES || self.folders.len() > MAX_FOLDERS) && self.folders.len() > 1
        {
            self.forget_least_used();
        }
    }

    /// Enters a change that the engine made between the states `before` and `after`. If the index was not good before,
    /// it stays as it is, to be brought up to date by who asks next: searches hold places in it.
    pub fn changed(
        &mut self,
        share: ShareId,
        folder: &str,
        before: Stamp,
        after: Seen,
        change: Change<'_>,
    ) {
        let Some(entry) = self.folders.get_mut(&(share, folder.to_string())) else {
            return;
        };
        if entry.seen.stamp != before {
            return;
        }
        let held = entry.index.len();
        match change {
            Change::Added(name) => drop(entry.index.insert(name)),
            Change::Removed(name) => drop(entry.index.remove(name)),
            Change::Renamed(from, to) => drop(entry.index.rename(from, to)),
        }
        entry.seen = after;
        self.names = self
            .names
            .saturating_sub(held)
            .saturating_add(entry.index.len());
    }

    /// A number for an index made anew, never given before.
    pub fn new_generation(&mut self) -> u64 {
        self.clock = self.clock.wrapping_add(1);
        self.clock
    }

    /// Takes a folder's index out, good or not, to be brought up to date.
    pub fn take(&mut self, share: ShareId, folder: &str) -> Option<DirIndex> {
        let entry = self.folders.remove(&(share, folder.to_string()))?;
        self.names = self.names.saturating_sub(entry.index.len());
        Some(entry.index)
    }

    /// Forgets a folder.
    pub fn forget(&mut self, share: ShareId, folder: &str) {
        let _ = self.take(share, folder);
    }

    fn forget_least_used(&mut self) {
        let oldest = self
            .folders
            .iter()
            .min_by_key(|(_, entry)| entry.used)
            .map(|(key, _)| key.clone());
        if let Some((share, folder)) = oldest {
            self.forget(share, &folder);
        }
    }
}
