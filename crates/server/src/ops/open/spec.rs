//! The parameters of an open, independent of the command.

use crate::{
    names::{attributes::Attributes, path::ClientPath},
    ops::eas,
    table::{OplockWish, Sharing},
    vfs::FsTime,
};
use alloc::vec::Vec;

/// The action if the file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Open it.
    Open,
    /// Fail with `OBJECT_NAME_COLLISION`.
    Fail,
    /// Truncate and open it.
    Overwrite,
    /// Replace it with a new file.
    Supersede,
}

/// The required type of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// Either; a create makes a file.
    Either,
}

/// The parameters of an open.
#[derive(Clone, Debug)]
pub struct OpenSpec {
    /// The path.
    pub path: ClientPath,
    /// Access mask; generic bits and MAXIMUM_ALLOWED are resolved here.
    pub access: u32,
    /// Sharing.
    pub sharing: Sharing,
    /// The action if the file exists.
    pub if_exists: IfExists,
    /// Whether to create a missing file.
    pub create: bool,
    /// Attributes of a created or overwritten file.
    pub attributes: Attributes,
    /// Creation time of a created file, if the client sends one.
    pub created: Option<FsTime>,
    /// Last write time of a created or overwritten file, if the client sends one.
    pub modified: Option<FsTime>,
    /// File or folder.
    pub wanted: Wanted,
    /// The requested oplock.
    pub oplock: OplockWish,
    /// Breaks others' oplocks whatever the disposition, because the command changes the file's length after the open.
    pub resizes: bool,
    /// Delete it when this open is closed.
    pub delete_on_close: bool,
    /// Space to reserve for a created file, bytes.
    pub allocation: u64,
    /// Length of a created or overwritten file, bytes.
    pub length: u64,
    /// NT's mode bits (write-through, sequential only …).
    pub mode: u32,
    /// Extended attributes of a created or overwritten file.
    pub eas: Vec<eas::Owned>,
    /// The encoded security descriptor of a created or overwritten file; empty if the client sends none.
    pub descriptor: Vec<u8>,
}

impl OpenSpec {
    /// A plain open of an existing file.
    pub fn existing(path: ClientPath, access: u32, sharing: Sharing) -> Self {
        Self {
            path,
            access,
            sharing,
            if_exists: IfExists::Open,
            create: false,
            attributes: Attributes::NONE,
            created: None,
            modified: None,
            wanted: Wanted::File,
            oplock: OplockWish::None,
            resizes: false,
            delete_on_close: false,
            allocation: 0,
            length: 0,
            mode: 0,
            eas: Vec::new(),
            descriptor: Vec::new(),
        }
    }

    pub(super) fn overwrites(&self) -> bool {
        matches!(self.if_exists, IfExists::Overwrite | IfExists::Supersede)
    }
}
