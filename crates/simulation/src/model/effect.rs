//! Effects that a failed request may have had.
//!
//! The client got only an error, so each effect happened or did not. [`super::Model`] follows both states until an answer
//! or the disk refutes one of them.

use super::{
    State, parent,
    terms::{Effect, Partial, Place},
};
use std::sync::Arc;

impl State {
    /// The state after an effect; `None` if the effect is impossible in this state.
    pub(super) fn after(&self, effect: &Effect) -> Option<Self> {
        let mut state = self.clone();
        let happened = match effect {
            Effect::Gone { node } => state.vanish(*node),
            Effect::Moved { from, to } => {
                let may = from != to && state.may_move(from, to).is_ok();
                may && state.rename(from, to).is_ok()
            }
            Effect::New { place, length } => state.leave_over(place, *length),
        };
        happened.then_some(state)
    }

    fn vanish(&mut self, node: usize) -> bool {
        let there = self.nodes[node].place.as_ref();
        let named = there.is_some_and(|(_, path)| !path.is_empty());
        let vanishes = named && !self.is_open(node) && self.is_empty(node);
        if vanishes {
            self.unlink(node);
        }
        vanishes
    }

    fn leave_over(&mut self, there: &Place, length: Option<u32>) -> bool {
        let folder = self.folder_at(there.0, parent(&there.1));
        let may = folder.is_some() && !self.names.contains_key(there);
        if may {
            self.put(there.clone(), length.map(|_| Vec::new()));
            self.perhaps_overwrite(self.names[there], length.unwrap_or_default());
        }
        may
    }

    /// Whether a file may have this length, after the acknowledged and the half-done changes.
    pub(super) fn may_have_length(&self, node: usize, length: u64) -> bool {
        let known = self.nodes[node].bytes.len();
        let partial = self.partial.iter().filter(|partial| partial.node == node);
        length == known as u64
            || partial.into_iter().any(|partial| {
                let most = known.max(partial.new.len());
                (partial.least as u64..=most as u64).contains(&length)
            })
    }

    /// Allows the renames of a rename that failed half-way: of any file that matches its pattern.
    pub(super) fn perhaps_move(&mut self, share: usize, names: (&str, &str, bool)) {
        let moves = self.moves(share, names).into_iter();
        self.possible
            .extend(moves.map(|(from, to)| Effect::Moved { from, to }));
    }

    /// Allows the deletion, or the mark for deletion if open, of each file that matches a pattern.
    pub(super) fn perhaps_delete(&mut self, pattern: &Place) {
        for there in self.files_meant(pattern) {
            let Some(node) = self.names.get(&there).copied() else {
                continue;
            };
            match self.is_open(node) {
                true => self.nodes[node].perhaps_doomed = true,
                false => self.possible.push(Effect::Gone { node }),
            }
        }
    }

    /// Allows a partial change of contents.
    pub(super) fn perhaps_write(&mut self, node: usize, new: Vec<u8>) {
        let least = self.nodes[node].bytes.len().min(new.len());
        self.partial.push(Partial { node, least, new });
    }

    /// Allows a partial overwrite with `length` zeros.
    pub(super) fn perhaps_overwrite(&mut self, node: usize, length: u32) {
        let new = vec![0; length as usize];
        self.partial.push(Partial {
            node,
            least: 0,
            new,
        });
    }

    /// Replaces the contents of a file.
    pub(super) fn set_bytes(&mut self, node: usize, bytes: Vec<u8>) {
        self.nodes[node].bytes = Arc::new(bytes);
    }
}
