//! Operations on files that succeeded, for an audit log. Refused requests are [`crate::Event`]s.

use alloc::{string::String, vec::Vec};
use coax_wire::status::Status;
use core::cell::RefCell;

/// What was done with a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// What was done.
    pub deed: Deed,
    /// The user; `None` for a guest.
    pub user: Option<String>,
    /// The share's name.
    pub share: String,
    /// The path on the disk, relative to the share's folder; a stream's name follows a colon.
    pub path: String,
    /// Whether it is a folder.
    pub is_directory: bool,
    /// Why a deletion at the last close failed, which no refused request reports.
    pub failed: Option<Status>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A file, folder or print job was opened.
    Open {
        /// The number of the open; `None` for a print job.
        open: Option<u64>,
        /// It did not exist before.
        created: bool,
        /// Its contents were discarded.
        truncated: bool,
        /// It may be read through this open,
        reads: bool,
        /// and written.
        writes: bool,
    },
    /// It was closed.
    Close {
        /// The number of the open; `None` for a print job.
        open: Option<u64>,
        /// What was moved through it.
        moved: Moved,
    },
    /// It has another path.
    Rename {
        /// The new path.
        to: String,
        /// A file at the new path was replaced.
        replaced: bool,
    },
    /// The file has another name in addition.
    Link {
        /// That name.
        to: String,
    },
    /// The server copied the file.
    Copy {
        /// The share of the copy.
        to_share: String,
        /// The path of the copy.
        to: String,
    },
    /// The file was deleted.
    Delete,
    /// The folder was created.
    MakeDirectory,
    /// The folder was deleted.
    RemoveDirectory,
}

/// Bytes that were moved through an open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes read,
    pub read: u64,
    /// and bytes written.
    pub written: u64,
}

impl Moved {
    pub(crate) fn add(&mut self, more: Self) {
        self.read = self.read.saturating_add(more.read);
        self.written = self.written.saturating_add(more.written);
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            read: self.read.saturating_sub(before.read),
            written: self.written.saturating_sub(before.written),
        }
    }

    pub(crate) fn add_read(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes as u64);
    }

    pub(crate) fn add_written(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes as u64);
    }
}

impl Act {
    /// An operation that succeeded; the connection adds the user.
    pub(crate) fn done(deed: Deed, share: &str, path: &str, is_directory: bool) -> Self {
        Self {
            deed,
            user: None,
            share: share.into(),
            path: path.into(),
            is_directory,
            failed: None,
        }
    }
}

/// The operations that the driver has not taken yet. Operations that only borrow the connection add to it.
#[derive(Debug, Default)]
pub(crate) struct Acts(RefCell<Vec<Act>>);

impl Acts {
    pub(crate) fn add(&self, act: Act) {
        if let Ok(mut acts) = self.0.try_borrow_mut() {
            acts.push(act);
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Act> {
        core::mem::take(self.0.get_mut())
    }
}

/// Bytes by share.
#[derive(Debug, Default)]
pub(crate) struct MovedByShare(pub(crate) Vec<(String, Moved)>);

impl MovedByShare {
    pub(crate) fn add(&mut self, share: &str, moved: Moved) {
        if moved == Moved::default() {
            return;
        }
        match self.0.iter_mut().find(|(name, _)| name == share) {
            Some((_, sum)) => sum.add(moved),
            None => self.0.push((share.into(), moved)),
        }
    }
}
