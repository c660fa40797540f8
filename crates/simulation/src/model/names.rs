//! Names: renames, deletions, folders.

use super::{Check, Moment, Place, State, beside, name, parent, place, require};
use crate::op::{Op, Request, right};
use coax_server::share::Access;

/// Whether a name matches `*.EXT`, the only kind of pattern in the programs.
fn fits(name: &str, pattern: &str) -> bool {
    pattern
        .strip_prefix('*')
        .is_some_and(|ending| name.ends_with(ending))
}

/// The name that `pattern` gives for an old name.
fn filled(old: &str, pattern: &str) -> String {
    match (pattern.strip_prefix('*'), old.split_once('.')) {
        (Some(ending), Some((stem, _))) => format!("{stem}{ending}"),
        _ => pattern.into(),
    }
}

/// Whether a path, which may end in a pattern, matches this place.
fn means(pattern: &Place, at: &Place) -> bool {
    if !pattern.1.contains('*') {
        return pattern == at;
    }
    at.0 == pattern.0
        && !at.1.is_empty()
        && parent(&at.1) == parent(&pattern.1)
        && fits(name(&at.1), name(&pattern.1))
}

/// The target of a RENAME or NT_RENAME of the object at `from`.
pub(super) fn target(from: &Place, share: usize, (new, nt): (&str, bool)) -> Place {
    let new = place(share, new);
    let name = match new.1.as_str() {
        // An empty new name in NT_RENAME stands for the old name in the share's root ([MS-CIFS] 2.2.4.66).
        "" if nt => name(&from.1).into(),
        _ => filled(name(&from.1), name(&new.1)),
    };
    match parent(&new.1) {
        "" => (share, name),
        folder => (share, format!("{folder}/{name}")),
    }
}

impl State {
    /// The places that a path matches; it may end in a pattern.
    pub(super) fn meant(&self, there: &Place) -> Vec<Place> {
        if !there.1.contains('*') {
            return vec![there.clone()];
        }
        let names = self.names.keys();
        names.filter(|at| means(there, at)).cloned().collect()
    }

    /// Old and new places of a RENAME or NT_RENAME.
    pub(super) fn moves(
        &self,
        share: usize,
        (old, new, nt): (&str, &str, bool),
    ) -> Vec<(Place, Place)> {
        let old = self.meant(&place(share, old));
        old.into_iter()
            .map(|from| (from.clone(), target(&from, share, (new, nt))))
            .collect()
    }

