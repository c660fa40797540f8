//! Changes that programs on this machine make: a driver that watches the disk learns here which folders clients watch,
//! and what this server itself has changed in them, so that it reports a change that a client made once and not twice.

use super::{ShareId, Tables, Wake};
use alloc::{
    collections::VecDeque,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

/// Own changes kept for a driver that is slow to take them; the oldest go.
const OWN_CHANGES_MAX: usize = 4096;

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
    observer: Option<Arc<dyn Wake>>,
    folders: Vec<FolderChange>,
    own: VecDeque<OwnChange>,
    /// Own changes of names that are in `own` already and have not been reported to watchers yet.
    announced: VecDeque<OwnChange>,
    /// The change that is being reported is not this server's own.
    foreign: bool,
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
    fn forget(&mut self, share: ShareId, path: &str, kind: OwnKind) -> bool {
        let is_it = |own: &OwnChange| own.share == share && own.path == path && own.kind == kind;
        let at = self.announced.iter().position(is_it);
        at.and_then(|at| self.announced.remove(at)).is_some()
    }
}

fn push_bounded(changes: &mut VecDeque<OwnChange>, change: OwnChange) {
    if changes.len() >= OWN_CHANGES_MAX {
        changes.pop_front();
    }
    changes.push_back(change);
}

/// Names that are about to come to a folder or to go.
type Names<'a> = [Option<(&'a str, OwnKind)>; 2];

impl Tables {
    /// This server is about to change names in a folder. To be called before the disk is: the disk's driver may hear of
    /// it before this server's own report to watchers, which then adds nothing to [`Self::take_own_changes`].
    pub(crate) fn announce(&mut self, share: ShareId, folder: &str, names: Names<'_>) {
        if self.observed.observer.is_none() || !self.is_watched(share, folder) {
            return;
        }
        for (name, kind) in names.into_iter().flatten() {
            let path = crate::ops::attributes::join(folder, name);
            self.observed.note_own(share, &path, kind);
            push_bounded(
                &mut self.observed.announced,
                OwnChange { share, path, kind },
            );
        }
    }

    /// What was announced did not happen.
    pub(crate) fn retract(&mut self, share: ShareId, folder: &str, names: Names<'_>) {
        for (name, kind) in names.into_iter().flatten() {
            let path = crate::ops::attributes::join(folder, name);
            self.observed.forget(share, &path, kind);
        }
    }

    /// Registers the driver that watches the disk: `observer` is called, without the tables being locked, whenever
    /// [`Self::take_folder_changes`] has something.
    pub fn observe(&mut self, observer: Arc<dyn Wake>) {
        self.observed.observer = Some(observer);
    }

    /// Folders that clients have begun or ceased to watch since the last call, in order.
    pub fn take_folder_changes(&mut self) -> Vec<FolderChange> {
        core::mem::take(&mut self.observed.folders)
    }

    /// What this server has changed in watched folders since the last call, in order; of very many the last ones.
    pub fn take_own_changes(&mut self) -> Vec<OwnChange> {
        self.observed.own.drain(..).collect()
    }

    /// Whether a client may be writing to the file at `path`: it is open for writing.
    pub fn is_open_for_writing(&self, share: ShareId, path: &str) -> bool {
        let mut opens = self.opens_at(share, path).into_iter();
        opens.any(|id| {
            self.get(id)
                .is_some_and(|open| open.request.access & super::access::WRITING != 0)
        })
    }

    /// Reports by `report` what others than this server's clients have changed.
    pub(crate) fn report_foreign(&mut self, report: impl FnOnce(&mut Self)) {
        self.observed.foreign = true;
        report(self);
        self.observed.foreign = false;
    }

    /// Tells the driver that a folder got its first watch or lost its last one.
    pub(super) fn note_folder(&mut self, share: ShareId, path: &str, watched: bool) {
        if self.observed.note_folder(share, path, watched)
            && let Some(observer) = &self.observed.observer
        {
            self.wakes.push(observer.clone());
        }
    }
}
