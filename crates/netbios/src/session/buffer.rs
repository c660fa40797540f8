//! The receive buffer of a session. It grows with received bytes, not with announced lengths.

use alloc::vec::Vec;

/// Initial capacity, and the maximum capacity of an idle session.
pub(super) const IDLE_CAPACITY: usize = 4096;

/// Received bytes that are not consumed yet.
///
/// `bytes[start..end]` is waiting. `bytes[end..]` is free and already initialised, so that no byte is cleared twice.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// The waiting bytes.
    pub(super) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Allocated bytes.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Free space to read into; empty only if `needed` bytes are already waiting.
    ///
    /// `needed` is the length of the whole packet. The space grows to twice the received bytes, or to the number of
    /// readable bytes (`hint`), but never beyond `needed`.
    pub(super) fn space(&mut self, needed: usize, hint: usize) -> &mut [u8] {
        let have = self.end.saturating_sub(self.start);
        if have == 0 {
            (self.start, self.end) = (0, 0);
        }
        let grown = have.saturating_mul(2).max(have.saturating_add(hint));
        let target = needed.min(grown).max(IDLE_CAPACITY);
        if self.bytes.len().saturating_sub(self.start) < target {
            self.move_to_front();
        }
        if self.bytes.len() < target {
            self.bytes
                .reserve_exact(target.saturating_sub(self.bytes.len()));
            self.bytes.resize(target, 0);
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// `count` bytes were written to the space; limited to the size of the space.
    pub(super) fn fill(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.bytes.len());
    }

    /// Removes the first `count` waiting bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Frees memory; all of it if no bytes are waiting.
    pub(super) fn shrink(&mut self) {
        self.move_to_front();
        self.bytes.truncate(self.end);
        self.bytes.shrink_to_fit();
    }

    fn move_to_front(&mut self) {
        if self.start > 0 {
            // `fill` and `consume` keep both indexes within the buffer.
            self.bytes.copy_within(self.start..self.end, 0);
            self.end = self.end.saturating_sub(self.start);
            self.start = 0;
        }
    }
}
