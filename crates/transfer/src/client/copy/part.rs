//! Partial files of copies from the server: their names, their locks, and the mark that identifies the source.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use coax_client::FileStat;
use rustix::{
    fs::{FlockOperation, Mode, OFlags, XattrFlags, fgetxattr, flock, fremovexattr, fsetxattr},
    io::Errno,
};

use super::{Fault, Fetch, local, reads_under_way};
use crate::client::Connection;

/// Extended attribute of a partial file: size and time of the source file, and the number of complete bytes.
const SOURCE: &str = "user.coax.source";
/// Number of names for the partial file: `NAME.part`, `NAME.part2` ... `NAME.part9`.
const NAMES: usize = 9;
/// Attempts to open a name whose file other copies rename.
const ATTEMPTS: usize = 4;
/// Mode of a new file before the umask.
const NEW_FILE: u32 = 0o666;

/// Opens and locks a partial file under the first name that is free or belongs to an interrupted copy. Files of other
/// programs, symbolic links and the other targets of the run stay untouched.
pub(super) fn claim(order: &Fetch<'_>) -> Result<(PathBuf, File), Fault> {
    for number in 1..=NAMES {
        let path = name(order.to, number);
        if order.targets.contains(&final_path(&path)) {
            continue;
        }
        if let Some(file) = claim_name(&path, order.resume)? {
            return Ok((path, file));
        }
    }
    Err(Fault::Local(format!(
        "{} to {} exist and are no interrupted copies: rename or delete them",
        name(order.to, 1).display(),
        name(order.to, NAMES).display()
    )))
}

fn name(to: &Path, number: usize) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    if number > 1 {
        name.push(number.to_string());
    }
    PathBuf::from(name)
}

/// What became of a name for the partial file.
enum Claim {
    /// The file is open and locked.
    Ours(File),
    /// The name belongs to something else.
    Taken,
    /// Another copy renamed or deleted the file meanwhile.
    Gone,
}

/// `None` if the name belongs to something else. With `unmarked`, a file without a mark is a partial file too.
fn claim_name(path: &Path, unmarked: bool) -> Result<Option<File>, Fault> {
    for _ in 0..ATTEMPTS {
        match claim_once(path, unmarked)? {
            Claim::Ours(file) => return Ok(Some(file)),
            Claim::Taken => return Ok(None),
            Claim::Gone => {}
        }
    }
    Err(Fault::Busy(path.display().to_string()))
}

fn claim_once(path: &Path, unmarked: bool) -> Result<Claim, Fault> {
    let (file, is_new) = match open(path)? {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(Claim::Gone),
        Err(_) => return Ok(Claim::Taken),
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(Claim::Taken);
    }
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(Fault::Busy(path.display().to_string()));
    }
    // Before the lock, another copy may have given its complete file the final name.
    if !is_at(&file, path) {
        return Ok(Claim::Gone);
    }
    let is_ours = is_new || unmarked || read_mark(&file).is_some();
    Ok(if is_ours {
        Claim::Ours(file)
    } else {
        Claim::Taken
    })
}

/// Creates the file, or opens the existing one. Returns whether it is new; the inner error is of the existing one.
fn open(path: &Path) -> Result<Result<(File, bool), Errno>, Fault> {
    let access = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let create = access | OFlags::CREATE | OFlags::EXCL;
    match rustix::fs::open(path, create, Mode::from_raw_mode(NEW_FILE)) {
        Ok(file) => Ok(Ok((File::from(file), true))),
        Err(Errno::EXIST) => {
            let existing = rustix::fs::open(path, access, Mode::empty());
            Ok(existing.map(|file| (File::from(file), false)))
        }
        Err(Errno::NOENT) => {
            let folder = path.parent().unwrap_or(path).display();
            Err(Fault::Local(format!("the folder {folder} does not exist")))
        }
        Err(error) => Err(local(path, &io::Error::from(error))),
    }
}

/// Whether the path still leads to this file.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let at_path = fs::symlink_metadata(path).map(identity);
    let own = file.metadata().map(identity);
    matches!((at_path, own), (Ok(at_path), Ok(own)) if at_path == own)
}

/// The file that a copy to `to` replaces. Links are resolved, so that two spellings of one file compare equal.
pub fn final_path(to: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(to) {
        return path;
    }
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    match (
        fs::canonicalize(parent.unwrap_or(Path::new("."))),
        to.file_name(),
    ) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => to.to_path_buf(),
    }
}

/// Where to resume: after the complete bytes of the partial file if its mark matches the source file.
pub(super) fn resume_point(
    file: &File,
    connection: &Connection,
    order: &Fetch<'_>,
    stat: FileStat,
) -> u64 {
    let len = file.metadata().map_or(0, |metadata| metadata.len());
    let under_way = reads_under_way(connection.profile());
    let mark = read_mark(file);
    let known = mark.as_deref().and_then(|mark| {
        let rest = mark.strip_prefix(&identity(stat))?;
        Some(rest.trim().parse::<u64>().ok())
    });
    let from = match known {
        Some(Some(whole)) => whole.min(len),
        Some(None) => len.saturating_sub(under_way),
        None if order.resume => len.saturating_sub(under_way),
        None => 0,
    };
    if from <= stat.size { from } else { 0 }
}

fn identity(stat: FileStat) -> String {
    format!("{} {} ", stat.size, stat.modified.unwrap_or(0))
}

/// Records the source file on the partial file. Returns whether the file system supports this.
pub(super) fn mark(file: &File, stat: FileStat, whole: Option<u64>) -> bool {
    let whole = whole.map_or(String::new(), |whole| whole.to_string());
    let text = format!("{}{whole}", identity(stat));
    fsetxattr(file, SOURCE, text.as_bytes(), XattrFlags::empty()).is_ok()
}

fn read_mark(file: &File) -> Option<String> {
    let mut text = [0u8; 128];
    let len = fgetxattr(file, SOURCE, text.as_mut_slice()).ok()?;
    String::from_utf8(text.get(..len)?.to_vec()).ok()
}

/// Removes the mark. A file system without extended attributes has none.
pub(super) fn unmark(file: &File) {
    let _ = fremovexattr(file, SOURCE);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_renamed_after_the_open_is_no_partial_file() {
        let folder = tempfile::tempdir().unwrap();
        let (part, complete) = (folder.path().join("f.part"), folder.path().join("f"));
        let (first, is_new) = open(&part).unwrap().unwrap();
        let (second, is_second_new) = open(&part).unwrap().unwrap();
        assert!(is_new && !is_second_new && is_at(&second, &part));
        fs::rename(&part, &complete).unwrap();
        drop(first);
        assert!(!is_at(&second, &part));
        let third = claim_name(&part, false).unwrap().unwrap();
        assert!(is_at(&third, &part) && !is_at(&second, &part));
    }
}
