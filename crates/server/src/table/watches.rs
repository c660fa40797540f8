//! Watches of folders, and the changes that they collect.

use super::{OpenId, Refusal, ShareId, Ticket, path_index::Place};
use crate::budget::Lease;
use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::{String, ToString},
    vec::Vec,
};

/// Completion filter ([MS-CIFS] 2.2.7.4.1): which changes are wanted, or what a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifyFilter(pub u32);

impl NotifyFilter {
    /// A file has been created, removed, renamed.
    pub const FILE_NAME: Self = Self(0x1);
    /// A folder has.
    pub const DIR_NAME: Self = Self(0x2);
    /// DOS attributes.
    pub const ATTRIBUTES: Self = Self(0x4);
    /// Length.
    pub const SIZE: Self = Self(0x8);
    /// Last write time.
    pub const LAST_WRITE: Self = Self(0x10);
    /// Last access time.
    pub const LAST_ACCESS: Self = Self(0x20);
    /// Creation time.
    pub const CREATION: Self = Self(0x40);
    /// Extended attributes.
    pub const EA: Self = Self(0x80);
    /// Access control.
    pub const SECURITY: Self = Self(0x100);

    /// Both.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn name_of(is_directory: bool) -> Self {
        if is_directory {
            Self::DIR_NAME
        } else {
            Self::FILE_NAME
        }
    }
}

/// FILE_ACTION_* ([MS-CIFS] 2.2.7.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NotifyAction {
    /// Created, or moved here.
    Added = 1,
    /// Removed, or moved away.
    Removed = 2,
    /// Changed.
    Modified = 3,
    /// Renamed; this was its name. The new one follows.
    RenamedOldName = 4,
    /// Renamed; this is its name.
    RenamedNewName = 5,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyRecord {
    /// What happened.
    pub action: NotifyAction,
    /// To what: path relative to the watched folder, parted by `/` (by `\` on the wire).
    pub path: String,
}

/// How a waiting notification ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyOutcome {
    /// These changes. None: there were more than the buffer takes, and the client must list the folder anew
    /// (STATUS_NOTIFY_ENUM_DIR; Windows answers SMB1 with success and no bytes).
    Changes(Vec<NotifyRecord>),
    /// The folder has been closed (STATUS_NOTIFY_CLEANUP; Windows answers SMB1 with success and no bytes).
    Closed,
    /// The folder is going to be deleted (STATUS_DELETE_PENDING).
    DeletePending,
}

/// A request for change notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchRequest {
    /// The open folder. (For an open file: STATUS_INVALID_PARAMETER, by the caller.)
    pub open: OpenId,
    /// CompletionFilter.
    pub filter: NotifyFilter,
    /// WatchTree: everything beneath, too.
    pub recursive: bool,
    /// MaxParameterCount: bytes the reply may have.
    pub buffer_bytes: usize,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchOutcome {
    /// There are changes already: answer them.
    Ready(NotifyOutcome),
    /// Park the request until `Event::Notify`.
    Waiting(Ticket),
    /// Refused.
    Refused(Refusal),
}

#[derive(Debug, Default)]
pub(super) struct Watches {
    pub(super) watches: BTreeMap<OpenId, Watch>,
    pub(super) folders: BTreeMap<(ShareId, String), BTreeSet<OpenId>>,
}

impl Watches {
    pub(super) fn len(&self) -> usize {
        self.watches.len()
    }
}

#[derive(Debug)]
pub(super) struct Watch {
    pub(super) filter: NotifyFilter,
    pub(super) recursive: bool,
    pub(super) buffer_bytes: usize,
    pub(super) changes: Vec<NotifyRecord>,
    pub(super) bytes: usize,
    pub(super) overflown: bool,
    pub(super) waiting: VecDeque<Ticket>,
    /// The memory of `changes`.
    pub(super) lease: Option<Lease>,
}

impl Watch {
    pub(super) fn new(
        filter: NotifyFilter,
        recursive: bool,
        buffer_bytes: usize,
        lease: Option<Lease>,
    ) -> Self {
        let (changes, waiting) = (Vec::new(), VecDeque::new());
        Self {
            filter,
            recursive,
            buffer_bytes,
            changes,
            bytes: 0,
            overflown: false,
            waiting,
            lease,
        }
    }

