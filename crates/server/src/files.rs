//! Open files, folders, pipes and print jobs of one connection, by FID.

use crate::{
    act::Moved,
    share::Share,
    table::OpenId,
    vfs::{FileId, VfsFile},
};
use alloc::{string::String, sync::Arc, vec::Vec};
use coax_wire::{
    header::{Fid, Pid, Tid, Uid},
    status::Status,
};
use hashbrown::HashMap;

/// The type of an open.
#[derive(Debug)]
pub enum OpenKind {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// A named pipe.
    Pipe(crate::pipe::Pipe),
    /// A print job being spooled.
    PrintJob(crate::print_job::Job),
}

/// An open.
#[derive(Debug)]
pub struct OpenFile {
    /// Its FID.
    pub fid: Fid,
    /// Its type.
    pub kind: OpenKind,
    /// The file or folder; none for pipes.
    pub file: Option<Arc<dyn VfsFile>>,
    /// Its row in the shared table; none for pipes.
    pub open: Option<OpenId>,
    /// Its object; undefined for pipes.
    pub id: FileId,
    /// The share.
    pub share: Arc<Share>,
    /// Path at the open; the shared table contains the current one.
    pub path: String,
    /// Rights granted, as an NT access mask.
    pub access: u32,
    /// Its tree.
    pub tid: Tid,
    /// Its session.
    pub uid: Uid,
    /// Its process.
    pub pid: Pid,
    /// NT's FILE_POSITION_INFORMATION: the end of the last read, or the value that the client has set.
    pub position: u64,
    /// SEEK's position, and deferred errors.
    pub stream: Stream,
    /// NT's mode information (write-through, sequential …).
    pub mode: u32,
    /// Whether a write happened since the open: a close with a time then sets that time.
    pub written: bool,
    /// Bytes moved since the open,
    pub moved: Moved,
    /// and those that [`crate::Connection::take_moved`] has reported.
    pub counted: Moved,
}

/// State that reads, writes and seeks leave for later requests on the same FID.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    /// SEEK's position; reads and writes move it too.
    pub position: u64,
    /// The open that owns the position: itself, or the compatibility open that it joined. None for pipes.
    pub position_of: Option<OpenId>,
    /// Whether other FIDs share the position.
    pub shared: bool,
    /// A lower bound of the file's length, as far as this open knows.
    pub known: KnownLength,
    /// A write-behind failed after its acknowledgement: the next request on the FID reports the error ([MS-CIFS]
    /// 3.3.5.26).
    pub failed: Option<Status>,
}

/// A lower bound of a file's length, so that a write at its end needs no system call. It does not notice when a local
/// program truncates the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownLength {
    /// Bytes.
    pub bytes: u64,
    /// It is valid while [`crate::table::Tables::begin_write`] returns this number.
    pub resizes: u64,
}

/// The opens of a connection. FIDs are never 0 or 0xFFFF; a FID is reused only after all others.
#[derive(Debug, Default)]
pub struct Files {
    files: HashMap<u16, OpenFile>,
    /// The FID assigned last.
    next: u16,
}

impl Files {
    /// The open of `fid`.
    pub fn find(&self, fid: Fid) -> Option<&OpenFile> {
        self.files.get(&fid.0)
    }

    /// The open of `fid`, mutable.
    pub fn find_mut(&mut self, fid: Fid) -> Option<&mut OpenFile> {
        self.files.get_mut(&fid.0)
    }

    /// The FID of the next open, or none if `limit` are open. It stays free until [`Self::insert`].
    pub fn free_fid(&self, limit: usize) -> Option<Fid> {
        if self.files.len() >= limit.min(65_000) {
            return None;
        }
        let mut next = self.next;
        loop {
            next = if next >= 0xfffe {
                1
            } else {
                next.wrapping_add(1)
            };
            if !self.files.contains_key(&next) {
                return Some(Fid(next));
            }
        }
    }

    /// Adds an open under its FID.
    pub fn insert(&mut self, mut file: OpenFile) {
        if file.stream.position_of.is_some() && file.stream.position_of != file.open {
            let one = file.stream.position_of;
            let joined = self.files.values_mut();
            for other in joined.filter(|other| other.stream.position_of == one) {
                other.stream.shared = true;
                file.stream.shared = true;
                file.position = other.position;
                file.stream.position = other.stream.position;
            }
        }
        self.next = file.fid.0;
        self.files.insert(file.fid.0, file);
    }

    /// Moves the position of an open and of all that share it.
    pub fn reposition(&mut self, fid: Fid, change: impl Fn(&mut OpenFile)) {
        let Some(file) = self.files.get_mut(&fid.0) else {
            return;
        };
        change(file);
        if !file.stream.shared {
            return;
        }
        let one = file.stream.position_of;
        let joined = self.files.values_mut();
        joined
            .filter(|other| other.stream.position_of == one)
            .for_each(change);
    }

    /// Removes an open.
    pub fn remove(&mut self, fid: Fid) -> Option<OpenFile> {
        let removed = self.files.remove(&fid.0);
        if self.files.is_empty() {
            self.files.shrink_to_fit();
        }
        removed
    }

    /// Gives the opens of a tree another definition of their share.
    pub fn redefine(&mut self, tid: Tid, share: &Arc<Share>) {
        let files = self.files.values_mut();
        for file in files.filter(|file| file.tid == tid) {
            file.share = share.clone();
        }
    }

    /// All opens, mutable, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpenFile> {
        self.files.values_mut()
    }

    /// All opens, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &OpenFile> {
        self.files.values()
    }

    /// FIDs of the opens that `which` selects, in ascending order, because the order of their changes is visible to
    /// clients.
    pub fn fids_where(&self, which: impl Fn(&OpenFile) -> bool) -> Vec<Fid> {
        let picked = self.files.values().filter(|file| which(file));
        let mut fids: Vec<Fid> = picked.map(|file| file.fid).collect();
        fids.sort_unstable();
        fids
    }

    /// The FID of a row in the shared table.
    pub fn by_open(&self, open: OpenId) -> Option<&OpenFile> {
        self.files.values().find(|file| file.open == Some(open))
    }

    /// Whether there are no opens.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Number of opens.
    pub fn len(&self) -> usize {
        self.files.len()
    }
}
