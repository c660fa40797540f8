//! Opens by share and path.

use super::{OpenId, ShareId};
use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
};

/// Opens by share and path.
#[derive(Debug, Default)]
pub(super) struct Paths(pub(super) BTreeSet<(ShareId, String, OpenId)>);

impl Paths {
    pub(super) fn insert(&mut self, share: ShareId, path: &str, open: OpenId) {
        self.0.insert((share, path.to_string(), open));
    }

    pub(super) fn remove(&mut self, share: ShareId, path: &str, open: OpenId) {
        self.0.remove(&(share, path.to_string(), open));
    }

    pub(super) fn at(&self, share: ShareId, path: &str) -> impl Iterator<Item = OpenId> {
        let from = (share, path.to_string(), OpenId(0));
        let to = (share, path.to_string(), OpenId(u64::MAX));
        self.0.range(from..=to).map(|(_, _, open)| *open)
    }

    pub(super) fn beneath(&self, share: ShareId, folder: &str) -> impl Iterator<Item = OpenId> {
        // `0` is the character after `/`. The root contains all non-empty paths.
        let (from, to) = match folder {
            "" => ("\0".to_string(), "\u{10FFFF}".to_string()),
            _ => (format!("{folder}/"), format!("{folder}0")),
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
