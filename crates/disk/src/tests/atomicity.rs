//! Requests on a real folder happen completely or not at all, whichever call fails.

use super::{DiskFs, DiskOptions, disk};
use coax_server::atomicity::Errors;
use tempfile::TempDir;

/// A folder in memory where there is one: thousands of runs need no disk that waits for its writes.
fn fresh() -> (TempDir, DiskFs) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let fs = disk(folder.path(), DiskOptions::default());
    (folder, fs)
}

// What `sync always` adds does not depend on the file system, and syncs a disk thousands of times.
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
