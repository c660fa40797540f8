//! Entries for the driver that watches the disk, until it takes them.

use super::{ShareId, Wake, path_index::Place};
use alloc::{
    collections::VecDeque,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

/// The maximum number of own changes kept for a slow driver; the oldest are dropped.
pub(super) const OWN_CHANGES_MAX: usize = 4096;

/// The begin or end of watches on a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderChange {
    /// The path space ([`super::Tables::space`]).
    pub share: ShareId,
    /// The folder, relative to the share's root.
    pub path: String,
    /// True: the first watch began. False: the last one ended.
    pub watched: bool,
}

/// The kind of change that this server made at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnKind {
    /// The name is new: created or moved here.
    Appeared,
    /// The name is gone: removed or moved away.
    Vanished,
    /// Contents, times or attributes changed.
    Modified,
}

/// A change that this server made in a watched folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnChange {
    /// The path space ([`super::Tables::space`]).
    pub share: ShareId,
    /// What changed, relative to the share's root.
    pub path: String,
    /// How.
    pub kind: OwnKind,
}

/// Entries for the driver that watches the disk.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) observer: Option<Arc<dyn Wake>>,
    pub(super) folders: Vec<FolderChange>,
    pub(super) own: VecDeque<OwnChange>,
    /// Own changes of names that are already in `own` and not yet reported to watchers.
    pub(super) announced: VecDeque<OwnChange>,
    /// The change that is being reported is not this server's own.
    pub(super) foreign: bool,
}

impl Observed {
    pub(super) fn note_folder(&mut self, share: ShareId, path: &str, watched: bool) -> bool {
        if self.observer.is_some() {
            let path = path.to_string();
            self.folders.push(FolderChange {
                share,
                path,
                watched,
            });
        }
        self.observer.is_some()
    }

    pub(super) fn note_own(&mut self, share: ShareId, path: &str, kind: OwnKind) {
        if self.observer.is_none() || self.foreign || self.forget(share, path, kind) {
            return;
        }
        let path = path.to_string();
        push_bounded(&mut self.own, OwnChange { share, path, kind });
    }

    /// The path space `old` is now the folder `to` of another one.
    pub(super) fn move_space(&mut self, old: ShareId, to: &Place) {
        let folders = self.folders.iter_mut().map(|f| (&mut f.share, &mut f.path));
        let changes = self.own.iter_mut().chain(&mut self.announced);
        let changes = changes.map(|change| (&mut change.share, &mut change.path));
        for (space, path) in folders.chain(changes).filter(|(space, _)| **space == old) {
            let place = to.beneath(path);
            (*space, *path) = (place.space, place.path);
        }
    }

    /// Removes the announcement of a change; returns whether there was one.
    pub(super) fn forget(&mut self, share: ShareId, path: &str, kind: OwnKind) -> bool {
        let is_it = |own: &OwnChange| own.share == share && own.path == path && own.kind == kind;
        let at = self.announced.iter().position(is_it);
        at.and_then(|at| self.announced.remove(at)).is_some()
    }
}

pub(super) fn push_bounded(changes: &mut VecDeque<OwnChange>, change: OwnChange) {
    if changes.len() >= OWN_CHANGES_MAX {
        changes.pop_front();
    }
    changes.push_back(change);
}

/// Names that are about to appear in a folder or to vanish from it.
pub(super) type Names<'a> = [Option<(&'a str, OwnKind)>; 2];
