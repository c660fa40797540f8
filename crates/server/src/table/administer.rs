//! What an administrator does to the opens of clients.

use super::{OpenId, Tables};

impl Tables {
    /// Removes all byte-range locks of an open, and grants those that waited for them. Returns how many there were; `None` if
    /// there is no such open.
    pub fn unlock_all(&mut self, id: OpenId) -> Option<usize> {
        let request = &self.opens.get(&id)?.request;
        let (conn, file) = (request.conn, request.file);
        let locks = self.files.get_mut(&file).map(|file| &mut file.locks);
        let gone = locks.map_or(0, |locks| locks.remove_open(id));
        if gone > 0 {
            self.count_locks(conn, 0, gone);
            self.serve_waiters(file);
        }
        Some(gone)
    }
}
