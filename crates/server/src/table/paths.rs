//! Opens by path, for renames and removals of folders with open files in them.

use super::path_index::moved_path;
use super::{OpenId, ShareId, Tables, path_index::Place};
use crate::vfs::FileId;
use alloc::vec::Vec;

impl Tables {
    /// Whether anything at this path is open.
    pub fn is_open_path(&self, share: ShareId, path: &str) -> bool {
        self.paths.at(&self.place(share, path)).next().is_some()
    }

    /// Whether anything beneath this folder is open (the folder itself does not count).
    pub fn is_open_beneath(&self, share: ShareId, folder: &str) -> bool {
        let folder = self.place(share, folder);
        self.paths.beneath(&folder).next().is_some()
    }

    /// The opens at this path, oldest first.
    pub fn opens_at(&self, share: ShareId, path: &str) -> Vec<OpenId> {
        self.paths.at(&self.place(share, path)).collect()
    }

    /// The opens beneath this folder.
    pub fn opens_beneath(&self, share: ShareId, folder: &str) -> Vec<OpenId> {
        self.paths.beneath(&self.place(share, folder)).collect()
    }

    /// Notes a rename of a file or folder: opens, notifications and marked deletions at or beneath `from` move to `to`.
    pub fn rename_paths(&mut self, share: ShareId, from: &str, to: &str) {
        let (from, to) = (self.place(share, from), self.place(share, to));
        let beneath = self.paths.beneath(&from);
        let moved: Vec<OpenId> = self.paths.at(&from).chain(beneath).collect();
        for id in moved {
            self.rename_open(id, &from, &to);
        }
        for file in self.doomed.clone() {
            self.rename_doomed(file, &from, &to);
        }
    }

    /// An open keeps its path if the new one is outside its share's folder: the engine would look for it there.
    fn rename_open(&mut self, id: OpenId, from: &Place, to: &Place) {
        let Some(request) = self.opens.get(&id).map(|open| &open.request) else {
            return;
        };
        let old = self.place(request.share, &request.path);
        let Some(path) = moved_path(&old.path, &from.path, &to.path) else {
            return;
        };
        let space = to.space;
        let new = Place { space, path };
        let Some(path) = self.path_in(request.share, &new) else {
            return;
        };
        if let Some(open) = self.opens.get_mut(&id) {
            open.disk.renamed();
            open.request.path = path;
        }
        self.paths.remove(old.clone(), id);
        self.paths.insert(new.clone(), id);
        self.move_watch(&old, &new, id);
    }

    fn rename_doomed(&mut self, file: FileId, from: &Place, to: &Place) {
        let doomed = self.files.get(&file).and_then(|file| file.doomed.as_ref());
        let Some((share, old)) = doomed.map(|d| (d.share, self.place(d.share, &d.path))) else {
            return;
        };
        if old.space != from.space {
            return;
        }
        let Some(path) = moved_path(&old.path, &from.path, &to.path) else {
            return;
        };
        let space = to.space;
        let new = Place { space, path };
        let inside = self.path_in(share, &new).map(|path| (share, path));
        let doomed = self.files.get_mut(&file);
        if let Some(doomed) = doomed.and_then(|file| file.doomed.as_mut()) {
            (doomed.share, doomed.path) = inside.unwrap_or((new.space, new.path));
        }
    }
}
