//! An open as a command asks for it, whatever its words look like.

use crate::{
    names::{attributes::Attributes, path::ClientPath},
    ops::eas,
    table::{OplockWish, Sharing},
    vfs::FsTime,
};
use alloc::vec::Vec;

/// What to do if the file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    /// Open it.
    Open,
    /// Fail with `OBJECT_NAME_COLLISION`.
    Fail,
    /// Cut it to nothing and open it.
    Overwrite,
    /// Put a new file in its place.
    Supersede,
}

/// What the open must be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// Either; a file if it is created.
    Either,
}

/// An open as a command asks for it.
#[derive(Clone, Debug)]
pub struct OpenSpec {
    /// Which file.
    pub path: ClientPath,
    /// Access mask; generic bits and MAXIMUM_ALLOWED are resolved here.
    pub access: u32,
    /// What others may do.
    pub sharing: Sharing,
    /// What to do if it exists.
    pub if_exists: IfExists,
    /// Whether to create it if it does not.
    pub create: bool,
    /// Attributes of a created or overwritten file.
    pub attributes: Attributes,
    /// Creation time of a created file, if the client gives one.
    pub created: Option<FsTime>,
    /// Time of last write of a created or overwritten file, if the client gives one.
    pub modified: Option<FsTime>,
    /// File or folder.
    pub wanted: Wanted,
    /// The oplock asked for.
    pub oplock: OplockWish,
    /// Others' copies of the contents are void whatever the disposition says: what opens the file will change its
    /// length.
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
    /// The security descriptor of a created or overwritten file, as it came; empty if there is none.
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
