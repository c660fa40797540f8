//! Changes that programs on this machine make: a driver that watches the disk learns here which folders clients watch,
//! and what this server itself has changed in them, so that it reports a change that a client made once and not twice.

use super::observed::push_bounded;
use super::observed::{FolderChange, Names, OwnChange};
use super::{ShareId, Tables, Wake};
use alloc::{sync::Arc, vec::Vec};

impl Tables {
    /// This server is about to change names in a folder. To be called before the disk is: the disk's driver may hear of
    /// it before this server's own report to watchers, which then adds nothing to [`Self::take_own_changes`].
    pub(crate) fn announce(&mut self, share: ShareId, folder: &str, names: Names<'_>) {
        if self.observed.observer.is_none() || !self.is_watched(share, folder) {
            return;
        }
        for (name, kind) in names.into_iter().flatten() {
            let path = crate::vfs::path::join(folder, name);
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
            let path = crate::vfs::path::join(folder, name);
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
