//! A share's folder.

use std::{path::PathBuf, sync::Arc};

use coax_disk::{DiskFs, DiskOptions, decode_name};
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
    /// Its path without symbolic links.
    pub(super) real_path: Option<PathBuf>,
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

    /// The path of this folder from `outer`, if it lies in there, as the shares name it.
    pub(super) fn path_from(&self, outer: &Self) -> Option<String> {
        let (own, outer) = (self.real_path.as_ref()?, outer.real_path.as_ref()?);
        let names = own.strip_prefix(outer).ok()?.components();
        let names: Vec<String> = names
            .map(|name| decode_name(name.as_os_str().as_encoded_bytes()))
            .collect();
        (!names.is_empty()).then(|| names.join("/"))
    }

    /// The number of folders above it.
    pub(super) fn depth(&self) -> usize {
        let path = self.real_path.as_ref();
        path.map_or(0, |path| path.components().count())
    }
}
