//! The folders of a tree copy.

use crate::{error::Result, vfs::FileId};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use coax_wire::status::Status;

/// A folder of a tree copy.
pub(super) struct Folder {
    pub(super) from: String,
    pub(super) to: String,
    /// It and the folders around it, to find symbolic links that lead back.
    pub(super) around: Vec<FileId>,
    /// A symbolic link leads to it.
    pub(super) linked: bool,
}

impl Folder {
    pub(super) fn inner(&self, (from, to): (String, String), id: FileId, linked: bool) -> Self {
        let mut around = self.around.clone();
        around.push(id);
        Self {
            from,
            to,
            around,
            linked,
        }
    }
}

/// Most copies of one folder through symbolic links.
const MAX_LINKED_COPIES: u32 = 16;

/// The number of copies of each folder through symbolic links. Links between sibling folders lead to each folder on a
/// number of ways that grows with the factorial of the number of folders.
#[derive(Debug, Default)]
pub(super) struct LinkedFolders(BTreeMap<FileId, u32>);

impl LinkedFolders {
    /// Counts another copy of a folder.
    ///
    /// # Errors
    /// `OBJECT_NAME_INVALID`, as for a tree that is too deep: a copy without some of its files must not succeed.
    pub(super) fn enter(&mut self, folder: FileId) -> Result<()> {
        let copies = self.0.entry(folder).or_default();
        if *copies >= MAX_LINKED_COPIES {
            return Err(Status::OBJECT_NAME_INVALID.into());
        }
        *copies = copies.saturating_add(1);
        Ok(())
    }
}
