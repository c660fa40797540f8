//! Path spaces. Paths of shares with the same folder mean the same files, and the folder of a share may lie in that of
//! another. Such shares have one path space, whose paths begin at the outermost folder: a rename or deletion through one
//! of them concerns the opens and notifications of all.

use super::{ShareId, Tables, path_index::Place};
use alloc::string::{String, ToString};

impl Tables {
    /// Assigns `share` the path space of the first share in `same` that has one, else a space of its own. `same` are
    /// the shares with the same folder. A share that has a space keeps it.
    pub fn join_space(&mut self, share: ShareId, same: impl Iterator<Item = ShareId>) {
        let mut places = same.filter_map(|other| self.spaces.get(&other).cloned());
        let place = places.next().unwrap_or(Place {
            space: share,
            path: String::new(),
        });
        self.spaces.entry(share).or_insert(place);
    }

    /// Assigns `share`, whose folder is at `path` of the share `outer`, the path space of that one. If `share` has another
    /// space already, because a reload has added `outer`, all of that space becomes a part of the outer one, with its opens
    /// and notifications.
    pub fn nest_space(&mut self, share: ShareId, outer: ShareId, path: &str) {
        let place = self.place(outer, path);
        let Some(old) = self.spaces.get(&share) else {
            self.spaces.insert(share, place);
            return;
        };
        // The path of the old space's outermost folder is what precedes the share's path in it.
        let above = match old.path.as_str() {
            "" => Some(place.path.as_str()),
            folder => {
                let above = place.path.strip_suffix(folder);
                above.and_then(|above| above.strip_suffix('/'))
            }
        };
        if let Some(above) = above.filter(|_| old.space != place.space) {
            let to = Place {
                space: place.space,
                path: above.to_string(),
            };
            self.move_space(old.space, &to);
        }
    }

    /// Makes a path space the folder `to` of another one.
    fn move_space(&mut self, old: ShareId, to: &Place) {
        for place in self.spaces.values_mut().filter(|place| place.space == old) {
            *place = to.beneath(&place.path);
        }
        self.spaces.insert(old, to.clone());
        self.paths.move_space(old, to);
        self.watches.move_space(old, to);
        self.observed.move_space(old, to);
    }

    /// The path space and the path in it of a share's path.
    pub fn path_in_space(&self, share: ShareId, path: &str) -> (ShareId, String) {
        let place = self.place(share, path);
        (place.space, place.path)
    }

    /// The path space of a share, and of a path space itself, and the path in it of the share's folder.
    pub fn space(&self, share: ShareId) -> (ShareId, &str) {
        let place = self.spaces.get(&share);
        place.map_or((share, ""), |place| (place.space, &place.path))
    }

    /// The place of a share's path. That of a path space's own path is the same path.
    pub(super) fn place(&self, share: ShareId, path: &str) -> Place {
        let own = Place {
            space: share,
            path: String::new(),
        };
        self.spaces.get(&share).unwrap_or(&own).beneath(path)
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
