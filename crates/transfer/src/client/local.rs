//! The local ends of copies.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
};

use coax_client::{JobId, LocalError, LocalFiles};

/// One copy's local end.
pub trait LocalEnd {
    /// Writes bytes of the server's file. Offsets may be out of order.
    ///
    /// # Errors
    /// [`LocalError`], which ends the copy.
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), LocalError>;

    /// Reads from `offset` into `buffer`. Returns the number of bytes, which is less than the buffer only at the end.
    ///
    /// # Errors
    /// [`LocalError`], which ends the copy.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError>;

    /// The file that the kernel may send directly, and its name for error messages.
    fn file(&self) -> Option<(BorrowedFd<'_>, &str)> {
        None
    }
}

/// Adapter for the engine. Operations run one at a time, so every job uses the same local end.
pub(super) struct One<'a>(pub &'a mut dyn LocalEnd);

impl LocalFiles for One<'_> {
    fn write(&mut self, _: JobId, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.0.write(offset, data)
    }

    fn read(&mut self, _: JobId, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        self.0.read(offset, buffer)
    }
}

/// Converts a system error for the engine.
pub fn failed(name: &str, error: &io::Error) -> LocalError {
    let full = [
        io::ErrorKind::StorageFull,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::FileTooLarge,
    ];
    LocalError {
        message: format!("{name}: {}", super::error::plain(error)),
        disk_full: full.contains(&error.kind()),
    }
}

/// The local end of operations other than copies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl LocalEnd for Nothing {
    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), LocalError> {
        Ok(())
    }

    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<usize, LocalError> {
        Ok(0)
    }
}

/// A local file with random access.
#[derive(Debug)]
pub struct FileEnd {
    file: File,
    name: String,
    arrived: Arrived,
}

impl FileEnd {
    /// A file, its name for errors, and the number of valid bytes at its beginning.
    pub fn new(file: File, name: impl Into<String>, from: u64) -> Self {
        Self {
            file,
            name: name.into(),
            arrived: Arrived {
                upto: from,
                beyond: BTreeMap::new(),
            },
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Number of bytes from the beginning without a gap.
    pub fn whole(&self) -> u64 {
        self.arrived.upto
    }
}

impl LocalEnd for FileEnd {
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.file
            .write_all_at(data, offset)
            .map_err(|error| failed(&self.name, &error))?;
        self.arrived.add(offset, data.len() as u64);
        Ok(())
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        fill(buffer, offset, |rest, at| self.file.read_at(rest, at))
            .map_err(|error| failed(&self.name, &error))
    }

    fn file(&self) -> Option<(BorrowedFd<'_>, &str)> {
        Some((self.file.as_fd(), &self.name))
    }
}

/// Ranges that were received out of order.
#[derive(Debug, Default)]
struct Arrived {
    upto: u64,
    beyond: BTreeMap<u64, u64>,
}

impl Arrived {
    fn add(&mut self, offset: u64, len: u64) {
        self.beyond.insert(offset, offset.saturating_add(len));
        while let Some(entry) = self.beyond.first_entry() {
            if *entry.key() > self.upto {
                break;
            }
            self.upto = self.upto.max(entry.remove());
        }
    }
}

/// Writes data to a stream in order, even if it is received out of order. Used for standard output and hashes.
#[derive(Debug)]
pub struct InOrder<W> {
    to: W,
    next: u64,
    early: BTreeMap<u64, Vec<u8>>,
    name: String,
}

impl<W: Write> InOrder<W> {
    /// A stream and its name for error messages.
    pub fn new(to: W, name: impl Into<String>) -> Self {
        Self {
            to,
            next: 0,
            early: BTreeMap::new(),
            name: name.into(),
        }
    }

    /// Returns the stream after the last write.
    ///
    /// # Errors
    /// [`LocalError`] if the remaining data cannot be written.
    pub fn finish(mut self) -> Result<W, LocalError> {
        self.to
            .flush()
            .map_err(|error| failed(&self.name, &error))?;
        Ok(self.to)
    }

    fn put(&mut self, data: &[u8]) -> Result<(), LocalError> {
        self.next = self.next.saturating_add(data.len() as u64);
        self.to
            .write_all(data)
            .map_err(|error| failed(&self.name, &error))
    }
}

impl<W: Write> LocalEnd for InOrder<W> {
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        if offset != self.next {
            // The engine's requests in flight limit the buffered data.
            self.early.insert(offset, data.to_vec());
            return Ok(());
        }
        self.put(data)?;
        while let Some(data) = self.early.remove(&self.next) {
            self.put(&data)?;
        }
        Ok(())
    }

    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<usize, LocalError> {
        Ok(0)
    }
}

