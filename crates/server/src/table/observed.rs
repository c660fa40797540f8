//! What the driver that watches the disk has not taken yet.

use super::{ShareId, Wake};
use alloc::{
    collections::VecDeque,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

/// Own changes kept for a driver that is slow to take them; the oldest go.
pub(super) const OWN_CHANGES_MAX: usize = 4096;

/// A folder that clients begin or cease to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderChange {
    /// The share.
    pub share: ShareId,
    /// The folder, relative to the share's root.
    pub path: String,
    /// The first watch of it began; else the last one ended.
    pub watched: bool,
}

/// How this server changed what lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnKind {
    /// The name came to be: created or moved here.
    Appeared,
    /// The name is gone: removed or moved away.
    Vanished,
    /// Contents, times or attributes changed.
    Modified,
}

/// A change that this server made in a watched folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnChange {
    /// The share.
    pub share: ShareId,
    /// What changed, relative to the share's root.
    pub path: String,
    /// How.
    pub kind: OwnKind,
}

/// What is kept for the driver that watches the disk.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) observer: Option<Arc<dyn Wake>>,
    pub(super) folders: Vec<FolderChange>,
    pub(super) own: VecDeque<OwnChange>,
    /// Own changes of names that are in `own` already and have not been reported to watchers yet.
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

    /// Whether the change had been announced; it is not any more.
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

/// Names that are about to come to a folder or to go.
pub(super) type Names<'a> = [Option<(&'a str, OwnKind)>; 2];
