//! smb.conf's `log file`: a copy of the text lines in a file, which is rotated at its maximum size.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use jiff::{Timestamp, tz::TimeZone};

/// The mode of a new log file: it has the address of the web page with its token, and names of users and files. A group of
/// administrators may read it, as it may other logs of a system. An existing file keeps its mode.
const MODE: u32 = 0o640;

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
    tail: Tail,
    /// Whether the last attempt to rotate it failed, which was reported.
    is_stuck: bool,
}

impl LogFile {
    /// Opens the file at `path` for appending, or creates it.
    pub(super) fn open(path: &Path, max_kib: u32) -> std::io::Result<Self> {
        let was_there = path.exists();
        let (file, len) = opened(path, MODE)?;
        Ok(Self {
            tail: Tail::of(path, len),
            path: path.to_owned(),
            file,
            is_new: !was_there,
            len,
            max: u64::from(max_kib).saturating_mul(1024),
            is_stuck: false,
        })
    }

    /// Reopens the file by its name, after another program has rotated it.
    ///
    /// # Errors
    /// The new file cannot be opened; lines continue to go to the previous one.
    pub(super) fn reopen(&mut self) -> std::io::Result<()> {
        self.reopen_with(MODE)
    }

    fn reopen_with(&mut self, mode: u32) -> std::io::Result<()> {
        (self.file, self.len) = opened(&self.path, mode)?;
        self.tail.is_partial = Tail::of(&self.path, self.len).is_partial;
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

    /// Appends `text`, which ends with a line feed. Returns what went wrong or is right again.
    pub(super) fn write(&mut self, text: &[u8]) -> Vec<String> {
        let mut news = Vec::new();
        if text.is_empty() {
            return news;
        }
        let path = self.path.display().to_string();
        if self.max > 0 && self.len >= self.max {
            let put_aside = self.put_aside();
            let was_stuck = std::mem::replace(&mut self.is_stuck, put_aside.is_err());
            if let Err(error) = put_aside.as_ref()
                && !was_stuck
            {
                news.push(format!(
                    "the log file {path} cannot be rotated at 'max log size': {error}; it grows on"
                ));
            }
        }
        let had_lost = self.tail.lost;
        let written = self.tail.write(&mut self.file, text);
        self.len = self.file.metadata().map_or(self.len, |found| found.len());
        match written {
            Err(error) if had_lost == 0 => news.push(format!(
                "the log file {path} cannot be written: {error}; lines are lost until it can"
            )),
            Ok(()) if had_lost > 0 => news.push(format!(
                "the log file {path} is written again; {had_lost} lines were lost"
            )),
            _ => {}
        }
        news
    }

    fn put_aside(&mut self) -> std::io::Result<()> {
        let mut old = self.path.clone().into_os_string();
        old.push(".old");
        match std::fs::rename(&self.path, old) {
            // An earlier attempt renamed it and could not create the next file.
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mode = self.file.metadata().map_or(MODE, |found| found.mode());
        self.reopen_with(mode & 0o777)
    }
}

/// The end of the file: what is missing there.
#[derive(Debug, Default)]
struct Tail {
    /// Lines that could not be written since the last one that could.
    lost: u64,
    /// Why.
    why: String,
    /// Whether the last line lacks its end.
    is_partial: bool,
}

impl Tail {
    /// The end of an existing file, which a process that was killed or a full disk may have left in the middle of a line.
    fn of(path: &Path, len: u64) -> Self {
        let last = || {
            let mut last = [0];
            let mut file = File::open(path)?;
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            Ok::<_, std::io::Error>(last)
        };
        Self {
            is_partial: len > 0 && last().is_ok_and(|last| last != *b"\n"),
            ..Self::default()
        }
    }

    /// Writes `text`, after what is missing.
    fn write(&mut self, out: &mut impl Write, text: &[u8]) -> std::io::Result<()> {
        let mut rest = text;
        let written = self.write_missing(out);
        let written = written.and_then(|()| self.put(out, &mut rest));
        // A text is written as it is; only one that was cut needs an end.
        self.is_partial &= written.is_err();
        if let Err(error) = &written {
            let lines = rest.iter().filter(|byte| **byte == b'\n').count();
            self.lost = self.lost.saturating_add(lines as u64);
            self.why = error.to_string();
        }
        written
    }

    /// Ends a partial line, and writes the number of lines that were lost.
    fn write_missing(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        let mut missing = Vec::new();
        if self.is_partial {
            missing.push(b'\n');
        }
        if self.lost > 0 {
            let (at, lost, why) = (stamp(Timestamp::now()), self.lost, &self.why);
            writeln!(missing, "{at} {lost} lines were lost: {why}")?;
        }
        self.put(out, &mut missing.as_slice())?;
        self.lost = 0;
        Ok(())
    }

    /// Writes all of `rest`; at an error, `rest` is what is missing.
    fn put(&mut self, out: &mut impl Write, rest: &mut &[u8]) -> std::io::Result<()> {
        while !rest.is_empty() {
            match out.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    let (done, left) = rest.split_at(count.min(rest.len()));
                    self.is_partial = done.last() != Some(&b'\n');
                    *rest = left;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The time of a line.
pub(super) fn stamp(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::system());
    at.strftime("%Y-%m-%d %H:%M:%S.%6f").to_string()
}

fn opened(path: &Path, mode: u32) -> std::io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(mode).open(path)?;
    let len = file.metadata()?.len();
    Ok((file, len))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects)]
    use super::*;

    #[test]
    fn it_appends_to_an_existing_file_and_rotates_at_the_maximum_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "before\n").unwrap();
        let mut log = LogFile::open(&path, 1).unwrap();
        assert!(log.write(b"after\n").is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before\nafter\n");
        assert!(log.write(&[b'x'; 1024]).is_empty());
        assert!(log.write(b"new\n").is_empty());
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
            assert!(log.write(&[b'x'; 4096]).is_empty());
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 3 * 4096);
    }

    /// Takes a number of bytes, then fails.
    struct Disk {
        room: usize,
        text: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            let count = text.len().min(self.room);
            if count == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.text
                .extend_from_slice(text.get(..count).unwrap_or_default());
            Ok(count)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_a_full_disk_does_not_take_are_counted_and_a_partial_line_is_ended() {
        let mut disk = Disk {
            room: 12,
            text: Vec::new(),
        };
        let mut tail = Tail::default();
        tail.write(&mut disk, b"first\n").unwrap();
        assert!(tail.write(&mut disk, b"second\nthird\n").is_err());
        assert!(tail.write(&mut disk, b"fourth\n").is_err());
        disk.room = 1000;
        tail.write(&mut disk, b"fifth\n").unwrap();
        tail.write(&mut disk, b"sixth\n").unwrap();
        let text = String::from_utf8(disk.text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let [first, part, lost, fifth, sixth] = lines.as_slice() else {
            panic!("{text}")
        };
        assert_eq!(
            [*first, *part, *fifth, *sixth],
            ["first", "second", "fifth", "sixth"]
        );
        assert!(lost.contains(" 3 lines were lost: "), "{lost}");
    }

    #[test]
    fn a_file_that_cannot_be_rotated_grows_on_and_the_problem_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = LogFile::open(&path, 1).unwrap();
        // Nothing can be renamed to a folder that is not empty.
        let in_the_way = folder.path().join("log.old");
        std::fs::create_dir_all(in_the_way.join("file")).unwrap();
        log.write(&[b'x'; 1024]);
        let news = log.write(b"one\n");
        assert!(
            news.len() == 1 && news.concat().contains("max log size"),
            "{news:?}"
        );
        assert!(log.write(b"two\n").is_empty());
        assert!(
            std::fs::read_to_string(&path)
                .unwrap()
                .ends_with("xone\ntwo\n")
        );
        std::fs::remove_dir_all(in_the_way).unwrap();
        assert!(log.write(b"three\n").is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three\n");
    }

    #[test]
    fn others_cannot_read_a_new_file_and_an_existing_one_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        let mut log = LogFile::open(&path, 1).unwrap();
        assert_eq!(mode(&path) & !MODE, 0);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        log.write(&[b'x'; 1024]);
        log.write(b"new\n");
        assert_eq!(mode(&path), 0o600, "the next file of the rotation too");
        LogFile::open(&path, 1).unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}