    pub(super) fn add(&mut self, action: NotifyAction, path: &str) {
        let record = NotifyRecord {
            action,
            path: path.to_string(),
        };
        if self.overflown
            || (action == NotifyAction::Modified && self.changes.last() == Some(&record))
        {
            return;
        }
        self.bytes = self.bytes.saturating_add(record.wire_bytes());
        self.changes.push(record);
        let lease = self.lease.as_mut();
        let fits = lease.is_none_or(|lease| lease.resize(self.bytes).is_ok());
        if self.bytes > self.buffer_bytes || !fits {
            self.changes = Vec::new();
            self.overflown = true;
            self.give_back();
        }
    }

    pub(super) fn ready(&self) -> bool {
        self.overflown || !self.changes.is_empty()
    }

    pub(super) fn give_back(&mut self) {
        if let Some(lease) = &mut self.lease {
            // Making a lease smaller cannot fail.
            let _ = lease.resize(0);
        }
    }

    pub(super) fn take(&mut self) -> NotifyOutcome {
        self.bytes = 0;
        self.overflown = false;
        self.give_back();
        NotifyOutcome::Changes(core::mem::take(&mut self.changes))
    }
}

impl NotifyRecord {
    /// Bytes of FILE_NOTIFY_INFORMATION: header, name in UTF-16, padding to 4.
    pub(super) fn wire_bytes(&self) -> usize {
        (12 + 2 * self.path.encode_utf16().count()).next_multiple_of(4)
    }
}

impl Watches {
    /// Nobody watches anything.
    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// An open joins the watchers of a folder. Whether it is the first.
    pub(super) fn join(&mut self, share: ShareId, folder: &str, open: OpenId) -> bool {
        let watchers = self.folders.entry((share, folder.to_string())).or_default();
        watchers.insert(open) && watchers.len() == 1
    }

    /// An open leaves them. Whether it was the last.
    pub(super) fn leave(&mut self, share: ShareId, folder: &str, open: OpenId) -> bool {
        let key = (share, folder.to_string());
        let Some(watchers) = self.folders.get_mut(&key) else {
            return false;
        };
        watchers.remove(&open);
        let is_last = watchers.is_empty();
        if is_last {
            self.folders.remove(&key);
        }
        is_last
    }

    /// The path space `old` is now the folder `to` of another one.
    pub(super) fn move_space(&mut self, old: ShareId, to: &Place) {
        for ((space, path), opens) in core::mem::take(&mut self.folders) {
            let key = match space == old {
                true => {
                    let place = to.beneath(&path);
                    (place.space, place.path)
                }
                false => (space, path),
            };
            self.folders.entry(key).or_default().extend(opens);
        }
    }

    /// Whether a client watches the folder that `path` lies in.
    pub(super) fn has_watcher_of(&self, share: ShareId, path: &str) -> bool {
        let parent = ancestors(path).next().map(|(folder, _)| folder.to_string());
        parent.is_some_and(|folder| self.folders.contains_key(&(share, folder)))
    }

    /// All watches lose track: their clients must list their folders anew.
    pub(super) fn overflow(&mut self) -> Vec<OpenId> {
        for watch in self.watches.values_mut() {
            watch.changes = Vec::new();
            watch.overflown = true;
            watch.give_back();
        }
        self.watches.keys().copied().collect()
    }

    /// Adds a change to all watches that want it; returns the opens.
    pub(super) fn add(
        &mut self,
        share: ShareId,
        path: &str,
        action: NotifyAction,
        what: NotifyFilter,
    ) -> Vec<OpenId> {
        let mut touched = Vec::new();
        if self.is_empty() {
            return touched;
        }
        for (depth, (folder, rest)) in ancestors(path).enumerate() {
            let Some(watchers) = self.folders.get(&(share, folder.to_string())) else {
                continue;
            };
            for open in watchers {
                let Some(watch) = self.watches.get_mut(open) else {
                    continue;
                };
                if watch.filter.0 & what.0 != 0 && (watch.recursive || depth == 0) {
                    watch.add(action, rest);
                    touched.push(*open);
                }
            }
        }
        touched
    }
}

/// The folders `path` lies in, nearest first, each with the path from there. The root lies in none.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let inner = path
        .rmatch_indices('/')
        .filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)));
    inner.chain((!path.is_empty()).then_some(("", path)))
}
