//! smb.conf's `log file`: a copy of the text lines in a file, which is rotated at its maximum size.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

/// A log file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    /// Whether [`Self::open`] created the file.
    is_new: bool,
    len: u64,
    /// The size at which the file is renamed to `.old`, bytes; 0: never.
    max: u64,
}

impl LogFile {
    /// Opens the file at `path` for appending, or creates it.
    pub(super) fn open(path: &Path, max_kib: u32) -> std::io::Result<Self> {
        let was_there = path.exists();
        let (file, len) = opened(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            is_new: !was_there,
            len,
            max: u64::from(max_kib).saturating_mul(1024),
        })
    }

    /// Reopens the file by its name, after another program has rotated it.
    ///
    /// # Errors
    /// The new file cannot be opened; lines continue to go to the previous one.
    pub(super) fn reopen(&mut self) -> std::io::Result<()> {
        (self.file, self.len) = opened(&self.path)?;
        Ok(())
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes the file if [`Self::open`] created it and nothing was written.
    pub(super) fn discard(self) {
        if self.is_new && self.len == 0 {
            // An empty log file left behind does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Appends `text`, which ends with a line feed.
    pub(super) fn write(&mut self, text: &[u8]) -> std::io::Result<()> {
        if self.max > 0 && self.len >= self.max {
            self.put_aside()?;
        }
        self.file.write_all(text)?;
        self.len = self.len.saturating_add(text.len() as u64);
        Ok(())
    }

    fn put_aside(&mut self) -> std::io::Result<()> {
        let mut old = self.path.clone().into_os_string();
        old.push(".old");
        std::fs::rename(&self.path, old)?;
        self.reopen()
    }
}

fn opened(path: &Path) -> std::io::Result<(File, u64)> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let len = file.metadata()?.len();
    Ok((file, len))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn it_appends_to_an_existing_file_and_rotates_at_the_maximum_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "before\n").unwrap();
        let mut log = LogFile::open(&path, 1).unwrap();
        log.write(b"after\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before\nafter\n");
        log.write(&[b'x'; 1024]).unwrap();
        log.write(b"new\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
        assert!(
            std::fs::read_to_string(folder.path().join("log.old"))
                .unwrap()
                .starts_with("before\n")
        );
    }

    #[test]
    fn without_a_maximum_size_the_log_file_is_never_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = LogFile::open(&path, 0).unwrap();
        for _ in 0..3 {
            log.write(&[b'x'; 4096]).unwrap();
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 3 * 4096);
    }
}
