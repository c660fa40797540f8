//! Changes by programs on this machine. The driver that watches the disk learns here which folders clients watch, and
//! which changes this server itself has made. So it reports a client's change once and not twice.

use super::observed::push_bounded;
use super::observed::{FolderChange, Names, OwnChange};
use super::{ShareId, Tables, Wake};
use alloc::{sync::Arc, vec::Vec};

impl Tables {
    /// Announces that this server is about to change names in a folder. The engine must call this before it changes the
    /// disk: the driver may see the change before this server reports it to watchers. That report then adds nothing to
    /// [`Self::take_own_changes`].
    pub(crate) fn announce(&mut self, share: ShareId, folder: &str, names: Names<'_>) {
        if self.observed.observer.is_none() || !self.is_watched(share, folder) {
            return;
        }
        let folder = self.place(share, folder);
        let share = folder.space;
        for (name, kind) in names.into_iter().flatten() {
            let path = crate::vfs::path::join(&folder.path, name);
            self.observed.note_own(share, &path, kind);
            push_bounded(
                &mut self.observed.announced,
                OwnChange { share, path, kind },
            );
        }
    }

    /// Retracts an announcement whose change failed.
    pub(crate) fn retract(&mut self, share: ShareId, folder: &str, names: Names<'_>) {
        let folder = self.place(share, folder);
        let share = folder.space;
        for (name, kind) in names.into_iter().flatten() {
            let path = crate::vfs::path::join(&folder.path, name);
            self.observed.forget(share, &path, kind);
        }
    }

    /// Registers the driver that watches the disk. The tables call `observer`, unlocked, whenever
    /// [`Self::take_folder_changes`] has entries.
    pub fn observe(&mut self, observer: Arc<dyn Wake>) {
        self.observed.observer = Some(observer);
    }

    /// Folders for which a watch began or ended since the last call, in order.
    pub fn take_folder_changes(&mut self) -> Vec<FolderChange> {
        core::mem::take(&mut self.observed.folders)
    }

    /// Changes made by this server in watched folders since the last call, in order. If there are too many, only the
    /// newest.
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

    /// Reports changes that did not come from clients of this server.
    pub(crate) fn report_foreign(&mut self, report: impl FnOnce(&mut Self)) {
        self.observed.foreign = true;
        report(self);
        self.observed.foreign = false;
    }

    /// Notes for the driver that a folder got its first watch or lost its last one.
    pub(super) fn note_folder(&mut self, share: ShareId, path: &str, watched: bool) {
        if self.observed.note_folder(share, path, watched)
            && let Some(observer) = &self.observed.observer
        {
            self.wakes.push(observer.clone());
        }
    }
}
