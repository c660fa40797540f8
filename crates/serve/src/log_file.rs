//! smb.conf's `log file`: the lines of text once more in a file, which is put aside when it has grown enough.

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
    /// It was begun, and not gone on with.
    is_new: bool,
    len: u64,
    /// The length at which it is put aside as `.old`, bytes; 0: never.
    max: u64,
}

impl LogFile {
    /// Goes on with the file at `path`, or begins it.
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

    /// Goes on with whatever has its name now, after another program has put the file aside.
    ///
    /// # Errors
    /// What keeps it from being written; lines go on to the file that was open before.
    pub(super) fn reopen(&mut self) -> std::io::Result<()> {
        (self.file, self.len) = opened(&self.path)?;
        Ok(())
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves no file that was not there before it was opened: nothing was written.
    pub(super) fn discard(self) {
        if self.is_new && self.len == 0 {
            // An empty log that stays is no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Appends `text`, which ends with a line's end.
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
    fn it_goes_on_where_it_stopped_and_is_put_aside_when_it_has_grown_enough() {
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
    fn without_a_limit_it_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = LogFile::open(&path, 0).unwrap();
        for _ in 0..3 {
            log.write(&[b'x'; 4096]).unwrap();
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 3 * 4096);
    }
}