    pub(super) fn renamed_or_deleted(&mut self, request: &Request, at: Moment<'_>) -> Check {
        match &request.op {
            Op::Rename { old, new, nt } => {
                let share = self.authorized(request, Access::Write)?;
                let moves = self.moves(share, (old, new, *nt));
                require(!moves.is_empty(), "renamed nothing and said that it did")?;
                moves.iter().try_for_each(|(from, to)| {
                    self.may_move(from, to).and_then(|()| self.rename(from, to))
                })
            }
            Op::RenameOpen { fid, new, replace } => {
                let node = self.own(request, *fid, right::DELETE)?.node;
                self.rename_open(node, new, *replace)
            }
            Op::Delete { path } => {
                let share = self.authorized(request, Access::Write)?;
                self.deleted(place(share, path), request.waited, at)
            }
            Op::MakeFolder { path } => {
                let share = self.authorized(request, Access::Write)?;
                self.make_folder(place(share, path))
            }
            Op::RemoveFolder { path } => {
                let share = self.authorized(request, Access::Write)?;
                self.remove_folder(&place(share, path))
            }
            Op::Disposition { fid, delete } => {
                let node = self.own(request, *fid, right::DELETE)?.node;
                require(
                    !*delete || self.is_empty(node),
                    "a folder that is not empty was marked for deletion",
                )?;
                self.nodes[node].doomed = *delete;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Renames an open object within its folder.
    fn rename_open(&mut self, node: usize, new: &str, replace: bool) -> Check {
        let from = self.nodes[node]
            .place
            .clone()
            .ok_or("renamed what has no name")?;
        let to = beside(&from, new);
        if let Some(target) = self.names.get(&to).copied().filter(|_| from != to) {
            require(replace, "a rename replaced a file and was not to")?;
            require(!self.is_open(target), "a rename replaced an open file")?;
            require(
                !self.nodes[target].folder && !self.nodes[node].folder,
                "a folder was replaced, or replaced a file",
            )?;
            self.unlink(target);
        }
        self.rename(&from, &to)
    }

    /// Deletes the files of a DELETE that succeeded; another request may have deleted them while it `waited`.
    fn deleted(&mut self, pattern: Place, waited: bool, at: Moment<'_>) -> Check {
        let found = self.files_meant(&pattern);
        require(
            !found.is_empty() || waited,
            "deleted nothing and said that it did",
        )?;
        if pattern.1.contains('*') && at.faults > 0 {
            // A file that the disk does not find counts as deleted by another request.
            self.unsure_watches();
            self.perhaps_delete(&pattern);
            return Ok(());
        }
        found.iter().try_for_each(|there| self.delete(there))
    }

    /// The files that a path matches. Patterns do not delete folders.
    pub(super) fn files_meant(&self, there: &Place) -> Vec<Place> {
        let mut found = self.meant(there);
        if there.1.contains('*') {
            found.retain(|there| !self.nodes[self.names[there]].folder);
        }
        found
    }

    pub(super) fn may_move(&self, from: &Place, to: &Place) -> Check {
        let node = self
            .names
            .get(from)
            .copied()
            .ok_or("renamed a name that does not exist")?;
        require(
            !self.nodes[node].doomed,
            "renamed although its deletion is pending",
        )?;
        require(
            from == to || !self.names.contains_key(to),
            "renamed to a name that exists",
        )?;
        let conflicts = self.conflicts(node, right::DELETE, right::READ | right::WRITE);
        require(!conflicts, "renamed against the share modes of an open")
    }

    /// Moves an object, with everything in it.
    pub(super) fn rename(&mut self, from: &Place, to: &Place) -> Check {
        if from == to {
            // A change of case only may or may not be reported.
            self.unsure_watches();
            return Ok(());
        }
        let node = self.names[from];
        let folder = self
            .folder_at(to.0, parent(&to.1))
            .ok_or("renamed into a folder that does not exist")?;
        require(
            !self.nodes[folder].doomed,
            "renamed into a folder whose deletion is pending",
        )?;
        if self.nodes[node].folder {
            let beneath = self.beneath(from);
            let open = beneath.iter().any(|there| self.is_open(self.names[there]));
            require(!open, "a folder was renamed in which something is open")?;
            require(
                !beneath.contains(to) && !to.1.starts_with(&format!("{}/", from.1)),
                "a folder was moved into itself",
            )?;
        }
        self.relocate(from, to);
        self.moved(from, to, self.nodes[node].folder);
        Ok(())
    }

    pub(super) fn relocate(&mut self, from: &Place, to: &Place) {
        let mut moving = self.beneath(from);
        moving.push(from.clone());
        for old in moving {
            let Some(node) = self.names.remove(&old) else {
                continue;
            };
            let new = (to.0, format!("{}{}", to.1, &old.1[from.1.len()..]));
            self.nodes[node].place = Some(new.clone());
            self.names.insert(new, node);
        }
    }

    pub(super) fn beneath(&self, folder: &Place) -> Vec<Place> {
        let inside = format!("{}/", folder.1);
        let is_in = |there: &&Place| there.0 == folder.0 && there.1.starts_with(&inside);
        self.names.keys().filter(is_in).cloned().collect()
    }

    pub(super) fn is_empty(&self, node: usize) -> bool {
        let Some((share, path)) = &self.nodes[node].place else {
            return true;
        };
        !self.nodes[node].folder
            || !self
                .names
                .keys()
                .any(|at| at.0 == *share && !at.1.is_empty() && parent(&at.1) == path)
    }

    fn delete(&mut self, there: &Place) -> Check {
        let node = self
            .names
            .get(there)
            .copied()
            .ok_or("deleted a name that does not exist")?;
        require(!self.nodes[node].folder, "DELETE deleted a folder")?;
        require(
            !self.nodes[node].doomed,
            "deleted although its deletion is pending",
        )?;
        require(
            !self.conflicts(node, right::DELETE, 0),
            "deleted against the share modes of an open",
        )?;
        self.doom(node)
    }

    fn make_folder(&mut self, there: Place) -> Check {
        require(
            !self.names.contains_key(&there),
            "made a folder under a name that exists",
        )?;
        let folder = self
            .folder_at(there.0, parent(&there.1))
            .ok_or("made a folder in a folder that does not exist")?;
        require(
            !self.nodes[folder].doomed,
            "made a folder in a folder whose deletion is pending",
        )?;
        self.put(there.clone(), None);
        self.appeared(&there, true);
        Ok(())
    }

    fn remove_folder(&mut self, there: &Place) -> Check {
        let node = self
            .folder_at(there.0, &there.1)
            .ok_or("removed a folder that does not exist")?;
        require(
            !self.nodes[node].doomed,
            "removed although its deletion is pending",
        )?;
        require(self.is_empty(node), "removed a folder that is not empty")?;
        require(
            !self.conflicts(node, right::DELETE, right::ALL),
            "removed a folder against the share modes of an open",
        )?;
        self.doom(node)
    }

    /// Deletes the object now, or at its last close.
    fn doom(&mut self, node: usize) -> Check {
        self.nodes[node].doomed = true;
        if !self.is_open(node) {
            self.unlink(node);
        }
        Ok(())
    }

    /// Removes the name.
    pub(super) fn unlink(&mut self, node: usize) {
        self.nodes[node].doomed = false;
        if let Some(there) = self.nodes[node].place.take() {
            self.names.remove(&there);
            self.disappeared(&there, self.nodes[node].folder);
        }
    }
}
