//! Opens by path, for renames and removals of folders with open files in them.

use super::path_index::moved_path;
use super::{Doomed, OpenId, ShareId, Tables};
use alloc::vec::Vec;

impl Tables {
    /// Whether anything at this path is open.
    pub fn is_open_path(&self, share: ShareId, path: &str) -> bool {
        self.paths.at(self.space(share), path).next().is_some()
    }

    /// Whether anything beneath this folder is open (the folder itself does not count).
    pub fn is_open_beneath(&self, share: ShareId, folder: &str) -> bool {
        self.paths
            .beneath(self.space(share), folder)
            .next()
            .is_some()
    }

    /// The opens at this path, oldest first.
    pub fn opens_at(&self, share: ShareId, path: &str) -> Vec<OpenId> {
        self.paths.at(self.space(share), path).collect()
    }

    /// The opens beneath this folder.
    pub fn opens_beneath(&self, share: ShareId, folder: &str) -> Vec<OpenId> {
        self.paths.beneath(self.space(share), folder).collect()
    }

    /// Notes a rename of a file or folder: opens, notifications and marked deletions at or beneath `from` move to `to`.
    pub fn rename_paths(&mut self, share: ShareId, from: &str, to: &str) {
        let share = self.space(share);
        let moved: Vec<OpenId> = self
            .paths
            .at(share, from)
            .chain(self.paths.beneath(share, from))
            .collect();
        for id in moved {
            let Some(open) = self.opens.get_mut(&id) else {
                continue;
            };
            let Some(path) = moved_path(&open.request.path, from, to) else {
                continue;
            };
            open.disk.renamed();
            let old = core::mem::replace(&mut open.request.path, path.clone());
            self.paths.remove(share, &old, id);
            self.paths.insert(share, &path, id);
            self.move_watch(share, &old, &path, id);
        }
        let spaces = &self.spaces;
        let is_here =
            |doomed: &Doomed| spaces.get(&doomed.share).unwrap_or(&doomed.share) == &share;
        for file in &self.doomed {
            let doomed = self
                .files
                .get_mut(file)
                .and_then(|file| file.doomed.as_mut());
            if let Some(doomed) = doomed.filter(|doomed| is_here(doomed))
                && let Some(path) = moved_path(&doomed.path, from, to)
            {
                doomed.path = path;
            }
        }
    }
}
