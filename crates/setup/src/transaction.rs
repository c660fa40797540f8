//! Writes several files, or none: new contents are complete on disk beside the old before the first file is replaced, and
//! each step can be undone until the last has succeeded.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use tempfile::TempPath;

/// Why nothing was written.
#[derive(Debug)]
pub struct Failed {
    /// What was tried.
    pub what: String,
    /// The file or folder.
    pub path: PathBuf,
    /// Why it failed.
    pub why: String,
}

/// A file to write.
pub struct Change<'a> {
    /// The file.
    pub path: PathBuf,
    /// Its new contents.
    pub new: New<'a>,
    /// Permission bits of a new file. One that is there keeps its own.
    pub mode: u32,
    /// Owner and group of a new file.
    pub owner: Option<(u32, u32)>,
    /// Where the old contents stay.
    pub keep: Option<PathBuf>,
}

/// New contents of a file.
pub enum New<'a> {
    /// This text.
    Text(&'a str),
    /// What this makes of a copy.
    Changed(&'a dyn Fn(&Path) -> Result<(), String>),
    /// The file goes.
    Gone,
}

/// Steps that were done and can be undone. Dropping it without [`Self::commit`] undoes them.
#[derive(Debug, Default)]
pub struct Transaction {
    done: Vec<Done>,
}

/// A step that was done.
#[derive(Debug)]
enum Done {
    Folder(PathBuf),
    /// A file that was not there before.
    Created(PathBuf),
    /// The old file lies at `old`.
    Replaced {
        path: PathBuf,
        old: TempPath,
        keep: Option<PathBuf>,
    },
}

impl Transaction {
    /// Creates a folder and what is missing above it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn folder(
        &mut self,
        path: &Path,
        mode: u32,
        owner: Option<(u32, u32)>,
    ) -> Result<(), Failed> {
        let mut missing: Vec<&Path> = path
            .ancestors()
            .take_while(|folder| !folder.exists())
            .collect();
        missing.reverse();
        for folder in missing {
            let failed = |error: io::Error| failed("create the folder", folder, error);
            fs::DirBuilder::new()
                .mode(mode)
                .create(folder)
                .map_err(failed)?;
            self.done.push(Done::Folder(folder.to_owned()));
            let is_last = folder == path;
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).map_err(failed)?;
            if let Some(owner) = owner.filter(|_| is_last) {
                own(folder, owner).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Writes all files: first the new contents beside the old ones, then all at their places.
    ///
    /// # Errors
    /// The system refuses one of them. What was done before stays until this is dropped or committed.
    pub fn files(&mut self, changes: Vec<Change<'_>>) -> Result<(), Failed> {
        let mut staged = Vec::new();
        for change in changes {
            // the target of a symbolic link is replaced, not the link
            let path = change.path.canonicalize().unwrap_or(change.path.clone());
            let old = fs::metadata(&path).ok();
            if old.as_ref().is_some_and(|old| !old.is_file()) {
                return Err(failed(
                    "replace",
                    &path,
                    io::Error::other("it is not a file"),
                ));
            }
            let temporary = match &change.new {
                New::Gone if old.is_none() => continue,
                _ => stage(&path, &change, old.as_ref())?,
            };
            staged.push((path, change, temporary, old.is_some()));
        }
        for (path, change, temporary, was_there) in staged {
            self.put(path, &change, temporary, was_there)?;
        }
        Ok(())
    }

    fn put(
        &mut self,
        path: PathBuf,
        change: &Change<'_>,
        temporary: TempPath,
        was_there: bool,
    ) -> Result<(), Failed> {
        let io = |what: &'static str| {
            let path = path.clone();
            move |error: io::Error| failed(what, &path, error)
        };
        let done = match was_there {
            false => {
                temporary
                    .persist_noclobber(&path)
                    .map_err(|refused| io("write")(refused.error))?;
                Done::Created(path.clone())
            }
            true => {
                let old = exchange(temporary, &path).map_err(io("replace"))?;
                Done::Replaced {
                    path: path.clone(),
                    old,
                    keep: change.keep.clone(),
                }
            }
        };
        self.done.push(done);
        if matches!(change.new, New::Gone) {
            fs::remove_file(&path).map_err(io("remove"))?;
        }
        sync_folder(&path).map_err(io("write"))
    }

    /// Keeps what was done. Old contents go, or to where they are to stay.
    pub fn commit(mut self) {
        for done in self.done.drain(..) {
            if let Done::Replaced {
                old,
                keep: Some(keep),
                ..
            } = done
            {
                // the new file is in force; without its copy the old one is lost, which is no reason to stop
                let _ = old.persist(keep);
            }
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        for done in self.done.drain(..).rev() {
            // nobody could do more about a step that cannot be undone
            let _ = match done {
                Done::Folder(path) => fs::remove_dir(path),
                Done::Created(path) => fs::remove_file(path),
                Done::Replaced { path, old, .. } => {
                    old.persist(path).map_err(|refused| refused.error)
                }
            };
        }
    }
}

fn failed(what: &str, path: &Path, error: io::Error) -> Failed {
    Failed {
        what: what.into(),
        path: path.to_owned(),
        why: error.to_string(),
    }
}

/// Writes the new contents beside the file, with its owner and mode.
fn stage(path: &Path, change: &Change<'_>, old: Option<&fs::Metadata>) -> Result<TempPath, Failed> {
    let io = |error: io::Error| failed("write", path, error);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new()
        .prefix(".coax-setup-")
        .tempfile_in(folder)
        .map_err(io)?;
    let (mode, owner) = match old {
        Some(old) => (old.mode() & 0o7777, Some((old.uid(), old.gid()))),
        None => (change.mode, change.owner),
    };
    if let Some(owner) = owner {
        own(file.path(), owner).map_err(io)?;
    }
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(mode))
        .map_err(io)?;
    match &change.new {
        New::Text(text) => file.write_all(text.as_bytes()).map_err(io)?,
        New::Changed(_) if old.is_some() => {
            let bytes = fs::read(path).map_err(io)?;
            file.write_all(&bytes).map_err(io)?;
        }
        New::Changed(_) | New::Gone => {}
    }
    file.as_file().sync_all().map_err(io)?;
    let temporary = file.into_temp_path();
    if let New::Changed(change) = &change.new {
        change(&temporary).map_err(|why| io(io::Error::other(why)))?;
    }
    Ok(temporary)
}

/// Puts the new file at `path`; the old one is at the new one's place then, in one step where the file system can.
fn exchange(new: TempPath, path: &Path) -> io::Result<TempPath> {
    match renameat_with(CWD, &*new, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(new),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            let folder = path.parent().unwrap_or(Path::new("/"));
            let old = tempfile::Builder::new()
                .prefix(".coax-setup-")
                .tempfile_in(folder)?;
            let old = old.into_temp_path();
            fs::remove_file(&old)?;
            if fs::hard_link(path, &old).is_err() {
                fs::copy(path, &old)?;
            }
            new.persist(path).map_err(|refused| refused.error)?;
            Ok(old)
        }
        Err(error) => Err(error.into()),
    }
}

/// Changes the owner if it is another one.
fn own(path: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    let is = fs::metadata(path)?;
    if (is.uid(), is.gid()) == (user, group) {
        return Ok(());
    }
    chown(path, Some(user), Some(group))
}

/// A rename is on disk only after the folder is synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
