//! Opens by their place in a path space.

use super::{OpenId, ShareId};
use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
};

/// A place in a path space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The space: the share whose folder is the outermost.
    pub(super) space: ShareId,
    /// The path from there.
    pub(super) path: String,
}

impl Place {
    /// The place of `path` in this folder.
    pub(super) fn beneath(&self, path: &str) -> Self {
        let path = match (self.path.as_str(), path) {
            ("", path) => path.to_string(),
            (folder, "") => folder.to_string(),
            (folder, path) => format!("{folder}/{path}"),
        };
        Self { path, ..*self }
    }
}

/// Opens by path space and path.
#[derive(Debug, Default)]
pub(super) struct Paths(pub(super) BTreeSet<(ShareId, String, OpenId)>);

impl Paths {
    pub(super) fn insert(&mut self, place: Place, open: OpenId) {
        self.0.insert((place.space, place.path, open));
    }

    pub(super) fn remove(&mut self, place: Place, open: OpenId) {
        self.0.remove(&(place.space, place.path, open));
    }

    /// The space `old` is now the folder `to` of another one.
    pub(super) fn move_space(&mut self, old: ShareId, to: &Place) {
        let (moved, rest): (BTreeSet<_>, BTreeSet<_>) = core::mem::take(&mut self.0)
            .into_iter()
            .partition(|(space, ..)| *space == old);
        self.0 = rest;
        for (_, path, open) in moved {
            self.insert(to.beneath(&path), open);
        }
    }

    pub(super) fn at(&self, place: &Place) -> impl Iterator<Item = OpenId> {
        let from = (place.space, place.path.clone(), OpenId(0));
        let to = (place.space, place.path.clone(), OpenId(u64::MAX));
        self.0.range(from..=to).map(|(_, _, open)| *open)
    }

    pub(super) fn beneath(&self, folder: &Place) -> impl Iterator<Item = OpenId> {
        // `0` is the character after `/`. The root contains all non-empty paths.
        let (share, path) = (folder.space, folder.path.as_str());
        let (from, to) = match path {
            "" => ("\0".to_string(), "\u{10FFFF}".to_string()),
            _ => (format!("{path}/"), format!("{path}0")),
        };
        let range = (share, from, OpenId(0))..(share, to, OpenId(0));
        self.0.range(range).map(|(_, _, open)| *open)
    }
}

/// `path` after the rename of `from` to `to`, if it lies at or beneath `from`.
pub(super) fn moved_path(path: &str, from: &str, to: &str) -> Option<String> {
    let rest = path.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
}
