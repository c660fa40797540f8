//! A cache of folder indexes, valid while the folder does not change.
//!
//! A folder's index is valid while the folder's own times stay the same. If the clock of the file system is coarse
//! ([`crate::vfs::VfsDir::tells_changes_after`]), an index is *settled* only if it was read after the tick. The engine
//! enters its own creations, removals and renames into the index ([`NameCache::changed`]), so that it reads a busy
//! folder of 50,000 files only once.

use crate::{
    names::{index::DirIndex, mangle::ShortName},
    table::ShareId,
    vfs::{FsTime, Stat, VfsDir, VfsResult},
};
use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};

/// The state of a folder: while it stays the same, so do the folder's names.
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

/// The change of one name in a folder.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// The name is new.
    Added(&'a str),
    /// The name is gone.
    Removed(&'a str),
    /// The first name became the second.
    Renamed(&'a str, &'a str),
}

/// The state of a folder when its names were read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The state.
    pub stamp: Stamp,
    /// Whether every later change will change the state.
    pub settled: bool,
}

impl Seen {
    /// The current state of an open folder.
    ///
    /// # Errors
    /// The errors of the file system.
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

/// The maximum number of names in all indexes together. Beyond it the cache drops the least recently used folder.
const MAX_NAMES: usize = 2_000_000;
/// The maximum number of folders in the cache.
const MAX_FOLDERS: usize = 4_096;

/// The indexes of recently used folders of all shares.
#[derive(Debug, Default)]
pub struct NameCache {
    folders: BTreeMap<(ShareId, String), Entry>,
    names: usize,
    clock: u64,
}

impl NameCache {
    /// Calls `question` with the folder's index if one is valid at `stamp`. The flag says whether it is settled.
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

    /// Number of folders in the cache.
    pub fn folders(&self) -> usize {
        self.folders.len()
    }

    /// Whether the cache has an index of the folder, valid or not. Otherwise it needs no reports of changes.
    pub fn knows(&self, share: ShareId, folder: &str) -> bool {
        self.folders.contains_key(&(share, folder.to_string()))
    }

    /// The generated 8.3 name of a name in the folder; `None` if the name is its own 8.3 name.
    pub fn generated_short(&self, share: ShareId, folder: &str, name: &str) -> Option<ShortName> {
        let entry = self.folders.get(&(share, folder.to_string()))?;
        entry.index.generated_short(entry.index.exact(name)?)
    }

    /// Stores the index of a folder.
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

    /// Enters a change that the engine made between the states `before` and `after`. An index that was invalid before
    /// does not change; the next user refreshes it, because searches hold positions in it.
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

    /// A unique generation number for a new index.
    pub fn new_generation(&mut self) -> u64 {
        self.clock = self.clock.wrapping_add(1);
        self.clock
    }

    /// Removes and returns the index of a folder, valid or not, for a refresh.
    pub fn take(&mut self, share: ShareId, folder: &str) -> Option<DirIndex> {
        let entry = self.folders.remove(&(share, folder.to_string()))?;
        self.names = self.names.saturating_sub(entry.index.len());
        Some(entry.index)
    }

    /// Drops the index of a folder.
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
