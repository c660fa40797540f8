//! A folder on disk, open for listing.

use std::sync::{Arc, Mutex, PoisonError};

use coax_server::vfs::{Kind, Stat, VfsDir, VfsResult, path};
use rustix::{
    fd::{AsRawFd, OwnedFd},
    fs::{FileType, Mode, OFlags, RawDir, SeekFrom},
    io::Errno,
};

use super::{
    attribute, clock,
    errno::error,
    name,
    root::Root,
    stat::{stat_at, stat_of},
};

/// Bytes of names fetched from the kernel at a time.
const BATCH: usize = 64 * 1024;

/// An open folder of a [`DiskFs`](super::DiskFs).
#[derive(Debug)]
pub struct DiskDir {
    root: Arc<Root>,
    fd: OwnedFd,
    /// Its path when it was opened. Symbolic links in it are resolved from the root so that they stay beneath the root.
    path: String,
    /// With this path and a name the kernel reads an entry's attributes without opening the entry.
    prefix: Vec<u8>,
    /// The descriptor has one read position: one listing at a time.
    listing: Mutex<()>,
}

impl DiskDir {
    pub(super) fn new(root: Arc<Root>, fd: OwnedFd, path: &str) -> Self {
        let prefix = format!("/proc/self/fd/{}/", fd.as_raw_fd()).into_bytes();
        Self {
            root,
            fd,
            path: path.to_owned(),
            prefix,
            listing: Mutex::new(()),
        }
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.path)
        }
    }

    fn attribute_of(&self, bytes: &[u8], attribute: &str) -> Option<Vec<u8>> {
        attribute::of_path(&[&self.prefix, bytes].concat(), attribute).ok()
    }

    fn linked_entry(
        &self,
        name: &str,
        attribute: Option<&str>,
    ) -> VfsResult<(Stat, Option<Vec<u8>>)> {
        let target = self
            .root
            .look_up(&self.path_of(name), OFlags::PATH, Mode::empty())?;
        let value = attribute.and_then(|wanted| attribute::of_path_fd(&target, wanted).ok());
        Ok((stat_of(&target)?, value))
    }

    /// The name to list, if the entry may be visible.
    fn listed(&self, bytes: &[u8], file_type: FileType) -> Option<String> {
        if bytes == b"." || bytes == b".." {
            return None;
        }
        let name = name::decode(bytes);
        let visible = match file_type {
            FileType::RegularFile | FileType::Directory => true,
            FileType::Symlink | FileType::Unknown => self
                .entry(&name, None)
                .is_ok_and(|(stat, _)| stat.kind != Kind::Special),
            _ => false,
        };
        visible.then_some(name)
    }
}

impl VfsDir for DiskDir {
    fn names(&self) -> VfsResult<Vec<String>> {
        let _one_at_a_time = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        rustix::fs::seek(&self.fd, SeekFrom::Start(0)).map_err(error)?;
        let mut buffer = Vec::with_capacity(BATCH);
        let mut entries = RawDir::new(&self.fd, buffer.spare_capacity_mut());
        let mut names = Vec::new();
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => {
                    names.extend(self.listed(entry.file_name().to_bytes(), entry.file_type()))
                }
                Err(Errno::INTR) => {}
                // The folder itself was removed.
                Err(Errno::NOENT) => break,
                Err(other) => return Err(error(other)),
            }
        }
        Ok(names)
    }

    fn entry(&self, name: &str, attribute: Option<&str>) -> VfsResult<(Stat, Option<Vec<u8>>)> {
        path::check_name(name)?;
        let bytes = name::encode(name);
        let (stat, file_type) = stat_at(&self.fd, &bytes)?;
        if file_type == FileType::Symlink {
            return self.linked_entry(name, attribute);
        }
        let value = attribute.and_then(|wanted| {
            self.root
                .attributes
                .value(&stat, wanted, || self.attribute_of(&bytes, wanted))
        });
        Ok((stat, value))
    }

    fn may_have_attributes(&self, name: &str, stat: &Stat, besides: &str) -> bool {
        let told = self.root.others.value(stat, besides, || {
            let bytes = name::encode(name);
            let is_link = stat_at(&self.fd, &bytes).is_ok_and(|seen| seen.1 == FileType::Symlink);
            let path = [self.prefix.as_slice(), &bytes].concat();
            (is_link || attribute::others_of_path(&path, besides)).then(Vec::new)
        });
        told.is_some()
    }

    fn stat(&self) -> VfsResult<Stat> {
        stat_of(&self.fd)
    }

    fn tells_changes_after(&self, stat: &Stat) -> bool {
        clock::settled(&self.fd, stat)
    }
}
