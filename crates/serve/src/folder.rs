//! A share's folder.

use std::sync::Arc;

use coax_disk::{DiskFs, DiskOptions};
use coax_server::{table::ShareId, vfs::FileId};

/// A share and its folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// The share.
    pub(super) id: ShareId,
    /// Its name.
    pub(super) name: String,
    /// The folder's path.
    pub(super) path: String,
    /// The folder.
    pub(super) disk: Arc<DiskFs>,
    /// Its identity on the disk.
    pub(super) root: Option<FileId>,
    /// How the folder is used.
    pub(super) options: DiskOptions,
    /// Whether any user may write to the share.
    pub(super) writes: bool,
}

impl Folder {
    /// Whether both are the same folder of the same share.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.disk, &other.disk)
    }
}
