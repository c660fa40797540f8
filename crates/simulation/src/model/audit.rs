//! Compares the disks with the model.

use super::{
    Model, Node,
    allowance::Allowance,
    names::means,
    terms::{Check, Place, require},
};
use crate::disk::Listing;

impl Model {
    /// Compares a share's disk with the acknowledged operations.
    ///
    /// # Errors
    /// The first difference.
    pub fn audit(&mut self, share: usize, disk: &Listing) -> Check {
        let allowances: Vec<Allowance> = self
            .allowances
            .extract_if(.., |allowance| share_of(allowance, &self.nodes) == share)
            .collect();
        for allowance in &allowances {
            self.make_way(allowance, &allowances, disk);
        }
        allowances
            .into_iter()
            .try_for_each(|allowance| self.settle(allowance, disk))?;
        for ((_, path), node) in self
            .names
            .iter()
            .filter(|((of, path), _)| *of == share && !path.is_empty())
        {
            let node = &self.nodes[*node];
            match disk.get(path) {
                None => return Err(format!("{path} was acknowledged and is not on the disk")),
                Some(None) => require(node.folder, &format!("{path} is a folder on the disk"))?,
                Some(Some(bytes)) if *bytes != node.bytes => {
                    let at = bytes
                        .iter()
                        .zip(&node.bytes)
                        .position(|(a, b)| a != b)
                        .unwrap_or(bytes.len().min(node.bytes.len()));
                    let lens = (bytes.len(), node.bytes.len());
                    return Err(format!(
                        "{path} differs from what was acknowledged at byte {at}; {} bytes, not {}",
                        lens.0, lens.1
                    ));
                }
                Some(Some(_)) => require(!node.folder, &format!("{path} is a file on the disk"))?,
            }
        }
        let unknown = disk
            .keys()
            .find(|path| !self.names.contains_key(&(share, (*path).clone())));
        match unknown {
            Some(path) => Err(format!("{path} is on the disk and nobody was told so")),
            None => Ok(()),
        }
    }

    /// Ends the step: possible effects that the disk does not show did not happen.
    pub fn forget_allowances(&mut self) {
        self.allowances.clear();
        self.half_way = false;
    }

    /// Settles renames that failed half-way but took effect, before the next answer of the same step is judged. The new
    /// name is decisive, because the old one may belong to another file since.
    pub fn settle_moves(&mut self, share: usize, disk: &Listing) {
        let (names, nodes) = (&self.names, &self.nodes);
        let is_it = |from: &Place, found: Option<&Option<Vec<u8>>>| {
            let node = names.get(from).map(|node| &nodes[*node]);
            node.zip(found).is_some_and(|(node, found)| match found {
                Some(bytes) => *bytes == node.bytes,
                None => node.folder,
            })
        };
        let is_done = |allowance: &mut Allowance| match allowance {
            Allowance::Moved { from, to } => {
                let found = disk.get(&to.1);
                let is_moved = !disk.contains_key(&from.1) || is_it(from, found);
                from.0 == share && found.is_some() && is_moved && !names.contains_key(to)
            }
            _ => false,
        };
        let done: Vec<Allowance> = self.allowances.extract_if(.., is_done).collect();
        for allowance in done {
            if let Allowance::Moved { from, to } = allowance
                && self.names.contains_key(&from)
            {
                self.relocate(&from, &to);
            }
        }
    }

    /// Whether a rename on a share has failed half-way.
    #[must_use]
    pub fn has_unsettled_moves(&self, share: usize) -> bool {
        let is_move = |allowance: &Allowance| matches!(allowance, Allowance::Moved { from, .. } if from.0 == share);
        self.allowances.iter().any(is_move)
    }

    /// Handles an open that finds a name free: an operation that failed half-way in the same step may have freed it.
    pub(super) fn found_free(&mut self, there: &Place) {
        let Some(node) = self.names.get(there).copied() else {
            return;
        };
        let is_it = |allowance: &Allowance| match allowance {
            Allowance::Gone { node: gone } => *gone == node,
            Allowance::Moved { from, .. } => from == there,
            _ => false,
        };
        let Some(at) = self.allowances.iter().position(is_it) else {
            return;
        };
        match self.allowances.remove(at) {
            Allowance::Moved { from, to } if !self.names.contains_key(&to) => {
                self.relocate(&from, &to)
            }
            _ => self.unlink(node),
        }
    }

    /// Handles an open that finds a file which a failed create may have left in the same step.
    pub(super) fn found_left_over(&mut self, there: &Place, size: Option<u64>) {
        let is_it =
            |allowance: &Allowance| matches!(allowance, Allowance::New { place } if place == there);
        let Some(at) = self.allowances.iter().position(is_it) else {
            return;
        };
        self.allowances.remove(at);
        if !self.names.contains_key(there) {
            self.put(there.clone(), Some(vec![0; size.unwrap_or(0) as usize]));
        }
    }

