//! The shared folder: the in-memory file system with counters of file data.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::any::Any;

use coax_server::{
    memfs::{MemFs, MemOptions},
    vfs::{FsTime, OpenHow, SetTimes, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult},
};

use super::{Files, OneFile};
use crate::payload::pattern_byte;

/// Disk work since the last call of `take_meter`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    /// Bytes read.
    pub(super) read: u64,
    /// Offset and length of the last read.
    pub(super) last_read: Option<(u64, usize)>,
    /// Bytes written.
    pub(super) written: u64,
    /// Bytes that differ from the pattern. Never reset.
    pub(super) wrong: u64,
}

#[derive(Debug)]
struct Shared {
    meter: spin::Mutex<Meter>,
    /// File data is generated and compared.
    whole: bool,
}

/// The folder. Clones refer to the same folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    inside: MemFs,
    shared: Arc<Shared>,
}

impl Folder {
    /// Creates a folder with these files.
    ///
    /// # Errors
    /// The error of the file system.
    pub(super) fn new(files: &[Files], whole: bool, now: FsTime) -> VfsResult<Self> {
        let inside = MemFs::with_options(MemOptions {
            keep_contents: false,
            capacity: 1 << 44,
            ..MemOptions::default()
        });
        inside.set_time(now);
        for file in files.iter().flat_map(Files::each) {
            inside.add_pattern(&file.name, file.size, &[])?;
        }
        Ok(Self {
            inside,
            shared: Arc::new(Shared {
                meter: spin::Mutex::new(Meter::default()),
                whole,
            }),
        })
    }

    /// Returns and resets the counters.
    pub(super) fn take_meter(&self) -> Meter {
        let mut meter = self.shared.meter.lock();
        let taken = *meter;
        *meter = Meter {
            wrong: taken.wrong,
            ..Meter::default()
        };
        taken
    }

    /// Number of these files that exist with their full size.
    pub(super) fn whole(&self, files: &Files) -> u32 {
        let size = |name: &str| self.inside.stat(name).map(|it| it.size);
        let is_whole = |file: &OneFile| size(&file.name).is_ok_and(|size| size == file.size);
        let whole = files.each().filter(is_whole).count();
        u32::try_from(whole).unwrap_or(u32::MAX)
    }
}

impl Vfs for Folder {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        let (inside, created) = self.inside.open(path, how)?;
        let file = Metered {
            inside,
            shared: self.shared.clone(),
        };
        Ok((Arc::new(file), created))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        self.inside.open_dir(path)
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        self.inside.stat(path)
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        self.inside.make_dir(path)
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        self.inside.remove_file(path)
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        self.inside.remove_dir(path)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        self.inside.rename(from, to, replace)
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        self.inside.hard_link(from, to)
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        self.inside.attribute(path, name)
    }

    fn space(&self) -> VfsResult<Space> {
        self.inside.space()
    }
}

#[derive(Debug)]
struct Metered {
    inside: Arc<dyn VfsFile>,
    shared: Arc<Shared>,
}

impl VfsFile for Metered {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        let left = self.inside.size()?.saturating_sub(offset);
        let got = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if self.shared.whole {
            for (at, byte) in (offset..).zip(buf.iter_mut().take(got)) {
                *byte = pattern_byte(at);
            }
        }
        let mut meter = self.shared.meter.lock();
        meter.read = meter.read.saturating_add(got as u64);
        meter.last_read = Some((offset, got));
        Ok(got)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)> {
        self.inside.write_at(offset, data)?;
        let wrong = if self.shared.whole {
            count_wrong(offset, data)
        } else {
            0
        };
        let mut meter = self.shared.meter.lock();
        meter.written = meter.written.saturating_add(data.len() as u64);
        meter.wrong = meter.wrong.saturating_add(wrong);
        Ok(())
    }

    fn stat(&self) -> VfsResult<Stat> {
        self.inside.stat()
    }

    fn size(&self) -> VfsResult<u64> {
        self.inside.size()
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        self.inside.set_len(len)
    }

    fn reserve(&self, len: u64) -> VfsResult<()> {
        self.inside.reserve(len)
    }

    fn sync(&self) -> VfsResult<()> {
        self.inside.sync()
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        self.inside.set_times(times)
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        self.inside.set_writable(writable)
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        self.inside.attribute(name)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        self.inside.set_attribute(name, value)
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        self.inside.update_attribute(name, change)
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        self.inside.remove_attribute(name)
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        self.inside.attribute_names()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Number of bytes of `data` that differ from the pattern at `offset`.
pub(super) fn count_wrong(offset: u64, data: &[u8]) -> u64 {
    (offset..)
        .zip(data)
        .filter(|(at, byte)| **byte != pattern_byte(*at))
        .count() as u64
}
