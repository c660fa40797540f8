//! Writes several files, or none: new contents are complete on disk beside the old before the first file is replaced, and
//! each step can be undone until the last has succeeded.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{
        DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use tempfile::TempPath;

/// Copies of one file that are kept at most.
const COPIES_MAX: usize = 1000;

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
    /// The old contents stay beside the new ones, under the name [`kept_as`] gives.
    pub keep: bool,
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
    /// The old file lies at `old`, which goes in the end.
    Replaced {
        path: PathBuf,
        old: TempPath,
    },
    /// The old file lies at `kept`, and stays there.
    Kept {
        path: PathBuf,
        kept: PathBuf,
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
        let done = match (was_there, change.keep) {
            (false, _) => {
                temporary
                    .persist_noclobber(&path)
                    .map_err(|refused| io("write")(refused.error))?;
                Done::Created(path.clone())
            }
            (true, false) => {
                let old = exchange(temporary, &path).map_err(io("replace"))?;
                let path = path.clone();
                Done::Replaced { path, old }
            }
            (true, true) => {
                let kept = back_up(&path).map_err(io("keep a copy of"))?;
                replace(temporary, &path, &kept).map_err(io("replace"))?;
                let path = path.clone();
                Done::Kept { path, kept }
            }
        };
        self.done.push(done);
        if matches!(change.new, New::Gone) {
            fs::remove_file(&path).map_err(io("remove"))?;
        }
        sync_folder(&path).map_err(io("write"))
    }

    /// Keeps what was done, and says under which names old contents stay. The others go.
    pub fn commit(mut self) -> Vec<PathBuf> {
        let kept = self.done.drain(..).filter_map(|done| match done {
            Done::Kept { kept, .. } => Some(kept),
            _ => None,
        });
        kept.collect()
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        for done in self.done.drain(..).rev() {
            // nobody could do more about a step that cannot be undone
            let _ = match done {
                Done::Folder(path) => fs::remove_dir(path),
                Done::Created(path) => fs::remove_file(path),
                // if the old file cannot return, it must at least not be deleted
                Done::Replaced { path, old } => old
                    .persist(path)
                    .or_else(|refused| refused.path.keep().map(drop).map_err(|kept| kept.error)),
                Done::Kept { path, kept } => fs::rename(kept, path),
            };
        }
    }
}

/// The first name that is free for a copy of a file beside it: `smb.conf.old`, then `smb.conf.old.1` and so on. The file is
/// the target of a symbolic link.
pub fn kept_as(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().unwrap_or(path.to_owned());
    copies_of(&path).find(|name| fs::symlink_metadata(name).is_err())
}

fn copies_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    (0..COPIES_MAX).map(move |number| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".old");
        if number > 0 {
            name.push(format!(".{number}"));
        }
        path.with_file_name(name)
    })
}

/// Gives the file a second name that survives its replacement, under which nothing was before.
fn back_up(path: &Path) -> io::Result<PathBuf> {
    for name in copies_of(path) {
        // not all file systems have hard links
        let done = match fs::hard_link(path, &name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy(path, &name),
            linked => linked,
        };
        match done {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        if let Err(error) = sync_folder(path) {
            let _ = fs::remove_file(&name);
            return Err(error);
        }
        return Ok(name);
    }
    Err(io::Error::other(format!(
        "there are {COPIES_MAX} older copies"
    )))
}

/// Puts the new file at `path`, whose copy goes if that fails.
fn replace(new: TempPath, path: &Path, copy: &Path) -> io::Result<()> {
    new.persist(path).map_err(|refused| {
        let _ = fs::remove_file(copy);
        refused.error
    })
}

/// Copies a file with its owner and mode to a new one, on disk.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut old = fs::File::open(from)?;
    let is = old.metadata()?;
    let mut new = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    let copied = io::copy(&mut old, &mut new)
        .and_then(|_| own(to, (is.uid(), is.gid())))
        .and_then(|()| new.set_permissions(fs::Permissions::from_mode(is.mode() & 0o7777)))
        .and_then(|()| new.sync_all());
    if copied.is_err() {
        let _ = fs::remove_file(to);
    }
    copied
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