    /// Allows the renames of a rename that failed half-way: of any file that matches its pattern. It may also have
    /// renamed a file that an earlier failure of the same step left or renamed.
    pub(super) fn perhaps_move(&mut self, share: usize, (old, new, nt): (&str, &str, bool)) {
        let pattern = super::place(share, old);
        let to = |from: &Place| super::names::target(from, share, (new, nt));
        let again: Vec<Allowance> = self
            .allowances
            .iter()
            .filter_map(|allowance| match allowance {
                Allowance::New { place } if means(&pattern, place) => {
                    Some(Allowance::New { place: to(place) })
                }
                Allowance::Moved { from, to: place } if means(&pattern, place) => {
                    let from = from.clone();
                    Some(Allowance::Moved {
                        from,
                        to: to(place),
                    })
                }
                _ => None,
            })
            .collect();
        let moves = self.moves(share, (old, new, nt)).into_iter();
        self.allowances
            .extend(moves.map(|(from, to)| Allowance::Moved { from, to }));
        self.allowances.extend(again);
    }

    /// Allows the deletion, or the mark for deletion if open, of each of these files. This includes files that an
    /// earlier failure of the same step may have renamed to a matching name.
    pub(super) fn perhaps_delete(&mut self, pattern: &Place) {
        let moved = self
            .allowances
            .iter()
            .filter_map(|allowance| match allowance {
                Allowance::Moved { from, to } if means(pattern, to) => Some(from.clone()),
                _ => None,
            });
        let found: Vec<Place> = self.files_meant(pattern).into_iter().chain(moved).collect();
        for node in found
            .iter()
            .filter_map(|there| self.names.get(there).copied())
            .collect::<Vec<_>>()
        {
            match self.is_open(node) {
                true => self.nodes[node].perhaps_doomed = true,
                false => self.allowances.push(Allowance::Gone { node }),
            }
        }
    }

    /// Removes a file that may be deleted if another file was renamed to its name.
    fn make_way(&mut self, moved: &Allowance, all: &[Allowance], disk: &Listing) {
        let Allowance::Moved { from, to } = moved else {
            return;
        };
        let is_moved = self.names.contains_key(from)
            && !disk.contains_key(&from.1)
            && disk.contains_key(&to.1);
        let Some(node) = self.names.get(to).copied().filter(|_| is_moved) else {
            return;
        };
        let is_gone =
            |other: &Allowance| matches!(other, Allowance::Gone { node: gone } if *gone == node);
        if all.iter().any(is_gone) {
            self.unlink(node);
        }
    }

    fn settle(&mut self, allowance: Allowance, disk: &Listing) -> Check {
        match allowance {
            Allowance::Gone { node } => {
                let there = self.nodes[node].place.clone();
                if there.is_some_and(|(_, path)| !path.is_empty() && !disk.contains_key(&path)) {
                    self.unlink(node);
                }
            }
            Allowance::Moved { from, to } => {
                let moved = self.names.contains_key(&from)
                    && !disk.contains_key(&from.1)
                    && disk.contains_key(&to.1);
                if moved && !self.names.contains_key(&to) {
                    self.relocate(&from, &to);
                }
            }
            Allowance::New { place } => {
                if let Some(found) = disk
                    .get(&place.1)
                    .filter(|_| !self.names.contains_key(&place))
                {
                    self.put(place, found.clone());
                }
            }
            Allowance::Bytes { node, new } => {
                let Some((_, path)) = &self.nodes[node].place else {
                    return Ok(());
                };
                let Some(Some(bytes)) = disk.get(path) else {
                    return Ok(());
                };
                let old = &self.nodes[node].bytes;
                let len = old.len().min(new.len())..=old.len().max(new.len());
                require(
                    len.contains(&bytes.len()),
                    &format!("{path} has a length that no request gave it"),
                )?;
                let known = |(at, byte): (usize, &u8)| {
                    let beyond = at >= old.len() && *byte == 0;
                    beyond || old.get(at) == Some(byte) || new.get(at) == Some(byte)
                };
                require(
                    bytes.iter().enumerate().all(known),
                    &format!("{path} holds bytes that nobody wrote"),
                )?;
                self.nodes[node].bytes.clone_from(bytes);
            }
        }
        Ok(())
    }
}

/// The share of an allowance.
fn share_of(allowance: &Allowance, nodes: &[Node]) -> usize {
    match allowance {
        Allowance::Bytes { node, .. } | Allowance::Gone { node } => {
            nodes[*node].place.as_ref().map_or(0, |place| place.0)
        }
        Allowance::Moved { from, .. } => from.0,
        Allowance::New { place } => place.0,
    }
}
