//! Change notification: NT_TRANSACT_NOTIFY_CHANGE ([MS-CIFS] 2.2.7.4, 3.3.5.59.4; [MS-FSCC] 2.4.42).
//!
//! From its first request on, an open folder collects changes, as many as the client's buffer takes; a later request
//! gets what has been collected at once, or waits. Filter, depth and buffer size are those of the first request until
//! the folder is closed. Watchers are found by folder, going up from the change: the cost is the depth of the path.

use super::{Event, OpenId, OwnKind, Refusal, ShareId, Tables, Ticket};
use crate::{
    budget::{Lease, Resource},
    vfs::FileId,
};
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

    const fn name_of(is_directory: bool) -> Self {
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
    /// Park the request until [`Event::Notify`].
    Waiting(Ticket),
    /// Refused.
    Refused(Refusal),
}

#[derive(Debug, Default)]
pub(super) struct Watches {
    watches: BTreeMap<OpenId, Watch>,
    folders: BTreeMap<(ShareId, String), BTreeSet<OpenId>>,
}

impl Watches {
    pub(super) fn len(&self) -> usize {
        self.watches.len()
    }
}

#[derive(Debug)]
struct Watch {
    filter: NotifyFilter,
    recursive: bool,
    buffer_bytes: usize,
    changes: Vec<NotifyRecord>,
    bytes: usize,
    overflown: bool,
    waiting: VecDeque<Ticket>,
    /// The memory of `changes`.
    lease: Option<Lease>,
}

