//! Options of a share's folder.

/// How a [`DiskFs`](crate::DiskFs) treats links and what it creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// Follow symbolic links (`follow symlinks`). If not, a path with one on it is [`Denied`](coax_server::vfs::VfsError::Denied).
    pub follow_symlinks: bool,
    /// Follow them out of the share too (`wide links`).
    pub wide_links: bool,
    /// Unix permission bits of a new file, before the process' umask.
    pub file_mode: u32,
    /// Unix permission bits of a new folder, before the process' umask.
    pub dir_mode: u32,
    /// The maximum disk size to report, bytes (`max disk size`); `None`: the real size.
    pub max_disk: Option<u64>,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            follow_symlinks: true,
            wide_links: false,
            file_mode: 0o644,
            dir_mode: 0o755,
            max_disk: None,
        }
    }
}
