//! Change notification: NT_TRANSACT_NOTIFY_CHANGE ([MS-CIFS] 2.2.7.4, 3.3.5.59.4; [MS-FSCC] 2.4.42).
//!
//! From its first request on, an open folder collects changes, up to the size of the client's buffer. A later request
//! gets the collected changes at once, or waits. The first request fixes filter, depth and buffer size until the folder
//! is closed. A change finds its watchers by folder, from its own folder upwards, so its cost is the depth of the path.

use super::watches::{NotifyAction, NotifyFilter, NotifyOutcome, WatchOutcome, WatchRequest};
use super::watches::{Watch, ancestors};
use super::{Event, OpenId, OwnKind, Refusal, ShareId, Tables, Ticket, path_index::Place};
use crate::{budget::Resource, vfs::FileId};
use alloc::vec::Vec;

impl Tables {
    /// Asks for the changes in an open folder.
    pub fn watch(&mut self, request: &WatchRequest) -> WatchOutcome {
        let Some(open) = self.opens.get(&request.open).map(|open| &open.request) else {
            return WatchOutcome::Refused(Refusal::UnknownOpen);
        };
        let conn = open.conn;
        let Place { space, path } = self.place(open.share, &open.path);
        if let Err(refusal) = self.may_wait(conn, 1) {
            return WatchOutcome::Refused(refusal);
        }
        let ticket = Ticket(self.last_id.wrapping_add(1));
        let buffer_bytes = request.buffer_bytes.min(self.config.limits.notify_bytes);
        let account = self.connections.get(&conn).map(|found| &found.account);
        let lease = account.and_then(|account| account.lease(Resource::Memory, 0).ok());
        if self.watches.join(space, &path, request.open) {
            self.note_folder(space, &path, true);
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

    /// Withdraws a waiting notification (NT_CANCEL), so that no [`Event::Notify`] comes for it. If the table has already
    /// answered the request, returns the answer: its changes are not collected again.
    pub fn withdraw_watch(&mut self, open: OpenId, ticket: Ticket) -> Option<NotifyOutcome> {
        let conn = self.opens.get(&open)?.request.conn;
        let answered = self.take_notify_outcome(conn, ticket);
        if answered.is_none() {
            self.cancel_watch(open, ticket);
        }
        answered
    }

    /// NT_CANCEL of a waiting notification: no event follows. Collected changes stay. Returns whether the request was
    /// waiting.
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

    /// Reports a modification: `what` of the file or folder at `path` has changed. For creation and removal see
    /// [`created`](Self::report_created) and [`removed`](Self::report_removed).
    pub fn report_modified(&mut self, share: ShareId, path: &str, what: NotifyFilter) {
        // Each write comes here.
        if self.watches.is_empty() {
            return;
        }
        let Place { space, path } = self.place(share, path);
        self.note_own(space, &path, OwnKind::Modified);
        let touched = self.watches.add(space, &path, NotifyAction::Modified, what);
        self.tell(&touched);
    }

    /// Whether a client watches this folder.
    pub fn is_watched(&self, share: ShareId, folder: &str) -> bool {
        let Place { space, path } = self.place(share, folder);
        self.watches.folders.contains_key(&(space, path))
    }

    /// Reports lost changes: every client that watches a folder must list it again.
    pub fn report_lost(&mut self) {
        let touched = self.watches.overflow();
        self.tell(&touched);
    }

    /// Moves the watches of a renamed folder to its new path.
    pub(super) fn move_watch(&mut self, from: &Place, to: &Place, open: OpenId) {
        if !self.watches.watches.contains_key(&open) {
            return;
        }
        if self.watches.leave(from.space, &from.path, open) {
            self.note_folder(from.space, &from.path, false);
        }
        if self.watches.join(to.space, &to.path, open) {
            self.note_folder(to.space, &to.path, true);
        }
    }

    /// Notes a change made by this server in a folder that a client watches.
    pub(super) fn note_own(&mut self, share: ShareId, path: &str, kind: OwnKind) {
        let Place { space, path } = self.place(share, path);
        if self.watches.has_watcher_of(space, &path) {
            self.observed.note_own(space, &path, kind);
        }
    }

    /// Reports the creation of a file or folder.
    pub fn report_created(&mut self, share: ShareId, path: &str, is_directory: bool) {
        let Place { space, path } = self.place(share, path);
        self.note_own(space, &path, OwnKind::Appeared);
        let touched = self.watches.add(
            space,
            &path,
            NotifyAction::Added,
            NotifyFilter::name_of(is_directory),
        );
        self.tell(&touched);
    }

    /// Reports the removal of a file or folder.
    pub fn report_removed(&mut self, share: ShareId, path: &str, is_directory: bool) {
        let Place { space, path } = self.place(share, path);
        self.note_own(space, &path, OwnKind::Vanished);
        let touched = self.watches.add(
            space,
            &path,
            NotifyAction::Removed,
            NotifyFilter::name_of(is_directory),
        );
        self.tell(&touched);
    }

    /// Reports a rename: old and new name together if the object stays in its folder, else a removal there and an
    /// addition here. For a file, NT also reports modified attributes and creation time. The caller must call
    /// [`rename_paths`](Self::rename_paths) first.
    pub fn report_renamed(&mut self, share: ShareId, from: &str, to: &str, is_directory: bool) {
        let (from, to) = (self.place(share, from), self.place(share, to));
        let (share, from, to) = (from.space, from.path.as_str(), to.path.as_str());
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

    /// Ends the watch of a folder that is being closed.
    pub(super) fn unwatch(&mut self, id: OpenId) {
        let Some(watch) = self.watches.watches.remove(&id) else {
            return;
        };
        if let Some(open) = self.opens.get(&id) {
            let Place { space, path } = self.place(open.request.share, &open.request.path);
            if self.watches.leave(space, &path, id) {
                self.note_folder(space, &path, false);
            }
        }
        for ticket in watch.waiting {
            self.complete(id, ticket, NotifyOutcome::Closed);
        }
    }

    /// Ends the waiting notifications of a folder that is now marked for deletion.
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
