//! Frees reserved space beyond the end of a file.
//!
//! The file system frees it when the file is truncated to its length. Between the query of the length and the truncation
//! another client could extend the file, and would lose its data. So the file must have no other open, and new opens
//! wait until the truncation is done ([`crate::table::Tables::begin_trim`]).

use crate::{server::Server, table::OpenId, vfs::VfsFile};

/// After a failed reservation through `open`: frees what was reserved. If the file has other opens, the last close frees
/// it.
pub fn give_back(server: &Server, open: OpenId, file: &dyn VfsFile) {
    if server.locked(|tables| tables.begin_trim(open)) {
        trim(file);
        server.locked(|tables| tables.end_trim(open));
    }
}

/// Frees the space. The tables must have marked the file.
pub(super) fn trim(file: &dyn VfsFile) {
    // A failure to free it loses no data.
    let _ = file.stat().and_then(|stat| file.set_len(stat.size));
}

#[cfg(test)]
#[path = "trim_tests.rs"]
mod tests;
