//! A list of all opens, for reports.

use super::{
    Tables,
    ids::{OpenId, ShareId},
    oplock::Oplock,
    share_modes::access,
};
use alloc::{string::String, vec::Vec};

/// An open file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRow {
    /// The open.
    pub open: OpenId,
    /// The client, as reports to others name it.
    pub client: String,
    /// The share.
    pub share: ShareId,
    /// The path on the share.
    pub path: String,
    /// Whether it is a folder.
    pub is_directory: bool,
    /// Whether it was opened for reading,
    pub reads: bool,
    /// and for writing.
    pub writes: bool,
    /// The oplock.
    pub oplock: Oplock,
    /// The server has asked the client to give the oplock up.
    pub is_breaking: bool,
    /// It holds byte-range locks.
    pub is_locked: bool,
    /// The file is deleted when its last open is closed.
    pub is_doomed: bool,
}

impl Tables {
    /// Up to `most` opens, oldest first, and their number.
    pub fn overview(&self, most: usize) -> (Vec<OpenRow>, usize) {
        let rows = self.opens.values().take(most).map(|open| {
            let request = &open.request;
            let allows = |bits: u32| request.access & bits != 0;
            OpenRow {
                open: open.id,
                client: self.label_of(request.conn).unwrap_or_default().into(),
                share: request.share,
                path: request.path.clone(),
                is_directory: request.is_directory,
                reads: allows(access::READ_DATA),
                writes: allows(access::WRITE_DATA | access::APPEND_DATA),
                oplock: open.oplock,
                is_breaking: open.breaking.is_some(),
                is_locked: self.has_locks(open.id),
                is_doomed: self.is_delete_pending(request.file),
            }
        });
        (rows.collect(), self.opens.len())
    }
}
