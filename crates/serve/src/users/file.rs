//! Edits the password file: every line about another user stays unchanged, byte for byte.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use coax_logon::accounts::{User, UserError};
use rustix::{
    fs::{FlockOperation, fchown, fcntl_lock, flock},
    io::Errno,
    process::{Gid, Uid},
};
use zeroize::Zeroizing;

use super::entry::{Entry, Passwords, is_about, with_disabled};

/// How long to wait for another program that changes the file.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// Poll interval for the lock.
const LOCK_POLL: Duration = Duration::from_millis(20);
/// Maximum file size, bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Why a password file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A system call failed.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Another program is changing the file.
    #[error("{} is locked: another program is changing it", .0.display())]
    Locked(PathBuf),
    /// The file has no such user.
    #[error("there is no user '{0}'")]
    NoUser(String),
    /// The user's line has no flags.
    #[error("the line of '{0}' has no [flags]: set its password again with 'coax user add {0}'")]
    NoFlags(String),
}

/// A password file, locked against other programs that change it.
#[derive(Debug)]
pub struct PasswordFile {
    path: PathBuf,
    /// The original file, which holds the lock.
    old: File,
    lines: Vec<Zeroizing<Vec<u8>>>,
}

impl PasswordFile {
    /// Locks and reads the file; creates it with mode 0600 if `create` is set.
    ///
    /// # Errors
    /// It cannot be read or locked.
    pub fn open(path: &Path, create: bool) -> Result<Self, FileError> {
        // Replaces the target of a symbolic link, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let io = |what| move |error| (what, error);
        let fail = |(what, error)| FileError::Io {
            what,
            path: path.clone(),
            error,
        };
        let until = Instant::now() + LOCK_WAIT;
        let old = loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(create)
                .mode(0o600)
                .open(&path)
                .map_err(io("open"))
                .map_err(fail)?;
            match locked(&file).map_err(io("lock")).map_err(fail)? {
                // The previous holder of the lock may have replaced the file.
                true if is_still_at(&file, &path) => break file,
                _ if Instant::now() >= until => return Err(FileError::Locked(path)),
                _ => std::thread::sleep(LOCK_POLL),
            }
        };
        let text = read(&old).map_err(io("read")).map_err(fail)?;
        let lines = text.split_inclusive(|b| *b == b'\n');
        let lines = lines.map(|line| Zeroizing::new(line.to_vec())).collect();
        Ok(Self { path, old, lines })
    }

    /// Sets a user's password; `true` if there was no such user before.
    pub fn set(&mut self, name: &str, passwords: Passwords) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        let written = |entry: Entry| Zeroizing::new(entry.line(now).as_bytes().to_vec());
        if let Some(line) = self.lines.iter_mut().find(|line| is_about(line, name)) {
            let text = Zeroizing::new(String::from_utf8_lossy(line).into_owned());
            *line = written(Entry::with_passwords(&text, passwords));
            return false;
        }
        if let Some(last) = self.lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        self.lines.push(written(Entry::new(name, passwords)));
        true
    }

    /// Removes a user.
    ///
    /// # Errors
    /// No user has that name.
    pub fn remove(&mut self, name: &str) -> Result<(), FileError> {
        let before = self.lines.len();
        self.lines.retain(|line| !is_about(line, name));
        match self.lines.len() == before {
            true => Err(FileError::NoUser(name.into())),
            false => Ok(()),
        }
    }

    /// Disables or enables a user.
    ///
    /// # Errors
    /// No user has that name, or its line has no flags.
    pub fn set_disabled(&mut self, name: &str, disabled: bool) -> Result<(), FileError> {
        let line = self.lines.iter_mut().find(|line| is_about(line, name));
        let line = line.ok_or_else(|| FileError::NoUser(name.into()))?;
        let text = Zeroizing::new(String::from_utf8_lossy(line).into_owned());
        let changed = with_disabled(&text, disabled);
        let changed = changed.ok_or_else(|| FileError::NoFlags(name.into()))?;
        *line = Zeroizing::new(changed.as_bytes().to_vec());
        Ok(())
    }

    /// Replaces the old file with the changed one atomically: after a crash one of the two is complete.
    ///
    /// # Errors
    /// The new file cannot be written; the old one stays unchanged.
    pub fn save(self) -> Result<(), FileError> {
        self.replace().map_err(|error| FileError::Io {
            what: "replace",
            path: self.path.clone(),
            error,
        })
    }

    fn replace(&self) -> std::io::Result<()> {
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut new = tempfile::Builder::new()
            .prefix(".coax-users-")
            .tempfile_in(folder)?;
        for line in &self.lines {
            new.write_all(line)?;
        }
        let (was, is) = (self.old.metadata()?, new.as_file().metadata()?);
        if (was.uid(), was.gid()) != (is.uid(), is.gid()) {
            let owner = (Uid::from_raw(was.uid()), Gid::from_raw(was.gid()));
            fchown(new.as_file(), Some(owner.0), Some(owner.1))?;
        }
        let mode = PermissionsExt::from_mode(was.mode() & 0o777);
        new.as_file().set_permissions(mode)?;
        new.as_file().sync_all()?;
        new.persist(&self.path).map_err(|refused| refused.error)?;
        // The rename is on disk only after the folder is synced.
        File::open(folder)?.sync_all()
    }

    /// Parses each user line; line numbers start at 1.
    pub fn users(text: &[u8]) -> Vec<(usize, Result<User, UserError>)> {
        let lines = text.split(|b| *b == b'\n').enumerate();
        let lines = lines.filter(|(_, line)| {
            !line.iter().all(u8::is_ascii_whitespace) && !line.starts_with(b"#")
        });
        lines
            .map(|(number, line)| {
                let line = Zeroizing::new(String::from_utf8_lossy(line).into_owned());
                (number.saturating_add(1), User::from_smbpasswd_line(&line))
            })
            .collect()
    }

    /// Reads a file without a lock.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, FileError> {
        File::open(path)
            .and_then(|file| read(&file))
            .map_err(|error| FileError::Io {
                what: "read",
                path: path.to_owned(),
                error,
            })
    }
}

