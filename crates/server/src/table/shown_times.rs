//! Last-write times and reserved space, as clients see them while a file is open.

use super::OpenId;
use crate::vfs::{FileId, FsTime, Stat};
use alloc::collections::BTreeMap;
use coax_wire::time::Time;

/// The times of open files with changes.
#[derive(Debug, Default)]
pub(super) struct WriteTimes {
    pub(super) files: BTreeMap<FileId, Shown>,
    pub(super) writers: BTreeMap<OpenId, Writer>,
    pub(super) reserved: BTreeMap<FileId, u64>,
}

/// The values that clients see for a file.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) modified: FsTime,
    /// The change time that a client set. Clients see it until the next change or until all have closed the file.
    /// Without it they see the last-write time, as with Samba: the ctime of Unix only tells when a file was copied or
    /// backed up, and amiga-smbfs shows it as the file's date.
    pub(super) changed: Option<FsTime>,
    /// The last-write time that a client set. Clients see it until all have closed the file.
    pub(super) set: Option<FsTime>,
}

/// The effects of one open on the times of its file.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// When its write becomes visible.
    pub(super) due: Option<Time>,
    /// A write is scheduled or visible: no further write becomes visible before the close.
    pub(super) triggered: bool,
    /// The open wrote: the time of its close becomes the last-write time.
    pub(super) wrote: bool,
    /// The open changed the length and wrote nothing since: the visible time is the last-write time.
    pub(super) resized: bool,
    /// A client set the time through this open, or stopped its updates: writes do not change it.
    pub(super) frozen: bool,
}

impl WriteTimes {
    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        let rows = [self.files.len(), self.writers.len(), self.reserved.len()];
        rows.iter().sum()
    }

    /// Moves the values of one stream to another.
    pub(super) fn renamed(&mut self, from: FileId, to: FileId) {
        if let Some(shown) = self.files.remove(&from) {
            self.files.insert(to, shown);
        }
        if let Some(reserved) = self.reserved.remove(&from) {
            self.reserved.insert(to, reserved);
        }
    }

    /// The visible values of the file, whose current state is `now`.
    pub(super) fn shown(&mut self, now: &Stat) -> &mut Shown {
        self.files.entry(now.id).or_insert(Shown {
            modified: now.modified,
            changed: None,
            set: None,
        })
    }
}

impl Shown {
    pub(super) fn show(&mut self, time: Time) {
        self.modified = FsTime(time.unix_ns());
        self.changed = None;
    }
}
