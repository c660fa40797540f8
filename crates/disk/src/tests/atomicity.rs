//! Requests on a real folder happen completely or not at all, whichever call fails.

use super::{DiskFs, DiskOptions, disk};
use coax_server::atomicity::Errors;
use tempfile::TempDir;

/// A folder on tmpfs if available: thousands of runs would be slow on a disk that syncs its writes.
fn fresh() -> (TempDir, DiskFs) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let fs = disk(folder.path(), DiskOptions::default());
    (folder, fs)
}

// `sync always` is left out: its effect does not depend on the file system, and it would sync the disk thousands of
// times.
coax_server::atomicity_tests!(
    fresh,
    Errors::InTurn,
    [
        opening,
        creating,
        overwriting,
        streams,
        transfer,
        closing,
        naming,
        copying,
        metadata,
        listing,
        printing,
        chains,
    ]
);
