//! The local file that a copy from the server creates or replaces.

use std::{
    fs::{self, File, Metadata, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
};

use super::{Fault, local};

/// The partial file must be readable and writable while the copy runs.
const OWNER_ACCESS: u32 = 0o600;
/// The bits of a mode that say nothing about the contents. A program's set-user-ID must not pass to new contents.
const KEPT_MODE: u32 = 0o777;

/// A regular file, or a name that is free.
pub(super) struct Destination {
    /// Its path. A symbolic link is resolved, because the rename at the end would replace the link.
    pub path: PathBuf,
    /// The existing file, whose mode and owner the copy keeps.
    old: Option<Metadata>,
}

impl Destination {
    /// Resolves `to`.
    ///
    /// # Errors
    /// It is something that a copy must not replace: a folder, a device, or a link to nothing.
    pub fn resolve(to: &Path) -> Result<Self, Fault> {
        let why = match fs::metadata(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && to.is_symlink() => {
                "is a symbolic link to a file that does not exist"
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    path: to.into(),
                    old: None,
                });
            }
            Err(error) => return Err(local(to, &error)),
            Ok(old) if old.is_dir() => "is a folder",
            Ok(old) if old.is_file() => return Self::existing(to, old),
            Ok(_) => {
                "is not a regular file, and a copy would replace it: write - to copy to standard output"
            }
        };
        Err(Fault::Local(format!("{}: {why}", to.display())))
    }

    fn existing(to: &Path, old: Metadata) -> Result<Self, Fault> {
        let path = if to.is_symlink() {
            fs::canonicalize(to).map_err(|error| local(to, &error))?
        } else {
            to.into()
        };
        Ok(Self {
            path,
            old: Some(old),
        })
    }

    /// Gives a partial file owner and mode of the file that it will replace, so that nobody else can read the data
    /// meanwhile.
    pub fn protect(&self, part: &File) {
        if let Some(old) = &self.old {
            // Only root can give files away, and some file systems have neither owners nor modes.
            let _ = fchown(part, Some(old.uid()), Some(old.gid()));
            set_mode(part, old.mode() & KEPT_MODE | OWNER_ACCESS);
        }
    }

    /// Gives the complete file the mode of the file that it replaces.
    pub fn keep_mode(&self, part: &File) {
        if let Some(old) = &self.old {
            set_mode(part, old.mode() & KEPT_MODE);
        }
    }
}

fn set_mode(file: &File, mode: u32) {
    // A file system without modes keeps the data.
    let _ = file.set_permissions(Permissions::from_mode(mode));
}
