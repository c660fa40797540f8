//! Paths in the form of [`Vfs`](super::Vfs): checked once, then trusted by every implementation.

use super::{VfsError, VfsResult};
use alloc::{format, string::String};

/// The longest component in bytes of UTF-8: the limit of Linux file systems (NAME_MAX).
pub const MAX_NAME_BYTES: usize = 255;

/// Checks whether a [`Vfs`](super::Vfs) may look up `path`. `""` is valid.
///
/// # Errors
/// [`VfsError::Escapes`] for a component `..`, [`VfsError::InvalidName`] for an empty one, `.` or one with a NUL.
pub fn check(path: &str) -> VfsResult<()> {
    if path.is_empty() {
        return Ok(());
    }
    path.split('/').try_for_each(check_name)
}

/// Checks whether `name` is one component.
///
/// # Errors
/// As [`check`].
pub fn check_name(name: &str) -> VfsResult<()> {
    match name {
        ".." => Err(VfsError::Escapes),
        "" | "." => Err(VfsError::InvalidName),
        _ if name.contains(['/', '\0']) => Err(VfsError::InvalidName),
        _ => Ok(()),
    }
}

/// Splits a path into folder and name; `None` for the root.
#[must_use]
pub fn split(path: &str) -> Option<(&str, &str)> {
    match path.rsplit_once('/') {
        Some(parts) => Some(parts),
        None if path.is_empty() => None,
        None => Some(("", path)),
    }
}

/// The path of `name` in the folder `parent`.
#[must_use]
pub fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.into()
    } else {
        format!("{parent}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_a_path_without_a_parent() {
        assert_eq!(check(""), Ok(()));
        assert_eq!(split(""), None);
    }

    #[test]
    fn a_path_splits_at_its_last_slash() {
        assert_eq!(split("A/B/C"), Some(("A/B", "C")));
        assert_eq!(split("C"), Some(("", "C")));
    }

    #[test]
    fn dots_and_empty_components_are_refused() {
        for path in ["..", "A/..", "../A", "A/../B"] {
            assert_eq!(check(path), Err(VfsError::Escapes), "{path}");
        }
        for path in ["/", "/A", "A/", "A//B", ".", "A/.", "A\0"] {
            assert_eq!(check(path), Err(VfsError::InvalidName), "{path:?}");
        }
        assert_eq!(check("A/...B/.C"), Ok(()));
    }
}
