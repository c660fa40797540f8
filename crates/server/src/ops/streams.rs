//! Named streams of files and folders ([MS-FSA] 2.1.1.5), stored as by Samba's `streams_xattr`: the stream `NAME` is
//! the extended attribute `user.DosStream.NAME:$DATA`, whose value ends in one extra byte.
//!
//! The file system's limit for attributes also limits a stream's length; a longer stream fails with `DISK_FULL`.

use crate::vfs::{FileId, Kind, OpenHow, SetTimes, Stat, Vfs, VfsError, VfsFile, VfsResult};
use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use coax_wire::codepage::eq_ignore_case;
use core::any::Any;

/// Prefix of attributes that contain streams.
pub const PREFIX: &str = "user.DosStream.";

/// Suffix of attributes that contain streams.
pub(super) const SUFFIX: &str = ":$DATA";

/// Longest stream, bytes: Linux's limit for attributes (XATTR_SIZE_MAX), less the byte at its end. Most file systems
/// allow less.
pub const MAX_LEN: u64 = 65_535;

/// A named stream as a file: its contents are the attribute's, its metadata belongs to the file.
#[derive(Debug)]
pub struct StreamFile {
    base: Arc<dyn VfsFile>,
    name: String,
    attribute: String,
}

/// Finds a stream of an object by name, case-insensitive.
pub fn id_of(object: FileId, name: &str) -> FileId {
    let units = name.chars().flat_map(char::to_uppercase);
    let hash = units.fold(0xcbf2_9ce4_8422_2325, |hash: u64, c| {
        (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01b3)
    });
    FileId {
        stream: hash.max(1),
        ..object
    }
}

/// Opens the file or folder of the streams for reading, which suffices to change its attributes.
///
/// # Errors
/// File system errors.
pub fn open_base(vfs: &dyn Vfs, path: &str) -> VfsResult<Arc<dyn VfsFile>> {
    let how = OpenHow {
        read: true,
        ..OpenHow::default()
    };
    Ok(vfs.open(path, how)?.0)
}

/// The names of an object's streams, sorted.
///
/// # Errors
/// File system errors; a file system without attributes has no streams.
pub fn names(base: &dyn VfsFile) -> VfsResult<Vec<String>> {
    let all = match base.attribute_names() {
        Err(VfsError::Unsupported) => Vec::new(),
        other => other?,
    };
    let stream = |name: &String| {
        name.strip_prefix(PREFIX)?
            .strip_suffix(SUFFIX)
            .map(String::from)
    };
    let mut names: Vec<String> = all.iter().filter_map(stream).collect();
    names.sort();
    Ok(names)
}

/// The stored name of the stream that a client calls `name`, if it exists.
///
/// # Errors
/// As [`names`].
pub fn find(base: &Arc<dyn VfsFile>, name: &str) -> VfsResult<Option<StreamFile>> {
    let mut known = names(&**base)?.into_iter();
    let found = known.find(|known| eq_ignore_case(known, name));
    Ok(found.map(|known| StreamFile::new(base.clone(), &known)))
}

/// Removes a stream by its stored name.
///
/// # Errors
/// `NotFound`; file system errors.
pub fn remove(base: &dyn VfsFile, name: &str) -> VfsResult<()> {
    base.remove_attribute(&attribute_of(name)).map_err(missing)
}

/// Removes all streams, as overwriting an object does ([MS-FSA] 2.1.5.1.2.2).
///
/// # Errors
/// File system errors.
pub fn remove_all(base: &dyn VfsFile) -> VfsResult<()> {
    for name in names(base)? {
        match remove(base, &name) {
            Err(VfsError::NotFound) => {}
            other => other?,
        }
    }
    Ok(())
}

impl StreamFile {
    /// The stream with the stored name `name`.
    pub fn new(base: Arc<dyn VfsFile>, name: &str) -> Self {
        Self {
            base,
            name: name.to_string(),
            attribute: attribute_of(name),
        }
    }

    /// Creates the empty stream.
    ///
    /// # Errors
    /// File system errors.
    pub fn create(base: Arc<dyn VfsFile>, name: &str) -> VfsResult<Self> {
        base.set_attribute(&attribute_of(name), &[0])?;
        Ok(Self::new(base, name))
    }

    /// Its stored name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its contents.
    ///
    /// # Errors
    /// `NotFound` if it was removed; file system errors.
    pub fn contents(&self) -> VfsResult<Vec<u8>> {
        let mut value = self.base.attribute(&self.attribute).map_err(missing)?;
        value.pop();
        Ok(value)
    }

    /// Changes its contents, without the byte at the end.
    fn change(&self, change: &mut dyn FnMut(&mut Vec<u8>)) -> VfsResult<()> {
        let mut whole = |value: &mut Vec<u8>| {
            value.pop();
            change(value);
            value.push(0);
            Ok(())
        };
        let changed = self.base.update_attribute(&self.attribute, &mut whole);
        changed.map_err(missing)
    }
}

impl VfsFile for StreamFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        let contents = self.contents()?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = contents.get(from..).unwrap_or_default();
        let len = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> core::result::Result<(), (usize, VfsError)> {
        let end = offset.saturating_add(data.len() as u64);
        if end > MAX_LEN {
            return Err((0, VfsError::TooLarge));
        }
        let (from, end) = (offset as usize, end as usize);
        let mut write = |value: &mut Vec<u8>| {
            if value.len() < end {
                value.resize(end, 0);
            }
            if let Some(place) = value.get_mut(from..end) {
                place.copy_from_slice(data);
            }
        };
        self.change(&mut write).map_err(|error| (0, error))
    }

    fn stat(&self) -> VfsResult<Stat> {
        let base = self.base.stat()?;
        let size = self.contents()?.len() as u64;
        Ok(Stat {
            id: id_of(base.id, &self.name),
            kind: Kind::File,
            size,
            allocated: size,
            ..base
        })
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        if len > MAX_LEN {
            return Err(VfsError::TooLarge);
        }
        self.change(&mut |value| value.resize(len as usize, 0))
    }

    fn reserve(&self, len: u64) -> VfsResult<()> {
        match len > MAX_LEN {
            true => Err(VfsError::TooLarge),
            false => Ok(()),
        }
    }

    fn sync(&self) -> VfsResult<()> {
        self.base.sync()
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        self.base.set_times(times)
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        self.base.set_writable(writable)
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        self.base.attribute(name)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        self.base.set_attribute(name, value)
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        self.base.update_attribute(name, change)
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        self.base.remove_attribute(name)
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        self.base.attribute_names()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub(super) fn attribute_of(name: &str) -> String {
    format!("{PREFIX}{name}{SUFFIX}")
}

/// The length of a stream, from its attribute's value.
pub(super) fn length(value: &[u8]) -> u64 {
    (value.len() as u64).saturating_sub(1)
}

/// A missing attribute means a missing stream.
fn missing(error: VfsError) -> VfsError {
    match error {
        VfsError::NoAttribute => VfsError::NotFound,
        other => other,
    }
}

#[cfg(test)]
#[path = "streams_tests.rs"]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]
mod tests;
