//! Compares the disks with the model.

use super::{
    Node, State,
    terms::Partial,
    terms::{Check, Place, require},
};
use crate::disk::{Entry, Listing};

impl State {
    /// Compares a share's disk with the acknowledged operations: names, identities and contents.
    ///
    /// # Errors
    /// The first difference.
    pub(super) fn audit(&mut self, share: usize, disk: &Listing) -> Check {
        self.settle_gone(share, disk);
        self.settle_partial(share, disk)?;
        let here: Vec<(String, usize)> = self
            .names
            .iter()
            .filter(|((of, path), _)| *of == share && !path.is_empty())
            .map(|((_, path), node)| (path.clone(), *node))
            .collect();
        for (path, node) in here {
            let Some(entry) = disk.get(&path) else {
                return Err(format!("{path} was acknowledged and is not on the disk"));
            };
            compare(&path, &self.nodes[node], entry)?;
            self.identify(&path, node, entry)?;
        }
        let unknown = disk
            .keys()
            .find(|path| !self.names.contains_key(&(share, (*path).clone())));
        match unknown {
            Some(path) => Err(format!("{path} is on the disk and nobody was told so")),
            None => Ok(()),
        }
    }

    /// Checks that a name means the same object as before. The identity of a new object becomes known here.
    fn identify(&mut self, path: &str, node: usize, entry: &Entry) -> Check {
        match self.nodes[node].id {
            Some(id) => require(
                id == entry.id,
                &format!("{path} is another file than was acknowledged"),
            ),
            None => {
                let known = self.nodes.iter().any(|other| other.id == Some(entry.id));
                self.nodes[node].id = Some(entry.id);
                require(!known, &format!("{path} is a file that existed before"))
            }
        }
    }

    /// Ends the step: possible effects that the disk does not show did not happen.
    pub(super) fn end_step(&mut self) {
        self.partial.clear();
        self.perhaps_gone.clear();
    }

    fn settle_gone(&mut self, share: usize, disk: &Listing) {
        for node in self.perhaps_gone.clone() {
            let is_gone = |there: &Place| there.0 == share && !disk.contains_key(&there.1);
            if self.nodes[node].place.as_ref().is_some_and(is_gone) && self.is_empty(node) {
                self.unlink(node);
            }
        }
    }

    /// Takes over the contents of half-done changes, if they are possible.
    fn settle_partial(&mut self, share: usize, disk: &Listing) -> Check {
        for Partial { node, least, new } in self.partial.clone() {
            let Some((of, path)) = &self.nodes[node].place else {
                continue;
            };
            let found = disk.get(path).filter(|_| *of == share);
            let Some(bytes) = found.and_then(|entry| entry.bytes.as_ref()) else {
                continue;
            };
            let old = &self.nodes[node].bytes;
            let lengths = least..=old.len().max(new.len());
            require(
                lengths.contains(&bytes.len()),
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
            self.set_bytes(node, bytes.clone());
        }
        Ok(())
    }
}

/// Compares kind and contents.
fn compare(path: &str, node: &Node, entry: &Entry) -> Check {
    let Some(bytes) = &entry.bytes else {
        return require(node.folder, &format!("{path} is a folder on the disk"));
    };
    require(!node.folder, &format!("{path} is a file on the disk"))?;
    if *bytes == *node.bytes {
        return Ok(());
    }
    let differs = bytes.iter().zip(&*node.bytes).position(|(a, b)| a != b);
    let at = differs.unwrap_or(bytes.len().min(node.bytes.len()));
    Err(format!(
        "{path} differs from what was acknowledged at byte {at}; {} bytes, not {}",
        bytes.len(),
        node.bytes.len()
    ))
}