fn read(file: &File) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let len = file.metadata()?.len();
    if len > MAX_BYTES {
        return Err(std::io::Error::other(format!(
            "it is longer than {MAX_BYTES} bytes"
        )));
    }
    let room = usize::try_from(len).unwrap_or(0).saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Takes the lock of coax and that of Samba's smbpasswd; `false` if another process holds either.
fn locked(file: &File) -> std::io::Result<bool> {
    let free = |taken: Result<(), Errno>| -> std::io::Result<bool> {
        match taken {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::ACCESS) => Ok(false),
            Err(error) => Err(error.into()),
        }
    };
    let wanted = FlockOperation::NonBlockingLockExclusive;
    Ok(free(flock(file, wanted))? && free(fcntl_lock(file, wanted))?)
}

fn is_still_at(file: &File, path: &Path) -> bool {
    let place = |found: std::fs::Metadata| (found.dev(), found.ino());
    let (here, there) = (file.metadata().map(place), path.metadata().map(place));
    matches!((here, there), (Ok(here), Ok(there)) if here == there)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use coax_logon::text::Ascii;

    fn set(path: &Path, name: &str, password: &str) -> bool {
        let mut file = PasswordFile::open(path, true).unwrap();
        let is_new = file.set(name, Passwords::of(password, &Ascii, true));
        file.save().unwrap();
        is_new
    }

    fn names(path: &Path) -> Vec<String> {
        let bytes = PasswordFile::bytes(path).unwrap();
        let users = PasswordFile::users(&bytes).into_iter();
        users
            .filter_map(|(_, user)| Some(user.ok()?.name))
            .collect()
    }

    #[test]
    fn a_new_file_is_private_to_its_owner_and_keeps_a_changed_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        assert!(set(&path, "bob", "x"));
        let mode = || std::fs::metadata(&path).unwrap().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert!(!set(&path, "BOB", "y"));
        assert_eq!((mode(), names(&path)), (0o640, vec!["bob".to_string()]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn lines_that_cannot_be_parsed_stay_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        let kept = b"# my users \xff\n\nbroken line\neve:me:nonsense\n+nis\n";
        std::fs::write(&path, [&kept[..], b"last:without:end"].concat()).unwrap();
        set(&path, "bob", "x");
        let now = std::fs::read(&path).unwrap();
        assert!(now.starts_with(&[&kept[..], b"last:without:end\nbob:"].concat()));
        let mut file = PasswordFile::open(&path, false).unwrap();
        file.set_disabled("bob", true).unwrap();
        file.remove("LAST").unwrap();
        assert!(matches!(file.remove("last"), Err(FileError::NoUser(_))));
        file.save().unwrap();
        let now = std::fs::read(&path).unwrap();
        assert!(now.starts_with(&[&kept[..], b"bob:"].concat()));
        assert!(String::from_utf8_lossy(&now).contains("[DU         ]"));
    }

    #[test]
    fn concurrent_changes_are_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..5 {
                        set(path, &format!("user{thread}-{number}"), "x");
                    }
                });
            }
        });
        assert_eq!(names(&path).len(), 20);
    }

    #[test]
    fn a_change_that_cannot_be_saved_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        set(&path, "bob", "x");
        let before = std::fs::read(&path).unwrap();
        let mut file = PasswordFile::open(&path, false).unwrap();
        file.set("eve", Passwords::None);
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let missing = PasswordFile::open(&folder.path().join("no"), false);
        assert!(matches!(missing, Err(FileError::Io { what: "open", .. })));
    }

    #[test]
    fn a_symbolic_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        set(&real, "bob", "x");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        set(&link, "eve", "x");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(&real), ["bob", "eve"]);
    }
}
