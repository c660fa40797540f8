//! An in-memory file or folder.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use super::content::Content;
use crate::vfs::{FileId, FsTime, Kind, SetTimes, Stat};

/// The owner-write bit of Unix permissions.
const OWNER_WRITE: u32 = 0o200;
/// The default device number of objects: "MEM". See [`super::MemOptions::device`].
pub(super) const DEVICE: u64 = 0x004D_454D;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) body: Body,
    pub(super) links: u32,
    pub(super) opens: u32,
    pub(super) attributes: BTreeMap<String, Vec<u8>>,
    mode: u32,
    created: FsTime,
    modified: FsTime,
    accessed: FsTime,
    changed: FsTime,
}

#[derive(Debug)]
pub(super) enum Body {
    File(Content),
    Folder {
        entries: BTreeMap<String, u64>,
        parent: u64,
    },
}

impl Node {
    pub(super) fn new(body: Body, now: FsTime) -> Self {
        let mode = if matches!(body, Body::File(_)) {
            0o644
        } else {
            0o755
        };
        let attributes = BTreeMap::new();
        Self {
            body,
            links: 1,
            opens: 0,
            attributes,
            mode,
            created: now,
            modified: now,
            accessed: now,
            changed: now,
        }
    }

    pub(super) fn stat(&self, device: u64, inode: u64) -> Stat {
        let (kind, size, allocated) = match &self.body {
            Body::File(content) => (Kind::File, content.len(), content.allocated()),
            Body::Folder { .. } => (Kind::Directory, 0, 0),
        };
        Stat {
            id: FileId {
                device,
                inode,
                stream: 0,
            },
            kind,
            size,
            allocated,
            created: Some(self.created),
            modified: self.modified,
            accessed: self.accessed,
            changed: self.changed,
            links: self.links,
            mode: self.mode,
        }
    }

    pub(super) fn is_folder(&self) -> bool {
        matches!(self.body, Body::Folder { .. })
    }

    pub(super) fn writable(&self) -> bool {
        self.mode & OWNER_WRITE != 0
    }

    pub(super) fn set_writable(&mut self, writable: bool, now: FsTime) {
        self.mode = if writable {
            self.mode | OWNER_WRITE
        } else {
            self.mode & !OWNER_WRITE
        };
        self.touch_metadata(now);
    }

    pub(super) fn set_times(&mut self, times: SetTimes, now: FsTime) {
        self.accessed = times.accessed.unwrap_or(self.accessed);
        self.modified = times.modified.unwrap_or(self.modified);
        self.touch_metadata(now);
    }

    /// Notes a change of the contents, or of a folder's list of names.
    pub(super) fn touch(&mut self, now: FsTime) {
        self.modified = now;
        self.touch_metadata(now);
    }

    /// `changed` always advances, even if the clock does not.
    pub(super) fn touch_metadata(&mut self, now: FsTime) {
        self.changed = now.max(FsTime(self.changed.0.saturating_add(1)));
    }
}
