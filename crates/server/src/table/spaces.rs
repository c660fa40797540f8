//! Path spaces. Paths of shares with the same folder mean the same files, so these shares have one path space: a rename
//! or deletion through one of them concerns the opens and notifications of all.

use super::{ShareId, Tables};

impl Tables {
    /// Assigns `share` the path space of the first share in `same` that has one, else a space of its own. `same` are
    /// the shares with the same folder. A share keeps its space: opens are indexed by it.
    pub fn join_space(&mut self, share: ShareId, same: impl Iterator<Item = ShareId>) {
        if self.spaces.contains_key(&share) {
            return;
        }
        let mut spaces = same.filter_map(|other| self.spaces.get(&other).copied());
        let space = spaces.next().unwrap_or(share);
        self.spaces.insert(share, space);
    }

    /// The path space of a share, and of a path space itself.
    pub fn space(&self, share: ShareId) -> ShareId {
        self.spaces.get(&share).copied().unwrap_or(share)
    }
}
