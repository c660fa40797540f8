//! Opens of named streams and of the file they belong to ([MS-FSA] 2.1.5.1.2, 2.1.5.4). Each stream has its own share
//! modes, locks and oplocks, but the deletion of the file removes its streams.

use super::{Doomed, Open, OpenRequest, Tables, access, share, share_conflict};
use crate::vfs::FileId;
use alloc::string::String;

impl Tables {
    /// Opens of named streams of an object.
    fn opens_of_streams(&self, object: FileId) -> impl Iterator<Item = &Open> {
        let first = FileId {
            stream: 1,
            ..object
        };
        let last = FileId {
            stream: u64::MAX,
            ..object
        };
        let streams = self.files.range(first..=last);
        let opens = streams.flat_map(|(_, file)| &file.opens);
        opens.filter_map(|open| self.opens.get(open))
    }

    /// Whether a named stream of the object is open.
    pub(super) fn has_open_streams(&self, object: FileId) -> bool {
        object.stream == 0 && self.opens_of_streams(object).next().is_some()
    }

    /// Whether the request wants to delete an object while an open of one of its streams does not share deletion. The
    /// reverse is always allowed.
    pub(super) fn streams_forbid(&self, request: &OpenRequest) -> bool {
        if request.file.stream != 0 || request.access & access::DELETE == 0 {
            return false;
        }
        let wanted = (access::DELETE, share::ALL);
        self.opens_of_streams(request.file)
            .any(|open| share_conflict((open.request.access, open.share_access), wanted))
    }

    /// After the close of a stream, where `own` is the stream to remove. If the deletion of the object waited for this
    /// close, it now removes the stream as well.
    pub(super) fn settle_object(&mut self, closed: FileId, own: Option<Doomed>) -> Option<Doomed> {
        if closed.stream == 0 {
            return own;
        }
        self.wake_open_waiters(closed.object());
        let whole = self.settle(closed.object());
        if whole.is_some() {
            self.finish_delete(closed);
        }
        whole.or(own)
    }

    /// Changes the one open of a stream to the stream `to` of the same object with the name `name` (`None`: the
    /// object's own data). Returns false without effect if `to` is open, or if the stream has other opens, waiters or a
    /// pending deletion.
    pub fn rename_stream(&mut self, from: FileId, to: FileId, name: Option<String>) -> bool {
        let busy = self.files.get(&from).is_none_or(|file| {
            file.opens.len() != 1
                || file.deleting
                || file.doomed.is_some()
                || !file.waiting.is_empty()
                || !file.parked.is_empty()
                || !file.open_waiters.is_empty()
        });
        if busy || (from != to && self.files.contains_key(&to)) {
            return false;
        }
        let Some(file) = self.files.remove(&from) else {
            return false;
        };
        for open in &file.opens {
            if let Some(open) = self.opens.get_mut(open) {
                open.request.file = to;
                open.request.stream = name.clone();
            }
        }
        self.files.insert(to, file);
        self.write_times.renamed(from, to);
        true
    }
}
