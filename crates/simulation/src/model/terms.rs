//! Common terms of all parts of the model.

/// Ok, or the violated rule.
pub type Check = Result<(), String>;

/// A client and one of its FIDs.
pub type Handle = (usize, u16);
/// A share and a path on it: upper case, separated by `/`.
pub type Place = (usize, String);

/// Converts a path such as `dir\A.txt` of a share to a place.
pub fn place(share: usize, path: &str) -> Place {
    (
        share,
        path.trim_matches('\\').replace('\\', "/").to_uppercase(),
    )
}

/// The parent folder of `path`.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The place that an object has after it was renamed within its folder.
pub fn beside((share, path): &Place, new: &str) -> Place {
    let new = new.to_uppercase();
    let path = match parent(path) {
        "" => new,
        folder => format!("{folder}/{new}"),
    };
    (*share, path)
}

/// The last component of `path`.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns an error unless `holds`.
pub fn require(holds: bool, otherwise: &str) -> Check {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// A change of names that happened or did not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// The object was removed.
    Gone { node: usize },
    /// The name was changed.
    Moved { from: Place, to: Place },
    /// A folder (`None`), or a file that should get this length, was created.
    New { place: Place, length: Option<u32> },
}

/// A change of contents that reached the disk in part. The audit at the end of the step tells how far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Partial {
    pub(super) node: usize,
    /// The minimum length.
    pub(super) least: usize,
    /// The contents after the whole change.
    pub(super) new: Vec<u8>,
}
