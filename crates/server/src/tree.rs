//! Connected trees of one connection.

use crate::share::{Access, Share};
use alloc::{collections::BTreeMap, sync::Arc};
use coax_wire::header::Tid;

/// A connection to a share.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The share.
    pub share: Arc<Share>,
    /// What they may do.
    pub access: Access,
}

/// The trees of a connection.
#[derive(Debug, Default)]
pub struct TreeTable {
    trees: BTreeMap<u16, Tree>,
    next: u16,
}

impl TreeTable {
    /// The tree of `tid`.
    pub fn find(&self, tid: Tid) -> Option<&Tree> {
        self.trees.get(&tid.0)
    }

    /// Adds a tree, or says that `limit` are connected.
    pub fn add(&mut self, limit: usize, share: Arc<Share>, access: Access) -> Option<Tid> {
        if self.trees.len() >= limit.min(60_000) {
            return None;
        }
        loop {
            self.next = if self.next >= 0xfffe {
                1
            } else {
                self.next.wrapping_add(1)
            };
            if !self.trees.contains_key(&self.next) {
                break;
            }
        }
        let tid = Tid(self.next);
        self.trees.insert(tid.0, Tree { share, access });
        Some(tid)
    }

    /// Removes a tree.
    pub fn remove(&mut self, tid: Tid) -> Option<Tree> {
        self.trees.remove(&tid.0)
    }

    /// TIDs of all trees.
    #[cfg(test)]
    pub fn tids(&self) -> impl Iterator<Item = Tid> {
        self.trees.keys().copied().map(Tid)
    }

    /// How many are connected.
    pub fn len(&self) -> usize {
        self.trees.len()
    }
}
