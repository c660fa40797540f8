//! Words that all parts of the model share.

/// Ok, or what is wrong.
pub type Check = Result<(), String>;

/// A client and one of its FIDs.
pub type Handle = (usize, u16);
/// A share and a path on it: upper case, parted by `/`.
pub type Place = (usize, String);

/// `dir\A.txt` of a share as a place.
pub fn place(share: usize, path: &str) -> Place {
    (
        share,
        path.trim_matches('\\').replace('\\', "/").to_uppercase(),
    )
}

/// The folder that `path` lies in.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last component of `path`.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// An error unless `holds`.
pub fn require(holds: bool, otherwise: &str) -> Check {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
