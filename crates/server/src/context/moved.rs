//! How much was moved on each share.

use super::Context;
use crate::{act::Moved, files::OpenFile};
use alloc::{string::String, vec::Vec};

impl Context {
    /// Counts what was moved through a file that is being closed.
    pub(crate) fn count_moved(&mut self, file: &OpenFile) {
        let new = file.moved.since(file.counted);
        self.closed.add(&file.share.name, new);
    }

    /// The bytes that were moved on each share since the last call.
    pub fn take_moved(&mut self) -> Vec<(String, Moved)> {
        let mut sums = core::mem::take(&mut self.closed);
        for file in self.files.iter_mut() {
            sums.add(&file.share.name, file.moved.since(file.counted));
            file.counted = file.moved;
        }
        sums.0
    }
}
