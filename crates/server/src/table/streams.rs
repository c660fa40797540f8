//! What opens of named streams and opens of the file they belong to have to do with each other ([MS-FSA] 2.1.5.1.2,
//! 2.1.5.4): each stream has share modes, locks and oplocks of its own, but all go with the file.

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

    /// Whether the request wants to delete an object of which a stream is open to somebody who does not share that. The
    /// other way round nothing is forbidden.
    pub(super) fn streams_forbid(&self, request: &OpenRequest) -> bool {
        if request.file.stream != 0 || request.access & access::DELETE == 0 {
            return false;
        }
        let wanted = (access::DELETE, share::ALL);
        self.opens_of_streams(request.file)
            .any(|open| share_conflict((open.request.access, open.share_access), wanted))
    }

    /// After the close of a stream, of which `own` is to be removed: the object's deletion may have waited for it, and
    /// takes the stream with it.
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

    /// The one open of a stream is now of the stream `to` of the same object, called `name` (`None`: the object's own
    /// data). False, and nothing has changed, if `to` is open, or the stream is open to others as well, waited for, or
    /// about to be deleted.
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
