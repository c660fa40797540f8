//! Times of last write, and space reserved, as clients see them while a file is open.

use super::OpenId;
use crate::vfs::{FileId, FsTime, Stat};
use alloc::collections::BTreeMap;
use coax_wire::time::Time;

/// Times of files that are open and were changed.
#[derive(Debug, Default)]
pub(super) struct WriteTimes {
    pub(super) files: BTreeMap<FileId, Shown>,
    pub(super) writers: BTreeMap<OpenId, Writer>,
    pub(super) reserved: BTreeMap<FileId, u64>,
}

/// What is shown of a file.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) modified: FsTime,
    /// A client set this time of last change: it is shown until the next change or until all have closed the file.
    /// Without it, the time of last write is shown, as Samba does: Unix' time of last change is no more than a time of
    /// copying or of a backup, and amiga-smbfs shows it as the file's date.
    pub(super) changed: Option<FsTime>,
    /// A client set this time of last write: it is shown until all have closed the file.
    pub(super) set: Option<FsTime>,
}

/// What an open did to its file's times.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// When its write will show.
    pub(super) due: Option<Time>,
    /// A write has been scheduled or shown: no further one shows before the close.
    pub(super) triggered: bool,
    /// It wrote: its close is the time of last write.
    pub(super) wrote: bool,
    /// It changed the length and wrote nothing since: the time shown is the time of last write.
    pub(super) resized: bool,
    /// A client set the time through it, or stopped its updates: writes leave it.
    pub(super) frozen: bool,
}

impl WriteTimes {
    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        let rows = [self.files.len(), self.writers.len(), self.reserved.len()];
        rows.iter().sum()
    }

    /// What was kept of one stream is now that of another.
    pub(super) fn renamed(&mut self, from: FileId, to: FileId) {
        if let Some(shown) = self.files.remove(&from) {
            self.files.insert(to, shown);
        }
        if let Some(reserved) = self.reserved.remove(&from) {
            self.reserved.insert(to, reserved);
        }
    }

    /// What is shown of the file that is `now`, from now on.
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
