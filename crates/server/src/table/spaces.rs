//! Path spaces. Paths of shares with the same folder mean the same files, and the folder of a share may lie in that of
//! another. Such shares have one path space, whose paths begin at the outermost folder: a rename or deletion through one
//! of them concerns the opens and notifications of all.

use super::{ShareId, Tables, path_index::Place};
use alloc::{
    format,
    string::{String, ToString},
};

impl Tables {
    /// Assigns `share` the path space of the first share in `same` that has one, else a space of its own. `same` are
    /// the shares with the same folder. A share keeps its space: opens are indexed by it.
    pub fn join_space(&mut self, share: ShareId, same: impl Iterator<Item = ShareId>) {
        let mut places = same.filter_map(|other| self.spaces.get(&other).cloned());
        let place = places.next().unwrap_or(Place {
            space: share,
            path: String::new(),
        });
        self.spaces.entry(share).or_insert(place);
    }

    /// Assigns `share`, whose folder is at `path` of the share `outer`, the path space of that one, unless it has one.
    pub fn nest_space(&mut self, share: ShareId, outer: ShareId, path: &str) {
        let place = self.place(outer, path);
        self.spaces.entry(share).or_insert(place);
    }

    /// The path space of a share, and of a path space itself, and the path in it of the share's folder.
    pub fn space(&self, share: ShareId) -> (ShareId, &str) {
        let place = self.spaces.get(&share);
        place.map_or((share, ""), |place| (place.space, &place.path))
    }

    /// The place of a share's path. That of a path space's own path is the same path.
    pub(super) fn place(&self, share: ShareId, path: &str) -> Place {
        let (space, folder) = self.space(share);
        let path = match (folder, path) {
            ("", path) => path.to_string(),
            (folder, "") => folder.to_string(),
            (folder, path) => format!("{folder}/{path}"),
        };
        Place { space, path }
    }

    /// The path of a place for clients of `share`; `None` if it is outside the share's folder, or is that folder.
    pub(super) fn path_in(&self, share: ShareId, place: &Place) -> Option<String> {
        let inside = match self.space(share).1 {
            "" => Some(place.path.as_str()),
            folder => {
                let rest = place.path.strip_prefix(folder);
                rest.and_then(|rest| rest.strip_prefix('/'))
            }
        };
        inside.map(ToString::to_string)
    }
}