/// A stream that is read once and sequentially, for example standard input.
#[derive(Debug)]
pub struct FromStream<R> {
    from: R,
    name: String,
    read: u64,
}

impl<R: Read> FromStream<R> {
    /// A stream and its name for error messages.
    pub fn new(from: R, name: impl Into<String>) -> Self {
        Self {
            from,
            name: name.into(),
            read: 0,
        }
    }

    /// Number of bytes read.
    pub fn read_bytes(&self) -> u64 {
        self.read
    }
}

impl<R: Read> LocalEnd for FromStream<R> {
    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), LocalError> {
        Ok(())
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, LocalError> {
        let got = fill(buffer, offset, |rest, _| self.from.read(rest))
            .map_err(|error| failed(&self.name, &error))?;
        self.read = self.read.saturating_add(got as u64);
        Ok(got)
    }
}

/// Compares the server's data with a local file.
#[derive(Debug)]
pub struct Compare {
    file: File,
    name: String,
    buffer: Vec<u8>,
    compared: u64,
    differs_at: Option<u64>,
}

impl Compare {
    /// A file and its name for error messages.
    pub fn new(file: File, name: impl Into<String>) -> Self {
        Self {
            file,
            name: name.into(),
            buffer: Vec::new(),
            compared: 0,
            differs_at: None,
        }
    }

    /// Offset of the first different byte.
    pub fn differs_at(&self) -> Option<u64> {
        self.differs_at
    }

    /// Number of bytes compared.
    pub fn compared(&self) -> u64 {
        self.compared
    }
}

impl LocalEnd for Compare {
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), LocalError> {
        self.buffer.resize(data.len(), 0);
        let got = fill(&mut self.buffer, offset, |rest, at| {
            self.file.read_at(rest, at)
        })
        .map_err(|error| failed(&self.name, &error))?;
        let ours = self.buffer.get(..got).unwrap_or_default();
        let same = ours.iter().zip(data).take_while(|(a, b)| a == b).count();
        self.compared = self.compared.saturating_add(data.len() as u64);
        if same < data.len() {
            let at = offset.saturating_add(same as u64);
            self.differs_at = Some(self.differs_at.map_or(at, |first| first.min(at)));
        }
        Ok(())
    }

    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<usize, LocalError> {
        Ok(0)
    }
}

/// Reads until `buffer` is full or the file ends.
fn fill(
    buffer: &mut [u8],
    offset: u64,
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut done = 0usize;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read(rest, offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(count) => done = done.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_stream_gets_bytes_in_order() {
        let mut end = InOrder::new(Vec::new(), "out");
        for (offset, data) in [(3, &b"def"[..]), (9, b"j"), (0, b"abc"), (6, b"ghi")] {
            end.write(offset, data).unwrap();
        }
        assert_eq!(end.finish().unwrap(), b"abcdefghij");
    }

    #[test]
    fn a_file_counts_the_bytes_before_the_first_gap() {
        let mut end = FileEnd::new(tempfile::tempfile().unwrap(), "f", 2);
        end.write(6, b"gh").unwrap();
        assert_eq!(end.whole(), 2);
        end.write(2, b"cd").unwrap();
        assert_eq!(end.whole(), 4);
        end.write(4, b"ef").unwrap();
        assert_eq!(end.whole(), 8);
    }

    #[test]
    fn the_first_difference_is_found_in_any_order() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abcdef").unwrap();
        let mut end = Compare::new(file, "f");
        end.write(3, b"dxf").unwrap();
        assert_eq!(end.differs_at(), Some(4));
        end.write(0, b"aBc").unwrap();
        assert_eq!(end.differs_at(), Some(1));
        end.write(6, b"more").unwrap();
        assert_eq!((end.differs_at(), end.compared()), (Some(1), 10));
    }

    #[test]
    fn a_full_disk_has_its_own_error() {
        let mut end = FileEnd::new(
            File::options().write(true).open("/dev/full").unwrap(),
            "full",
            0,
        );
        let error = end.write(0, b"a").unwrap_err();
        assert!(error.disk_full);
        assert_eq!(error.message, "full: no space left on device");
    }
}
