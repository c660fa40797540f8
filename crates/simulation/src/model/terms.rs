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

/// The last component of `path`.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns an error unless `holds`.
pub fn require(holds: bool, otherwise: &str) -> Check {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
