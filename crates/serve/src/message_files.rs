//! The files that the command-running process writes the texts of messages to.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use super::random;

/// Files that are kept. The oldest one is replaced, so that commands need not remove them.
pub(super) const FILES: u64 = 64;

/// Names the files, in a folder whose name nobody can guess.
#[derive(Debug)]
pub(super) struct MessageFiles {
    folder: PathBuf,
    count: AtomicU64,
}

impl MessageFiles {
    /// A folder beside the system's other temporary files. It is made with the first file.
    pub(super) fn new() -> Self {
        let number = random::random()
            .map(u64::from_le_bytes)
            .unwrap_or_else(|_| std::process::id().into());
        Self::within(std::env::temp_dir().join(format!("coax-messages-{number:016x}")))
    }

    /// Files in `folder`.
    pub(super) fn within(folder: PathBuf) -> Self {
        Self {
            folder,
            count: AtomicU64::new(0),
        }
    }

    /// The next file.
    pub(super) fn next(&self) -> PathBuf {
        let number = self.count.fetch_add(1, Ordering::Relaxed) % FILES;
        self.folder.join(format!("{number:02}.txt"))
    }
}
