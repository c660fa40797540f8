//! Trees of one connection, and the access check of every request's user against the tree's share.

use crate::{
    error::{Because, Result},
    reason::Reason,
    session::{Session, SessionId},
    share::{Access, Share},
};
use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use coax_wire::{header::Tid, status::Status};

/// A connection to a share. Access checks use [`TreeTable::authorize`], never the tree itself.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The share.
    share: Arc<Share>,
    /// The access that the share's password grants every user of the connection (share-level security).
    by_password: Access,
    /// Cached decisions, so that reads and writes do not compare names. At most one for each session.
    decided: Vec<(SessionId, Access)>,
}

/// A tree with the access of one session.
#[derive(Clone, Copy, Debug)]
pub struct Authorized<'a> {
    /// The share.
    pub share: &'a Arc<Share>,
    /// The access of the session's user: never [`Access::None`].
    pub access: Access,
}

impl Tree {
    fn access_of(&self, session: &Session) -> Access {
        let decided = self.decided.iter().find(|(id, _)| *id == session.id);
        match decided {
            Some((_, access)) => *access,
            None => self.decide(session),
        }
    }

    fn decide(&self, session: &Session) -> Access {
        let by_name = self.share.access(session.user.as_deref());
        by_name.max(self.by_password)
    }
}

/// The trees of a connection.
#[derive(Debug, Default)]
pub struct TreeTable {
    trees: BTreeMap<u16, Tree>,
    next: u16,
}

impl TreeTable {
    /// The one access check of a request's user against its tree's share. A TID alone grants no access: several users
    /// may share a connection, and only some of them may use another's tree ([MS-CIFS] 3.3.5.2).
    ///
    /// # Errors
    /// `BAD_TID`; `BAD_UID` if the user may not use the share, as Samba answers.
    pub fn authorize(&self, tid: Tid, session: &Session) -> Result<Authorized<'_>> {
        let tree = self.trees.get(&tid.0).ok_or(Status::BAD_TID)?;
        match tree.access_of(session) {
            Access::None => Err(Status::BAD_UID.because(Reason::NotAdmitted)),
            access => Ok(Authorized {
                share: &tree.share,
                access,
            }),
        }
    }

    /// As [`Self::authorize`], and caches the decision until [`Self::forget`].
    ///
    /// # Errors
    /// As [`Self::authorize`].
    pub fn admit(&mut self, tid: Tid, session: &Session) -> Result<()> {
        let access = self.authorize(tid, session)?.access;
        if let Some(tree) = self.trees.get_mut(&tid.0)
            && !tree.decided.iter().any(|(id, _)| *id == session.id)
        {
            tree.decided.push((session.id, access));
        }
        Ok(())
    }

    /// Removes the cached decisions of a session that ended or passed to another user.
    pub fn forget(&mut self, session: SessionId) {
        for tree in self.trees.values_mut() {
            tree.decided.retain(|(id, _)| *id != session);
        }
    }

    /// The share of a tree without an access check: for reports.
    pub fn share_of(&self, tid: Tid) -> Option<&Arc<Share>> {
        self.trees.get(&tid.0).map(|tree| &tree.share)
    }

    /// Whether a tree has this TID, without an access check.
    pub fn is_connected(&self, tid: Tid) -> bool {
        self.trees.contains_key(&tid.0)
    }

    /// Adds a tree; fails if `limit` are connected. `by_password` is the access that the share's password grants every
    /// user.
    pub fn add(&mut self, limit: usize, share: Arc<Share>, by_password: Access) -> Option<Tid> {
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
        let tree = Tree {
            share,
            by_password,
            decided: Vec::new(),
        };
        self.trees.insert(tid.0, tree);
        Some(tid)
    }

    /// The share of every tree.
    pub fn shares(&self) -> Vec<(Tid, Arc<Share>)> {
        let trees = self.trees.iter();
        trees
            .map(|(tid, tree)| (Tid(*tid), tree.share.clone()))
            .collect()
    }

    /// Gives a tree another definition of its share; the decisions are made anew.
    pub fn redefine(&mut self, tid: Tid, share: &Arc<Share>) {
        if let Some(tree) = self.trees.get_mut(&tid.0) {
            tree.share = share.clone();
            tree.decided.clear();
        }
    }

    /// Removes a tree and returns its share.
    pub fn remove(&mut self, tid: Tid) -> Option<Arc<Share>> {
        self.trees.remove(&tid.0).map(|tree| tree.share)
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.trees.len()
    }
}