impl Watch {
    fn new(
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

    fn add(&mut self, action: NotifyAction, path: &str) {
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

    fn ready(&self) -> bool {
        self.overflown || !self.changes.is_empty()
    }

    fn give_back(&mut self) {
        if let Some(lease) = &mut self.lease {
            // Making a lease smaller cannot fail.
            let _ = lease.resize(0);
        }
    }

    fn take(&mut self) -> NotifyOutcome {
        self.bytes = 0;
        self.overflown = false;
        self.give_back();
        NotifyOutcome::Changes(core::mem::take(&mut self.changes))
    }
}

impl NotifyRecord {
    /// Bytes of FILE_NOTIFY_INFORMATION: header, name in UTF-16, padding to 4.
    fn wire_bytes(&self) -> usize {
        (12 + 2 * self.path.encode_utf16().count()).next_multiple_of(4)
    }
}

impl Watches {
    /// Nobody watches anything.
    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// An open joins the watchers of a folder. Whether it is the first.
    fn join(&mut self, share: ShareId, folder: &str, open: OpenId) -> bool {
        let watchers = self.folders.entry((share, folder.to_string())).or_default();
        watchers.insert(open) && watchers.len() == 1
    }

    /// An open leaves them. Whether it was the last.
    fn leave(&mut self, share: ShareId, folder: &str, open: OpenId) -> bool {
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

    /// Whether a client watches the folder that `path` lies in.
    fn has_watcher_of(&self, share: ShareId, path: &str) -> bool {
        let parent = ancestors(path).next().map(|(folder, _)| folder.to_string());
        parent.is_some_and(|folder| self.folders.contains_key(&(share, folder)))
    }

    /// All watches lose track: their clients must list their folders anew.
    fn overflow(&mut self) -> Vec<OpenId> {
        for watch in self.watches.values_mut() {
            watch.changes = Vec::new();
            watch.overflown = true;
            watch.give_back();
        }
        self.watches.keys().copied().collect()
    }

    /// Adds a change to all watches that want it; returns the opens.
    fn add(
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
fn ancestors(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let inner = path
        .rmatch_indices('/')
        .filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)));
    inner.chain((!path.is_empty()).then_some(("", path)))
}

impl Tables {
    /// Asks for the changes in an open folder.
    pub fn watch(&mut self, request: &WatchRequest) -> WatchOutcome {
        let Some(open) = self.opens.get(&request.open).map(|open| &open.request) else {
            return WatchOutcome::Refused(Refusal::UnknownOpen);
        };
        let (conn, share, path) = (open.conn, open.share, open.path.clone());
        if let Err(refusal) = self.may_wait(conn, 1) {
            return WatchOutcome::Refused(refusal);
        }
        let ticket = Ticket(self.last_id.wrapping_add(1));
        let buffer_bytes = request.buffer_bytes.min(self.config.limits.notify_bytes);
        let account = self.connections.get(&conn).map(|found| &found.account);
        let lease = account.and_then(|account| account.lease(Resource::Memory, 0).ok());
        if self.watches.join(share, &path, request.open) {
            self.note_folder(share, &path, true);
        }
        let watches = &mut self.watches.watches;
        let watch = watches
            .entry(request.open)
            .or_insert_with(|| Watch::new(request.filter, request.recursive, buffer_bytes, lease));
        if watch.ready() {
            return WatchOutcome::Ready(watch.take());
        }
        watch.waiting.push_back(ticket);
        self.last_id = ticket.0;
        self.count_waits(conn, 1, 0);
        WatchOutcome::Waiting(ticket)
    }

    /// NT_CANCEL of a waiting notification: it will get no event. What is collected stays. Returns whether it waited.
    pub fn cancel_watch(&mut self, open: OpenId, ticket: Ticket) -> bool {
        let Some(watch) = self.watches.watches.get_mut(&open) else {
            return false;
        };
        let before = watch.waiting.len();
        watch.waiting.retain(|waiting| *waiting != ticket);
        let gone = before - watch.waiting.len();
        if let Some(conn) = self.opens.get(&open).map(|open| open.request.conn) {
            self.count_waits(conn, 0, gone);
        }
        gone > 0
    }

    /// Something has changed: `what` of the file or folder at `path`. Created and removed are
    /// [`created`](Self::report_created) and [`removed`](Self::report_removed).
    pub fn report_modified(&mut self, share: ShareId, path: &str, what: NotifyFilter) {
        self.note_own(share, path, OwnKind::Modified);
        let touched = self.watches.add(share, path, NotifyAction::Modified, what);
        self.tell(&touched);
    }

    /// Whether a client watches this folder.
    pub fn is_watched(&self, share: ShareId, folder: &str) -> bool {
        self.watches
            .folders
            .contains_key(&(share, folder.to_string()))
    }

    /// Changes were lost: every client that watches a folder is told to list it anew.
    pub fn report_lost(&mut self) {
        let touched = self.watches.overflow();
        self.tell(&touched);
    }

    /// A watched folder was moved: its watches are those of its new path.
    pub(super) fn move_watch(&mut self, share: ShareId, from: &str, to: &str, open: OpenId) {
        if !self.watches.watches.contains_key(&open) {
            return;
        }
        if self.watches.leave(share, from, open) {
            self.note_folder(share, from, false);
        }
        if self.watches.join(share, to, open) {
            self.note_folder(share, to, true);
        }
    }

    /// A change of this server's own, in a folder that a client watches.
    pub(super) fn note_own(&mut self, share: ShareId, path: &str, kind: OwnKind) {
        if self.watches.has_watcher_of(share, path) {
            self.observed.note_own(share, path, kind);
        }
    }

    /// A file or folder has been created.
    pub fn report_created(&mut self, share: ShareId, path: &str, is_directory: bool) {
        self.note_own(share, path, OwnKind::Appeared);
        let touched = self.watches.add(
            share,
            path,
            NotifyAction::Added,
            NotifyFilter::name_of(is_directory),
        );
        self.tell(&touched);
    }

    /// A file or folder has been removed.
    pub fn report_removed(&mut self, share: ShareId, path: &str, is_directory: bool) {
        self.note_own(share, path, OwnKind::Vanished);
        let touched = self.watches.add(
            share,
            path,
            NotifyAction::Removed,
            NotifyFilter::name_of(is_directory),
        );
        self.tell(&touched);
    }

    /// A file or folder has been renamed: old and new name together if it stays in its folder, else removed there and
    /// added here. Of a file, NT also reports attributes and creation time modified. To be called after
    /// [`rename_paths`](Self::rename_paths).
    pub fn report_renamed(&mut self, share: ShareId, from: &str, to: &str, is_directory: bool) {
        self.note_own(share, from, OwnKind::Vanished);
        self.note_own(share, to, OwnKind::Appeared);
        let what = NotifyFilter::name_of(is_directory);
        let folder = |path| ancestors(path).next().map(|(folder, _)| folder);
        let steps = match folder(from) == folder(to) {
            true => [
                (from, NotifyAction::RenamedOldName),
                (to, NotifyAction::RenamedNewName),
            ],
            false => [(from, NotifyAction::Removed), (to, NotifyAction::Added)],
        };
        let mut touched = Vec::new();
        for (path, action) in steps {
            touched.extend(self.watches.add(share, path, action, what));
        }
        if !is_directory {
            let what = NotifyFilter::ATTRIBUTES.or(NotifyFilter::CREATION);
            touched.extend(self.watches.add(share, to, NotifyAction::Modified, what));
        }
        self.tell(&touched);
    }

    /// Answers the oldest waiting request of each of these opens that has changes.
    fn tell(&mut self, opens: &[OpenId]) {
        for open in opens {
            let Some(watch) = self.watches.watches.get_mut(open) else {
                continue;
            };
            if !watch.ready() {
                continue;
            }
            if let Some(ticket) = watch.waiting.pop_front() {
                let outcome = watch.take();
                self.complete(*open, ticket, outcome);
            }
        }
    }

    fn complete(&mut self, open: OpenId, ticket: Ticket, outcome: NotifyOutcome) {
        if let Some(conn) = self.opens.get(&open).map(|open| open.request.conn) {
            self.count_waits(conn, 0, 1);
            self.post(conn, Event::Notify { ticket, outcome });
        }
    }

    /// The folder is being closed.
    pub(super) fn unwatch(&mut self, id: OpenId) {
        let Some(watch) = self.watches.watches.remove(&id) else {
            return;
        };
        if let Some(open) = self.opens.get(&id) {
            let (share, path) = (open.request.share, open.request.path.clone());
            if self.watches.leave(share, &path, id) {
                self.note_folder(share, &path, false);
            }
        }
        for ticket in watch.waiting {
            self.complete(id, ticket, NotifyOutcome::Closed);
        }
    }

    /// The folder has been marked for deletion: what waits for changes in it has waited enough.
    pub(super) fn end_watches_of(&mut self, folder: FileId) {
        let opens: Vec<OpenId> = self.opens_of_file(folder).map(|open| open.id).collect();
        for id in opens {
            let waiting = self
                .watches
                .watches
                .get_mut(&id)
                .map(|watch| core::mem::take(&mut watch.waiting));
            for ticket in waiting.unwrap_or_default() {
                self.complete(id, ticket, NotifyOutcome::DeletePending);
            }
        }
    }
}
